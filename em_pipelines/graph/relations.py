"""Relations as the fold compares them: which say the same the other way round, which cannot hold together, and the
circles that some may not form. Of a table that is sql/incoming.sql, live.sql and macros.sql, of one row `placed`.

Here as well: the conflicts of a day that is folded row by row (sql/contradictions.sql, sql/link.sql).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.language.values import attribute_key
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.graph import CONTRADICTIONS
from em_pipelines.schema.vocabulary import FUNCTIONAL, LASTING, RELATIONS, SYMMETRIC, USER
from em_pipelines.storage.duckdb_engine import fetch, scalar, statement

HERE = Path(__file__).parent
Row = dict[str, Any]
Slot = tuple[str, str, str, str, str, bool]
ReadAs = Mapping[str, str]
"""Names that are one with another → that other."""
Facts = Mapping[str, Row]
"""The facts that the day can touch, as they are after it, by id."""
BLANKS = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""What DuckDB's `trim` takes away; tabs and line ends stay."""
UNVERIFIED = " (unverified)"

PREFERENCE = "preference"
"""The family of relations that speak for or against one thing, and so can contradict each other."""
TONES: dict[str, tuple[int, int]] = {
    "likes": (1, -1),
    "prefers": (1, 0),
    "interested_in": (1, 0),
    "might_be_interested_in": (0, 0),
    "dislikes": (-1, 0),
}
"""Whether a relation speaks for (1) or against (-1) its object, stated and denied: who no longer prefers a thing, or
does not dislike it, says neither."""
KEPT_DIRECTION = {"child_of": "parent_of", "has_part": "part_of", "manages": "reports_to"}
"""Inverse relations, and the one that stands for both when facts are compared; the functional one where one is."""
ACYCLIC = frozenset({"part_of", "parent_of", "reports_to", "located_in"})
"""Relations (of those that are kept) in which nothing can be above itself."""
TAKEN_BACK_TOGETHER: tuple[frozenset[str], ...] = (
    frozenset({"likes", "prefers", "interested_in", "might_be_interested_in"}),
    frozenset({"wants", "needs", "plans", "decided"}),
    frozenset({"owns", "uses", "has_pet"}),
    frozenset({"did", "attended", "visited"}),
    frozenset({"knows", "friend_of", "colleague_of", "relates_to"}),
    frozenset({"is_a", "works_as"}),
)
"""Relations between which extractors differ for one sentence: who takes one of them back means the sentence."""
MAY_BE_ABSENT = (
    "valid_from", "valid_to", "valid_precision", "over", "statement", "value", "attribute", "object_id", "pair_id"
)  # fmt: skip
"""Columns that a statement upon a known fact may leave out; in SQL they are null."""


def kept(relation: str) -> str:
    """The relation under which a fact is compared."""
    return KEPT_DIRECTION.get(relation, relation)


def taken_back_with(relation: str) -> frozenset[str]:
    """Relations that go when a fact of this one is taken back."""
    return next((group for group in TAKEN_BACK_TOGETHER if relation in group), frozenset({relation}))


@cache
def relation_kinds() -> pa.Table:
    """One row a relation: how SQL is to compare it."""
    rows = [
        {
            "relation": relation,
            "relation_key": kept(relation),
            "family": PREFERENCE if relation in TONES else kept(relation),
            "is_functional": kept(relation) in FUNCTIONAL,
            "is_inverse": relation in KEPT_DIRECTION,
            "is_symmetric": relation in SYMMETRIC,
            "is_paired": relation in SYMMETRIC and relation in FUNCTIONAL,
            "is_lasting": relation in LASTING,
            "tone": TONES.get(relation, (0, 0))[0],
            "tone_denied": TONES.get(relation, (0, 0))[1],
        }
        for relation in sorted(RELATIONS)
    ]
    return pa.Table.from_pylist(rows)


def install_edge_macros(connection: duckdb.DuckDBPyConnection) -> None:
    """Defines the macros of sql/macros.sql: ids, slots and directions of edges, for as long as the connection lives."""
    connection.execute(statement(HERE, "macros"))


