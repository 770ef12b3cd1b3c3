"""The fold of a small day, row by row.

DuckDB takes some 100 ms to plan the statements of a fold, whatever there is to fold; people mostly say a handful of
things a day. So the days of a small memory are folded here, in the same rounds and by the same rules as in sql/, and
large ones there: a test folds every log both ways and wants the same tables. Change both or neither.

The state stays in Arrow: only facts that the day can touch become rows.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple, cast

import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.extraction.feedback_statements import Spoken, Targeted
from em_pipelines.graph.confidence_decay import DecaySettings, purged
from em_pipelines.graph.regroup import LiveEdge, NameOp, rejoined, settled
from em_pipelines.graph.relations import (
    ACYCLIC,
    MAY_BE_ABSENT,
    ReadAs,
    Row,
    Slot,
    circles,
    columns,
    conflicts_after,
    is_in,
    kinds,
    literal_key,
    pair_doubts,
    placed,
    touched,
)
from em_pipelines.graph.rounds import (
    INSERTING,
    FoldSettings,
    after_changes,
    changes_of,
    inserted,
    meet,
    noted,
    standing,
)
from em_pipelines.graph.targets import KnownFact, acts_upon, reach
from em_pipelines.graph.topics import NameKey
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.graph import EDGES, GRAPH_OPS
from em_pipelines.storage.duckdb_engine import Rows

OPERATIONS = {
    "RECALL": "REINFORCE", "VERIFY": "REINFORCE", "CONTRADICT_NEW": "CONTRADICT", "OVERRULED": "CONTRADICT",
    "CIRCLE": "CONTRADICT", "DOUBT": "CONTRADICT", "CONFIRM_NEW": "CONFIRM",
} | dict.fromkeys(("SUPERSEDE", "REPLACE", "END", "RESTORE"), "REVISE")  # fmt: skip
"""What an auditor reads for a kind of change, where it is not the kind itself."""
SOURCE = ("session_id", "turn_number", "span_start", "span_end", "extraction_id")
"""Where something was said: an item of a fact's provenance."""
WINNERS = ("INSERT", "REVISE", "REINFORCE", "CONTRADICT_NEW")


@dataclass(frozen=True, slots=True)
class Day:
    """What one day brings to the fold.

    `claims`, `mentions`, `entity_mentions` and `entity_ops` are the day's tables; `entities` the registry at its end;
    `spoken` what its feedback says, whose mentions were resolved with the others. Both ends of a claim are mentions of
    the same message (`em_pipelines.extraction.assemble` sees to that), which is how a name finds its entity.
    """

    day: date
    claims: pa.Table
    mentions: pa.Table
    entity_mentions: pa.Table
    entity_ops: pa.Table
    entities: Rows
    spoken: Spoken


class FoldedRows(NamedTuple):
    """The state after the day and what the day did, in the columns of their tables."""

    edges: pa.Table
    graph_ops: pa.Table
    contradictions: pa.Table


@dataclass(slots=True)
class _Live:
    """The facts that the day can touch, by id and by slot, and what has changed of them, in order."""

    facts: dict[str, Row] = field(default_factory=dict)
    slots: dict[Slot, list[str]] = field(default_factory=lambda: defaultdict(list))
    changes: list[Row] = field(default_factory=list)

    def add(self, fact: Row) -> None:
        self.slots[fact["slot"]].append(fact["edge_id"])
        self.facts[fact["edge_id"]] = fact

    def of_slot(self, slot: Slot) -> list[Row]:
        return [self.facts[edge_id] for edge_id in self.slots.get(slot, ())]


def fold_rows(  # noqa: PLR0913  (as the fold in SQL)
    previous: pa.Table,
    conflicts: pa.Table,
    today: Day,
    *,
    settings: FoldSettings,
    decay: DecaySettings,
    acts: Sequence[Targeted],
    name_key: NameKey,
) -> FoldedRows:
    """Folds one day into the state of the day before, as `graph.fold.fold` does; all tables are in memory.

    `acts` are those upon known facts, of the day's feedback and messages.
    """
    kept = previous.filter(pc.invert(purged(previous, today.day, decay)))
    read_as = _read_as(today.entities)
    named = _named(today)
    said = {row["claim_id"]: row for row in _stated(today, named, settings)}
    said |= _aimed(acts, previous, today, list(said.values()), name_key) if acts else {}
    incoming = [_incoming(row, read_as) for row in said.values() if row["relation"] in kinds()]
    live = _Live()
    for fact in touched(kept, incoming, _regrouped(today.entity_ops, read_as), read_as):
        live.add(fact)
    _regroup(live, today.entity_ops, read_as)
    for statements in _rounds(incoming):
        _run_round(live, statements, settings, decay)
    _link(live)
    pair_doubts(live.facts, live.changes)
    _break_circles(live, previous, read_as)
    return FoldedRows(_state(kept, live), _operations(live), conflicts_after(conflicts, live.facts))


