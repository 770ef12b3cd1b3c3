"""Everything that came of one message or one piece of feedback, table by table, in the order of the pipeline."""

from em_pipelines import ids
from em_pipelines.errors import UsageError
from em_pipelines.lake import Lake
from em_pipelines.record.reading import Row, rows_where, state_where
from em_pipelines.tables.catalog import CATALOG
from em_pipelines.tables.clean import MESSAGES
from em_pipelines.tables.extraction import SEGMENTS
from em_pipelines.tables.graph import EDGES
from em_pipelines.tables.raw import FEEDBACK

CORRELATION = "correlation_id"


def trace(lake: Lake, correlation_id: str, user_id: str | None = None) -> dict[str, list[Row]]:
    """The rows with a correlation id by table, with the segment that the message was read in and the facts as they
    stand now. Empty where no table knows the id.

    A log may bring correlation ids of its own; what came of such a message is found by either. Raises UsageError
    where several users' rows have the id and `user_id` names none of them.
    """
    found = _correlated(lake, {correlation_id})
    if said := _said(found):
        derived = {ids.correlation_id(user, session, turn) for user, session, turn in said}
        found = _merged(found, _correlated(lake, derived - {correlation_id}))
        wanted = {ids.message_id(*key) for key in _said(found)}
        found[MESSAGES.name] = rows_where(lake, MESSAGES, "message_id", wanted)
        parts = {row["segment_id"] for rows in found.values() for row in rows if row.get("segment_id")}
        found[SEGMENTS.name] = rows_where(lake, SEGMENTS, "segment_id", parts)
    causes = {row["claim_id"] for row in found.get("graph_ops", [])} | {correlation_id}
    found[FEEDBACK.name] = rows_where(lake, FEEDBACK, "feedback_id", causes)
    changed = {row["edge_id"] for rows in found.values() for row in rows if row.get("edge_id")}
    found[EDGES.name] = state_where(lake, EDGES, "edge_id", changed)
    return _of_one(found, user_id)


def _correlated(lake: Lake, wanted: set[str]) -> dict[str, list[Row]]:
    tables = [table for table in CATALOG.values() if CORRELATION in table.schema.names]
    return {table.name: rows_where(lake, table, CORRELATION, wanted) for table in tables}


def _said(found: dict[str, list[Row]]) -> set[tuple[str, str, int]]:
    """The messages that rows are about."""
    return {
        (row["user_id"], row["session_id"], row["turn_number"])
        for name in ("interactions", "messages", "mentions", "claims", "extraction_issues")
        for row in found.get(name, [])
    }


def _merged(one: dict[str, list[Row]], other: dict[str, list[Row]]) -> dict[str, list[Row]]:
    return {name: [*one[name], *other[name]] for name in one}


def _of_one(found: dict[str, list[Row]], user_id: str | None) -> dict[str, list[Row]]:
    users = {row["user_id"] for rows in found.values() for row in rows if row.get("user_id")}
    if user_id is None and len(users) > 1:
        raise UsageError(f"tracing: rows of {len(users)} users have that correlation id; name one with --user")
    kept = {
        name: [row for row in found.get(name, []) if user_id is None or row.get("user_id") == user_id]
        for name in CATALOG
    }
    return {name: rows for name, rows in kept.items() if rows}
