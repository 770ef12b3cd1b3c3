"""Going on along the graph from what was found: from a message to the facts that it states, from those over the things
at their ends to other facts and the turns that state them, and from a turn to the experiences that consolidate it.
"""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from em_pipelines.language.name_keys import name_key
from em_pipelines.redaction.veils import Place
from em_pipelines.retrieval.documents import Hit, Scores, hits_of
from em_pipelines.retrieval.experiences import Experience, hit_of
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.search import Mask
from em_pipelines.retrieval.terms import Floats

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
    n_steps: int = 0


@dataclass(frozen=True, slots=True)
class Consolidating:
    """The experiences that rest on turns and may be told, the strongest first, and those that were found already."""

    by_turn: Mapping[Place, Sequence[Experience]]
    found: Collection[str] = ()


NOTHING = Consolidating({})


def expanded(  # noqa: PLR0913  (where from, along what, and what counts)
    pack: Pack,
    hits: list[Hit],
    confidence: Floats,
    is_in: Mask,
    n_hops: int,
    consolidating: Consolidating = NOTHING,
) -> list[Hit]:
    """What is reached from these hits in at most `n_hops` (0 to 2) steps and is none of them, best first, 8 at most.

    `confidence` is that of each document, 0 for what does not hold; `is_in` says which
    count. Looks at no more than 160 documents and ends after two seconds.
    """
    starts = [_Reached(n, hit.score, (label(pack, n),)) for hit in hits if (n := number_of(pack, hit)) is not None]
    reached = list(_walked(pack, starts, confidence, n_hops))
    chosen = _best_first(one for one in reached if is_in[one.number])[:MOST_ITEMS]
    total = {one.number: one.score for one in chosen}
    made = hits_of(pack, list(total), Scores(total))
    found = [replace(hit, path=one.path) for hit, one in zip(made, chosen, strict=True)]
    if consolidating.by_turn:
        near = [one for one in (*starts, *reached) if one.n_steps < min(n_hops, HOPS)]
        found += _consolidated(pack, near, consolidating, MOST_DOCUMENTS - len(reached))
    return sorted(found, key=lambda hit: -hit.score)[:MOST_ITEMS]


def _consolidated(pack: Pack, near: Iterable[_Reached], known: Consolidating, n_most: int) -> list[Hit]:
    """The experiences that rest on these turns, each by the way that gives it the highest score."""
    best: dict[str, Hit] = {}
    for at in near:
        place = _place(pack, at.number)
        for one in known.by_turn.get(place, ())[:FAN_OUT] if place else ():
            score = at.score * FADING * one.row["confidence"]
            before = best.get(one.experience_id)
            is_new = one.experience_id not in known.found and (before is not None or len(best) < n_most)
            if is_new and (before is None or before.score < score):
                best[one.experience_id] = hit_of(one, score, (*at.path, one.experience_id))
    return list(best.values())


def _walked(pack: Pack, starts: list[_Reached], confidence: Floats, n_hops: int) -> Iterable[_Reached]:
    """What is reached from the starts and is none of them, each by the way that gives it the highest score."""
    ends_at = time.monotonic() + MOST_SECONDS
    known = {one.number for one in starts}
    frontier, reached = starts, dict[int, _Reached]()
    for _ in range(min(n_hops, HOPS)):
        best, frontier = _best_first(frontier)[:BEAM], []
        for one in best:
            for step in _steps(pack, one, confidence):
                if len(reached) >= MOST_DOCUMENTS or time.monotonic() > ends_at:
                    break
                before = reached.get(step.number)
                if step.number not in known and (before is None or before.score < step.score):
                    reached[step.number] = step
                    frontier.append(step)
    return reached.values()


def _best_first(reached: Iterable[_Reached]) -> list[_Reached]:
    return sorted(reached, key=lambda one: (-one.score, one.number))


def number_of(pack: Pack, hit: Hit) -> int | None:
    """The number of a hit's document; None where the pack no longer has it."""
    if hit.edge_id is not None:
        return pack.numbers.get(hit.edge_id)
    return pack.turn(hit.session_id or "", -1 if hit.turn_number is None else hit.turn_number)


def label(pack: Pack, number: int) -> str:
    """A document in a path: a fact by its edge, a message by conversation and turn."""
    if number >= pack.n_messages:
        return str(pack.facts[number - pack.n_messages]["edge_id"])
    session_id, turn_number = _place(pack, number) or ("", 0)
    return f"{session_id} {turn_number}"


def _place(pack: Pack, number: int) -> Place | None:
    """Conversation and turn of a message; None of a fact."""
    if number >= pack.n_messages:
        return None
    row = pack.documents.select(["session_id", "turn_number"]).slice(number, 1).to_pylist()[0]
    return row["session_id"], row["turn_number"]


def _steps(pack: Pack, at: _Reached, confidence: Floats) -> Iterator[_Reached]:
    """To the facts that a message states or that share a thing with a fact, and to the turns that state those."""
    is_message, n_steps = at.number < pack.n_messages, at.n_steps + 1
    stated = pack.stated_by(at.number) if is_message else []
    for number in _best(stated, confidence):
        score = at.score * OF_A_SOURCE * float(confidence[number])
        yield _Reached(number, score, (*at.path, label(pack, number)), n_steps)
    for name in _things(pack, stated or [at.number]):
        for number in _best([n for n in pack.about(name_key(name)) if n != at.number], confidence):
            score = at.score * FADING * float(confidence[number])
            path = (*at.path, name, label(pack, number))
            yield _Reached(number, score, path, n_steps)
            for source in pack.sources(number)[:FAN_OUT]:
                yield _Reached(source, score * OF_A_SOURCE, (*path, label(pack, source)), n_steps)


def _things(pack: Pack, numbers: Iterable[int]) -> list[str]:
    """The ends of facts that lead on: all but the person whose memory it is, of whom nearly everything speaks."""
    facts = [pack.facts[number - pack.n_messages] for number in numbers if number >= pack.n_messages]
    names = (name for fact in facts for name in (fact["subject"], fact["object"]))
    return [name for name in dict.fromkeys(names) if name and name_key(name) != "user"]


def _best(numbers: list[int], confidence: Floats) -> list[int]:
    held = [n for n in numbers if confidence[n] > 0]
    return sorted(held, key=lambda n: (-float(confidence[n]), n))[:FAN_OUT]
