"""Homes with skill invocations that were landed as any log is, and what nights make of them."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.landing.land import land
from em_pipelines.lifecycle.consolidation.night import NightReport, run_night
from em_pipelines.pipeline import OpenModels, Pipeline
from em_pipelines.schema.tables.derived import CONSOLIDATED
from em_pipelines.settings import load_settings

BEGIN = datetime(2026, 3, 2, 8, tzinfo=UTC)
NOW = datetime(2026, 6, 1, 3, tzinfo=UTC)
TABLES = {table.name: table for table in CONSOLIDATED}


def failing(
    skill: str,
    error: str,
    *,
    user: str = "ada",
    n: int = 4,
    said: str = "",
    helped: str | None = None,
    sessions: str = "",
) -> list[dict[str, Any]]:
    """A skill that fails every second day, in a conversation of its own each time; with `helped`, a skill after which
    it works again. Conversations are named by the skill, or by `sessions`."""
    found = []
    for turn in range(n):
        at, session = BEGIN + timedelta(days=2 * turn), f"{user}-{sessions or skill}-{turn}"
        found.append(_call(user, session, skill, at, error, said))
        if helped:
            found.append(_call(user, session, helped, at + timedelta(minutes=1), None, "done"))
            found.append(_call(user, session, skill, at + timedelta(minutes=2), None, "done"))
    return found


def working(*skills: str, user: str = "ada", n: int = 4) -> list[dict[str, Any]]:
    """Skills that work one after the other, every second day, in conversations of their own."""
    return [
        _call(user, f"{user}-well-{turn}", skill, BEGIN + timedelta(days=2 * turn, hours=5, minutes=step), None, "done")
        for turn in range(n)
        for step, skill in enumerate(skills)
    ]


def _call(user: str, session: str, skill: str, at: datetime, error: str | None, said: str) -> dict[str, Any]:
    return {
        "type": "skill_invocation", "timestamp": at.isoformat(), "user_id": user, "session_id": session,
        "skill_name": skill, "input_hash": f"{session}-{at:%H%M}", "output_summary": said, "error_category": error,
        "exit_code": 0 if error is None else 1, "duration_ms": 120.0, "cost_usd": 0.001,
    }  # fmt: skip


def home_at(path: Path, open_models: OpenModels | None = None, **settings: Any) -> Pipeline:
    """The home at a path, opened with these settings."""
    return Pipeline(load_settings(home=path, **settings), open_models)


def learn(home: Pipeline, records: Iterable[dict[str, Any]], name: str = "log") -> None:
    """Lands invocations as a file, and makes their table."""
    file = home.path.parent / f"{home.path.name}-{name}.jsonl"
    file.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    land([file], home.store.log, now=NOW, settings=home.settings.landing)
    step = home.steps["skill_invocations"]
    home.store.run_days(step, home.store.days(step))


def night(home: Pipeline, now: datetime = NOW, *, is_forced: bool = True) -> NightReport:
    """A night of the home."""
    return run_night(home, now, is_forced=is_forced)


def rows(home: Pipeline, table: str) -> list[dict[str, Any]]:
    """The rows of a table as the last night left them."""
    days = home.store.lake.days(TABLES[table])
    return home.store.lake.read(TABLES[table], days[-1]).to_pylist() if days else []
