"""Decay, expiry and archival: what time does to facts, as a closed form of state and day.

Any day is computed without the days before it. Nothing here is written back into the state.
"""

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path

import duckdb
import pyarrow as pa

from em_pipelines.graph.confidence_decay import DecaySettings, install_macros
from em_pipelines.schema.table import Records, Tables
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.storage.duckdb_engine import ParquetRows, Query, Rows, bind, by_day, dated, statement

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
    for name, rows in (("edges_standing", edges), ("entities_known", entities)):
        bind(connection, f"{name}_undated", rows)
        on_day = f"SELECT *, DATE '{as_of}' AS as_of FROM {name}_undated"
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {on_day}")
    return _standing(settings, as_of, connection)


def current_edges_of_days(
    states: Mapping[date, tuple[pa.Table, pa.Table]], settings: DecaySettings, connection: duckdb.DuckDBPyConnection
) -> dict[date, pa.Table]:
    """The `current_edges` of several days, each of its `edges` and `entities`: planning takes as long as of one."""
    for number, name in enumerate(("edges_standing", "entities_known")):
        connection.execute(f"DROP VIEW IF EXISTS {name}")
        connection.register(name, dated({day: tables[number] for day, tables in states.items()}, "as_of"))
    return by_day(_standing(settings, min(states), connection).to_table(), "as_of", states, is_kept=True)


def _standing(settings: DecaySettings, as_of: date, connection: duckdb.DuckDBPyConnection) -> Query:
    """The edges `edges_standing` by the names `entities_known`, both dated in a column `as_of`."""
    install_standing_macros(connection, settings, as_of)
    for name in ("merged", "named", "repeated"):
        connection.execute(statement(HERE, name))
    return Query(connection, statement(HERE, "current_edges"), is_ordered=True)


def install_standing_macros(connection: duckdb.DuckDBPyConnection, settings: DecaySettings, as_of: date) -> None:
    """Defines `left_on`, `expiry` and `status_on`: how a fact stands on any day, with those that they are made of."""
    install_macros(connection, settings, as_of)
    for name in ("wish_expiry_days", "event_expiry_days", "max_unsupported_confidence"):
        connection.execute(f"SET VARIABLE {name} = {getattr(settings, name)}")
    connection.execute(statement(HERE, "standing_macros"))


def decay_run(
    settings: DecaySettings, connection: duckdb.DuckDBPyConnection
) -> Callable[[date, Tables, Records], Tables]:
    """The run of the step `decay`."""

    def run(day: date, tables: Tables, _: Records) -> Tables:
        edges, entities = tables["state_edges"], tables["state_entities"]
        if isinstance(edges, ParquetRows) or isinstance(entities, ParquetRows):
            return {CURRENT_EDGES.name: current_edges(edges, entities, day, settings, connection)}
        return decay_run_of_days(settings, connection)({day: tables})[day]

    return run


def decay_run_of_days(
    settings: DecaySettings, connection: duckdb.DuckDBPyConnection
) -> Callable[[Mapping[date, Tables]], dict[date, Tables]]:
    """The run of the step `decay` over several days whose states are in memory."""

    def run(days: Mapping[date, Tables]) -> dict[date, Tables]:
        states = {day: (tables["state_edges"], tables["state_entities"]) for day, tables in days.items()}
        made = current_edges_of_days(states, settings, connection)
        return {day: {CURRENT_EDGES.name: rows} for day, rows in made.items()}

    return run
