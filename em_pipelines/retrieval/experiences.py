"""What recurs, for whoever asks: the experiences of one user that may be told now.

Which those are is read from the tables each time, never from a pack alone: a night that was taken back, a fact that was
taken back since the night, and what is about to be erased are told no more at once. Of an earlier day than that of the
last night nothing is told, for of nights only the last is kept.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa

from em_pipelines.lifecycle.consolidation.evidence import OF_SKILLS, PREFERENCE, STATE, experience_id
from em_pipelines.redaction.veils import Place, Veil, hidden
from em_pipelines.retrieval.documents import EXPERIENCE, SCHEMA, Hit
from em_pipelines.retrieval.searchable_home import SearchableHome
from em_pipelines.retrieval.terms import STOP_WORDS, question_stems, stems
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.derived import EXPERIENCE_LINKS, EXPERIENCES, RULES
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.schema.vocabulary import Status
from em_pipelines.serving.facts import FactQuery, Overlay, standing

ACTIVE, COLD = "active", "cold"
OF_FACTS = frozenset({PREFERENCE, STATE})
"""Kinds that rest on a fact, and stand no longer than it does."""
STANDING = (Status.ACTIVE.value, "archived")
MIN_SHARED_STEMS = 2
MIN_SHARED_SHARE = 0.5
_SILENT = frozenset(stem for word in STOP_WORDS for stem in stems(word))


EXPERIENCE_SCHEMA = SCHEMA.append(pa.field("experience_id", pa.string()))
"""Documents of experiences: what stands in no conversation alone, said when it was last seen."""


def documents_of(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Rows of `experiences` as documents."""
    made = [
        {
            "kind": EXPERIENCE, "experience_id": row["experience_id"], "text": row["text"], "said_at": row["last_seen"],
            "confidence": row["confidence"], "tags": row["context_tags"], "relation": row["component"],
            "user_id": row["user_id"],
        }
        for row in rows
    ]  # fmt: skip
    return pa.Table.from_pylist(made, schema=EXPERIENCE_SCHEMA)


@dataclass(frozen=True, eq=False)
class Experience:
    """A row of `experiences`, the rule that it is worded as, if any, and where its evidence stands: conversation and
    turn, None of an invocation. `edge_id` is the fact that a taste or a mood rests on."""

    row: Mapping[str, Any]
    rule: str | None
    places: frozenset[tuple[str, int | None]]
    edge_id: str | None = None

    @property
    def experience_id(self) -> str:
        """Its id."""
        return str(self.row["experience_id"])

    @property
    def is_cold(self) -> bool:
        """Whether it was last seen so long ago that it is told only to who looks for it."""
        return bool(self.row["tier"] == COLD)

    @property
    def is_open(self) -> bool:
        """Whether it may be told where others listen: how skills fare, and no word of what anybody said or got."""
        return self.row["kind"] in OF_SKILLS and self.row["trigger"] is None

    @property
    def sessions(self) -> set[str]:
        """The conversations that its evidence is from."""
        return {session for session, _ in self.places}

    @cached_property
    def component_stems(self) -> frozenset[str]:
        """The stems of what it is about."""
        return frozenset(stems(self.row["component"]))

    @cached_property
    def own_stems(self) -> frozenset[str]:
        """The stems of what it says, without the words that all of its kind have."""
        said: list[str] = [self.row[name] or "" for name in ("component", "category", "trigger", "mitigation")]
        if self.row["kind"] not in OF_SKILLS:
            said = [self.row["text"].rpartition(" (")[0] or self.row["text"], *self.row["context_tags"]]
        return frozenset(stems(" ".join(said))) - _SILENT

    def shares(self, asked: Collection[str]) -> int:
        """How many of the stems of a question it has."""
        return len(self.own_stems.intersection(asked))

    def is_about(self, asked: Collection[str]) -> bool:
        """Whether a question, by the stems of its words, is about it: it names what it is about, or has two of its
        words, or half of the question's own."""
        if self.component_stems and self.row["kind"] in OF_SKILLS and self.component_stems.issubset(asked):
            return True
        n_shared = self.shares(asked)
        return n_shared >= MIN_SHARED_STEMS or n_shared >= max(1, MIN_SHARED_SHARE * len(asked))


def standing_rows(
    home: SearchableHome, users: Collection[str] | None = None, until: date | None = None
) -> list[dict[str, Any]]:
    """The rows of `experiences` of some users, or of all, that count: what waits for somebody to look at it does
    not."""
    return [row for row in _rows(home, EXPERIENCES, users, until) if row["status"] == ACTIVE]


def tellable(
    home: SearchableHome, user_id: str, until: date | None = None, elsewhere: frozenset[str] = frozenset()
) -> list[Experience]:
    """The experiences of one user that may be told now, or at the end of a day, the strongest first; without those of
    which anything happened in conversations `elsewhere`, of another domain than is asked from."""
    known = _known(home, user_id, until)
    edges = _edges_behind(home, user_id, until, known)
    stand = [
        one if one.row["kind"] not in OF_FACTS else replace(one, edge_id=edges[one.experience_id])
        for one in known
        if one.row["kind"] not in OF_FACTS or one.experience_id in edges
    ]
    veils = hidden(home, user_id)
    return [one for one in stand if not is_covered(one, veils) and elsewhere.isdisjoint(one.sessions)]