def _read_as(entities: pa.Table) -> dict[str, str]:
    merged = entities.select(["entity_id", "merged_into"]).filter(pc.is_valid(entities["merged_into"]))
    return dict(zip(merged["entity_id"].to_pylist(), merged["merged_into"].to_pylist(), strict=True))


def _named(today: Day) -> dict[tuple[str, str], str]:
    """The entity of every name in a message; the least id, where one name was resolved to several."""
    links = (today.entity_mentions[name].to_pylist() for name in ("mention_id", "entity_id"))
    entity_of = dict(zip(*links, strict=True))
    found: dict[tuple[str, str], str] = {}
    for mentions in (today.mentions, today.spoken.mentions_table()):
        columns = (mentions[name].to_pylist() for name in ("mention_id", "message_id", "name"))
        for mention_id, message_id, name in zip(*columns, strict=True):
            entity = entity_of.get(mention_id)
            if entity is not None:
                key = message_id, name
                found[key] = min(entity, found.get(key, entity))
    return found


def _stated(today: Day, named: Mapping[tuple[str, str], str], settings: FoldSettings) -> Iterable[Row]:
    """The day's claims with the entities that their ends name, as sql/resolved.sql has them."""
    claims = pa.concat_tables([today.claims, today.spoken.claims_table()])
    is_stated = pc.and_(
        pc.equal(claims["act"], "assert"), pc.greater_equal(claims["confidence"], settings.min_storage_confidence)
    )
    for row in rows_of(claims.filter(is_stated)):
        subject_id = named.get((row["message_id"], row["subject"]))
        object_id = named.get((row["message_id"], row["object"])) if row["object"] is not None else None
        if subject_id is None or (object_id is None and row["value"] is None):
            continue
        yield {
            **row,
            "subject_id": subject_id,
            "object_id": object_id,
            "object_key": object_id or literal_key(row["value"]),
            "is_decided": row["source_mechanism"] == "user_correction",
            "pair_id": None,
        }


def _aimed(
    acts: Sequence[Targeted], previous: pa.Table, today: Day, said: Sequence[Row], name_key: NameKey
) -> dict[str, Row]:
    """The statements that acts upon known facts come to, by id. Of facts only those that an act can reach are read, and
    those in doubt."""
    users = {act.origin["user_id"] for act in acts}
    relations, ids = reach(acts)
    wanted = pc.and_(
        is_in(previous["user_id"], users),
        pc.or_(
            pc.equal(previous["status"], "contradicted"),
            pc.or_(is_in(previous["relation"], relations), is_in(previous["edge_id"], ids)),
        ),
    )
    facts = previous.filter(pc.and_(wanted, pc.not_equal(previous["status"], "retracted"))).to_pylist()
    new = [_as_known(row) for row in said if row["user_id"] in users]
    names = _names(today.entities, users, [*facts, *new])
    known = [
        cast(KnownFact, {**f, "subject_names": names[f["subject_id"]], "object_names": names.get(f["object_id"], [])})
        for f in [*facts, *new]
        if f["subject_id"] in names
    ]
    known.sort(key=lambda fact: (fact["status"] not in ("active", "contradicted"), fact["edge_id"]))
    rows = acts_upon(acts, known, _named(today), name_key)
    return {claim_id: {**dict.fromkeys(MAY_BE_ABSENT), **row} for claim_id, row in rows.items()}


def _as_known(row: Row) -> Row:
    """What is said today, in the columns of facts that are known."""
    places = [{name: row[name] for name in SOURCE}]
    at = {"learned_at": row["timestamp"], "last_reinforced": row["timestamp"]}
    return {**row, **at, "edge_id": row["claim_id"], "status": "active", "contradicts": None, "provenance": places}


