"""Facts and quotes as lines of the block: which ones, in which order, and how each is told.

Of long messages the sentences are quoted that hold the words of the question.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property, lru_cache

import numpy as np

from em_pipelines.language.sentences import sentences
from em_pipelines.retrieval.context.known_facts import AHEAD, BIRTHDAY, DATED, Fact, Flags, Floats, Integers, Known
from em_pipelines.retrieval.context.sections import Line, count_tokens, element, opening, plain
from em_pipelines.retrieval.documents import Hit, with_dates
from em_pipelines.retrieval.terms import asks_for_time, question_stems, stems
from em_pipelines.schema.vocabulary import Mechanism, PrivacyLevel

OPEN_LEVELS = frozenset({PrivacyLevel.PUBLIC.value, PrivacyLevel.GENERIC.value})
"""What may be told where others listen."""
PRECISION_CHARACTERS = {"year": 4, "month": 7, "day": 10}
ID_CHARACTERS = len("edge_") + 8
"""The beginning of an id, which tells it from any other of one person's; commands take it for the whole."""
LEARNT = {
    Mechanism.USER_CORRECTION.value: "corrected",
    Mechanism.OBSERVATIONAL.value: "discussed",
    Mechanism.INFERENTIAL.value: "inferred",
    Mechanism.REFLECTIVE.value: "reflected",
    Mechanism.IMPORTED.value: "imported",
    Mechanism.SHARED.value: "shared",
}
"""How a fact was learnt, where it was not simply said."""
OLD = "may be out of date"
MOST_LINES = 48
"""No budget has room for more."""
MOST_REMINDERS = 3


@dataclass(frozen=True)
class Scene:
    """What a block is about: the facts, how near each entity and how relevant each fact is, and who listens."""

    known: Known
    near: Floats
    relevance: Floats
    today: date
    is_group: bool
    min_confidence: float
    n_facts_an_entity: int

    @cached_property
    def may_tell(self) -> Flags:
        """Of each fact, whether it is for whoever listens, and sure enough, or old enough, to be told at all."""
        is_sure = (self.known.confidence >= self.min_confidence) | self.known.is_old
        return is_sure & self.known.holds("privacy_level", OPEN_LEVELS) if self.is_group else is_sure


def lines(scene: Scene, nearness: float, told: set[int]) -> list[Line]:
    """The facts of entities that are just so near, best first: the first fact of each, then the second of each, and so
    on. Those in `told` are left out, and what is chosen is added to them."""
    known = scene.known
    wanted = np.flatnonzero((scene.near[known.ends].max(axis=1) == nearness) & scene.may_tell)
    wanted = wanted[np.lexsort((wanted, -scene.relevance[wanted]))]
    is_subject = scene.near[known.ends[wanted, 0]] == nearness
    owners = np.where(is_subject, known.ends[wanted, 0], known.ends[wanted, 1])
    n_told: dict[int, int] = {}
    found: list[Line] = []
    for place in _in_turns(owners, scene.n_facts_an_entity).tolist():
        n, owner = int(wanted[place]), int(owners[place])
        group = _group(scene, n, told)
        if not group or n_told.get(owner, 0) + len(group) > scene.n_facts_an_entity:
            continue
        n_told[owner] = n_told.get(owner, 0) + len(group)
        found.append(_line(scene, group, str(owner)))
        told.update(group)
        if len(found) == MOST_LINES:
            break
    return found


def _in_turns(owners: Integers, n_each: int) -> Integers:
    """Places of owners, in order: the first of each, then the second of each, up to `n_each`."""
    order = np.argsort(owners, kind="stable")
    starts = np.flatnonzero(np.diff(owners[order], prepend=-1))
    lengths = np.diff(starts, append=len(owners))
    turn = np.empty(len(owners), np.int64)
    turn[order] = np.arange(len(owners)) - np.repeat(starts, lengths)
    kept = np.flatnonzero(turn < n_each)
    return kept[np.argsort(turn[kept], kind="stable")]


def reminders(scene: Scene, days: int, told: set[int]) -> list[Line]:
    """Plans, events and birthdays of today and the days ahead, the next one first."""
    found: list[Line] = []
    for on, n in ahead(scene.known, scene.today, scene.today + timedelta(days=days)):
        group = _group(scene, n, told) if scene.may_tell[n] and len(found) < MOST_REMINDERS else []
        if group:
            found.append(_line(scene, group, f"on {on} {n}", {n: on}))
            told.update(group)
    return found


def _group(scene: Scene, n: int, told: set[int]) -> list[int]:
    """A fact with all that it is in conflict with, so that nobody hears one side alone; none where it was told."""
    others = scene.known.conflicts.get(n, (n,))
    return [] if n in told else [k for k in others if k == n or (scene.may_tell[k] and k not in told)]


