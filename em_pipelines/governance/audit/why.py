"""Why a fact is what it is: where it was said, how it was read, what was done with it, and what time did since.

Returns documents for people and programs alike. They quote what was said, so they go to whoever asked and nowhere
else: no table, log or metric repeats them.
"""

from dataclasses import dataclass
from datetime import date
from typing import Any

from em_pipelines.governance.audit.rows import Row, World, rows_where, sentence_at, state_where
from em_pipelines.governance.audit.trail import fading
from em_pipelines.graph.confidence_decay import Curve, DecaySettings
from em_pipelines.lifecycle.decay import current_edges
from em_pipelines.retrieval.domain_view import FEEDBACK_ID
from em_pipelines.schema.ids import content_id, message_id
from em_pipelines.schema.readings import CEILINGS, EXPLICIT_BY_HEDGE, FACTORS
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.derived import INFERRED_EDGES
from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.schema.tables.graph import EDGES, ENTITIES, ENTITY_OPS, GRAPH_OPS
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.schema.vocabulary import Mechanism, TemporalType
from em_pipelines.storage.duckdb_engine import scratch
from em_pipelines.storage.lake import Lake

Document = dict[str, Any]
BY_MESSAGE, BY_FEEDBACK = "message", "feedback"
CLAIM_FIELDS = (
    "claim_id", "act", "source_mechanism", "hedge_level", "flags", "confidence", "extractor", "pattern_id",
    "has_pasted_source", "statement",
)  # fmt: skip
OPERATION_FIELDS = (
    "timestamp", "operation", "reason", "before", "after", "confidence_before", "confidence_after",
    "source_mechanism", "session_id", "turn_number", "claim_id", "correlation_id",
)  # fmt: skip


def why(lake: Lake, wanted: str, as_of: date, decay: DecaySettings) -> Document | None:
    """Everything that made a fact, an entity or an inferred fact what it is at the end of `as_of`.

    `kind` in the answer is fact, deleted_fact, entity or inferred_fact. None where no table knows the id.
    """
    for table, explain in ((EDGES, _fact), (INFERRED_EDGES, _inferred), (ENTITIES, _entity)):
        rows = state_where(lake, table, table.key[0], [wanted])
        if rows:
            return explain(lake, rows[0], as_of, decay)
    operations = _operations(lake, wanted)
    return {"kind": "deleted_fact", "edge_id": wanted, "operations": operations} if operations else None


def _fact(lake: Lake, edge: Row, as_of: date, decay: DecaySettings) -> Document:
    world = World(lake, edge["user_id"])
    operations = _operations(lake, edge["edge_id"])
    return {
        "kind": "fact",
        "user_id": edge["user_id"],
        "fact": world.said(edge),
        "sources": _sources(lake, edge, operations),
        "operations": operations,
        "revises": _chain(world, edge, "supersedes"),
        "revised_by": _chain(world, edge, "superseded_by"),
        "contradictions": [
            world.said(other)
            for other in world.edges.values()
            if edge["edge_id"] == other["contradicts"] or other["edge_id"] == edge["contradicts"]
        ],
        "today": _today(edge, as_of, decay),
        "entities": [_names(lake, world, end) for end in (edge["subject_id"], edge["object_id"]) if end],
    }


def _inferred(lake: Lake, edge: Row, as_of: date, decay: DecaySettings) -> Document:
    world = World(lake, edge["user_id"])
    premises = [world.edges[premise] for premise in edge["premises"] if premise in world.edges]
    return {
        "kind": "inferred_fact",
        "user_id": edge["user_id"],
        "fact": {
            "edge_id": edge["edge_id"],
            "subject": world.name(edge["subject_id"]),
            "relation": edge["relation"],
            "object": world.name(edge["object_id"]),
            "confidence": edge["confidence"],
        },
        "rule_id": edge["rule_id"],
        "hops": edge["hops"],
        "premises": [{**world.said(premise), "today": _today(premise, as_of, decay)} for premise in premises],
    }


def _entity(lake: Lake, entity: Row, as_of: date, decay: DecaySettings) -> Document:
    world = World(lake, entity["user_id"])
    thing = world.thing(entity["entity_id"])
    about = [
        edge
        for edge in world.edges.values()
        if thing in {world.thing(end) for end in (edge["subject_id"], edge["object_id"]) if end}
    ]
    return {
        "kind": "entity",
        "user_id": entity["user_id"],
        "entity": {**entity, "read_by": thing},
        "names": _names(lake, world, entity["entity_id"]),
        "facts": [
            {**world.said(edge), "confidence": _today(edge, as_of, decay)["effective_confidence"]}
            for edge in sorted(about, key=lambda edge: (edge["learned_at"], edge["edge_id"]))
        ],
    }


def _operations(lake: Lake, edge_id: str) -> list[Row]:
    """The operations on a fact, in the order in which they were made."""
    operations = rows_where(lake, GRAPH_OPS, "edge_id", [edge_id])
    operations.sort(key=lambda op: (op["timestamp"], op["session_id"], op["turn_number"], op["op_id"]))
    return [{name: op[name] for name in OPERATION_FIELDS} for op in operations]


