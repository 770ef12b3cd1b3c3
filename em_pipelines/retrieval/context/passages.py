"""What is quoted of messages: whole sentences and items of lists, the best of all messages that were found first.

A short message is quoted whole. What a sentence is worth hangs on how well its message was found, on the words of the
question that it has, and on how probably it is worth keeping. A question about a stretch of time gets one sentence a
message, in order of time. Code is not quoted.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from math import log1p
from typing import NamedTuple

from em_pipelines.language.cleaning import CODE_MARK, blank_code
from em_pipelines.language.dates.words import NAMES_OF_TIME
from em_pipelines.language.name_matching import MARKER
from em_pipelines.language.sentences import Span, sentences
from em_pipelines.retrieval.context.sections import LEAST_LINE, Line, count_tokens, element, plain
from em_pipelines.retrieval.documents import Hit, with_dates
from em_pipelines.retrieval.terms import (
    STOP_WORDS,
    asks_for_time,
    asks_of_assistant,
    asks_over_time,
    question_stems,
    stems,
)

CUT = "…"
_PIECE = re.compile(r"[^\s]+(?: \((?:[a-z ]+ )?\d{4}(?:-\d\d){0,2}(?: to [\d-]+)?\))?(?:[ ]|$)")
"""A word, with the date that stands behind it."""
_DATED = re.compile(r"\d\)\s*$")
LONGEST_TEXT = 20_000
"""Characters of a message that are looked at."""
LONGEST_NAME = 40
LONGEST_SENTENCE, LONGEST_OF_MANY = 120, 45
"""Tokens: of a sentence, and of one where each message has one line. Longer ones are cut, which shows."""
OF_WORDS, OF_KEEPING, OF_OPENING, OF_TIME = 1.0, 0.3, 0.1, 0.2
"""What a sentence is worth beside its message (1 for the best one): of all words of the question, of being surely worth
keeping, of opening its message, and of naming a time where one is asked for. Found on LoCoMo and BEAM; half or twice as
much of one changes the share of answers in a block by less than 0.03."""
LEAST_WORTH = 0.35
"""Of what the best sentence is worth: below, nothing is quoted though there is room. At 0.55 answers are lost."""
SAME = 0.8
"""Share of the words of the shorter of two sentences that say the same."""
SAME_SUBJECT, LEAST_SHARED = 0.6, 3
"""Share of the words but numbers of the longer of two sentences, and how many, where they give values of the same."""
LEAST_LETTERS = 4
_LETTERS = re.compile(r"[^\W\d_]")


_Piece = tuple[int, str, float, frozenset[str], bool]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, what the conversation has just said, and up to how many tokens a message is quoted whole."""

    text: str
    thread: tuple[str, ...]
    n_whole: int


@dataclass(frozen=True, slots=True)
class _Passage:
    """A sentence of a message that was found, or all of a short one: its place in the message, its words, and what it
    is worth. What is pasted stands in a line that begins with `>`."""

    hit: Hit
    place: int
    text: str
    stems: frozenset[str]
    worth: float
    is_pasted: bool


class _Key(NamedTuple):
    """What makes a line: who said or pasted it, on which day, and in which message, where that counts."""

    by: tuple[str, str | None]
    said_on: date
    turn: tuple[str, int] | None


