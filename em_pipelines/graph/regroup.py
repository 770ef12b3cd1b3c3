"""What becomes of facts when names are joined or parted: conflicts within one thing, and their end.

Joining two names can give one thing two homes: the one said later stays. Parting them gives back what one name's facts
had displaced of the other's, so that a merge and a split leave the graph as it was. Rare, so Python over the few edges
of the names concerned.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any, TypedDict, cast

import duckdb
import pyarrow as pa

from em_pipelines.language.values import attribute_key
from em_pipelines.storage.duckdb_engine import fetch, statement

HERE = Path(__file__).parent
STANDING = ("active", "contradicted")
Change = dict[str, Any]
"""What becomes of one edge, in the columns of `_SCHEMA`."""


class LiveEdge(TypedDict):
    """What is read here of a row of `live`: a fact, and by which names it is compared."""

    edge_id: str
    user_id: str
    subject_id: str
    object_id: str | None
    subject_key: str
    target_key: str
    holder_key: str
    object_key: str
    relation_key: str
    family: str
    attribute: str | None
    slot: Hashable
    polarity: int
    is_functional: bool
    tone: int
    status: str
    superseded_by: str | None
    contradicts: str | None
    valid_from: date | None
    learned_at: datetime
    last_reinforced: datetime
    source_mechanism: str


class NameOp(TypedDict):
    """What is read here of a row of `entity_ops`: a merge or a split of two names."""

    op_id: str
    user_id: str
    operation: str
    entity_id: str
    other_id: str | None
    timestamp: datetime
    session_id: str
    turn_number: int
    correlation_id: str


class _Causes:
    """Which of the day's merges and splits an edge changes for."""

    def __init__(self, ops: Sequence[NameOp]) -> None:
        self._first = ops[0]
        self._by_entity = {entity: op for op in ops for entity in (op["entity_id"], op["other_id"]) if entity}

    def of(self, edge: LiveEdge) -> NameOp:
        """That of one of its names; the day's first where none is named in any."""
        ends = (edge["subject_id"], edge["object_id"], edge["subject_key"], edge["target_key"])
        return next((self._by_entity[end] for end in ends if end in self._by_entity), self._first)


def regroup(connection: duckdb.DuckDBPyConnection) -> None:
    """Settles the table `live` after the day's `entity_ops`, and notes it in `changes`."""
    ops = fetch(
        connection, "FROM entity_ops WHERE operation IN ('MERGE', 'SPLIT') ORDER BY timestamp, op_id"
    ).to_pylist()
    if not ops:
        return
    edges = cast(list[LiveEdge], fetch(connection, "FROM live ORDER BY edge_id").to_pylist())
    parted = connection.execute(statement(HERE, "parted")).fetchall()
    changes = settled(edges, cast(list[NameOp], ops), rejoined(parted))
    if changes:
        _note(connection, changes)


def settled(edges: Sequence[LiveEdge], ops: Sequence[NameOp], names_before: Mapping[str, str]) -> list[Change]:
    """What becomes of the facts that the names of the day's merges and splits touch, `edges` in order of id.

    `ops` in order of time, at least one; `names_before` is what `rejoined` says of the names that were parted.
    """
    causes = _Causes(ops)
    changes = _restored(edges, names_before, causes)
    back = {change["edge_id"] for change in changes}
    by_slot: dict[Hashable, list[LiveEdge]] = {}
    for edge in edges:
        if edge["status"] in STANDING or edge["edge_id"] in back:
            by_slot.setdefault(edge["slot"], []).append(edge)
    for group in by_slot.values():
        changes += _displaced(group, causes)
    return changes


def _note(connection: duckdb.DuckDBPyConnection, changes: list[Change]) -> None:
    connection.register("regrouping", pa.Table.from_pylist(changes, schema=_SCHEMA))
    for name in ("regroup_note", "regroup_update"):
        connection.execute(statement(HERE, name))
    connection.unregister("regrouping")