class Kind(NamedTuple):
    """How a relation is compared: a row of `relation_kinds`."""

    relation_key: str
    family: str
    is_functional: bool
    is_inverse: bool
    is_symmetric: bool
    is_paired: bool
    is_lasting: bool
    tone: int
    tone_denied: int


@cache
def kinds() -> dict[str, Kind]:
    """The kind of each relation."""
    return {row.pop("relation"): Kind(**row) for row in relation_kinds().to_pylist()}


@cache
def user_entity(user_id: str) -> str:
    """The id of the remembered person."""
    return content_id("ent", user_id, USER, "")


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a statement or a fact stands among others: which it meets, and as what.

    `is_functional` is the relation's, whether or not the statement has to be verified first. `holder_key` is of whom it
    is said: who has one value of a functional relation. Facts that pair two people hang on both, so those that leave
    the remembered person out all meet each other: their `meeting_key`, else the subject, is empty.
    """

    relation_key: str
    family: str
    is_functional: bool
    tone: int
    subject_key: str
    target_key: str
    holder_key: str
    meeting_key: str
    slot: Slot


def placed(row: Mapping[str, Any], read_as: Mapping[str, str]) -> Placed:
    """Places a row of `resolved` or `edges`; `read_as` has, of names that are one with another, that other."""
    kind = kinds()[row["relation"]]
    subject = read_as.get(row["subject_id"], row["subject_id"])
    object_id = row["object_id"] and read_as.get(row["object_id"], row["object_id"])
    target = object_id or row["object_key"]
    is_of_others = kind.is_paired and object_id and user_entity(row["user_id"]) not in (subject, object_id)
    stated = subject
    if object_id and _is_turned(kind, row["user_id"], subject, object_id):
        subject, target = object_id, subject
    meeting = "" if is_of_others else subject
    takes_place = kind.is_functional and not row["requires_verification"]
    return Placed(
        relation_key=kind.relation_key,
        family=kind.family,
        is_functional=kind.is_functional,
        tone=kind.tone if row["polarity"] == 1 else kind.tone_denied,
        subject_key=subject,
        target_key=target,
        holder_key=stated if is_of_others else subject,
        meeting_key=meeting,
        slot=(
            row["user_id"], meeting, kind.family, attribute_key(row["attribute"]), "" if takes_place else target,
            row["requires_verification"],
        ),
    )  # fmt: skip


def _is_turned(kind: Kind, user_id: str, subject: str, object_id: str) -> bool:
    """Whether the fact is compared from its other end: the remembered person first, else the lesser id."""
    if kind.is_inverse or not kind.is_symmetric:
        return kind.is_inverse
    user = user_entity(user_id)
    return subject != user and (object_id == user or object_id < subject)


def folded(text: str) -> str:
    """Lower case as DuckDB has it: letter by letter, one for one."""
    return text.lower() if text.isascii() else "".join(letter.lower()[0] for letter in text)


def literal_key(value: str) -> str:
    """The `object_key` of a literal."""
    return folded(value.strip(BLANKS))


def break_circles(connection: duckdb.DuckDBPyConnection) -> None:
    """Marks today's active edges that close a circle, in the order in which they were learned."""
    relations = pa.table({"relation_key": sorted(ACYCLIC)})
    connection.register("acyclic", relations)
    try:
        if not scalar(connection, "SELECT count(*) FROM live SEMI JOIN acyclic USING (relation_key)"):
            return
        edges = fetch(connection, statement(HERE, "ladder")).to_pylist()
    finally:
        connection.unregister("acyclic")
    closing = circles(edges)
    if not closing:
        return
    connection.register("closing", pa.table({"edge_id": closing}))
    for name in ("circles_note", "circles_update"):
        connection.execute(statement(HERE, name))
    connection.unregister("closing")


def circles(edges: Iterable[Row]) -> list[str]:
    """Ids of today's edges that lead back to where they start, over those that stand before them.

    Edges are placed, with `is_today` and learned_at, edge_id and user_id.
    """
    above: dict[tuple[str, str, str], set[str]] = {}
    found: list[str] = []
    for edge in sorted(edges, key=lambda e: (e["is_today"], e["learned_at"], e["edge_id"])):
        user, relation, start, end = (edge[n] for n in ("user_id", "relation_key", "subject_key", "target_key"))
        if edge["is_today"] and _leads_to(above, user, relation, end, start):
            found.append(edge["edge_id"])
        else:
            above.setdefault((user, relation, start), set()).add(end)
    return found