def quotes(found: Sequence[tuple[Hit, float]], asked: Asked, n_tokens: int) -> list[Line]:
    """The lines of what is quoted in so many tokens: a line a message, the best first; of a question about a stretch of
    time a line for what somebody said on a day, the earliest first. `found` are messages, each with how well it was
    found (1: best)."""
    is_over_time, is_of_time = asks_over_time(asked.text), asks_for_time(asked.text)
    wanted = frozenset(question_stems(asked.text, frozenset()))
    ordered = _ordered(found, asked, is_over_time=is_over_time)
    lines: dict[_Key, list[_Passage]] = {}
    told: list[frozenset[str]] = []
    for whole in (one for best in ordered for one in (best, *_newer(best, ordered))):
        if n_tokens < LEAST_LINE:
            break
        if _is_told(whole.stems, told):
            continue
        passage = replace(whole, text=trimmed(whole.text, wanted, LONGEST_SENTENCE, is_of_time))
        key = _Key(_by(passage), passage.hit.said_on, None if is_over_time else _place(passage))
        own = lines.get(key, [])
        cost = count_tokens(_line(key, [*own, passage])) - (count_tokens(_line(key, own)) if own else 0)
        if cost <= n_tokens:
            n_tokens -= cost
            lines[key] = [*own, passage]
            told.append(passage.stems)
    lines = _marked(lines, n_tokens)
    keys = sorted(lines, key=lambda key: min(map(_moment, lines[key]))) if is_over_time else list(lines)
    return [Line(_line(key, lines[key]), turns=tuple(dict.fromkeys(map(_place, lines[key])))) for key in keys]


def _ordered(found: Sequence[tuple[Hit, float]], asked: Asked, *, is_over_time: bool) -> list[_Passage]:
    """What may be quoted, the best first: nothing that the conversation has just said, over time one of each message of
    a person, else nothing that is worth little beside the best."""
    seen = {_key(text) for text in (asked.text, *asked.thread)}
    hits = [(hit, share) for hit, share in found if hit.session_id is not None and _key(hit.text) not in seen]
    if is_over_time and not asks_of_assistant(asked.text):
        hits = [(hit, share) for hit, share in hits if not hit.is_of_assistant]
    passages = sorted(_passages(hits, asked), key=lambda one: -one.worth)
    if is_over_time:
        each = sorted(_one_each(passages), key=lambda one: -one.worth)
        return [replace(one, text=trimmed(one.text, frozenset(), LONGEST_OF_MANY)) for one in each]
    return [one for one in passages if one.worth >= LEAST_WORTH * passages[0].worth]


def _newer(passage: _Passage, others: Sequence[_Passage]) -> list[_Passage]:
    """The newest of the sentences by the same speaker that give another number for the same: nearly all words but
    numbers are those of this one. None where there is none."""
    if not (passage.hit.is_own and any(map(_has_digit, passage.stems))):
        return []
    found = [one for one in others if _moment(one) > _moment(passage) and _is_value_of_same(passage, one)]
    return [max(found, key=_moment)] if found else []


def _is_value_of_same(one: _Passage, other: _Passage) -> bool:
    if one.hit.by != other.hit.by:
        return False
    numbers, others = ({word for word in part.stems if _has_digit(word)} for part in (one, other))
    words, rest = (part.stems - STOP_WORDS - own for part, own in ((one, numbers), (other, others)))
    n_shared = len(words & rest)
    is_same = n_shared >= LEAST_SHARED and n_shared >= SAME_SUBJECT * max(len(words), len(rest))
    return is_same and bool(others) and not (others <= numbers)


def _marked(lines: dict[_Key, list[_Passage]], n_tokens: int) -> dict[_Key, list[_Passage]]:
    """The lines, with `(before DAY)` behind values of which a newer one is among them, as far as there is room."""
    every = [passage for own in lines.values() for passage in own]
    marked: dict[_Key, list[_Passage]] = {}
    for key, own in lines.items():
        marked[key] = []
        for passage in own:
            newer = _newer(passage, every)
            mark = f" (before {newer[0].hit.said_on.isoformat()})" if newer else ""
            is_marked = bool(mark) and count_tokens(mark) <= n_tokens
            n_tokens -= count_tokens(mark) if is_marked else 0
            marked[key].append(replace(passage, text=f"{passage.text}{mark}") if is_marked else passage)
    return marked


def _by(passage: _Passage) -> tuple[str, str | None]:
    name = plain(passage.hit.by or "")[:LONGEST_NAME] or None
    return ("pasted_by" if passage.is_pasted else "by"), name


