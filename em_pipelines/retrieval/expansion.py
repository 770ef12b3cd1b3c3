"""From what a question finds along the graph: documents lead to the things they are about, things to other documents.

Personalised in the small: from the best hits at most two steps, each to the few most certain facts of a thing, each
step at half the score. Every document that is reached says by which way.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

from em_pipelines.resolution.normalization import name_key
from em_pipelines.retrieval.filters import Mask
from em_pipelines.retrieval.hits import Hit, hits_of
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.topics import Floats

HOPS = 2
FAN_OUT = 3
BEAM = 8
MOST_DOCUMENTS = 160
MOST_SECONDS = 2.0
MOST_ITEMS = 8
FADING = 0.5
"""What a step costs."""
OF_A_SOURCE = 0.9
"""What a fact says and the turn that states it are nearly one."""


@dataclass(frozen=True, slots=True)
class _Reached:
    """A document with its score and the documents and names by which it was reached."""

    number: int
    score: float
    path: tuple[str, ...]


def expanded(pack: Pack, hits: list[Hit], confidence: Floats, is_in: Mask, n_hops: int) -> list[Hit]:
    """What is reached from these hits in at most `n_hops` (0 to 2) steps and is none of them, best first, 8 at most.

    `confidence` is that of each document, 0 for what does not hold; `is_in` says which
    count. Looks at no more than 160 documents and ends after two seconds.
    """
    ends_at = time.monotonic() + MOST_SECONDS
    found = {n for hit in hits if (n := number_of(pack, hit)) is not None}
    frontier = [_Reached(n, hit.score, (label(pack, n),)) for hit in hits if (n := number_of(pack, hit)) is not None]
    reached: dict[int, _Reached] = {}
    for _ in range(min(n_hops, HOPS)):
        best = sorted(frontier, key=lambda one: (-one.score, one.number))[:BEAM]
        frontier = []
        for one in best:
            for step in _steps(pack, one, confidence):
                if len(reached) >= MOST_DOCUMENTS or time.monotonic() > ends_at:
                    break
                known = reached.get(step.number)
                if step.number not in found and (known is None or known.score < step.score):
                    reached[step.number] = step
                    frontier.append(step)
    counting = [one for one in reached.values() if is_in[one.number]]
    chosen = sorted(counting, key=lambda one: (-one.score, one.number))[:MOST_ITEMS]
    total = {one.number: one.score for one in chosen}
    made = hits_of(pack, list(total), total)
    return [replace(hit, path=one.path) for hit, one in zip(made, chosen, strict=True)]


def number_of(pack: Pack, hit: Hit) -> int | None:
    """The number of a hit's document; None where the pack no longer has it."""
    if hit.edge_id is not None:
        return pack.numbers.get(hit.edge_id)
    return pack.turn(hit.session_id or "", -1 if hit.turn_number is None else hit.turn_number)


def label(pack: Pack, number: int) -> str:
    """A document in a path: a fact by its edge, a message by conversation and turn."""
    if number >= pack.n_messages:
        return str(pack.facts[number - pack.n_messages]["edge_id"])
    row = pack.documents.select(["session_id", "turn_number"]).slice(number, 1).to_pylist()[0]
    return f"{row['session_id']} {row['turn_number']}"


def _steps(pack: Pack, at: _Reached, confidence: Floats) -> Iterator[_Reached]:
    """To the facts that a message states or that share a thing with a fact, and to the turns that state those."""
    is_message = at.number < pack.n_messages
    stated = pack.stated_by(at.number) if is_message else []
    for number in _best(stated, confidence):
        yield _Reached(number, at.score * OF_A_SOURCE * float(confidence[number]), (*at.path, label(pack, number)))
    for name in dict.fromkeys(name for number in stated or [at.number] for name in _things(pack, number)):
        for number in _best([n for n in pack.about(name_key(name)) if n != at.number], confidence):
            score = at.score * FADING * float(confidence[number])
            path = (*at.path, name, label(pack, number))
            yield _Reached(number, score, path)
            for source in pack.sources(number)[:FAN_OUT]:
                yield _Reached(source, score * OF_A_SOURCE, (*path, label(pack, source)))


def _things(pack: Pack, number: int) -> list[str]:
    """The ends of a fact that lead on: all but the person whose memory it is, of whom nearly everything speaks."""
    if number < pack.n_messages:
        return []
    row = pack.facts[number - pack.n_messages]
    return [name for name in (row["subject"], row["object"]) if name and name_key(name) != "user"]


def _best(numbers: list[int], confidence: Floats) -> list[int]:
    held = [n for n in numbers if confidence[n] > 0]
    return sorted(held, key=lambda n: (-float(confidence[n]), n))[:FAN_OUT]