def _names(entities: pa.Table, users: set[str], facts: Iterable[Row]) -> dict[str | None, list[str]]:
    """Every name of the ends of facts, and of what they are read as."""
    ends = {end for fact in facts for end in (fact["subject_id"], fact["object_id"]) if end}
    own = entities.filter(is_in(entities["user_id"], users)).select(
        ["entity_id", "name_key", "alias_keys", "merged_into"]
    )
    into = own.filter(is_in(own["entity_id"], ends))["merged_into"].drop_null().to_pylist()
    rows = own.filter(is_in(own["entity_id"], ends.union(into))).to_pylist()
    names = {row["entity_id"]: [row["name_key"], *row["alias_keys"]] for row in rows}
    return {row["entity_id"]: [*names[row["entity_id"]], *names.get(row["merged_into"], [])] for row in rows}


def _incoming(row: Row, read_as: ReadAs) -> Row:
    return {**row, **columns(placed(row, read_as)), "source": {name: row[name] for name in SOURCE}}


def _name_ops(entity_ops: pa.Table) -> list[NameOp]:
    """The day's merges and splits, in order."""
    found = entity_ops.filter(is_in(entity_ops["operation"], ("MERGE", "SPLIT"))).to_pylist()
    return cast(list[NameOp], sorted(found, key=lambda op: (op["timestamp"], op["op_id"])))


def _regrouped(entity_ops: pa.Table, read_as: ReadAs) -> dict[str, str]:
    """The names that were joined or parted today, as they are read now, each with whose it is."""
    ends = ((op["user_id"], op[end]) for op in _name_ops(entity_ops) for end in ("entity_id", "other_id"))
    return {read_as.get(end, end): user for user, end in ends if end}


def _regroup(live: _Live, entity_ops: pa.Table, read_as: ReadAs) -> None:
    ops = _name_ops(entity_ops)
    if not ops:
        return
    parted = {
        (read_as.get(op["entity_id"], op["entity_id"]), read_as.get(op["other_id"], op["other_id"]))
        for op in ops
        if op["operation"] == "SPLIT" and op["other_id"] is not None
    }
    edges = sorted(live.facts.values(), key=lambda fact: fact["edge_id"])
    changed: dict[str, Row] = {}
    for change in settled(cast(list[LiveEdge], edges), ops, rejoined(parted)):
        fact = live.facts[change["edge_id"]]
        taken = {name: change[name] for name in ("status", "superseded_by", "unlearned_at", "valid_to")}
        after = standing({**fact, "status": taken["status"], "valid_to": taken["valid_to"]})
        confidences = {"confidence_before": fact["confidence"], "confidence_after": fact["confidence"]}
        live.changes.append({**change, **confidences, "before": standing(fact), "after": after, "pair_id": None})
        changed[fact["edge_id"]] = {**fact, **taken}
    live.facts.update(changed)


def _rounds(incoming: Iterable[Row]) -> Iterable[list[Row]]:
    """Of every slot its first statement, then its second, and so on."""
    by_slot: dict[Slot, list[Row]] = defaultdict(list)
    for row in incoming:
        by_slot[row["slot"]].append(row)
    for statements in by_slot.values():
        statements.sort(key=_said_order)
    n_rounds = max(map(len, by_slot.values()), default=0)
    for number in range(n_rounds):
        yield [statements[number] for statements in by_slot.values() if number < len(statements)]


def _said_order(row: Row) -> tuple[object, ...]:
    place = (row["timestamp"], row["session_id"], row["turn_number"], row["span_start"], row["span_end"])
    return *place, row["act"] == "assert", row["claim_id"]


def _run_round(live: _Live, statements: Iterable[Row], settings: FoldSettings, decay: DecaySettings) -> None:
    """Folds one statement of every slot; all of them see the facts as they stood before."""
    meetings = [meet(said, live.of_slot(said["slot"]), settings, decay) for said in statements]
    changing = changes_of(meetings, live.facts)
    notes = [noted(change, live.facts.get(change.edge_id)) for change in changing]
    changed = {
        change.edge_id: after_changes(live.facts[change.edge_id], change, settings.venting_sessions)
        for change in changing
        if change.edge_id in live.facts
    }
    live.facts.update(changed)  # older sides end before newer ones begin
    for change in changing:
        if change.kind in INSERTING:
            live.add(inserted(change))
    for note in notes:
        fact = live.facts[note["edge_id"]]
        note |= {"after": standing(fact), "confidence_after": fact["confidence"]}
    live.changes += notes


