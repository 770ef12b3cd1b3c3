"""Facts as lines of the block: which ones, in which order, and how each is told."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import zip_longest

import numpy as np

from em_pipelines.context.known import Fact, Floats, Known
from em_pipelines.context.markup import element, opening
from em_pipelines.context.sections import Line
from em_pipelines.vocabulary import Mechanism, PrivacyLevel

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
AHEAD = ("plan", "wish")
DATED = ("scheduled_for", "happened_on")


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

    def may_tell(self, n: int) -> bool:
        """Whether a fact is for whoever listens, and sure enough to be told at all."""
        fact = self.known.facts[n]
        is_open = not self.is_group or fact.privacy_level in OPEN_LEVELS
        return is_open and fact.confidence >= self.min_confidence


def lines(scene: Scene, nearness: float, told: set[int]) -> list[Line]:
    """The facts of entities that are just so near, best first: the first fact of each, then the second of each, and so
    on. Those in `told` are left out, and what is chosen is added to them."""
    known = scene.known
    of_facts = scene.near[known.ends].max(axis=1) if len(known.facts) else np.zeros(0)
    wanted = np.flatnonzero(of_facts == nearness)
    by_entity: dict[int, list[Line]] = {}
    for n in wanted[np.lexsort((wanted, -scene.relevance[wanted]))].tolist():
        if n in told or not scene.may_tell(n):
            continue
        owner = next(end for end in known.ends[n].tolist() if scene.near[end] == nearness)
        own = by_entity.setdefault(owner, [])
        if sum(len(line.edge_ids) for line in own) < scene.n_facts_an_entity:
            group = [k for k in known.conflicts.get(n, (n,)) if k == n or scene.may_tell(k)]
            own.append(_line(known, group, str(owner)))
            told.update(group)
    return [line for rank in zip_longest(*by_entity.values()) for line in rank if line]


def reminders(scene: Scene, days: int, told: set[int]) -> list[Line]:
    """Plans, events and birthdays of today and the days ahead, the next one first."""
    found = [
        (on, n)
        for n, on in ahead(scene.known.facts, scene.today, scene.today + timedelta(days=days))
        if n not in told and scene.may_tell(n)
    ]
    told.update(n for _, n in found)
    return [_line(scene.known, [n], f"on {on} {n}", on) for on, n in sorted(found)]


def ahead(facts: Sequence[Fact], first: date, last: date) -> Iterator[tuple[int, date]]:
    """The numbers of facts that are about a day from `first` to `last`, and the day."""
    for n, fact in enumerate(facts):
        on = day_of(fact, first)
        if on and first <= on <= last and fact.polarity > 0:
            yield n, on


def day_of(fact: Fact, today: date) -> date | None:
    """The day that a plan, an event or a birthday is about; of birthdays the next. None for a month or a year."""
    if fact.relation in DATED:
        return _day(fact.object)
    if fact.relation == "has_birthday":
        return _birthday(fact.object, today)
    return fact.valid_from if fact.temporal_type in AHEAD and fact.precision == "day" else None


def _line(known: Known, group: Sequence[int], entity: str, on: date | None = None) -> Line:
    facts = [known.facts[n] for n in group]
    text = "".join(_told(fact, on) for fact in facts)
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
        "said": None if on or began else fact.last_said_on.isoformat(),
        "learnt": LEARNT.get(fact.mechanism),
        "but": " ".join(fact.flags).replace("_", " ") or None,
    }
    return element("fact", fact.sentence, attributes)


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
