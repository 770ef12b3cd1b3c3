"""What is known of one person as readers see it, and the names, words and turns by which it is found.

Facts stand as columns and are numbered by row, best first; one becomes a `Fact` when somebody wants to tell it. Reading
them takes a tenth of a second, so a process keeps what it read of the persons it was asked about last, for as long as
nothing has changed that this hangs on: the tables, what people said since, and what is about to be erased.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.language.name_keys import fold
from em_pipelines.language.values import local_instant
from em_pipelines.redaction.veils import hidden, hiding
from em_pipelines.retrieval.documents import says_more
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.searchable_home import SearchableHome
from em_pipelines.retrieval.terms import STOP_WORDS, stems
from em_pipelines.retrieval.user_search import opened, seen_from
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.schema.vocabulary import FUNCTIONAL, INSTRUCTION, USER, EntityType, PrivacyLevel
from em_pipelines.serving.facts import SHOWN, FactQuery, FactRow, KeptAs, standing
from em_pipelines.serving.readable_home import ReadableHome

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Turn = tuple[str, int]
COLUMNS = (
    "edge_id", "subject", "relation", "object", "over", "polarity", "status", "effective_confidence", "temporal_type",
    "valid_from", "valid_precision", "last_reinforced", "source_mechanism", "flags", "privacy_level", "subject_id",
    "object_id", "attribute", "contradicts", "provenance", "subject_keys", "object_keys",
    "statement", "is_old", "subject_type", "object_type",
)  # fmt: skip
OPEN_LEVELS = frozenset({PrivacyLevel.PUBLIC.value, PrivacyLevel.GENERIC.value})
"""What may be told where others listen."""
AHEAD = ("plan", "wish")
DATED = ("scheduled_for", "happened_on")
BIRTHDAY = "has_birthday"
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"(?:(?![{_UNSPACED}])[^\W_])+|[{_UNSPACED}]")
_FIRST_DAY = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact, as it is told."""

    edge_id: str
    subject: str
    relation: str
    object: str
    over: str | None
    polarity: int
    confidence: float
    temporal_type: str
    valid_from: date | None
    precision: str
    last_said_on: date
    mechanism: str
    flags: tuple[str, ...]
    is_said_once: bool = False
    is_old: bool = False
    """Whether the person stated it and it has only faded since."""
    in_words: str | None = None
    """As it was said, where that says more than the fact in words."""

    @property
    def sentence(self) -> str:
        """The fact in words: `user lives in Bremen`."""
        return _sentence(self.subject, self.relation, self.object, self.over, self.polarity)