def ahead(known: Known, first: date, last: date) -> list[tuple[date, int]]:
    """Days from `first` to `last` that facts are about, in order, each with the number of its fact.

    That is the day of a plan or a wish, of an event, and of a birthday the next one; a month or a year is no day.
    """
    found = []
    for n, relation, thing, valid_from in known.dated:
        on = _birthday(thing, first) if relation == BIRTHDAY else _day(thing) if relation in DATED else valid_from
        if on and first <= on <= last:
            found.append((on, n))
    return sorted(found)


def _line(scene: Scene, group: Sequence[int], entity: str, days: Mapping[int, date] | None = None) -> Line:
    facts = [scene.known.fact(n) for n in group]
    if scene.is_group:  # the level is that of the fact, not of the sentence in which it was said
        facts = [replace(fact, in_words=None) for fact in facts]
    text = "".join(_told(fact, (days or {}).get(n)) for n, fact in zip(group, facts, strict=True))
    if len(facts) > 1:
        text = f"{opening('conflict')}\n{text}</conflict>\n"
    return Line(text, entity, tuple(fact.edge_id for fact in facts))


def _told(fact: Fact, on: date | None) -> str:
    began = fact.valid_from.isoformat()[: PRECISION_CHARACTERS[fact.precision]] if fact.valid_from else None
    is_event = on is not None or fact.temporal_type in ("episode", *AHEAD)
    attributes = {
        "id": fact.edge_id[:ID_CHARACTERS],
        "confidence": f"{fact.confidence:.2f}",
        "on": on.isoformat() if on else began if is_event else None,
        "since": None if is_event else began,
        "said": None if (on or began) and not fact.is_old else fact.last_said_on.isoformat(),
        "old": OLD if fact.is_old else None,
        "learnt": LEARNT.get(fact.mechanism),
        "but": " ".join(fact.flags).replace("_", " ") or None,
    }
    in_words = plain(fact.in_words or "")
    if fact.is_said_once:  # of several times it is not known which one the words are of
        in_words = with_dates(in_words, fact.last_said_on)
    told = ": ".join(filter(None, (fact.sentence, in_words)))
    return element("fact", told, attributes)


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _birthday(text: str, today: date) -> date | None:
    """The next birthday, of MM-DD or a whole date; 29 February is kept on the 28th where there is none."""
    for year in (today.year, today.year + 1):
        for day in (text[-5:], "02-28" if text[-5:] == "02-29" else ""):
            on = _day(f"{year}-{day}") if day else None
            if on and on >= today:
                return on
            if on:
                break
    return None


def ids(lines: Iterable[Line]) -> tuple[str, ...]:
    """The facts that lines tell."""
    return tuple(edge_id for line in lines for edge_id in line.edge_ids)


CUT = "…"
LONGEST_NAME = 40
LONGEST_TEXT = 20_000
"""Characters of a message that are looked at."""
N_FIRST = 5
_PIECE = re.compile(r"[^\s]+(?: \((?:[a-z ]+ )?\d{4}(?:-\d\d){0,2}(?: to [\d-]+)?\))?(?:[ ]|$)")
"""A word, with the date that stands behind it."""
_DATED = re.compile(r"\d\)\s*$")


def quotes(hits: Iterable[Hit], question: str, thread: tuple[str, ...], n_tokens: int) -> Iterator[Line]:
    """A line for each message that was found, best first; none for what the conversation itself has just said, nor for
    the same words twice. The first few have twice the room: what answers is mostly among them."""
    wanted = frozenset(question_stems(question, frozenset()))
    is_time_wanted = asks_for_time(question)
    seen = {_key(text) for text in (question, *thread)}
    rank = 0
    for hit in hits:
        text = plain(hit.text[:LONGEST_TEXT])
        if not text or hit.session_id is None or hit.turn_number is None or _key(text) in seen:
            continue
        seen.add(_key(text))
        room = n_tokens * (2 if rank < N_FIRST else 1)
        rank += 1
        text, is_pasted = _better(hit.text[:LONGEST_TEXT], wanted)
        by = plain(hit.by or "")[:LONGEST_NAME] or None
        attributes = {"pasted_by" if is_pasted else "by": by, "on": hit.said_on.isoformat()}
        told = element("quote", trimmed(with_dates(text, hit.said_on), wanted, room, is_time_wanted), attributes)
        yield Line(told, turns=((hit.session_id, hit.turn_number),))


def _better(text: str, wanted: frozenset[str]) -> tuple[str, bool]:
    """What of a message is quoted, on one line, and whether others wrote it: a quotation (lines that begin with `>`) is
    nobody's own words. Of a message with both, the part that has more of what is asked for."""
    if ">" not in text:
        return plain(text), False
    lines = text.split("\n")
    parts = [plain("\n".join(line for line in lines if not line.lstrip().startswith(">")))]
    parts.append(plain("\n".join(line.lstrip()[1:] for line in lines if line.lstrip().startswith(">"))))
    own, pasted = (len(wanted & set(stems(part))) for part in parts)
    is_pasted = bool(parts[1]) and (pasted > own or not parts[0])
    return parts[is_pasted], is_pasted


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


def _key(text: str) -> str:
    return plain(text).casefold()