def _link(live: _Live) -> None:
    """A corrected fact and what took its place point at each other."""
    new: dict[str, str] = {}
    won = [change for change in live.changes if change["kind"] in WINNERS]
    for old in (change for change in live.changes if change["kind"] == "REPLACE"):
        for winner in won:
            if winner["claim_id"] == old["pair_id"] and winner["edge_id"] != old["edge_id"]:
                new[old["edge_id"]] = min(winner["edge_id"], new.get(old["edge_id"], winner["edge_id"]))
    for old_id, new_id in sorted(new.items(), reverse=True):  # of several, the least is the one that it supersedes
        if live.facts[old_id]["status"] == "superseded":
            live.facts[old_id]["superseded_by"] = new_id
    for old_id, new_id in sorted(new.items()):
        live.facts[new_id]["supersedes"] = live.facts[new_id]["supersedes"] or old_id


def _break_circles(live: _Live, previous: pa.Table, read_as: ReadAs) -> None:
    """Marks today's active facts that close a circle."""
    today = [fact for fact in live.facts.values() if fact["relation_key"] in ACYCLIC]
    if not any(_may_close(fact) for fact in today):
        return
    closing = circles(
        [*_ladder(previous, live, today, read_as), *({**f, "is_today": True} for f in today if _may_close(f))]
    )
    for fact in (live.facts[edge_id] for edge_id in closing):
        of_fact = [change for change in live.changes if change["edge_id"] == fact["edge_id"]]
        last = max(of_fact, key=lambda change: (change["timestamp"], change["claim_id"]), default=None)
        live.changes.append(_circle(fact, last))
        live.facts[fact["edge_id"]] = {**fact, "status": "contradicted"}


def _may_close(fact: Row) -> bool:
    is_stated = fact["status"] == "active" and fact["polarity"] == 1 and not fact["requires_verification"]
    return bool(is_stated and fact["object_id"] is not None)


def _ladder(previous: pa.Table, live: _Live, today: Iterable[Row], read_as: ReadAs) -> Iterable[Row]:
    """Active facts of the relations that know no circle, of the people of whom such were touched today."""
    relations = [name for name, kind in kinds().items() if kind.relation_key in ACYCLIC]
    is_wanted = pc.and_(
        is_in(previous["relation"], relations), is_in(previous["user_id"], {fact["user_id"] for fact in today})
    )
    for fact in rows_of(previous.filter(is_wanted)):
        if _may_close(fact) and fact["edge_id"] not in live.facts:
            kind = kinds()[fact["relation"]]
            ends = [read_as.get(fact[end], fact[end]) for end in ("subject_id", "object_id")]
            subject, target = ends[::-1] if kind.is_inverse else ends
            place = {"relation_key": kind.relation_key, "subject_key": subject, "target_key": target}
            yield {**fact, **place, "is_today": False}


def _circle(fact: Row, last: Row | None) -> Row:
    """The change of a fact that closes a circle, made by the claim that touched it last, if not by a merge alone."""
    source = fact["provenance"][-1]
    origin = last or {
        "claim_id": fact["edge_id"], "timestamp": fact["last_reinforced"], "session_id": source["session_id"],
        "turn_number": source["turn_number"], "correlation_id": fact["edge_id"],
    }  # fmt: skip
    return {
        **{name: origin[name] for name in ("claim_id", "timestamp", "session_id", "turn_number", "correlation_id")},
        "edge_id": fact["edge_id"],
        "kind": "CIRCLE",
        "user_id": fact["user_id"],
        "reason": "would make a thing part of, or above, itself",
        "source_mechanism": fact["source_mechanism"],
        "before": standing(fact),
        "after": standing({**fact, "status": "contradicted"}),
        "confidence_before": fact["confidence"],
        "confidence_after": fact["confidence"],
    }


def _state(kept: pa.Table, live: _Live) -> pa.Table:
    if not live.facts:
        return kept
    untouched = kept.filter(pc.invert(is_in(kept["edge_id"], live.facts)))
    return pa.concat_tables([untouched, EDGES.from_rows(list(live.facts.values()))])


def _operations(live: _Live) -> pa.Table:
    return GRAPH_OPS.from_rows(
        [
            {
                **change,
                "op_id": content_id("op", change["edge_id"], change["kind"], change["claim_id"]),
                "operation": OPERATIONS.get(change["kind"], change["kind"]),
            }
            for change in live.changes
        ]
    )