@dataclass(frozen=True)
class Known:
    """The facts of one person on one day in the columns COLUMNS, what the person is called beside `user`, of turns how
    far the clock of who spoke was ahead of UTC, in minutes, where it was and is known, and, as such rows too, how the
    person wants to be answered."""

    rows: pa.Table
    own_names: frozenset[str] = frozenset()
    clocks: Mapping[Turn, int] = field(default_factory=dict)
    instructions: pa.Table | None = None
    _facts: dict[int, Fact] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.rows)

    def only(self, chosen: Flags) -> "Known":
        """The facts that are chosen, by a flag each."""
        return Known(self.rows.filter(pa.array(chosen)), self.own_names, self.clocks, self.instructions)

    def wishes(self, *, is_open: bool) -> list[Fact]:
        """How the person wants to be answered, the newest first; `is_open`: what others may hear."""
        if self.instructions is None:
            return []
        levels = OPEN_LEVELS if is_open else [level.value for level in PrivacyLevel]
        told = self.instructions.filter(pc.is_in(self.instructions["privacy_level"], pa.array(sorted(levels))))
        found = [_fact(told.slice(n, 1), self.clocks) for n in range(len(told))]
        return sorted(found, key=lambda fact: fact.last_said_on, reverse=True)

    def fact(self, n: int) -> Fact:
        """The fact of a number."""
        found = self._facts.get(n)
        if found is None:
            found = self._facts[n] = _fact(self.rows.slice(n, 1), self.clocks)
        return found

    @cached_property
    def entities(self) -> dict[str, int]:
        """Entity to its number."""
        ids = self.rows["subject_id"].to_pylist() + self.rows["object_id"].to_pylist()
        return {entity: n for n, entity in enumerate(dict.fromkeys(filter(None, ids)))}

    @cached_property
    def ends(self) -> Integers:
        """Facts × 2: the numbers of subject and object; the subject's twice where the object is a literal."""
        subjects, objects = self.rows["subject_id"].to_pylist(), self.rows["object_id"].to_pylist()
        numbers = [(self.entities[s], self.entities[o or s]) for s, o in zip(subjects, objects, strict=True)]
        return np.array(numbers, np.int64).reshape(len(numbers), 2)

    @cached_property
    def confidence(self) -> Floats:
        """Of each fact, 0 to 1."""
        return np.asarray(self.rows["effective_confidence"].to_numpy(), np.float64)

    @cached_property
    def last_said(self) -> Integers:
        """Of each fact, the ordinal of the day."""
        days = pc.cast(pc.cast(self.rows["last_reinforced"], pa.date32(), safe=False), pa.int32())
        return np.asarray(days.to_numpy(), np.int64) + _FIRST_DAY

    def holds(self, column: str, values: Iterable[str]) -> Flags:
        """Of each fact, whether a column holds one of the values."""
        found: Flags = pc.is_in(self.rows[column], value_set=pa.array(sorted(values), pa.string())).to_numpy()
        return found

    def has(self, column: str) -> Flags:
        """Of each fact, whether a column says anything."""
        said: Flags = pc.is_valid(self.rows[column]).to_numpy()
        return said

    @cached_property
    def is_affirmed(self) -> Flags:
        """Of each fact, whether it says that something is so, not that it is not."""
        said: Flags = pc.greater(self.rows["polarity"], 0).to_numpy()
        return said

    @cached_property
    def is_old(self) -> Flags:
        """Of each fact, whether it has faded and may be told as old."""
        return np.asarray(self.rows["is_old"].to_numpy(), bool)

    @cached_property
    def names(self) -> dict[int, frozenset[str]]:
        """Entity, by number, to its names, normalised."""
        found: dict[int, frozenset[str]] = {}
        for side, end in enumerate(("subject", "object")):
            named = np.flatnonzero(self.has(f"{end}_id"))  # a phrase has keys, and is nobody's name
            numbers, first = np.unique(self.ends[named, side], return_index=True)
            keys = self.rows[f"{end}_keys"].take(pa.array(named[first])).to_pylist()
            for number, names in zip(numbers.tolist(), keys, strict=True):
                found[number] = found.get(number, frozenset()).union(names)
        if self.person is not None:
            found[self.person] |= self.own_names
        return found

    @cached_property
    def person(self) -> int | None:
        """The entity of the person themselves, by number; None where no fact is about them."""
        for side, column in enumerate(("subject", "object")):
            own = np.flatnonzero(self.holds(column, [USER]))
            if len(own):
                return int(self.ends[own[0], side])
        return None

    @cached_property
    def others(self) -> frozenset[int]:
        """The people, by number, but the person themselves."""
        found: set[int] = set()
        for side, end in enumerate(("subject", "object")):
            found.update(self.ends[self.holds(f"{end}_type", [EntityType.PERSON]), side].tolist())
        return frozenset(found - {self.person})

    @cached_property
    def by_name(self) -> dict[tuple[str, ...], frozenset[int]]:
        """The folded words of a name to the entities that bear it. Words that say nothing are nobody's name."""
        found: dict[tuple[str, ...], set[int]] = defaultdict(set)
        for entity, names in self.names.items():
            for words in {folded_words(name) for name in names}:
                if not STOP_WORDS.issuperset(words):
                    found[words].add(entity)
        return {words: frozenset(entities) for words, entities in found.items()}

    @cached_property
    def words(self) -> dict[str, Integers]:
        """Stem to the numbers of the facts it stands in."""
        found: dict[str, list[int]] = defaultdict(list)
        parts = (self.rows[name].to_pylist() for name in ("subject", "relation", "object", "over", "polarity"))
        for n, told in enumerate(zip(*parts, strict=True)):
            for stem in set(stems(_sentence(*told))):
                found[stem].append(n)
        return {stem: np.array(numbers, np.int64) for stem, numbers in found.items()}

    @cached_property
    def said_in(self) -> dict[Turn, list[int]]:
        """Turn to the numbers of the facts that were said in it."""
        found: dict[Turn, list[int]] = defaultdict(list)
        sources = self.rows["provenance"].combine_chunks()
        places = pc.list_flatten(sources)
        turns = zip(pc.list_parent_indices(sources).to_pylist(), *(
            pc.struct_field(places, name).to_pylist() for name in ("session_id", "turn_number")
        ), strict=True)  # fmt: skip
        for n, session_id, turn_number in turns:
            if n not in found[session_id, turn_number]:
                found[session_id, turn_number].append(n)
        return found

    @cached_property
    def dated(self) -> list[tuple[int, str, str, date | None]]:
        """Facts that may be about a day, by number, with relation, object, and the day of plans and wishes."""
        rows = self.rows
        is_ahead = self.holds("temporal_type", AHEAD) & self.has("valid_from")
        is_ahead &= self.holds("valid_precision", ["day"])
        numbers = np.flatnonzero(self.is_affirmed & (is_ahead | self.holds("relation", (*DATED, BIRTHDAY))))
        few = rows.take(pa.array(numbers))
        columns = (few[name].to_pylist() for name in ("relation", "object", "valid_from"))
        return list(zip(numbers.tolist(), *columns, strict=True))

    @cached_property
    def conflicts(self) -> dict[int, tuple[int, ...]]:
        """A fact that cannot hold beside others to all of them and itself, the one said last first."""
        groups: dict[int, set[int]] = {}
        numbers = {edge_id: n for n, edge_id in enumerate(self.rows["edge_id"].to_pylist())}
        for n, other in enumerate(self.rows["contradicts"].to_pylist()):
            if other in numbers:
                _join(groups, (n, numbers[other]))
        for members in self._slots():
            if len({self.fact(n).object for n in members}) > 1:
                _join(groups, members)
        return {n: tuple(sorted(group, key=lambda k: (-self.last_said[k], k))) for n, group in groups.items()}

    def _slots(self) -> Iterable[list[int]]:
        """Affirmed facts that leave room for one value: those of one thing, functional relation and attribute."""
        slots: dict[tuple[int, str, str], list[int]] = defaultdict(list)
        for n in np.flatnonzero(self.holds("relation", FUNCTIONAL)).tolist():
            row = self.rows.slice(n, 1)
            if row["polarity"][0].as_py() > 0:
                slots[int(self.ends[n, 0]), row["relation"][0].as_py(), row["attribute"][0].as_py() or ""].append(n)
        return slots.values()


