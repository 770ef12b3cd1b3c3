"""What a night costs over ten thousand entries: processor seconds, from the tables to what is promoted.

The entries are invented: skills of several users, called for months, that fail now and then, some of them alike.
"""

import random
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console

from em_pipelines.language.counting import counted
from em_pipelines.lifecycle.consolidation.night import run_night
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.raw import SKILL_INVOCATIONS
from em_pipelines.settings import load_settings

N_ENTRIES = 10_000
N_USERS, N_SKILLS, N_DAYS = 8, 25, 120
CALLS_A_CONVERSATION = 6
FAILING_SHARE = 0.08
TARGET_SECONDS = 30
BEGIN = datetime(2026, 1, 5, 8, tzinfo=UTC)
ERRORS = ("TimeoutError", "connection_reset", "QuotaExceeded", "ParseError", "permission_denied")
TOLD = (
    "no answer within {n} s",
    "connection to host-{n} was reset",
    "quota of {n} rows exceeded",
    "line {n} is broken",
    "no right to write part {n}",
)


def main() -> None:
    """Runs the benchmark and prints it."""
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        home = Pipeline(load_settings(home=Path(folder)))
        days: dict[Any, list[dict[str, Any]]] = {}
        for row in invented(N_ENTRIES, seed=1):
            days.setdefault(row["timestamp"].date(), []).append(row)
        for day, rows in days.items():
            home.store.lake.write(SKILL_INVOCATIONS, day, SKILL_INVOCATIONS.from_rows(rows))
        begun = time.process_time()
        report = run_night(home, BEGIN + timedelta(days=N_DAYS))
        seconds = time.process_time() - begun
    console.print(
        f"a night over {report.n_entries:,} entries: {seconds:.1f} processor seconds (wanted: {TARGET_SECONDS}); "
        f"{counted(report.n_patterns, 'pattern')}, {report.n_promoted} promoted"
    )


def invented(n_entries: int, seed: int) -> list[dict[str, Any]]:
    """Rows of skill_invocations."""
    drawn = random.Random(seed)
    rows = []
    for number in range(n_entries):
        conversation, user = number // CALLS_A_CONVERSATION, number // CALLS_A_CONVERSATION % N_USERS
        day = conversation * N_DAYS * CALLS_A_CONVERSATION // n_entries
        skill, kind = drawn.randrange(N_SKILLS), drawn.randrange(len(ERRORS))
        is_failed = drawn.random() < FAILING_SHARE
        rows.append(
            {
                "invocation_id": f"inv_{number:06}", "user_id": f"user-{user}", "session_id": f"s-{conversation}",
                "timestamp": BEGIN + timedelta(days=day, seconds=conversation % 600 + number % CALLS_A_CONVERSATION),
                "skill_name": f"skill_{skill}", "input_hash": f"{drawn.randrange(400):x}",
                "output_summary": TOLD[kind].format(n=drawn.randrange(900)) if is_failed else "done",
                "error_category": ERRORS[kind] if is_failed else None, "exit_code": int(is_failed),
                "duration_ms": drawn.lognormvariate(6, 0.6), "cost_usd": 0.001,
            }
        )  # fmt: skip
    return rows
