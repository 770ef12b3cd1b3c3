"""Decay, expiry and archival: what time does to facts, as a closed form of state and day.

Any day is computed without the days before it. Nothing here is written back into the state.
"""

from collections.abc import Callable
from datetime import date
from pathlib import Path

import duckdb

from em_pipelines.graph.confidence_decay import DecaySettings, install_macros
from em_pipelines.schema.table import Records, Tables
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.storage.duckdb_engine import Query, Rows, bind, statement

HERE = Path(__file__).parent


def current_edges(
    edges: Rows, entities: Rows, as_of: date, settings: DecaySettings, connection: duckdb.DuckDBPyConnection
) -> Query:
    """Returns every edge as it stands at the end of the day `as_of`, in the columns of the table current_edges.

    Adds effective_confidence and turns the status of active and contradicted edges to expired or archived where
    their time has come; what was archived for `archive_days` is gone. Ends are the entities by which names that are
    one are read; of facts that thereby say the same one is left, the others are superseded by it. Nothing depends on
    earlier days. Rows keep the order of `edges`. The query is to be taken before the connection is used again.
    """
    install_macros(connection, settings, as_of)
    bind(connection, "edges_standing", edges)
    bind(connection, "entities_known", entities)
    for name in ("wish_expiry_days", "event_expiry_days", "max_unsupported_confidence"):
        connection.execute(f"SET VARIABLE {name} = {getattr(settings, name)}")
    for name in ("merged", "named", "repeated"):
        connection.execute(statement(HERE, name))
    return Query(connection, statement(HERE, "current_edges"), is_ordered=True)


def decay_run(
    settings: DecaySettings, connection: duckdb.DuckDBPyConnection
) -> Callable[[date, Tables, Records], Tables]:
    """The run of the step `decay`."""

    def run(day: date, tables: Tables, _: Records) -> Tables:
        edges, entities = tables["state_edges"], tables["state_entities"]
        return {CURRENT_EDGES.name: current_edges(edges, entities, day, settings, connection)}

    return run
