"""Feedback that has landed and that no fold has seen: what a person said just now."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from em_pipelines.lake import rows_of
from em_pipelines.landing.tables import feedback_table
from em_pipelines.pipeline import Step, Store
from em_pipelines.tables.graph import EDGES
from em_pipelines.tables.raw import FEEDBACK


def waiting_feedback(store: Store, steps: Sequence[Step], user_id: str, until: date) -> list[dict[str, Any]]:
    """The rows of `feedback` of one user, said up to the end of a day, that the given steps have not taken in."""
    days = [day for day in store.log.days("feedback") if day <= until]
    if not days:
        return []
    look = store.look()
    found: list[dict[str, Any]] = []
    for day in sorted(set().union(*(store.outdated(step, days, look) for step in steps))):
        records = feedback_table(store.log.read("feedback", day))
        # Of a day that is out of date, what its last fold has seen is in the state all the same.
        is_folded = store.lake.info(EDGES, day) is not None
        folded = set(store.lake.read(FEEDBACK, day)["feedback_id"].to_pylist()) if is_folded else set()
        found += [r for r in rows_of(records) if r["user_id"] == user_id and r["feedback_id"] not in folded]
    return found
