"""Homes that are told one message a day and run after each."""

import json
from datetime import UTC, datetime

from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline

NOW = datetime(2026, 4, 1, tzinfo=UTC)


def tell(home: Pipeline, day: int, content: str, user: str = "ada", role: str = "user") -> None:
    """Lands a message of a day of March 2026, a conversation a day, and runs."""
    log = home.path.parent / f"said-{user}-{day}.jsonl"
    message = {
        "user_id": user, "session_id": f"s{day}", "turn_number": 0, "role": role, "content": content,
        "timestamp": f"2026-03-{day:02d}T10:00:00Z",
    }  # fmt: skip
    log.write_text(json.dumps(message) + "\n", encoding="utf-8")
    land([log], home.store.log, now=NOW, settings=home.settings.landing)
    run(home)


def run(home: Pipeline) -> None:
    """Makes every daily step's days that are out of date."""
    for step in home.steps.values():
        home.store.run_days(step, home.store.stale_days(step))
