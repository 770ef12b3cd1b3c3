"""What one more day costs after 40 days and after 400, the facts being the same: landing, planning and every step.

Facts are said in the first month alone; each later day says one of them again. What a day costs is taken as the best
of three days in a row.
"""

import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
from em_pipelines.storage.run_plan import plan

START = datetime(2025, 1, 1, 9, tzinfo=UTC)
NOW = datetime(2026, 12, 31, tzinfo=UTC)
USERS = 5
FACTS = [f"I like {thing}." for thing in ("jazz", "tea", "chess", "rye bread", "sailing", "cumin", "fog", "wool")]
SMALL_TALK = ["Can you shorten this?", "thanks, that will do", "What is the capital of Peru?"]
SHORT, LONG = 40, 400
DAYS_TIMED = 3
MAX_RATIO = 1.3


def main() -> None:
    """Runs the benchmark and prints it."""
    with tempfile.TemporaryDirectory(prefix="em-growth-") as folder:
        short = _cost_after(Path(folder, "short"), SHORT)
        long = _cost_after(Path(folder, "long"), LONG)
    for stage in short:
        print(
            f"{stage:10} {short[stage] * 1e3:8.0f} ms after {SHORT} days {long[stage] * 1e3:8.0f} ms after {LONG} days"
        )
    ratio = sum(long.values()) / sum(short.values())
    print(f"a day after {LONG} days costs {ratio:.2f} x one after {SHORT} (at most {MAX_RATIO})")


def _cost_after(path: Path, n_days: int) -> dict[str, float]:
    """Seconds of one more day by stage, in a home of so many days."""
    home = Pipeline(load_settings(home=path))
    _land(home, 0, n_days)
    _materialize(home)
    timed = [_timed_day(home.settings.home, n_days + extra) for extra in range(DAYS_TIMED)]
    return {stage: min(day[stage] for day in timed) for stage in timed[0]}


def _timed_day(path: Path, day: int) -> dict[str, float]:
    home = Pipeline(load_settings(home=path))  # as a process that starts anew
    _ = home.steps
    seconds = {}
    for stage, work in (("landing", lambda: _land(home, day, day + 1)), ("the rest", lambda: _materialize(home))):
        begun = time.perf_counter()
        work()
        seconds[stage] = time.perf_counter() - begun
    return seconds


def _land(home: Pipeline, first: int, last: int) -> None:
    path = home.path / f"days-{first}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join(orjson.dumps(line) for day in range(first, last) for line in _lines(day)))
    land([path], home.store.log, now=NOW, settings=home.settings.landing)


def _lines(day: int) -> Iterator[dict[str, object]]:
    for user in range(USERS):
        said = [FACTS[(day + user) % len(FACTS)], *SMALL_TALK] if day < 30 or user == 0 else SMALL_TALK
        for turn, text in enumerate(said):
            moment = START + timedelta(days=day, minutes=turn)
            yield {
                "user_id": f"user{user}", "session_id": f"day{day}", "turn_number": turn, "role": "user",
                "content": text, "timestamp": moment.isoformat(),
            }  # fmt: skip


def _materialize(home: Pipeline) -> None:
    """What `em run` does between landing and publishing, without Dagster."""
    todo = plan(home.store, home.steps.values())
    for first, last in [todo.span] if todo.span else []:
        for step in home.steps.values():
            home.store.run_days(step, [day for day in home.store.days(step) if first <= day <= last])