def folded_words(text: str) -> tuple[str, ...]:
    """The words of a text without case and accents; of scripts without blanks each character is one."""
    return tuple(_WORD.findall(fold(text)))


def _fact(rows: pa.Table, clocks: Mapping[Turn, int]) -> Fact:
    row = rows.to_pylist()[0]
    last = row["provenance"][-1:]
    offset = clocks.get((last[0]["session_id"], last[0]["turn_number"])) if last else None
    return Fact(
        edge_id=row["edge_id"],
        subject=row["subject"],
        relation=row["relation"],
        object=row["object"],
        over=row["over"],
        polarity=row["polarity"],
        confidence=row["effective_confidence"],
        temporal_type=row["temporal_type"],
        valid_from=row["valid_from"],
        precision=row["valid_precision"] or "day",
        last_said_on=local_instant(row["last_reinforced"], offset).date(),
        mechanism=row["source_mechanism"],
        flags=tuple(row["flags"]),
        is_said_once=len(row["provenance"]) == 1,
        is_old=row["is_old"],
        in_words=says_more(row),
    )


def _sentence(subject: str, relation: str, thing: str, over: str | None, polarity: int) -> str:
    verb = relation.replace("_", " ")
    return f"{subject} {'' if polarity > 0 else 'not '}{verb} {thing}{f' over {over}' if over else ''}"


def _join(groups: dict[int, set[int]], members: Iterable[int]) -> None:
    joined = set().union(*(groups.get(n, {n}) for n in members))
    groups.update(dict.fromkeys(joined, joined))


KEPT_PERSONS = 16
LONGEST_NAME = 200

