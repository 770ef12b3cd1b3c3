"""The audit trail: a day's changes of the graph and decisions about it, each with its reason, in one table.

A pure function of what the day made and of how facts stood before it. Facts also fade on days on which nothing is
said, and on those nothing is written: the next day that is tells of all that happened since, each event at the day on
which it came to pass. So the trail does not depend on when it was made. Decay is a closed form: the days in between are
looked at only for facts that stand differently at the ends.
"""

from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path

import duckdb
import pyarrow as pa

from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.graph.relations import install_edge_macros
from em_pipelines.lifecycle.decay import install_standing_macros
from em_pipelines.schema.audit_events import EventType
from em_pipelines.schema.readings import DEAD_LETTER, HALLUCINATIONS
from em_pipelines.schema.table import STATE_DAYS, Records, Tables
from em_pipelines.schema.tables.derived import INFERRED_EDGES
from em_pipelines.schema.tables.raw import ERASURES
from em_pipelines.schema.tables.record import AUDIT_TRAIL
from em_pipelines.storage.duckdb_engine import Rows, bind, by_day, dated, fetch, registered, statement

HERE = Path(__file__).parent
INPUTS = (
    "edges", "state_edges", "graph_ops", "entity_ops", "extraction_issues", "feedback", "erasures", "inferred_edges",
    "state_inferred_edges", STATE_DAYS,
)  # fmt: skip
_SELDOM = {"erasures": ERASURES, "inferred_edges": INFERRED_EDGES, "state_inferred_edges": INFERRED_EDGES}
SKIPS = ("skipped", DEAD_LETTER)
"""Issues of messages that were not read. Those that still wait to be read are no decision yet."""


def audit_trail(day: date, tables: Tables, decay: DecaySettings, connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Returns the day's events in the columns of `audit_trail`.

    `tables` has graph_ops, entity_ops, extraction_issues, feedback, erasures, edges and inferred_edges of the day,
    `state_edges` and `state_inferred_edges` as they stood before, and the days of those states in `state_days`; of what
    is inferred and erased only where there is any.
    An operation for which the closed list has no name gives an event without a type, which the lake refuses.
    """
    return audit_trails({day: tables}, decay, connection)[day]


def audit_trails(
    days: Mapping[date, Tables], decay: DecaySettings, connection: duckdb.DuckDBPyConnection
) -> dict[date, pa.Table]:
    """The events of each of several days, of the tables that `audit_trail` takes: planning takes as long as of one.

    Of several days all tables are in memory; of a single one those of edges may be files.
    """
    install_edge_macros(connection)
    for name in ("fading_macros", "trail_macros"):
        connection.execute(statement(HERE, name))
    said_of_itself = [t.value for t in EventType if t.value.startswith(("probe_", "starter_"))]
    inputs = {
        "hallucinations": pa.table({"issue": list(HALLUCINATIONS)}),
        "skips": pa.table({"issue": list(SKIPS)}),
        "feedback_events": pa.table({"type": said_of_itself}),
    }
    with registered(connection, inputs):
        for name in INPUTS:
            _bind_dated(connection, name, {day: _given(tables, name) for day, tables in days.items()})
        connection.execute(statement(HERE, "standing"))
        with registered(connection, {"faded": faded(decay, min(days), connection)}):
            events = fetch(connection, statement(HERE, "trail"))
    of_days = by_day(events, "trail_day", days)
    return {day: found.select(AUDIT_TRAIL.schema.names) for day, found in of_days.items()}


def _given(tables: Tables, name: str) -> Rows:
    rows: Rows = tables[name] if name in tables else _SELDOM[name].empty()
    return rows


def _bind_dated(connection: duckdb.DuckDBPyConnection, name: str, of_days: Mapping[date, Rows]) -> None:
    """Makes the rows of all days readable under a name, with the day of each in the column `trail_day`."""
    in_memory = {day: rows for day, rows in of_days.items() if isinstance(rows, pa.Table)}
    if len(in_memory) == len(of_days):
        bind(connection, name, dated(in_memory, "trail_day"))
        return
    ((day, rows),) = of_days.items()
    bind(connection, f"{name}_undated", rows)
    connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS SELECT *, DATE '{day}' AS trail_day FROM {name}_undated")


def fading(
    facts: pa.Table, first: date, last: date, decay: DecaySettings, connection: duckdb.DuckDBPyConnection
) -> pa.Table:
    """What time alone does to facts from the end of day `first` to that of `last`, a row a change, as `faded` has it.

    `facts` has the columns of `edges`, as they stood all that time.
    """
    of_facts = {
        name: pa.repeat(pa.scalar(day, pa.date32()), facts.num_rows)
        for name, day in (("faded_from", first), ("faded_until", last), ("trail_day", last))
    }
    for name, days in of_facts.items():
        facts = facts.append_column(name, days)
    with registered(connection, {"standing": facts}):
        return faded(decay, last, connection)


def faded(decay: DecaySettings, as_of: date, connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """The changes of the facts in `standing`, each from the end of its day `faded_from` to that of `faded_until`.

    Columns edge_id, user_id, subject_id, source_mechanism, provenance, old_status, new_status, confidence_before,
    confidence_after (0 to 1), faded_on and trail_day.
    """
    install_standing_macros(connection, decay, as_of)
    connection.execute(statement(HERE, "fading_macros"))
    return fetch(connection, statement(HERE, "faded"))


def audit_run(decay: DecaySettings, connection: duckdb.DuckDBPyConnection) -> Callable[[date, Tables, Records], Tables]:
    """The run of the step `audit`."""
    return lambda day, tables, _: {AUDIT_TRAIL.name: audit_trail(day, tables, decay, connection)}


def audit_run_of_days(
    decay: DecaySettings, connection: duckdb.DuckDBPyConnection
) -> Callable[[Mapping[date, Tables]], dict[date, Tables]]:
    """The run of the step `audit` over several days whose tables are in memory."""

    def run(days: Mapping[date, Tables]) -> dict[date, Tables]:
        return {day: {AUDIT_TRAIL.name: made} for day, made in audit_trails(days, decay, connection).items()}

    return run
