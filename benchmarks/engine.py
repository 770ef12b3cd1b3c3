"""Engine throughput: from cleaned messages to current facts with the rules extractor, outside Dagster.

The text is that of examples/logs, said by as many invented users as it takes, on the days of the original. Besides
messages a second it prints them against a fixed amount of plain Python work timed in the same run: that ratio can be
compared between machines and between noisy moments of one, the bare figure cannot.
"""

import resource
import tempfile
import time
from collections import defaultdict
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.table import Table as Printed

from em_pipelines.extraction.messages import messages
from em_pipelines.landing.land import land
from em_pipelines.landing.tables import interactions_table
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.ids import correlation_id
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.raw import FEEDBACK, INTERACTIONS
from em_pipelines.settings import load_settings
from em_pipelines.storage.duckdb_engine import Query
from em_pipelines.storage.landed_log import LandedLog
from em_pipelines.storage.step import Step

EXAMPLES = Path(__file__).parents[1] / "examples" / "logs"
N_MESSAGES = 60_000
STAGES = ("messages", "segments", "extraction", "resolution", "fold", "decay")
STATE = ("entities", "edges", "contradictions")
REFERENCE_LOOPS = 5_000_000
TARGET_PER_SECOND = 1_500


def main() -> None:
    """Runs the benchmark and prints it."""
    console = Console()
    days = replicated(example_interactions(), N_MESSAGES)
    n_messages = sum(rows.num_rows for rows in days.values())
    reference = reference_seconds()
    seconds = run(days)
    total = sum(seconds.values())
    table = Printed(title=f"{n_messages} messages in {len(days)} days, messages → current_edges", title_justify="left")
    for column in ("stage", "seconds", "share", "messages/s"):
        table.add_column(column, justify="left" if column == "stage" else "right")
    for stage, spent in seconds.items():
        table.add_row(stage, f"{spent:.2f}", f"{spent / total:.0%}", f"{n_messages / spent:,.0f}")
    table.add_row("all", f"{total:.2f}", "100%", f"{n_messages / total:,.0f}", style="bold")
    console.print(table)
    console.print(
        f"wanted: {TARGET_PER_SECOND:,} messages/s; reached {n_messages / total / TARGET_PER_SECOND:.2f} × that"
    )
    console.print(
        f"{n_messages * reference / total:,.0f} messages in the time of {REFERENCE_LOOPS:,} additions in Python"
    )
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    console.print(f"peak memory {peak_mb:,.0f} MB")


def example_interactions() -> list[dict[str, Any]]:
    """The interactions of the example logs, as rows."""
    with tempfile.TemporaryDirectory() as folder:
        log = LandedLog(folder)
        land([EXAMPLES], log, now=datetime.now(UTC), settings=load_settings().landing)
        return [
            row
            for day in log.days("interactions")
            for row in rows_of(interactions_table(log.read("interactions", day)))
        ]


def replicated(rows: list[dict[str, Any]], n_messages: int) -> dict[str, pa.Table]:
    """The rows said by as many users as give `n_messages`, one table a day."""
    days: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for copy in range(-(-n_messages // len(rows))):
        for row in rows:
            user = f"{row['user_id']}-{copy}"
            key = correlation_id(user, row["session_id"], row["turn_number"])
            days[row["timestamp"].date().isoformat()].append({**row, "user_id": user, "correlation_id": key})
    return {day: INTERACTIONS.from_rows(said) for day, said in sorted(days.items())}


def run(days: dict[str, pa.Table]) -> dict[str, float]:
    """Runs every stage over every day, state in memory; returns seconds by stage."""
    steps = Pipeline(load_settings()).steps
    seconds = dict.fromkeys(STAGES, 0.0)
    state = {f"state_{table.name}": table.empty() for name in ("resolution", "fold") for table in steps[name].previous}
    for day, interactions in days.items():
        tables = {"interactions": interactions, "feedback": FEEDBACK.empty(), **state}
        for stage in STAGES:
            begun = time.perf_counter()
            made = _made(stage, steps, datetime.fromisoformat(day).date(), tables)
            seconds[stage] += time.perf_counter() - begun
            tables |= made | {f"state_{name}": rows for name, rows in made.items() if name in STATE}
        state = {name: rows for name, rows in tables.items() if name.startswith("state_")}
    return seconds


def _made(stage: str, steps: dict[str, Step], day: date, tables: dict[str, pa.Table]) -> dict[str, pa.Table]:
    """The tables of one stage and day."""
    if stage == "messages":
        return {"messages": messages(tables["interactions"])}
    made = steps[stage].run(day, tables, ())
    return {name: rows.to_table() if isinstance(rows, Query) else rows for name, rows in made.items()}


def reference_seconds() -> float:
    """Seconds for a fixed amount of plain Python work."""
    begun = time.perf_counter()
    total = 0
    for number in range(REFERENCE_LOOPS):
        total += number
    return time.perf_counter() - begun