def _leads_to(above: dict[tuple[str, str, str], set[str]], user: str, relation: str, start: str, end: str) -> bool:
    seen, todo = {start}, [start]
    while todo:
        here = todo.pop()
        if here == end:
            return True
        new = above.get((user, relation, here), set()) - seen
        seen |= new
        todo += new
    return False


def columns(place: Placed) -> Row:
    return {name: getattr(place, name) for name in Placed.__slots__}


@dataclass(frozen=True, slots=True)
class _Reach:
    """What a day's statements and its joined or parted names lead to among the facts."""

    met: set[tuple[str, str, str]]
    slots: set[Slot]
    regrouped: set[str]
    read_whole: set[str]

    @classmethod
    def of(cls, incoming: Sequence[Row], regrouped: Mapping[str, str]) -> "_Reach":
        """`incoming` are placed statements, `regrouped` names as they are read now, each with whose name it is."""
        taking_back = {row["user_id"] for row in incoming if row["act"] == "retract"}
        return cls(
            met={(row["user_id"], row["meeting_key"], row["family"]) for row in incoming},
            slots={row["slot"] for row in incoming},
            regrouped=set(regrouped),
            read_whole=taking_back.union(regrouped.values()),
        )

    def regroups(self, place: Placed) -> bool:
        return place.subject_key in self.regrouped or place.target_key in self.regrouped

    def meets(self, place: Placed, user_id: str, is_in_conflict: bool) -> bool:
        """Whether a fact of a subject and family that is spoken of has to be looked at."""
        if (user_id, place.meeting_key, place.family) not in self.met:
            return False
        is_told = user_id in self.read_whole or place.slot in self.slots or place.relation_key in ACYCLIC
        return is_told or is_in_conflict


def touched(edges: pa.Table, incoming: Sequence[Row], regrouped: Mapping[str, str], read_as: ReadAs) -> Iterator[Row]:
    """The facts that what is said may meet, and those of names joined or parted today, each with its place.

    Of the others of a subject and family only those that a round could change all the same, or that a conflict, a
    circle or a retraction leads to: somebody likes hundreds of things, and today speaks of one.

    `incoming` are placed statements, `regrouped` names as they are read now, each with whose name it is.
    """
    reach = _Reach.of(incoming, regrouped)
    candidates = _candidates(edges, incoming, (set(regrouped), reach.read_whole), read_as)
    doubted = set(candidates["contradicts"].drop_null().to_pylist())
    for fact in rows_of(candidates):
        place = placed(fact, read_as)
        is_in_conflict = fact["contradicts"] is not None or fact["edge_id"] in doubted
        if reach.regroups(place) or reach.meets(place, fact["user_id"], is_in_conflict):
            takes_place = place.is_functional and not fact["requires_verification"]
            yield {**fact, **columns(place), "is_functional": takes_place}


def _candidates(
    edges: pa.Table, incoming: Sequence[Row], wanted: tuple[set[str], set[str]], read_as: ReadAs
) -> pa.Table:
    """Facts among which are all that `touched` wants, found without making rows of them.

    `wanted` are names that were joined or parted, and people of whom more is read than what is spoken of.
    """
    regrouped, read_whole = wanted
    families = {row["family"] for row in incoming}
    subjects, targets = (_also_named({row[key] for row in incoming}, read_as) for key in ("subject_key", "target_key"))
    of_family = is_in(edges["relation"], (name for name, kind in kinds().items() if kind.family in families))
    doubted = edges.filter(pc.and_(of_family, pc.is_valid(edges["contradicts"])))["contradicts"].drop_null()
    taking = (name for name, kind in kinds().items() if kind.is_functional or kind.relation_key in ACYCLIC)
    is_spoken_of = pc.or_(_names_any(edges, targets), is_in(edges["relation"], taking))
    in_conflict = pc.or_(pc.is_valid(edges["contradicts"]), is_in(edges["edge_id"], doubted.to_pylist()))
    is_close = pc.or_(pc.or_(is_spoken_of, in_conflict), is_in(edges["user_id"], read_whole))
    paired = is_in(edges["relation"], (name for name, kind in kinds().items() if kind.is_paired))
    may_meet = pc.and_(pc.and_(of_family, is_close), pc.or_(paired, _names_any(edges, subjects)))
    if regrouped:
        may_meet = pc.or_(may_meet, _names_any(edges, _also_named(regrouped, read_as)))
    return edges.filter(may_meet)


