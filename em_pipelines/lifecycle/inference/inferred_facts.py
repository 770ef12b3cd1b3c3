"""Reading what follows: inferred facts of any day, as memory knew it then or at another time.

Computed from the state of that time, as effective confidence is; of models, the answers that the lake holds are judged
again by what was known, and nobody is asked.
"""

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.language.name_keys import name_key
from em_pipelines.lifecycle.decay import current_edges
from em_pipelines.lifecycle.inference.infer import PROPOSALS, infer
from em_pipelines.lifecycle.inference.rules import BY_MODEL, rules_of
from em_pipelines.lifecycle.inference.settings import InferenceSettings
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.derived import INFERRED_EDGES
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.storage.duckdb_engine import fetch, scratch, statement
from em_pipelines.storage.store import Store

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class InferenceQuery:
    """What follows at the end of `as_of`, for one user or for all, from what was known at the end of `known_at` (the
    same day unless given); with `entity` only what has that name or alias at either end."""

    as_of: date
    user_id: str | None = None
    known_at: date | None = None
    entity: str | None = None


def inferred_facts(
    store: Store, query: InferenceQuery, settings: InferenceSettings, decay: DecaySettings
) -> list[dict[str, Any]]:
    """Returns what follows, best first, as JSON-able dicts with names, the rule, and the premises as ids and in words.

    Raises CorruptTableError where a partition cannot be read, RuleFileError where the rules cannot.
    """
    known_at = query.known_at or query.as_of
    edges, entities = (_state(store, table, known_at, query.user_id) for table in (EDGES, ENTITIES))
    proposals = proposed(_state(store, INFERRED_EDGES, known_at, query.user_id))
    with scratch() as connection:
        standing = current_edges(edges, entities, query.as_of, decay, connection).to_table()
        found = infer(standing, entities, rules_of(settings), settings, connection, proposals)
        for name, rows in (("inferred", found), ("known_edges", standing), ("known_entities", entities)):
            connection.register(name, rows)
        named = fetch(connection, statement(HERE, "named")).to_pylist()
    key = name_key(query.entity) if query.entity else None
    return [_shown(row) for row in named if key is None or key in row["end_keys"]]


def proposed(inferred: pa.Table) -> pa.Table:
    """What a model proposed of inferred edges, in the columns of PROPOSALS."""
    by_model = inferred.filter(pc.equal(inferred["rule_id"], BY_MODEL))
    return by_model.select(PROPOSALS.names).cast(PROPOSALS)


def _state(store: Store, table: Table, until: date, user_id: str | None) -> pa.Table:
    day = store.lake.latest(table, until)
    rows = store.lake.read(table, day) if day else table.empty()
    return rows if user_id is None else rows.filter(pc.equal(rows["user_id"], user_id))


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """In the shape of a stated fact, as far as it has the same things to say."""
    return {
        "user_id": row["user_id"],
        "subject": row["subject"],
        "relation": row["relation"],
        "object": row["object"],
        "statement": None,
        "polarity": 1,
        "status": "inferred",
        "confidence": round(row["confidence"], 4),
        "valid_from": None,
        "valid_to": None,
        "temporal_type": row["temporal_type"],
        "over": None,
        "flags": [],
        "learned_at": row["learned_at"].isoformat(),
        "edge_id": row["edge_id"],
        "rule": row["rule_id"],
        "premises": row["premises"],
        "because": row["because"],
    }
