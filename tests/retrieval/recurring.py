"""A home in which something recurs: calls of skills over two weeks, a taste that three conversations repeat, decisions
that bear one tag; and nights over it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.landing.land import land
from em_pipelines.lifecycle.consolidation.night import decide, run_night
from em_pipelines.lifecycle.consolidation.nights import Said
from em_pipelines.lifecycle.consolidation.reviewed import waiting
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.packs import build

LANDED = datetime(2026, 11, 1, tzinfo=UTC)
START = datetime(2026, 4, 6, 9, tzinfo=UTC)
Line = dict[str, Any]


def call(day: int, skill: str, error: str | None = None, *, minute: int = 0, user: str = "ada", **more: Any) -> Line:
    """One call of a skill on a day, counted from START; each day has its conversation."""
    at = START + timedelta(days=day, minutes=minute)
    return {
        "type": "skill_invocation", "timestamp": at.isoformat(), "user_id": user, "session_id": f"{user}-{day}",
        "skill_name": skill, "input_hash": f"{user}{skill}{day}{minute}", "error_category": error,
        "duration_ms": 40.0 + minute, "output_summary": "done", **more,
    }  # fmt: skip


def said(day: int, text: str, *, user: str = "ada", turn: int = 0, **more: Any) -> Line:
    """One message of the person, in the conversation of the day."""
    at = START + timedelta(days=day, hours=1, minutes=turn)
    return {
        "user_id": user, "session_id": f"{user}-talk-{day}", "turn_number": turn, "role": "user", "content": text,
        "timestamp": at.isoformat(), **more,
    }  # fmt: skip


def failing(days: Sequence[int], user: str = "ada") -> list[Line]:
    """A kiln controller that loses its lease each time, until it is renewed."""
    return [
        line
        for day in days
        for line in (
            call(day, "kiln_start", "LeaseExpired", user=user, output_summary="lease of the kiln has expired"),
            call(day, "renew_lease", minute=1, user=user),
            call(day, "kiln_start", minute=2, user=user, input_hash="again"),
        )
    ]


def learn(home: Pipeline, folder: Path, lines: Sequence[Line]) -> None:
    """Lands lines and makes the tables."""
    source = folder / "lines.jsonl"
    source.write_bytes(b"\n".join(map(orjson.dumps, lines)) + b"\n")
    land([source], home.store.log, now=LANDED, settings=home.settings.landing)
    for step in home.steps.values():
        home.store.run_days(step, home.store.stale_days(step))


def accept_words(home: Pipeline) -> None:
    """Lets the words of tools in that wait."""
    decide(home, [one.experience_id for one in waiting(home) if one.excerpt], Said.ACCEPT, LANDED)


def sleep(home: Pipeline) -> str:
    """Has a night, and makes the packs; returns the id of the night."""
    report = run_night(home, LANDED, is_forced=True)
    build(home)
    assert report.consolidation_id
    return report.consolidation_id