_kept: dict[tuple[Path, str, str | None], tuple[tuple[Any, ...], Known]] = {}


def known(home: SearchableHome, user_id: str, as_of: date, domain: str | None = None) -> Known:
    """What is known of a person at the end of a day, with what they corrected since and without what is about to go; in
    a domain, what may be told there."""
    view = seen_from(home, user_id, domain)
    pack = opened(home, user_id)
    clocks = _clocks(pack) if pack is not None else {}
    stamp = (
        len(clocks),
        _tables(home, as_of),
        _feedback(home, as_of),
        as_of,
        hidden(home, user_id),
        home.settings.decay,
        view,
    )
    key = (home.path.resolve(), user_id, domain)
    kept = _kept.get(key)
    if kept and kept[0] == stamp:
        return kept[1]
    waiting = home.waiting(user_id, as_of)
    is_whole = view is None and not hidden(home, user_id)
    columns = COLUMNS if is_whole else ("*",)  # what is to be hidden is known by the others
    query = FactQuery(user_id, as_of, has_old=True, kept_as=KeptAs.WITH_INSTRUCTIONS)
    rows = standing(home.store, query, home.settings.decay, waiting, columns)
    if view is not None:
        told = view.all_told(cast("list[FactRow]", rows.to_pylist()))
        rows = pa.Table.from_pylist(cast("list[dict[str, Any]]", told), schema=rows.schema)
    found = replace(_known(home, user_id, rows), clocks=clocks)
    _kept.pop(key, None)
    while len(_kept) >= KEPT_PERSONS:
        _kept.pop(next(iter(_kept)), None)
    _kept[key] = (stamp, found)
    return found


def _clocks(pack: Pack) -> dict[Turn, int]:
    """Of messages, by conversation and turn, how far the clock of who spoke was ahead of UTC, where it is known."""
    columns = pack.documents.select(["session_id", "turn_number", "utc_offset_minutes"]).slice(0, pack.n_messages)
    known = columns.filter(pc.is_valid(columns["utc_offset_minutes"]))
    sessions, turns, minutes = (known[name].to_pylist() for name in known.column_names)
    return dict(zip(zip(sessions, turns, strict=True), minutes, strict=True))


def is_id(user_id: str) -> bool:
    """Whether anybody may have such an id: nobody has one that is no UTF-8, as a shell may hand over."""
    try:
        user_id.encode()
    except UnicodeEncodeError:
        return False
    return True


def forget() -> None:
    """Lets go of what was read, so that the next question reads it anew."""
    _kept.clear()


def _tables(home: ReadableHome, as_of: date) -> tuple[tuple[date, str] | None, ...]:
    """What the tables hold that are read."""
    days = [(table, home.store.lake.latest(table, as_of)) for table in (EDGES, ENTITIES)]
    infos = [(day, home.store.lake.info(table, day)) for table, day in days if day]
    return tuple((day, info.content_digest) if info else None for day, info in infos)


def _feedback(home: ReadableHome, as_of: date) -> tuple[str | None, ...]:
    """What people have said about memory. What of it waits to be folded shows in the tables."""
    return tuple(home.store.log.digest("feedback", day) for day in home.store.log.days("feedback") if day <= as_of)


def _known(home: ReadableHome, user_id: str, rows: pa.Table) -> Known:
    """The person answers to their user id and to what they said their name is."""
    shown = rows.filter(pc.or_(pc.is_in(rows["status"], value_set=pa.array(SHOWN)), rows["is_old"]))
    if hidden(home, user_id):
        is_hidden = hiding(home, user_id)
        shown = shown.filter(pa.array([not is_hidden(row) for row in shown.to_pylist()], pa.bool_()))
    is_name = pc.and_(pc.equal(shown["relation"], "has_name"), pc.equal(shown["subject"], USER))
    said = shown.filter(pc.and_(is_name, pc.greater(shown["polarity"], 0)))["object"].to_pylist()
    is_instruction = pc.equal(shown["relation"], INSTRUCTION)
    shown, instructions = (shown.filter(one).select(COLUMNS) for one in (pc.invert(is_instruction), is_instruction))
    return Known(shown, frozenset([*said, user_id[:LONGEST_NAME]]), instructions=instructions)
