"""Skill invocations as tests tell them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
_NUMBERS = count()


def call(
    skill: str,
    error: str | None = None,
    *,
    hours: float = 0,
    session: str = "s1",
    said: str = "",
    given: str | None = None,
    ms: float = 100,
    user: str = "ada",
) -> dict[str, Any]:
    """A row of skill_invocations, so many hours after Monday."""
    return {
        "invocation_id": f"inv_{next(_NUMBERS):06}", "timestamp": MONDAY + timedelta(hours=hours), "user_id": user,
        "session_id": session, "skill_name": skill, "input_hash": given, "output_summary": said,
        "error_category": error, "exit_code": 0 if error is None else 1, "duration_ms": ms, "cost_usd": 0.001,
    }  # fmt: skip


def daily(skill: str, error: str | None, n: int, **fields: Any) -> Iterator[dict[str, Any]]:
    """One call a day, each in a conversation of its own."""
    for day in range(n):
        yield call(skill, error, hours=24 * day, session=f"day-{day}", **fields)
