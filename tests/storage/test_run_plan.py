"""What to run: staleness found, ranges cut, folds carried on."""

import itertools
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
from em_pipelines.storage.run_plan import plan, ranges_of

FIRST = date(2026, 1, 1)
DAYS = st.lists(st.integers(0, 200), unique=True).map(lambda ns: [FIRST + timedelta(days=n) for n in sorted(ns)])


@given(DAYS, st.integers(1, 30))
def test_ranges_hold_every_day_once_in_order_and_no_long_gap(days: list[date], gap: int) -> None:
    ranges = list(ranges_of(days, gap))
    held = [[day for day in days if a <= day <= b] for a, b in ranges]
    assert [day for found in held for day in found] == days
    assert all((later - day).days <= gap for found in held for day, later in itertools.pairwise(found))
    assert all((b - a).days > gap for (_, a), (b, _) in itertools.pairwise(ranges))


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


def ranges(home: Pipeline) -> list[tuple[int, int]]:
    found = plan(home.store, home.steps.values(), gap_days=14).ranges
    return [(a.day, b.day) for a, b in found]


def test_a_new_log_is_planned_and_a_made_one_is_not(home, tmp_path) -> None:
    say(home, tmp_path, 1, 2, 25)
    assert ranges(home) == [(1, 2), (25, 25)]
    make(home)
    assert ranges(home) == []


def test_late_data_opens_its_day_and_all_folds_after_it(home, tmp_path) -> None:
    say(home, tmp_path, 3, 5)
    make(home)
    say(home, tmp_path, 4)
    assert ranges(home) == [(4, 5)]
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


@pytest.mark.parametrize(("later", "n_ranges"), [(14, 1), (15, 2)])
def test_a_gap_as_long_as_allowed_stays_in_one_range(later: int, n_ranges: int) -> None:
    assert len(list(ranges_of([FIRST, FIRST + timedelta(days=later)], 14))) == n_ranges


def test_planning_an_empty_home_finds_nothing_and_makes_nothing(home) -> None:
    assert ranges(home) == []
    assert not home.path.exists()


def test_a_full_plan_takes_every_day_with_input(home, tmp_path) -> None:
    say(home, tmp_path, 1, 3, 25)
    make(home)
    found = plan(home.store, home.steps.values(), gap_days=14, is_full=True)
    assert [(a.day, b.day) for a, b in found.ranges] == [(1, 3), (25, 25)]


def test_late_data_opens_quiet_days_on_which_facts_were_shown(home, tmp_path) -> None:
    say(home, tmp_path, 3)
    make(home)
    home.store.run_days(home.steps["decay"], [date(2026, 3, 9)])
    assert ranges(home) == []
    say(home, tmp_path, 2)
    assert ranges(home) == [(2, 9)]
    make(home)
    assert ranges(home) == []


def test_a_plan_is_known_by_its_days_its_log_and_its_code(home, tmp_path) -> None:
    def digest() -> str:
        return plan(home.store, home.steps.values(), gap_days=14).digest

    say(home, tmp_path, 3)
    first = digest()
    assert digest() == first
    home.steps["decay"] = replace(home.steps["decay"], also=("another",))
    other_code = digest()
    say(home, tmp_path, 4)
    other_log = digest()
    make(home)
    assert len({first, other_code, other_log, digest()}) == 4
