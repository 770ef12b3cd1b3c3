"""The audit trail: a day's changes of the graph and decisions about it, each with its reason, in one table.

A pure function of what the day made and of how facts stood before it. Facts also fade on days on which nothing is
said, and on those nothing is written: the next day that is tells of all that happened since, each event at the day on
which it came to pass. So the trail does not depend on when it was made.
"""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.governance.audit.fading import FADED, fading
from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.graph.relations import install_edge_macros
from em_pipelines.schema.audit_events import EventType
from em_pipelines.schema.readings import DEAD_LETTER, HALLUCINATIONS
from em_pipelines.schema.table import STATE_DAYS, Records, Tables
from em_pipelines.schema.tables.derived import INFERRED_EDGES
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.schema.tables.record import AUDIT_TRAIL
from em_pipelines.storage.duckdb_engine import fetch, registered, statement

HERE = Path(__file__).parent
SKIPS = ("skipped", DEAD_LETTER)
"""Issues of messages that were not read. Those that still wait to be read are no decision yet."""


def audit_trail(day: date, tables: Tables, decay: DecaySettings, connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Returns the day's events in the columns of `audit_trail`.

    `tables` has graph_ops, entity_ops, extraction_issues, feedback and edges of the day, `state_edges` as it stood
    before, and the day of that state in `state_days`; inferred_edges and state_inferred_edges where there are any.
    An operation for which the closed list has no name gives an event without a type, which the lake refuses.
    """
    install_edge_macros(connection)
    for name in ("fading_macros", "trail_macros"):
        connection.execute(statement(HERE, name))
    inferred = INFERRED_EDGES.empty()
    said_of_itself = [t.value for t in EventType if t.value.startswith(("probe_", "starter_"))]
    inputs = {
        "inferred_edges": inferred,
        "state_inferred_edges": inferred,
        **tables,
        "faded": _faded(day, tables, decay, connection),
        "hallucinations": pa.table({"issue": list(HALLUCINATIONS)}),
        "skips": pa.table({"issue": list(SKIPS)}),
        "feedback_events": pa.table({"type": said_of_itself}),
    }
    with registered(connection, inputs):
        connection.execute("SET VARIABLE day = ?::DATE", [day])
        return fetch(connection, statement(HERE, "trail")).select(AUDIT_TRAIL.schema.names)


def _faded(day: date, tables: Tables, decay: DecaySettings, connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """What time alone did to facts from the end of the day of `state_edges` to that of `day`, in columns FADED."""
    days = {row["table_name"]: row["day"] for row in tables[STATE_DAYS].to_pylist()}
    if EDGES.name not in days:
        return FADED.empty_table()
    with registered(connection, {name: tables[name] for name in ("edges", "state_edges")}):
        standing = fetch(connection, statement(HERE, "standing"))
    found = [FADED.empty_table()]
    for is_touched, until in ((False, day), (True, day - timedelta(days=1))):
        facts = standing.filter(pc.equal(standing["is_touched"], is_touched)).drop_columns(["is_touched"])
        found.append(fading(facts, days[EDGES.name], until, decay, connection))
    return pa.concat_tables(found)


def audit_run(decay: DecaySettings, connection: duckdb.DuckDBPyConnection) -> Callable[[date, Tables, Records], Tables]:
    """The run of the step `audit`."""
    return lambda day, tables, _: {AUDIT_TRAIL.name: audit_trail(day, tables, decay, connection)}
