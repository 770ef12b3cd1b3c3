"""Facts as lines of the block: which ones, in which order, and how each is told."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property

import numpy as np

from em_pipelines.retrieval.context.known_facts import (
    AHEAD,
    BIRTHDAY,
    DATED,
    OPEN_LEVELS,
    Fact,
    Flags,
    Floats,
    Integers,
    Known,
)
from em_pipelines.retrieval.context.sections import Line, element, opening, plain
from em_pipelines.retrieval.documents import with_dates
from em_pipelines.retrieval.terms import is_in_scope
from em_pipelines.schema.vocabulary import Mechanism

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
    """What a block is about: the facts, how near each entity is, how relevant each fact is and whether it bears on the
    question, and who listens."""

    known: Known
    near: Floats
    relevance: Floats
    bears: Flags
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
    wanted = np.flatnonzero((scene.near[known.ends].max(axis=1) == nearness) & scene.may_tell & scene.bears)
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


def wishes(scene: Scene, question: str) -> list[Line]:
    """How the person wants to be answered, where that holds of the question: `always give versions when I ask about
    libraries` of one about libraries, `answer in metric units` of all."""
    return [
        Line(element("instruction", plain(fact.object), {"said": fact.last_said_on.isoformat()}))
        for fact in scene.known.wishes(is_open=scene.is_group)
        if fact.confidence >= scene.min_confidence and is_in_scope(fact.object, question)
    ]


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