KEPT_USERS = 16
"""Of so many the experiences are kept, for as long as nobody has a night or takes one back."""
_kept: dict[tuple[Path, str], tuple[tuple[str, ...], list[Experience]]] = {}


def _known(home: SearchableHome, user_id: str, until: date | None) -> list[Experience]:
    """The experiences of one user that count, the strongest first."""
    lake = home.store.lake
    days = [(table, lake.latest(table, until or date.max)) for table in (EXPERIENCES, RULES, EXPERIENCE_LINKS)]
    infos = [lake.info(table, day) for table, day in days if day]
    stamp = tuple(info.content_digest for info in infos if info)
    key = (home.path.resolve(), user_id)
    kept = _kept.get(key)
    if kept is None or kept[0] != stamp:
        kept = (stamp, _read(home, user_id, until) if stamp else [])
        while len(_kept) >= KEPT_USERS:
            _kept.pop(next(iter(_kept)), None)
        _kept[key] = kept
    return kept[1]


def _read(home: SearchableHome, user_id: str, until: date | None) -> list[Experience]:
    rows = standing_rows(home, [user_id], until)
    rules = {row["experience_id"]: row["text"] for row in _rows(home, RULES, [user_id], until)}
    places: dict[str, set[tuple[str, int | None]]] = defaultdict(set)
    for link in _rows(home, EXPERIENCE_LINKS, [user_id], until):
        places[link["experience_id"]].add((link["session_id"], link["turn_number"]))
    found = [Experience(row, rules.get(row["experience_id"]), frozenset(places[row["experience_id"]])) for row in rows]
    return sorted(found, key=lambda one: (-one.row["strength"], one.experience_id))


def about(known: Iterable[Experience], text: str) -> list[Experience]:
    """Those that a text is about, those first that share most words with it; what is cold is left out."""
    asked = frozenset(question_stems(text, frozenset()))
    found = [one for one in known if not one.is_cold and one.is_about(asked)]
    return sorted(found, key=lambda one: -one.shares(asked))


def hit_of(one: Experience, score: float, path: tuple[str, ...]) -> Hit:
    """An experience as a hit that the graph led to."""
    row = one.row
    return Hit(
        EXPERIENCE, None, None, None, row["text"], round(score, 6), row["last_seen"].date(), None, {}, path=path,
        experience_id=one.experience_id,
    )  # fmt: skip


def at_turns(found: Iterable[Experience]) -> dict[Place, list[Experience]]:
    """The experiences that rest on each turn."""
    known: dict[Place, list[Experience]] = defaultdict(list)
    for one in found:
        for session_id, turn_number in one.places:
            if turn_number is not None:
                known[session_id, turn_number].append(one)
    return dict(known)


def is_covered(one: Experience, veils: Sequence[Veil]) -> bool:
    """Whether a pending request to forget covers an experience, or anything that it rests on."""
    first = one.row["first_seen"].date()
    sessions: set[str | None] = {*one.sessions} or {None}
    return any(
        veil.hides_document(session_id=session, edge_id=one.edge_id, text=one.row["text"], said_on=first)
        for veil in veils
        for session in sessions
    )


def _rows(
    home: SearchableHome, table: Table, users: Collection[str] | None, until: date | None
) -> list[dict[str, Any]]:
    lake = home.store.lake
    day = lake.latest(table, until or date.max)
    if day is None:
        return []
    found = lake.read(table, day) if users is None else lake.find(table, day, "user_id", users)
    rows: list[dict[str, Any]] = found.to_pylist()
    return rows


def _edges_behind(
    home: SearchableHome, user_id: str, until: date | None, known: Iterable[Experience]
) -> dict[str, str]:
    """The facts that tastes and moods rest on and that stand, by experience."""
    relations = {one.row["component"] for one in known if one.row["kind"] in OF_FACTS}
    day = home.store.lake.latest(EDGES, until or date.max) if relations else None
    if day is None:
        return {}
    edges = _standing_edges(home, user_id, until or day, home.waiting(user_id, until or date.max))
    of_them = (edge for edge in edges if edge["relation"] in relations)
    return {
        experience_id(user_id, kind, edge["relation"], edge["edge_id"]): str(edge["edge_id"])
        for edge, kind in product(of_them, OF_FACTS)
    }


def _standing_edges(home: SearchableHome, user_id: str, as_of: date, waiting: Overlay | None) -> list[dict[str, Any]]:
    """Facts that stand at the end of a day, feedback that waits laid over them."""
    columns = ("edge_id", "relation", "status", "subject", "object", "effective_confidence")
    rows = standing(home.store, FactQuery(user_id, as_of), home.settings.decay, waiting, columns).to_pylist()
    return [row for row in rows if row["status"] in STANDING]