def _also_named(keys: set[str], read_as: ReadAs) -> set[str]:
    """The names that are read as one of these, and these."""
    return keys.union(entity for entity, into in read_as.items() if into in keys)


def _names_any(edges: pa.Table, ends: set[str]) -> pa.ChunkedArray:
    """Whether either end of each fact is one of these."""
    wanted = pa.array(sorted(ends), pa.string())
    is_subject, is_object = (is_in(edges[name], wanted) for name in ("subject_id", "object_key"))
    return pc.or_(is_subject, is_object)


def is_in(column: pa.ChunkedArray, values: Iterable[str] | pa.Array) -> pa.ChunkedArray:
    """Whether each value is one of these; nulls are not."""
    wanted = values if isinstance(values, pa.Array) else pa.array(sorted(values), pa.string())
    return pc.is_in(column, value_set=wanted)


def day_of(said: Row) -> date:
    """The day of a statement, by the clock of who made it."""
    day: date = said.get("said_on") or said["timestamp"].date()
    return day


def pair_doubts(live: Facts, changes: Iterable[Row]) -> None:
    """Lets each of the facts that a retraction may mean point at the next older one; changes the rows of `live`."""
    doubts = {change["claim_id"]: change for change in changes if change["kind"] == "DOUBT"}
    for change in doubts.values():
        fact, older = live[change["edge_id"]], doubts.get(change["pair_id"])
        if older is not None and older["edge_id"] != fact["edge_id"]:
            fact["contradicts"] = fact["contradicts"] or older["edge_id"]


def conflicts_after(before: pa.Table, live: Facts) -> pa.Table:
    """Open and settled conflicts: of facts that today touched as they now stand, all others as they stood."""
    if not live:
        return before
    met = ((fact, live.get(fact["contradicts"] or "")) for fact in live.values())
    rows = [_conflict(fact, other) for fact, other in met if other is not None]
    is_met, is_other_met = (is_in(before[name], live) for name in ("edge_id", "other_edge_id"))
    untouched = before.filter(pc.invert(pc.or_(is_met, is_other_met)))
    rows += [_half_met(row, live) for row in before.filter(pc.xor(is_met, is_other_met)).to_pylist()]
    return pa.concat_tables([untouched, CONTRADICTIONS.from_rows(rows)])


def _half_met(conflict: Row, live: Facts) -> Row:
    """A conflict of which today touched one side alone, as it may with what a retraction may have meant."""
    fact = live.get(conflict["edge_id"]) or live[conflict["other_edge_id"]]
    if conflict["status"] == "settled" or fact["status"] == "contradicted":
        return conflict
    decided_at = max(conflict["detected_at"], fact["unlearned_at"] or fact["last_reinforced"])
    return {**conflict, "status": "settled", "resolved_at": decided_at}


def _conflict(new: Row, old: Row) -> Row:
    is_open = new["status"] == old["status"] == "contradicted"
    return {
        "contradiction_id": content_id("con", new["edge_id"], old["edge_id"]),
        "user_id": new["user_id"],
        "edge_id": new["edge_id"],
        "other_edge_id": old["edge_id"],
        "entity_id": new["subject_key"],
        "reason": _conflict_reason(new, old),
        "status": "open" if is_open else "settled",
        "detected_at": new["learned_at"],
        "resolved_at": None if is_open else max(fact["unlearned_at"] or fact["learned_at"] for fact in (new, old)),
    }


def _conflict_reason(new: Row, old: Row) -> str:
    """Why two facts cannot both be; of different subjects or families they can, but a retraction may mean either."""
    if (new["meeting_key"], new["family"]) != (old["meeting_key"], old["family"]):
        return "retraction"
    return "polarity" if new["target_key"] == old["target_key"] else "another value"
