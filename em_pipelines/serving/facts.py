"""Reading facts: what held at the end of a day, as memory knew it then or at another time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.lifecycle.decay import DecaySettings, current_edges
from em_pipelines.pipeline import Store
from em_pipelines.resolution.normalization import name_key
from em_pipelines.serving.overlay import Overlay, laid_over
from em_pipelines.sql import bind, fetch, scratch, statement
from em_pipelines.tables.graph import EDGES, ENTITIES
from em_pipelines.tables.schema import Table

HERE = Path(__file__).parent
SHOWN = ("active", "contradicted")
ALWAYS_OR_AHEAD = ("attribute", "plan", "wish")
BEST_FIRST = [
    ("effective_confidence", "descending"),
    *((name, "ascending") for name in ("subject", "relation", "object", "edge_id")),
]
PRECISION_CHARACTERS = {"year": 4, "month": 7, "day": 10}


@dataclass(frozen=True, slots=True)
class FactQuery:
    """Which facts: of one user, as they held at the end of `as_of`.

    `known_at` asks what memory knew at the end of that day instead of then; `entity` keeps facts with that name (or
    alias) at either end; `is_all` keeps every status.
    """

    user_id: str
    as_of: date
    known_at: date | None = None
    entity: str | None = None
    is_all: bool = False


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a user: facts in every status as rows with names, best first, and their entities."""

    rows: list[dict[str, Any]]
    entities: pa.Table


def facts(
    store: Store,
    query: FactQuery,
    decay: DecaySettings,
    waiting: Overlay | None = None,
    is_hidden: Callable[[dict[str, Any]], bool] = lambda _: False,
) -> list[dict[str, Any]]:
    """Returns the facts, best first, as JSON-able dicts with effective confidence (0 to 1).

    `waiting` is the person's feedback up to then that no fold has seen yet; `is_hidden` says which rows are about to be
    erased. A user of whom nothing is known has no
    facts: the list is empty. Raises CorruptTableError where a partition cannot be read, never an empty list for it.
    """
    key = name_key(query.entity) if query.entity else None
    return [
        shown(row)
        for row in standing(store, query, decay, waiting).to_pylist()
        if not is_hidden(row)
        and (query.is_all or row["status"] in SHOWN or _held_then(row, query))
        and (query.is_all or _has_begun(row, query))
        and (key is None or key in row["end_keys"])
    ]


def standing(
    store: Store,
    query: FactQuery,
    decay: DecaySettings,
    waiting: Overlay | None = None,
    columns: Sequence[str] = ("*",),
) -> pa.Table:
    """The facts of a user and a day in any status, best first, before anything is left out: the columns of
    current_edges, and names (`subject`, `object`; normalised: `subject_keys`, `object_keys`, `end_keys`).

    Who needs some `columns` alone, those of BEST_FIRST among them, gets them sooner.
    """
    return _standing(store, query, decay, waiting, columns)[0]


def known(store: Store, query: FactQuery, decay: DecaySettings, waiting: Overlay | None = None) -> Known:
    """Everything known of the user then, whatever its status or name, for who needs ids and entities besides; raises
    as `facts` does."""
    rows, entities = _standing(store, query, decay, waiting)
    return Known(rows.to_pylist(), entities)


def _standing(
    store: Store, query: FactQuery, decay: DecaySettings, waiting: Overlay | None, columns: Sequence[str] = ("*",)
) -> tuple[pa.Table, pa.Table]:
    """Facts with names, and entities."""
    known_at = query.known_at or query.as_of
    with scratch() as connection:
        edges, entities = (_of_user(store, table, known_at, query.user_id, connection) for table in (EDGES, ENTITIES))
        if waiting:
            edges, entities = laid_over(edges, entities, waiting, known_at, connection)
        current = current_edges(edges, entities, query.as_of, decay, connection)
        connection.execute(f"CREATE OR REPLACE TEMP VIEW standing AS {current.sql}")
        bind(connection, "entities", entities)
        rows = fetch(connection, f"SELECT {', '.join(columns)} FROM ({statement(HERE, 'facts')})")
    return rows.take(pc.sort_indices(rows, sort_keys=BEST_FIRST)), entities  # half of what DuckDB takes for wide rows


def _of_user(store: Store, table: Table, until: date, user_id: str, connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """One person's rows of a state: of a file sorted by user the others are not even read."""
    day = store.lake.latest(table, until)
    if day is None:
        return table.empty()
    store.lake.info(table, day)  # a damaged file is named as such
    bind(connection, "everybody", store.lake.scan(table, day))
    connection.execute("SET VARIABLE user_id = ?", [user_id])
    found = fetch(connection, "SELECT * FROM everybody WHERE user_id = getvariable('user_id')")
    if found.schema.names != table.schema.names:
        return store.lake.read(table, day)  # which says what is wrong with it
    return found.cast(table.schema)


def _held_then(row: dict[str, Any], query: FactQuery) -> bool:
    """Known at K to have ended, but only after D: at D it held."""
    ended: date | None = row["valid_to"]
    return query.known_at is not None and row["status"] == "superseded" and ended is not None and ended > query.as_of


def _has_begun(row: dict[str, Any], query: FactQuery) -> bool:
    """Looking back from K, a fact that began only after D did not hold at D; if nobody said when it began, it began
    when it was learned. Attributes always hold, plans and wishes are about what is to come."""
    if query.known_at is None or row["temporal_type"] in ALWAYS_OR_AHEAD:
        return True
    begun: date = row["valid_from"] or row["learned_at"].date()
    return begun <= query.as_of


def shown(row: dict[str, Any]) -> dict[str, Any]:
    """A row of facts as readers get it, JSON-able."""
    precision = PRECISION_CHARACTERS[row["valid_precision"] or "day"]
    return {
        "subject": row["subject"],
        "relation": row["relation"],
        "object": row["object"],
        "polarity": row["polarity"],
        "status": row["status"],
        "confidence": round(row["effective_confidence"], 4),
        "valid_from": row["valid_from"].isoformat()[:precision] if row["valid_from"] else None,
        "valid_to": row["valid_to"].isoformat() if row["valid_to"] else None,
        "temporal_type": row["temporal_type"],
        "over": row["over"],
        "flags": row["flags"],
        "learned_at": row["learned_at"].isoformat(),
        "last_reinforced": row["last_reinforced"].isoformat(),
        "reinforcement_count": row["reinforcement_count"],
        "edge_id": row["edge_id"],
        "provenance": [{"session_id": p["session_id"], "turn_number": p["turn_number"]} for p in row["provenance"]],
    }
