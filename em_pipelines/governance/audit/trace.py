"""Everything that came of one message or one piece of feedback, table by table, in the order of the pipeline."""

from em_pipelines.errors import UsageError
from em_pipelines.governance.audit.rows import Row, rows_where, state_where
from em_pipelines.schema import ids
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.extraction import SEGMENTS
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.storage.lake import Lake

CORRELATION = "correlation_id"
Tables = dict[str, list[Row]]
"""Rows by the name of their table."""


def trace(lake: Lake, correlation_id: str, user_id: str | None = None) -> Tables:
    """The rows with a correlation id by table, with the segment that the message was read in and the facts as they
    stand now. Empty where no table knows the id.

    A log may bring correlation ids of its own; what came of such a message is found by either. Raises UsageError
    where several users' rows have the id and `user_id` names none of them.
    """
    tables = _correlated(lake, {correlation_id})
    if said := _said(tables):
        derived = {ids.correlation_id(user, session, turn) for user, session, turn in said}
        tables = _merged(tables, _correlated(lake, derived - {correlation_id}))
        wanted = {ids.message_id(*key) for key in _said(tables)}
        tables[MESSAGES.name] = rows_where(lake, MESSAGES, "message_id", wanted)
        tables[SEGMENTS.name] = rows_where(lake, SEGMENTS, "segment_id", _values(tables, "segment_id"))
    causes = {row["claim_id"] for row in tables.get("graph_ops", [])} | {correlation_id}
    tables[FEEDBACK.name] = rows_where(lake, FEEDBACK, "feedback_id", causes)
    tables[EDGES.name] = state_where(lake, EDGES, "edge_id", _values(tables, "edge_id"))
    return _of_one(tables, user_id)


def _correlated(lake: Lake, wanted: set[str]) -> Tables:
    correlated = [table for table in CATALOG.values() if CORRELATION in table.schema.names]
    return {table.name: rows_where(lake, table, CORRELATION, wanted) for table in correlated}


def _values(tables: Tables, column: str) -> set[str]:
    """What a column says anywhere, where it says anything."""
    return {row[column] for rows in tables.values() for row in rows if row.get(column)}


def _said(tables: Tables) -> set[tuple[str, str, int]]:
    """The messages that rows are about."""
    return {
        (row["user_id"], row["session_id"], row["turn_number"])
        for name in ("interactions", "messages", "mentions", "claims", "extraction_issues")
        for row in tables.get(name, [])
    }


def _merged(one: Tables, other: Tables) -> Tables:
    return {name: [*one[name], *other[name]] for name in one}


def _of_one(tables: Tables, user_id: str | None) -> Tables:
    users = _values(tables, "user_id")
    if user_id is None and len(users) > 1:
        raise UsageError(f"tracing: rows of {len(users)} users have that correlation id; name one with --user")
    kept = {
        name: [row for row in tables.get(name, []) if user_id is None or row.get("user_id") == user_id]
        for name in CATALOG
    }
    return {name: rows for name, rows in kept.items() if rows}
