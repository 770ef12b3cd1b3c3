"""Homes with telemetry of invented people."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zlib import crc32

import orjson

from em_pipelines.landing.land import land
from em_pipelines.lifecycle.consolidation.night import run_night
from em_pipelines.pipeline import Pipeline

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOW = datetime(2026, 4, 1, tzinfo=UTC)


def session_of(user: str, skill: str, day: int) -> str:
    """The conversation of a day in which a skill is used; its id names nothing but the user."""
    return f"{user}-d{day}-{crc32(skill.encode()) % 1000}"


def call(
    user: str, skill: str, error: str | None, day: int, *, session: str, minute: int = 0, said: str = ""
) -> dict[str, Any]:
    """A line of telemetry, so many days after Monday."""
    return {
        "type": "skill_invocation", "timestamp": (MONDAY + timedelta(days=day, minutes=minute)).isoformat(),
        "user_id": user, "session_id": session, "skill_name": skill, "input_hash": f"{day:04}{minute}",
        "output_summary": said, "error_category": error, "exit_code": 0 if error is None else 1,
        "duration_ms": 900.0, "cost_usd": 0.001,
    }  # fmt: skip


def failing(
    user: str, skill: str, error: str, n: int = 4, *, said: str = "", remedy: str | None = None, since: int = 0
) -> list[dict[str, Any]]:
    """A failure a day, after which something else was called, and then it worked."""
    found = []
    for day in range(since, since + n):
        session = session_of(user, skill, day)
        found.append(call(user, skill, error, day, session=session, said=said))
        if remedy:
            found.append(call(user, remedy, None, day, session=session, minute=1))
        found.append(call(user, skill, None, day, session=session, minute=2))
    return found


def working(user: str, *skills: str, n: int = 4) -> list[dict[str, Any]]:
    """Skills that work one after the other, once a day."""
    return [
        call(user, skill, None, day, session=session_of(user, "well", day), minute=30 + minute)
        for day in range(n)
        for minute, skill in enumerate(skills)
    ]


def message(user: str, text: str, **more: Any) -> dict[str, Any]:
    """What somebody says in a conversation of its own."""
    return {
        "user_id": user, "session_id": f"{user}-talk", "turn_number": 0, "role": "user", "content": text,
        "timestamp": MONDAY.isoformat(), **more,
    }  # fmt: skip


def fill(home: Pipeline, records: Iterable[dict[str, Any]], folder: Path) -> Pipeline:
    """Lands records, makes every day and has a night."""
    log = folder / f"{home.path.name}-{len(list(folder.glob('*.jsonl')))}.jsonl"
    log.write_bytes(b"\n".join(map(orjson.dumps, records)) + b"\n")
    land([log], home.store.log, now=NOW, settings=home.settings.landing)
    for step in home.steps.values():
        home.store.run_days(step, home.store.stale_days(step))
    run_night(home, NOW, is_forced=True)
    return home


def bytes_in(folder: Path) -> bytes:
    """All that lies below a folder, names of files included."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return b"\n".join(str(path.relative_to(folder)).encode() + path.read_bytes() for path in files)