def _place(passage: _Passage) -> tuple[str, int]:
    return passage.hit.session_id or "", passage.hit.turn_number or 0


def _moment(passage: _Passage) -> tuple[str, tuple[str, int], int]:
    hit = passage.hit
    return hit.said_at.isoformat() if hit.said_at else hit.said_on.isoformat(), _place(passage), passage.place


def _line(key: _Key, passages: Iterable[_Passage]) -> str:
    """Sentences in their order; what was left out between them shows."""
    parts: list[str] = []
    before: _Passage | None = None
    for passage in sorted(passages, key=_moment):
        if before is not None:
            is_next = _place(before) == _place(passage) and passage.place == before.place + 1
            parts.append(" " if is_next or before.text.endswith(CUT) else f" {CUT} ")
        parts.append(with_dates(passage.text, passage.hit.said_on))
        before = passage
    return element("quote", "".join(parts), {key.by[0]: key.by[1], "on": key.said_on.isoformat()})


def _passages(hits: Sequence[tuple[Hit, float]], asked: Asked) -> list[_Passage]:
    wanted = frozenset(question_stems(asked.text, frozenset()))
    pieces = [list(_pieces(hit, asked.n_whole)) for hit, _ in hits]
    rarity = _rarity(wanted, [words for message in pieces for _, _, _, words, _ in message])
    is_of_time = asks_for_time(asked.text)
    found: list[_Passage] = []
    for (hit, share), own in zip(hits, pieces, strict=True):
        for place, text, kept, words, is_pasted in _of_one_hand(own, wanted):
            worth = share + OF_WORDS * sum(rarity[word] for word in words & wanted) + OF_KEEPING * kept
            worth += OF_OPENING if place == 0 else 0.0
            worth += OF_TIME if is_of_time and NAMES_OF_TIME.search(text) else 0.0
            found.append(_Passage(hit, place, text, words, worth, is_pasted))
    return found


def _of_one_hand(pieces: Sequence[_Piece], wanted: frozenset[str]) -> list[_Piece]:
    """Of a message with own and pasted lines those that have more of what is asked for."""
    found: list[set[str]] = [set(), set()]
    for _, _, _, words, is_pasted in pieces:
        found[is_pasted] |= words & wanted
    is_kept = len(found[True]) > len(found[False]) or all(is_pasted for *_, is_pasted in pieces)
    return [one for one in pieces if one[-1] is is_kept]


def _rarity(wanted: frozenset[str], said: Sequence[frozenset[str]]) -> dict[str, float]:
    """Of each word of the question its share in what all of them are worth: rare ones are worth more."""
    n_with = {word: sum(word in own for own in said) for word in wanted}
    found = {word: log1p(len(said) / max(1, n)) for word, n in n_with.items()}
    total = sum(found.values()) or 1.0
    return {word: one / total for word, one in found.items()}


def _pieces(hit: Hit, n_whole: int) -> Iterator[_Piece]:
    """The sentences of a message, or all of a short one: its place, the text on one line, how probably it is worth
    keeping, its stems, and whether it is pasted."""
    text = hit.text[:LONGEST_TEXT]
    whole = plain(text)
    if ">" not in text and "`" not in text and count_tokens(whole) <= n_whole:
        if whole:
            yield 0, whole, max((one for _, _, one in hit.labels), default=0.0), frozenset(stems(whole)), False
        return
    for place, span, said, is_pasted in _sentences(text, is_of_assistant=hit.is_of_assistant):
        kept = max((one for start, end, one in hit.labels if start < span[1] and span[0] < end), default=0.0)
        yield place, said, kept, _stems_of(said), is_pasted


