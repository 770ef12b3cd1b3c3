"""What to run: staleness found, folds carried on."""

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import orjson
import pytest

from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
from em_pipelines.storage.run_plan import plan, span_of

FIRST = date(2026, 1, 1)


@pytest.fixture
def home(tmp_path: Path) -> Pipeline:
    return Pipeline(load_settings(home=tmp_path / "home"))


def say(home: Pipeline, tmp_path: Path, *days: int) -> None:
    lines = [
        orjson.dumps(
            {"user_id": "ada", "session_id": f"s{day}", "turn_number": 0, "role": "user", "content": "I live in Oslo.",
             "timestamp": f"2026-03-{day:02}T10:00:00Z"}
        )
        for day in days
    ]  # fmt: skip
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(lines))
    land([tmp_path / "log.jsonl"], home.store.log, now=datetime(2026, 4, 1, tzinfo=UTC), settings=home.settings.landing)


def make(home: Pipeline) -> dict[str, int]:
    made = {}
    for step in home.steps.values():
        made[step.name] = len(home.store.run_days(step, home.store.days(step)).made)
    return made


def planned(home: Pipeline) -> list[int]:
    """Days of March 2026."""
    return [day.day for day in plan(home.store, home.steps.values()).days]


def test_a_new_log_is_planned_and_a_made_one_is_not(home, tmp_path) -> None:
    say(home, tmp_path, 1, 2, 25)
    assert planned(home) == [1, 2, 25]
    assert plan(home.store, home.steps.values()).span == (date(2026, 3, 1), date(2026, 3, 25))
    make(home)
    assert planned(home) == []


def test_late_data_opens_its_day_and_all_folds_after_it(home, tmp_path) -> None:
    say(home, tmp_path, 3, 5)
    make(home)
    say(home, tmp_path, 4)
    assert planned(home) == [4, 5]
    made = make(home)
    assert (made["messages"], made["extraction"], made["fold"]) == (1, 1, 2)


def test_late_data_that_changes_no_state_stops_there(home, tmp_path) -> None:
    say(home, tmp_path, 3, 5)
    make(home)
    home.store.lake.delete(home.steps["fold"].outputs[0], date(2026, 3, 3))
    made = make(home)
    assert made["fold"] == 1, "made again with the same rows, so the day after is still current"


def test_a_changed_setting_opens_the_days_of_its_step_alone(home, tmp_path) -> None:
    say(home, tmp_path, 3)
    make(home)
    changed = Pipeline(load_settings(home=home.path, decay={"wish_expiry_days": 7}))
    made = make(changed)
    assert (made["extraction"], made["fold"], made["decay"]) == (0, 1, 1)


def test_a_quiet_day_asked_for_by_itself_is_made(home, tmp_path) -> None:
    say(home, tmp_path, 3)
    make(home)
    decay = home.steps["decay"]
    assert home.store.run_days(decay, [date(2026, 3, 9)]).made == (date(2026, 3, 9),)
    assert home.store.run_days(decay, [date(2026, 3, 10), date(2026, 3, 11)]).made == ()


def test_the_span_of_days_is_the_first_and_the_last_in_whatever_order() -> None:
    assert span_of([]) is None
    assert span_of([date(2026, 3, 2), date(2024, 1, 1), date(2025, 5, 5)]) == (date(2024, 1, 1), date(2026, 3, 2))


def test_planning_an_empty_home_finds_nothing_and_makes_nothing(home) -> None:
    assert plan(home.store, home.steps.values()).span is None
    assert not home.path.exists()


def test_a_full_plan_takes_every_day_with_input(home, tmp_path) -> None:
    say(home, tmp_path, 1, 3, 25)
    make(home)
    found = plan(home.store, home.steps.values(), is_full=True)
    assert [day.day for day in found.days] == [1, 3, 25]


def test_late_data_opens_quiet_days_on_which_facts_were_shown(home, tmp_path) -> None:
    say(home, tmp_path, 3)
    make(home)
    home.store.run_days(home.steps["decay"], [date(2026, 3, 9)])
    assert planned(home) == []
    say(home, tmp_path, 2)
    assert planned(home) == [2, 3, 9]
    make(home)
    assert planned(home) == []


def test_a_plan_is_known_by_its_days_its_log_and_its_code(home, tmp_path) -> None:
    def digest() -> str:
        return plan(home.store, home.steps.values()).digest

    say(home, tmp_path, 3)
    first = digest()
    assert digest() == first
    home.steps["decay"] = replace(home.steps["decay"], also=("another",))
    other_code = digest()
    say(home, tmp_path, 4)
    other_log = digest()
    make(home)
    assert len({first, other_code, other_log, digest()}) == 4
