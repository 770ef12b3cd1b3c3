"""Days that wait for a model: left alone for a while, asked for at once when there is a reason."""

import os
import time
from typing import Any

import dagster as dg
import pytest

from em_pipelines.extraction.unread_segments import unread_segments
from em_pipelines.home import COLLECTED
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.readings import DEAD_LETTER, PENDING, Extraction, Issue, Segment
from em_pipelines.settings import load_settings

WAITING = "some days wait for a model; they are tried again later"


def unread_as(issue: str, home: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the extractor of a home leave every message unread."""

    def extract(_: Any, segment: Segment) -> Extraction:
        return Extraction(issues=[Issue(t.turn_number, issue, "breaker_open", "error") for t in segment.turns])

    monkeypatch.setattr(type(home.extractor), "extract", extract)


def days(answer: Any) -> tuple[str, str]:
    assert isinstance(answer, dg.RunRequest), answer
    return answer.tags["dagster/asset_partition_range_start"], answer.tags["dagster/asset_partition_range_end"]


def said(answer: Any) -> str:
    assert isinstance(answer, dg.SkipReason), answer
    return str(answer.skip_message)


def made_minutes_ago(home: Pipeline, minutes: float) -> None:
    """Lets every table look as if it had been written so long ago."""
    at = time.time() - minutes * 60
    for path in (home.path / "lake").rglob("*.parquet"):
        os.utime(path, (at, at))


def incomplete_days(home: Pipeline) -> list[str]:
    step = home.steps["extraction"]
    return [str(day) for day in home.store.days(step) if home.store.is_incomplete(step, day)]


@pytest.fixture
def waiting(world: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A world whose first of March waits for a model."""
    unread_as(PENDING, world.home, monkeypatch)
    world.land("2026-03-01")
    world.make_tables()
    return world


def test_a_day_that_waits_is_left_alone_for_a_while_and_never_forgotten(waiting: Any) -> None:
    answer, cursor = waiting.tick("stale_days")
    assert (said(answer), cursor) == (WAITING, None)
    minutes = waiting.home.settings.llm.retry_minutes
    made_minutes_ago(waiting.home, minutes - 1)
    assert said(waiting.tick("stale_days")[0]) == WAITING
    made_minutes_ago(waiting.home, minutes + 1)
    assert days(waiting.tick("stale_days")[0]) == ("2026-03-01", "2026-03-01")


def test_answers_of_a_batch_are_a_reason_to_try_at_once(waiting: Any) -> None:
    made_minutes_ago(waiting.home, 2)
    assert said(waiting.tick("stale_days")[0]) == WAITING
    (waiting.home.path / COLLECTED).parent.mkdir(exist_ok=True)
    (waiting.home.path / COLLECTED).touch()
    assert days(waiting.tick("stale_days")[0]) == ("2026-03-01", "2026-03-01")


def test_a_new_day_is_not_held_up_by_one_that_waits(waiting: Any) -> None:
    waiting.land("2026-03-09")
    assert days(waiting.tick("stale_days")[0])[1] == "2026-03-09"


def test_a_replay_wakes_the_sensor_though_nothing_has_landed(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    unread_as(DEAD_LETTER, world.home, monkeypatch)
    world.land("2026-03-01", "2026-03-02")
    world.make_tables()
    answer, cursor = world.tick("stale_days")
    assert said(answer) == "every day is current"
    made_minutes_ago(world.home, 2)
    letters = unread_segments(world.home.store.lake)
    assert [letter.status for letter in letters] == [DEAD_LETTER] * 2
    world.home.give_back(letters[:1])
    assert days(world.tick("stale_days", cursor)[0])[0] == "2026-03-01"


def test_giving_back_touches_the_days_alone_that_hold_a_letter_and_keeps_their_rows(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    unread_as(DEAD_LETTER, world.home, monkeypatch)
    world.land("2026-03-01", "2026-03-02")
    world.make_tables()
    home = Pipeline(load_settings(home=world.home.path))
    before = unread_segments(home.store.lake)
    home.give_back([])
    assert incomplete_days(home) == []
    home.give_back(before[1:])
    home.give_back(before[1:])
    assert incomplete_days(home) == ["2026-03-02"]
    assert unread_segments(home.store.lake) == before