@lru_cache(maxsize=512)
def _sentences(text: str, *, is_of_assistant: bool) -> tuple[tuple[int, Span, str, bool], ...]:
    """What may be quoted of a text by itself: no code, no mere marks, and of an assistant nothing that was blanked."""
    prose = blank_code(text) if "\n" in text or "`" in text else text
    found = []
    for place, (start, end) in enumerate(sentences(text)):
        said = plain(text[start:end])
        is_code = CODE_MARK in prose[start:end] and len(_LETTERS.findall(prose[start:end])) < LEAST_LETTERS
        if is_code or len(_LETTERS.findall(said)) < LEAST_LETTERS or (is_of_assistant and MARKER in said):
            continue
        is_pasted = text[text.rfind("\n", 0, start) + 1 : start + 1].lstrip().startswith(">")
        found.append((place, (start, end), said.lstrip("> ") if is_pasted else said, is_pasted))
    return tuple(found)


@lru_cache(maxsize=65_536)
def _stems_of(text: str) -> frozenset[str]:
    return frozenset(stems(text))


def _one_each(passages: Iterable[_Passage]) -> Iterable[_Passage]:
    """The best passage of each message."""
    best: dict[tuple[str, int], _Passage] = {}
    for passage in passages:
        known = best.setdefault(_place(passage), passage)
        best[_place(passage)] = passage if passage.worth > known.worth else known
    return best.values()


def _is_told(words: frozenset[str], told: Sequence[frozenset[str]]) -> bool:
    """Whether one of the others has nearly all words of these, or these of it, and the same numbers: `it takes 250 ms`
    is not `it takes 300 ms`."""
    return any(
        len(words & other) > SAME * min(len(words), len(other)) and not any(map(_has_digit, words ^ other))
        for other in told
        if words and other
    )


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _key(text: str) -> str:
    return plain(text).casefold()


def trimmed(text: str, wanted: frozenset[str], n_tokens: int, is_time_wanted: bool = False) -> str:
    """The text where it costs no more than that; else the run of words around most of the wanted stems that does, from
    the beginning of a sentence where one is near; a date counts as a wanted word where a time is wanted. What was left
    out shows as `…`."""
    if count_tokens(text) <= n_tokens:
        return text
    words = [match[0] for match in _PIECE.finditer(text)]
    measured = [_measured(word) for word in words]
    costs = [cost for cost, _ in measured]
    gains = [len(wanted & own) for _, own in measured]
    if is_time_wanted:
        gains = [gain + (_DATED.search(word) is not None) for gain, word in zip(gains, words, strict=True)]
    room = n_tokens - 4
    openings = {first for first, _ in sentences(text)}
    begins = [match.start() in openings for match in _PIECE.finditer(text)]
    start, end = _best_run(begins, costs, gains, room)
    kept = "".join(words[start:end]).strip() if costs[start] <= room else _shortened(words[start], room)
    return f"{CUT if start else ''}{kept}{CUT if end < len(words) or costs[start] > room else ''}"


@lru_cache(maxsize=65_536)
def _measured(word: str) -> tuple[int, frozenset[str]]:
    """What a word costs, and its stems: the same words come again and again."""
    return count_tokens(word), frozenset(stems(word))


def _best_run(begins: list[bool], costs: list[int], gains: list[int], room: int) -> tuple[int, int]:
    """The last of the runs [start, end) that gain most, each as long as the room allows; the first word where no word
    fits. The beginning of a sentence (`begins`) is worth half a word that is wanted."""
    best, chosen = -1.0, (0, 1)
    end, cost, gain = 0, 0, 0
    for start in range(len(costs)):
        while end < len(costs) and cost + costs[end] <= room:
            cost, gain, end = cost + costs[end], gain + gains[end], end + 1
        if end == start:  # this word alone costs more than the room
            end = start + 1
            continue
        value = gain + 0.5 * begins[start]
        if value >= best:
            best, chosen = value, (start, end)
        cost, gain = cost - costs[start], gain - gains[start]
    return chosen


def _shortened(word: str, n_tokens: int) -> str:
    """The beginning of a word that is too long by itself."""
    low, high = 0, len(word)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(word[:middle]) <= n_tokens else (low, middle - 1)
    return word[:low]