def rejoined(parted: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Names parted today, as they would be read if they had not been: each pair by one of the two."""
    return {str(entity): min(str(entity), str(other)) for pair in parted for entity, other in (pair, pair[::-1])}


def _restored(edges: Sequence[LiveEdge], names_before: Mapping[str, str], causes: _Causes) -> list[Change]:
    """The facts that only names which are now parted had displaced, as they stood before."""
    by_id = {edge["edge_id"]: edge for edge in edges}
    changes: list[Change] = []
    for edge in edges:
        winner = by_id.get(edge["superseded_by"] or "")
        if edge["status"] == "superseded" and winner and _met_by_name(edge, winner, names_before):
            changes.append(_restoration(edge, edges, causes.of(edge)))
    return changes


def _met_by_name(edge: LiveEdge, winner: LiveEdge, names_before: Mapping[str, str]) -> bool:
    """Whether only names that are now parted made the two facts meet."""
    if _is_one_slot(edge, winner, {}) and _collide(edge, winner, {}):
        return False
    return _is_one_slot(edge, winner, names_before) and _collide(edge, winner, names_before)


def _displaced(group: list[LiveEdge], causes: _Causes) -> list[Change]:
    """Of facts that cannot stand beside each other and are on different names, all but the one said last."""
    changes: list[Change] = []
    kept: list[LiveEdge] = []
    for edge in sorted(group, key=lambda e: (e["last_reinforced"], e["edge_id"]), reverse=True):
        met = (other for other in kept if _is_one_slot(edge, other, {}))
        rival = next((other for other in met if _collide(edge, other, {}) and _is_new(edge, other)), None)
        if rival is None:
            kept.append(edge)
            continue
        op = causes.of(edge)
        changes.append(
            {
                **_common(edge, op),
                "kind": "SUPERSEDE",
                "status": "superseded",
                "superseded_by": rival["edge_id"],
                "unlearned_at": op["timestamp"],
                "valid_to": rival["valid_from"] or rival["learned_at"].date(),
                "reason": "two names became one thing, and of the other something else was said later",
            }
        )
    return changes


def _is_one_slot(one: LiveEdge, other: LiveEdge, read: Mapping[str, str]) -> bool:
    keys = [read.get(edge["holder_key"], edge["holder_key"]) for edge in (one, other)]
    attributes = [attribute_key(edge["attribute"]) for edge in (one, other)]
    return bool(keys[0] == keys[1] and one["family"] == other["family"] and attributes[0] == attributes[1])


def _collide(one: LiveEdge, other: LiveEdge, read: Mapping[str, str]) -> bool:
    """Whether two facts of one subject cannot hold together, their objects as they are `read`."""
    targets = [read.get(end, end) for end in map(_other_end, (one, other))]
    is_same_target = targets[0] == targets[1]
    if one["relation_key"] == other["relation_key"]:
        if is_same_target:
            return bool(one["polarity"] != other["polarity"])
        return bool(one["is_functional"] and one["polarity"] == other["polarity"] == 1)
    return bool(is_same_target and one["tone"] * other["tone"] == -1)


def _other_end(edge: LiveEdge) -> str:
    """What a fact says of the one whom it is about."""
    return edge["target_key"] if edge["holder_key"] == edge["subject_key"] else edge["subject_key"]


def _is_new(one: LiveEdge, other: LiveEdge) -> bool:
    """Whether the names are why they meet: facts on the same names have met before."""
    return bool(
        one["subject_id"] != other["subject_id"]
        or (one["target_key"] == other["target_key"] and one["object_key"] != other["object_key"])
    )


def _restoration(edge: LiveEdge, edges: Sequence[LiveEdge], op: NameOp) -> Change:
    """The edge as it stood before; a conflict that was open is open again."""
    is_doubted = any(
        other["status"] == "contradicted"
        and edge["edge_id"] != other["edge_id"]
        and (other["contradicts"] == edge["edge_id"] or edge["contradicts"] == other["edge_id"])
        for other in edges
    )
    return {
        **_common(edge, op),
        "kind": "RESTORE",
        "status": "contradicted" if is_doubted else "active",
        "superseded_by": None,
        "unlearned_at": None,
        "valid_to": None,
        "reason": "what took its place is about another thing",
    }


def _common(edge: LiveEdge, op: NameOp) -> Change:
    return {
        "edge_id": edge["edge_id"],
        "claim_id": op["op_id"],
        "user_id": edge["user_id"],
        "timestamp": op["timestamp"],
        "session_id": op["session_id"],
        "turn_number": op["turn_number"],
        "correlation_id": op["correlation_id"],
        "source_mechanism": edge["source_mechanism"],
    }


_INSTANT = pa.timestamp("us", tz="UTC")
_SCHEMA = pa.schema(
    {
        "edge_id": pa.string(), "claim_id": pa.string(), "user_id": pa.string(), "timestamp": _INSTANT,
        "session_id": pa.string(), "turn_number": pa.int64(), "correlation_id": pa.string(),
        "source_mechanism": pa.string(), "kind": pa.string(), "status": pa.string(), "superseded_by": pa.string(),
        "unlearned_at": _INSTANT, "valid_to": pa.date32(), "reason": pa.string(),
    }
)  # fmt: skip
