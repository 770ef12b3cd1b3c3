"""The table `metrics`: what each day added to the counters, and what the gauges were at its end.

A pure function of the day's other tables and of the states at its end, as one statement for many days, so that it is
the same however often it is made. What a clock measured is not in it.
"""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from datetime import date
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from em_pipelines.schema.readings import HALLUCINATIONS, UNSUPPORTED
from em_pipelines.schema.table import Records, Tables
from em_pipelines.schema.tables.clean import DEAD_LETTERS, MESSAGES
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.extraction import CLAIMS, EXTRACTION_ISSUES, LLM_CALLS, MENTIONS
from em_pipelines.schema.tables.graph import ENTITIES, GRAPH_OPS
from em_pipelines.schema.tables.raw import FEEDBACK, INTERACTIONS
from em_pipelines.schema.tables.record import AUDIT_TRAIL, METRICS
from em_pipelines.storage.duckdb_engine import Rows, bind, by_day, dated, fetch, registered, scratch, statement
from em_pipelines.storage.histograms import BUCKETS_MS
from em_pipelines.storage.step import Step, StepReport
from em_pipelines.storage.store import Store

HERE = Path(__file__).parent
NAME = "metrics"
OF_DAY = (
    INTERACTIONS, DEAD_LETTERS, MESSAGES, MENTIONS, CLAIMS, EXTRACTION_ISSUES, LLM_CALLS, GRAPH_OPS, FEEDBACK,
    AUDIT_TRAIL,
)  # fmt: skip
STATES = (ENTITIES, CURRENT_EDGES)
CONFIDENCE_BUCKETS = tuple(n / 10 for n in range(1, 11))
"""Upper ends of the buckets of confidence."""


class MeasuredHome(Protocol):
    """A home whose days are counted."""

    @property
    def store(self) -> Store: ...
    def lock(self, name: str) -> AbstractContextManager[None]: ...


def metrics_step() -> Step:
    """The step that makes the table. Not among the daily steps: it counts what they made, and the trail of the newest
    day is made again after them."""
    return Step(
        name=NAME, inputs=OF_DAY, latest=STATES, scanned=STATES, outputs=(METRICS,), run=_run, run_many=figures_of_days
    )


def measure(home: MeasuredHome, *, is_forced: bool = False) -> StepReport:
    """Makes the days of the table that are out of date, or all, and takes those away that nothing is left of."""
    step, store = metrics_step(), home.store
    with home.lock(f"step-{NAME}"):
        left = {day for table in (*OF_DAY, *STATES) for day in store.lake.days(table)}
        for day in set(store.lake.days(METRICS)) - left:
            store.lake.delete(METRICS, day)
        days = store.days(step) if is_forced else store.stale_days(step)
        return store.run_days(step, days, is_forced=is_forced)


def is_measured(home: MeasuredHome) -> bool:
    """Whether the table holds what it would be made of now."""
    return not home.store.stale_days(metrics_step())


def figures_of_days(days: Mapping[date, Tables]) -> dict[date, Tables]:
    """The rows of `metrics` of each of several days, of the tables that the step is given; of a single one states may
    be files."""
    inputs: dict[str, Rows] = {
        "hallucinations": _stages(),
        "confidence_buckets": _buckets(CONFIDENCE_BUCKETS),
        "duration_buckets": _buckets(BUCKETS_MS),
    }
    names = [*(table.name for table in OF_DAY), *(f"state_{table.name}" for table in STATES)]
    with scratch() as connection, registered(connection, inputs):
        for name in names:
            given = {day: tables[name] for day, tables in days.items()}
            if all(isinstance(rows, pa.Table) for rows in given.values()):
                bind(connection, name, dated(given, "metric_day"))
            else:
                ((day, rows),) = given.items()
                bind(connection, f"{name}_undated", rows)
                dating = f"SELECT *, DATE '{day}' AS metric_day FROM {name}_undated"
                connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS {dating}")
        found = by_day(fetch(connection, statement(HERE, "day")), "metric_day", days)
    return {day: {METRICS.name: rows.select(METRICS.schema.names)} for day, rows in found.items()}


def _run(day: date, tables: Tables, _: Records) -> Tables:
    return figures_of_days({day: tables})[day]


def _stages() -> pa.Table:
    stages = ["grounding" if issue in UNSUPPORTED else "verification" for issue in HALLUCINATIONS]
    return pa.table({"issue": list(HALLUCINATIONS), "stage": stages})


def _buckets(ends: Iterable[float]) -> pa.Table:
    told = [*ends, float("inf")]
    return pa.table({"le": told, "shown": [shown(end) for end in told]})


def shown(end: float) -> str:
    """The upper end of a bucket as Prometheus writes it: 0.5, 1000.0, +Inf."""
    return "+Inf" if end == float("inf") else str(float(end))