@dataclass(frozen=True, slots=True)
class _Evidence:
    """What a fact may have come of: the operations on it, and what is behind them: messages and claims by id,
    feedback by what correlates it."""

    user_id: str
    operations: list[Row]
    messages: dict[str, Row]
    claims: dict[str, Row]
    feedback: dict[str, Row]

    @classmethod
    def of(cls, lake: Lake, edge: Row, operations: list[Row]) -> "_Evidence":
        """Read from the days of the operations alone."""
        days = {op["timestamp"].date() for op in operations}
        causes = {op["claim_id"] for op in operations}
        message_ids = {message_id(edge["user_id"], p["session_id"], p["turn_number"]) for p in edge["provenance"]}

        def by_id(table: Table, column: str, values: set[str]) -> dict[str, Row]:
            return {row[column]: row for row in rows_where(lake, table, column, values, days)}

        return cls(
            edge["user_id"],
            operations,
            by_id(MESSAGES, "message_id", message_ids),
            by_id(CLAIMS, "claim_id", causes),
            {_correlation(row): row for row in rows_where(lake, FEEDBACK, "user_id", {edge["user_id"]}, days)},
        )

    def source(self, place: Row) -> Document:
        """One place of the provenance: the sentence, and what was read in it or told of it there.

        A place at which feedback alone was given (`by` says so) states nothing: what was said in that turn is no
        source.
        """
        message = self.messages.get(message_id(self.user_id, place["session_id"], place["turn_number"]), {})
        turn = (place["session_id"], place["turn_number"])
        here = [op for op in self.operations if (op["session_id"], op["turn_number"]) == turn]
        claims = [_claim(self.claims[op["claim_id"]]) for op in here if op["claim_id"] in self.claims]
        causes = dict.fromkeys(op["correlation_id"] for op in here)
        told = [_told(self.feedback[cause]) for cause in causes if cause in self.feedback]
        is_feedback = bool(told) and (not claims or place["extraction_id"].startswith(FEEDBACK_ID))
        said_at = None if is_feedback else message.get("timestamp")
        sentence = sentence_at(message.get("content", ""), place["span_start"], place["span_end"]) or None
        return {
            **{name: place[name] for name in ("session_id", "turn_number", "span_start", "span_end")},
            "by": BY_FEEDBACK if is_feedback else BY_MESSAGE,
            "timestamp": said_at or (here[0]["timestamp"] if here else None),
            "role": message.get("role"),
            "sentence": None if is_feedback else sentence,
            "claims": [] if is_feedback else claims,
            "feedback": told,
        }


def _sources(lake: Lake, edge: Row, operations: list[Row]) -> list[Document]:
    """Each source in order: the sentence, and what was read in it. Feedback has a form instead of a sentence."""
    evidence = _Evidence.of(lake, edge, operations)
    return [evidence.source(place) for place in edge["provenance"]]


def _correlation(feedback: Row) -> str:
    return content_id("cor", feedback["feedback_id"])


def _told(feedback: Row) -> Document:
    return {"type": feedback["type"], "payload": feedback["payload"], "timestamp": feedback["timestamp"]}


def _claim(claim: Row) -> Document:
    """How a claim was read, and what made its first confidence."""
    flags = claim["flags"]
    base = EXPLICIT_BY_HEDGE.get(claim["hedge_level"])
    return {
        **{name: claim[name] for name in CLAIM_FIELDS},
        "confidence_from": {
            "hedge": base if claim["source_mechanism"] == Mechanism.EXPLICIT else None,
            "ceilings": {flag.value: value for flag, value in CEILINGS.items() if flag.value in flags},
            "factors": {flag.value: value for flag, value in FACTORS.items() if flag.value in flags},
        },
    }


def _chain(world: World, edge: Row, link: str) -> list[Document]:
    """The facts that lie on one side of a fact in its chain of revisions, the nearest first."""
    chain: list[Document] = []
    seen = {edge["edge_id"]}
    while edge[link] and edge[link] not in seen and edge[link] in world.edges:
        edge = world.edges[edge[link]]
        seen.add(edge["edge_id"])
        chain.append(world.said(edge))
    return chain


def _today(edge: Row, as_of: date, decay: DecaySettings) -> Document:
    """What is left of a fact, and on which days it fell into a lower band or out of use."""
    facts = EDGES.from_rows([edge])
    said_on = edge["last_reinforced"].date()
    with scratch() as connection:
        (now,) = current_edges(facts, ENTITIES.empty(), as_of, decay.keeping(), connection).to_table().to_pylist()
        faded = fading(facts, said_on, as_of, decay, connection).to_pylist()
    kind = TemporalType(edge["temporal_type"])
    rate = decay.loss_per_30_days if decay.curve is Curve.LINEAR else decay.half_life_days
    return {
        "as_of": as_of,
        "status": now["status"],
        "effective_confidence": now["effective_confidence"],
        "confidence": edge["confidence"],
        "last_reinforced": edge["last_reinforced"],
        "unreferenced_days": max(0, (as_of - said_on).days),
        "temporal_type": edge["temporal_type"],
        "curve": decay.curve.value,
        "loss_per_30_days" if decay.curve is Curve.LINEAR else "half_life_days": rate[kind],
        "requires_verification": edge["requires_verification"],
        "faded": [
            {
                "on": row["faded_on"],
                "status": row["new_status"],
                "confidence_before": row["confidence_before"],
                "confidence_after": row["confidence_after"],
            }
            for row in sorted(faded, key=lambda row: row["faded_on"])
        ],
    }


def _names(lake: Lake, world: World, entity_id: str) -> Document:
    """Under which names a thing is known, and which of them became one or were split."""
    thing = world.thing(entity_id)
    of_it = [key for key in world.entities if world.thing(key) == thing]
    operations = [op for op in rows_where(lake, ENTITY_OPS, "entity_id", of_it) if op["operation"] != "CREATE"]
    return {
        "entity_id": entity_id,
        "read_by": thing,
        "name": world.name(entity_id),
        "names": world.names(entity_id),
        "changes": [
            {name: op[name] for name in ("timestamp", "operation", "entity_id", "other_id", "method", "reason")}
            for op in operations
        ],
    }
