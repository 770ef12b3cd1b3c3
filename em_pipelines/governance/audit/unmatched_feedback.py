"""Corrections, confirmations and retractions that changed no fact: nothing that is known says so, or the guard refused
them. They stay in the log, and would otherwise be silent."""

from collections.abc import Iterable
from datetime import date

import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.extraction.feedback_statements import correlation_of
from em_pipelines.governance.audit.feedback_words import told
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.graph import GRAPH_OPS
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.storage.lake import Lake

ABOUT_FACTS = pa.array(["correct", "confirm", "retract"])


def unmatched_feedback(lake: Lake, days: Iterable[date] | None = None) -> list[str]:
    """One line each, whose and what it says, in the order in which it was given; of some days that were folded, or of
    all."""
    wanted = set(lake.days(GRAPH_OPS)).intersection(lake.days(FEEDBACK))
    return [line for day in sorted(wanted if days is None else wanted.intersection(days)) for line in _of(lake, day)]


def _of(lake: Lake, day: date) -> list[str]:
    given = lake.read(FEEDBACK, day)
    given = given.filter(pc.is_in(given["type"], value_set=ABOUT_FACTS))
    if not given.num_rows:
        return []
    met = set(lake.read(GRAPH_OPS, day)["correlation_id"].to_pylist())
    return [
        f"{row['user_id']}, {day}: {told(row['type'], row['payload'])}"
        for row in rows_of(given)
        if correlation_of(row["feedback_id"]) not in met
    ]
