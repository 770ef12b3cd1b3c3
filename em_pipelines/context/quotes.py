"""What was said, as short quotes: of long messages the sentences that hold the words of the question."""

import re
from collections.abc import Iterable, Iterator

from em_pipelines.context.markup import element, plain
from em_pipelines.context.sections import Line
from em_pipelines.context.tokens import count_tokens
from em_pipelines.retrieval.hits import Hit
from em_pipelines.retrieval.words import question_stems, stems

CUT = "…"
LONGEST_NAME = 40
LONGEST_TEXT = 20_000
"""Characters of a message that are looked at."""
N_FIRST = 5
_PIECE = re.compile(r"[^\s]+(?:[ ]|$)")
_ENDS = re.compile(r"[.!?。！？…]['\"”’)\]]*\s*$")


def quotes(hits: Iterable[Hit], question: str, thread: tuple[str, ...], n_tokens: int) -> Iterator[Line]:
    """A line for each message that was found, best first; none for what the conversation itself has just said, nor for
    the same words twice. The first few have twice the room: what answers is mostly among them."""
    wanted = frozenset(question_stems(question, frozenset()))
    seen = {_key(text) for text in (question, *thread)}
    rank = 0
    for hit in hits:
        text = plain(hit.text[:LONGEST_TEXT])
        if not text or hit.session_id is None or hit.turn_number is None or _key(text) in seen:
            continue
        seen.add(_key(text))
        room = n_tokens * (2 if rank < N_FIRST else 1)
        rank += 1
        attributes = {"by": plain(hit.speaker or "")[:LONGEST_NAME] or None, "on": hit.said_on.isoformat()}
        told = element("quote", trimmed(text, wanted, room), attributes)
        yield Line(told, turns=((hit.session_id, hit.turn_number),))


def trimmed(text: str, wanted: frozenset[str], n_tokens: int) -> str:
    """The text where it costs no more than that; else the run of words around most of the wanted stems that does, from
    the beginning of a sentence where one is near. What was left out shows as `…`."""
    if count_tokens(text) <= n_tokens:
        return text
    words = [match[0] for match in _PIECE.finditer(text)]
    costs = [count_tokens(word) for word in words]
    gains = [len(wanted.intersection(stems(word))) for word in words]
    room = n_tokens - 4
    best, chosen = -1.0, (0, 1)
    end, cost, gain = 0, 0, 0
    for start in range(len(words)):
        while end < len(words) and cost + costs[end] <= room:
            cost, gain, end = cost + costs[end], gain + gains[end], end + 1
        begins = start == 0 or bool(_ENDS.search(words[start - 1]))
        value = gain + 0.5 * begins
        if value >= best and end > start:
            best, chosen = value, (start, end)
        if end > start:
            cost, gain = cost - costs[start], gain - gains[start]
        else:
            end = start + 1
    start, end = chosen
    kept = "".join(words[start:end]).strip() if costs[start] <= room else _shortened(words[start], room)
    return f"{CUT if start else ''}{kept}{CUT if end < len(words) or costs[start] > room else ''}"


def _shortened(word: str, n_tokens: int) -> str:
    """The beginning of a word that is too long by itself."""
    low, high = 0, len(word)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(word[:middle]) <= n_tokens else (low, middle - 1)
    return word[:low]


def _key(text: str) -> str:
    return plain(text).casefold()
