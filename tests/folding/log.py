"""Logs for the fold, reduced to what it looks at, and the fold run over them day by day."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import groupby
from typing import Any

import orjson
import pyarrow as pa

from em_pipelines.extraction.feedback_statements import spoken
from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.graph.fold import fold, fold_in_sql
from em_pipelines.graph.rounds import FoldSettings
from em_pipelines.graph.row_fold import Day
from em_pipelines.guard.sensitive import SafetySettings
from em_pipelines.language.name_keys import name_key
from em_pipelines.schema.ids import content_id, entity_id
from em_pipelines.schema.tables.extraction import CLAIMS, MENTIONS
from em_pipelines.schema.tables.graph import CONTRADICTIONS, EDGES, ENTITIES, ENTITY_MENTIONS, ENTITY_OPS, GRAPH_OPS
from em_pipelines.storage.duckdb_engine import connect, in_memory
from em_pipelines.storage.parquet_files import canonical

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
USER = "ada"
CONNECTION = connect()


@dataclass(frozen=True)
class Said:
    """One claim of a message."""

    day: int = 0
    minute: int = 0
    relation: str = "likes"
    object: str = "tea"
    subject: str = "user"
    polarity: int = 1
    confidence: float = 0.9
    hedge: str = "none"
    mechanism: str = "explicit"
    flags: tuple[str, ...] = ()
    session: str = "s1"
    valid_from: date | None = None
    requires_verification: bool = False
    act: str = "assert"
    kind: str = "state"
    attribute: str | None = None
    value: str | None = None
    """The literal, in the place of an object."""
    statement: str | None = None
    tags: tuple[str, ...] = ()

    @property
    def timestamp(self) -> datetime:
        return START + timedelta(days=self.day, minutes=self.minute)

    @property
    def claim_id(self) -> str:
        return content_id("claim", *(getattr(self, name) for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class Told:
    """One feedback."""

    type: str
    payload: dict[str, Any]
    day: int = 0
    minute: int = 0
    session: str | None = None

    @property
    def timestamp(self) -> datetime:
        return START + timedelta(days=self.day, minutes=self.minute)

    def row(self) -> dict[str, Any]:
        payload = orjson.dumps(self.payload, option=orjson.OPT_SORT_KEYS).decode()
        key = content_id("fbk", self.type, payload, self.timestamp)
        return {
            "feedback_id": key, "timestamp": self.timestamp, "user_id": USER, "session_id": self.session,
            "type": self.type, "payload": payload,
        }  # fmt: skip


@dataclass(frozen=True)
class Joined:
    """Names that become one on a day, or (is_split) two again."""

    name: str
    into: str
    day: int = 0
    is_split: bool = False

    @property
    def timestamp(self) -> datetime:
        return START + timedelta(days=self.day, minutes=1)


Event = Said | Told | Joined


@dataclass
class Folded:
    """The state after a log, canonical, and all operations."""

    edges: pa.Table = field(default_factory=EDGES.empty)
    contradictions: pa.Table = field(default_factory=CONTRADICTIONS.empty)
    merged: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=lambda: {"user"})
    ops: list[dict[str, Any]] = field(default_factory=list)

    def rows(self) -> list[dict[str, Any]]:
        return list(self.edges.to_pylist())


def fold_days(events: list[Any], before: Folded | None = None) -> Folded:
    """Folds the log day by day, after what was folded before."""
    found = before or Folded()
    state = Folded(found.edges, found.contradictions, dict(found.merged), set(found.names), [])
    for day, group in groupby(sorted(events, key=lambda e: (e.day, e.timestamp)), key=lambda e: e.day):
        _fold_day(state, day, list(group))
    return state


def _fold_day(state: Folded, day: int, events: list[Event]) -> None:
    claims, mentions = _said([e for e in events if isinstance(e, Said)])
    told = spoken([e.row() for e in events if isinstance(e, Told)], SafetySettings())
    ops = [_joined(state, e) for e in events if isinstance(e, Joined)]
    everything = pa.concat_tables([mentions, told.mentions_table()])
    state.names |= set(everything["name"].to_pylist())
    today = Day(
        day=(START + timedelta(days=day)).date(),
        claims=claims,
        mentions=mentions,
        entity_mentions=_links(everything),
        entity_ops=ENTITY_OPS.from_rows(ops),
        entities=ENTITIES.from_rows([_entity(name, state.merged) for name in sorted(state.names)]),
        spoken=told,
    )
    edges, ops, contradictions = _either_way(state, today)
    state.edges, state.contradictions = edges, contradictions
    state.ops += ops.to_pylist()


def _either_way(state: Folded, today: Day) -> tuple[pa.Table, pa.Table, pa.Table]:
    """Edges, operations and conflicts, canonical; row by row they are what they are in SQL, to the last digit."""
    found = []
    for way in (fold, fold_in_sql):
        made = way(
            state.edges,
            state.contradictions,
            today,
            settings=FoldSettings(),
            decay=DecaySettings(),
            connection=CONNECTION,
            name_key=name_key,
        )
        edges = canonical(EDGES, in_memory(made.edges))
        found.append((edges, canonical(GRAPH_OPS, made.graph_ops), canonical(CONTRADICTIONS, made.contradictions)))
    for rowwise, in_sql in zip(*found, strict=True):
        assert rowwise.to_pylist() == in_sql.to_pylist()
    return found[0]


def _said(said: list[Said]) -> tuple[pa.Table, pa.Table]:
    claims, mentions = [], {}
    for one in said:
        message = content_id("msg", one.session, one.day, one.minute)
        origin: dict[str, Any] = {
            "user_id": USER, "session_id": one.session, "turn_number": one.minute, "message_id": message,
            "segment_id": "seg", "timestamp": one.timestamp, "extractor": "test", "span_start": 0, "span_end": 1,
            "correlation_id": "cor",
        }  # fmt: skip
        for name in (one.subject, *([] if one.value else [one.object])):
            key = content_id("men", message, name)
            mentions[key] = {**origin, "mention_id": key, "name": name, "entity_type": "concept", "is_explicit": True}
        claims.append(
            {
                **origin, "claim_id": one.claim_id, "extraction_id": "ext", "act": one.act, "subject": one.subject,
                "subject_type": "person", "relation": one.relation, "object": None if one.value else one.object,
                "object_type": None if one.value else "concept", "value": one.value, "attribute": one.attribute,
                "polarity": one.polarity, "temporal_type": one.kind, "valid_from": one.valid_from,
                "valid_precision": "day" if one.valid_from else None, "hedge_level": one.hedge,
                "confidence": one.confidence, "source_mechanism": one.mechanism, "flags": list(one.flags),
                "context_tags": list(one.tags), "privacy_level": "L2",
                "requires_verification": one.requires_verification, "has_pasted_source": False,
                "statement": one.statement,
            }
        )  # fmt: skip
    return CLAIMS.from_rows(claims), MENTIONS.from_rows(list(mentions.values()))


def _links(mentions: pa.Table) -> pa.Table:
    return ENTITY_MENTIONS.from_rows(
        [
            {
                "mention_id": m["mention_id"], "user_id": USER, "entity_id": entity_id(USER, name_key(m["name"])),
                "method": "exact", "score": 1.0, "timestamp": m["timestamp"], "correlation_id": "cor",
            }
            for m in mentions.to_pylist()
        ]
    )  # fmt: skip


def _entity(name: str, merged: dict[str, str]) -> dict[str, Any]:
    members = sorted(other for other, into in merged.items() if into == name)
    return {
        "entity_id": entity_id(USER, name_key(name)), "user_id": USER, "canonical_name": name,
        "name_key": name_key(name), "aliases": members, "alias_keys": [name_key(m) for m in members],
        "entity_type": "concept", "first_seen": START, "last_referenced": START, "mention_count": 1,
        "importance": 0.1, "certainty": 0.3, "privacy_level": "L2", "requires_verification": False, "qualifiers": [],
        "merged_into": entity_id(USER, name_key(merged[name])) if name in merged else None, "distinct_from": [],
        "links": [], "discriminator": "",
        "status": "merged" if name in merged else "active",
    }  # fmt: skip


def _joined(state: Folded, one: Joined) -> dict[str, Any]:
    state.names |= {one.name, one.into}
    if one.is_split:
        state.merged.pop(one.name, None)
    else:
        state.merged[one.name] = one.into
    kind = "SPLIT" if one.is_split else "MERGE"
    return {
        "op_id": content_id("op", kind, one.name, one.into, one.day), "user_id": USER, "operation": kind,
        "entity_id": entity_id(USER, name_key(one.name)), "other_id": entity_id(USER, name_key(one.into)),
        "method": "feedback", "score": 1.0, "reason": "a person said so", "timestamp": one.timestamp,
        "session_id": "feedback", "turn_number": 0, "correlation_id": "cor",
    }  # fmt: skip
