"""The sensors of new logs: when they ask for a run, for which one, and why otherwise for none."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from em_pipelines.definitions import build_definitions
from resources.dagster_internals import SELF_REPORTING
from resources.run_locks import run_lock
from sensors.jobs import land_inbox
from sensors.landing import AT_WORK, ATTEMPT_TAG, MAX_ATTEMPTS, PLAN_TAG

from .conftest import QUIET

FIRST, LAST = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"
NEVER = datetime(2999, 1, 1, tzinfo=UTC).timestamp()


def skipped(answer: tuple[Any, str | None]) -> str:
    found, _ = answer
    assert isinstance(found, dg.SkipReason), found
    return str(found.skip_message)


def asked(answer: tuple[Any, str | None]) -> dg.RunRequest:
    found, _ = answer
    assert isinstance(found, dg.RunRequest), found
    return found


def days(request: dg.RunRequest) -> tuple[str, str]:
    return request.tags[FIRST], request.tags[LAST]


def test_an_inbox_that_is_not_there_or_empty_asks_for_nothing(world: Any) -> None:
    assert skipped(world.tick("landing")) == f"nothing in {world.home.inbox}"
    world.home.inbox.mkdir(parents=True)
    assert skipped(world.tick("landing")) == f"nothing in {world.home.inbox}"


@pytest.mark.parametrize(
    "name",
    [
        ".hidden.jsonl",
        "log.jsonl.part",
        pytest.param("log.tmp", marks=pytest.mark.slow),
        pytest.param(".landed/20260301T000000/log.jsonl", marks=pytest.mark.slow),
        pytest.param("ada/.git/log.jsonl", marks=pytest.mark.slow),
    ],
)
def test_hidden_and_unfinished_files_wait(name: str, world: Any) -> None:
    world.drop(name, b"{}")
    assert skipped(world.tick("landing")).startswith("nothing in ")


def test_a_file_that_still_changes_waits_and_the_others_with_it(world: Any) -> None:
    world.drop("settled.jsonl", b"{}")
    growing = world.drop("growing.jsonl", b"{}", changed_at=NEVER)
    assert skipped(world.tick("landing")) == "a file is still being written"
    growing.unlink()
    asked(world.tick("landing"))


def record_landing(world: Any, request: dg.RunRequest, status: dg.DagsterRunStatus) -> str:
    """A run of the job that the sensor asked for, as the instance remembers it; returns its id."""
    run = world.instance.create_run_for_job(land_inbox, status=status, tags=dict(request.tags))
    return str(run.run_id)


def test_files_whose_landing_failed_are_asked_for_again_a_bounded_number_of_times(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.drop("log.jsonl", b"{}")
    request = asked(world.tick("landing"))
    record_landing(world, request, dg.DagsterRunStatus.FAILURE)
    assert "tried again in 60 s" in skipped(world.tick("landing"))
    monkeypatch.setattr("sensors.landing.FIRST_RETRY_SECONDS", 0)
    keys = {request.run_key}
    for attempt in range(2, MAX_ATTEMPTS + 1):
        request = asked(world.tick("landing"))
        assert request.tags[ATTEMPT_TAG] == f"{attempt} of {MAX_ATTEMPTS}"
        keys.add(request.run_key)
        last = record_landing(world, request, dg.DagsterRunStatus.FAILURE)
    assert len(keys) == MAX_ATTEMPTS
    said = skipped(world.tick("landing"))
    assert said.startswith(
        f"{MAX_ATTEMPTS} runs could not land these files, and no more are tried: read what run {last}"
    )
    world.drop("more.jsonl", b"{}")
    assert asked(world.tick("landing")).tags[ATTEMPT_TAG].startswith("1 of")


def test_while_files_are_landed_no_other_run_is_asked_for_them(world: Any) -> None:
    world.drop("log.jsonl", b"{}")
    request = asked(world.tick("landing"))
    run_id = record_landing(world, request, dg.DagsterRunStatus.STARTING)
    assert skipped(world.tick("landing")) == f"run {run_id} is landing these files"


def test_a_landing_that_failed_succeeds_when_it_is_tried_again(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sensors.landing.FIRST_RETRY_SECONDS", 0)
    world.drop("log.jsonl", world.message("2026-03-01"))
    in_the_way = world.home.path / "log" / "interactions"
    in_the_way.parent.mkdir(parents=True, exist_ok=True)
    in_the_way.touch()

    def run() -> bool:
        request = asked(world.tick("landing"))
        done = land_inbox.execute_in_process(
            instance=world.instance,
            resources=world.resources,
            run_config=QUIET,
            raise_on_error=False,
            tags={**request.tags, "dagster/run_key": request.run_key or ""},
        )
        return bool(done.success)

    assert not run()
    in_the_way.unlink()
    assert run()
    assert world.home.store.log.days("interactions")
    assert skipped(world.tick("landing")).startswith("nothing in")


def test_a_settled_file_is_asked_for_once_and_again_when_it_changes(world: Any) -> None:
    world.drop("log.jsonl", b"{}")
    first = asked(world.tick("landing")).run_key
    assert first
    assert asked(world.tick("landing")).run_key == first
    world.drop("log.jsonl", b"{ }")
    second = asked(world.tick("landing")).run_key
    world.drop("ada/other.jsonl", b"{}")
    assert len({first, second, asked(world.tick("landing")).run_key}) == 3


def test_with_nothing_landed_every_day_is_current_and_stays_so(world: Any) -> None:
    answer = world.tick("stale_days")
    assert skipped(answer) == "every day is current"
    assert skipped(world.tick("stale_days", answer[1])) == "nothing landed since everything was last found current"


def test_landed_days_are_asked_for_in_one_run_whatever_lies_between(world: Any) -> None:
    world.land("2025-10-01", "2025-10-03", "2026-03-20")
    answer = world.tick("stale_days")
    assert days(asked(answer)) == ("2025-10-01", "2026-03-20")
    assert asked(answer).tags.items() >= SELF_REPORTING.items()
    assert answer[1] is None  # the cursor stays until everything is current
    for step in world.home.steps.values():
        world.home.store.run_days(step, [day for day in world.home.store.days(step) if day.month > 3])
    assert days(asked(world.tick("stale_days"))) == ("2026-03-20", "2026-03-20")
    world.make_tables()
    answer = world.tick("stale_days")
    assert skipped(answer) == "every day is current"
    assert answer[1]


def test_a_new_log_or_new_code_wakes_the_sensor_again(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    world.land("2026-03-01", "2026-03-02")
    world.make_tables()
    _, cursor = world.tick("stale_days")
    assert skipped(world.tick("stale_days", cursor)) == "nothing landed since everything was last found current"
    monkeypatch.setattr("em_pipelines.extraction.rules.extractor.RulesExtractor.version", "2")
    assert days(asked(world.tick("stale_days", cursor))) == ("2026-03-01", "2026-03-02")
    monkeypatch.undo()
    monkeypatch.setattr("em_pipelines.extraction.rules.extractor.RulesExtractor", type(world.home.extractor))
    world.land("2026-03-02", session_id="late")
    assert days(asked(world.tick("stale_days", cursor))) == ("2026-03-02", "2026-03-02")


@pytest.mark.parametrize(
    "status",
    [
        pytest.param(status, marks=() if status is dg.DagsterRunStatus.STARTED else pytest.mark.slow)
        for status in AT_WORK
        if status is not dg.DagsterRunStatus.QUEUED
    ],
)
def test_while_a_run_is_at_work_nothing_more_is_asked_for(status: dg.DagsterRunStatus, world: Any) -> None:
    world.land("2026-03-01")
    world.record_run("main", status, {})
    assert skipped(world.tick("stale_days")) == "a run is at work"


@pytest.mark.parametrize(
    "status",
    [pytest.param(dg.DagsterRunStatus.STARTING, marks=pytest.mark.slow), dg.DagsterRunStatus.STARTED],
    ids=lambda one: one.value,
)
def test_a_run_without_a_lock_of_which_nothing_is_heard_is_given_up_after_a_while(
    status: dg.DagsterRunStatus, world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.land("2026-03-01")
    run_id = world.record_run("main", status, {})
    assert skipped(world.tick("stale_days")) == "a run is at work"
    monkeypatch.setattr("sensors.landing.START_SECONDS", -1)
    assert days(asked(world.tick("stale_days"))) == ("2026-03-01", "2026-03-01")
    assert world.instance.get_run_by_id(run_id).status is dg.DagsterRunStatus.CANCELED


def test_a_run_that_holds_its_lock_is_at_work_and_one_whose_process_was_killed_is_not(world: Any) -> None:
    world.land("2026-03-01")
    run_id = world.record_run("main", dg.DagsterRunStatus.STARTED, {})
    lock = run_lock(world.home, run_id)
    Path(lock.lock_file).parent.mkdir(parents=True, exist_ok=True)
    with lock:
        assert skipped(world.tick("stale_days")) == "a run is at work"
    Path(lock.lock_file).touch()  # what a killed process leaves behind: the file, and nobody who holds it
    assert days(asked(world.tick("stale_days"))) == ("2026-03-01", "2026-03-01")
    assert world.instance.get_run_by_id(run_id).status is dg.DagsterRunStatus.CANCELED


def test_a_run_of_another_job_is_no_reason_to_wait(world: Any) -> None:
    world.land("2026-03-01")
    world.record_run("publish", dg.DagsterRunStatus.STARTED, {})
    asked(world.tick("stale_days"))


def test_a_plan_that_failed_is_left_alone_until_log_or_code_change(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    world.land("2026-03-01")
    request = asked(world.tick("stale_days"))
    world.record_run("main", dg.DagsterRunStatus.FAILURE, dict(request.tags))
    assert "of the same days failed: mend what it says" in skipped(world.tick("stale_days"))
    with monkeypatch.context() as patch:
        patch.setattr("em_pipelines.extraction.rules.extractor.RulesExtractor.version", "2")
        assert asked(world.tick("stale_days")).tags[PLAN_TAG] != request.tags[PLAN_TAG]
    world.land("2026-03-01", session_id="more")
    assert asked(world.tick("stale_days")).tags[PLAN_TAG] != request.tags[PLAN_TAG]


def test_a_plan_that_failed_and_then_succeeded_by_hand_may_be_asked_for_again(world: Any) -> None:
    world.land("2026-03-01")
    tags = dict(asked(world.tick("stale_days")).tags)
    world.record_run("main", dg.DagsterRunStatus.FAILURE, tags)
    world.record_run("main", dg.DagsterRunStatus.SUCCESS, tags)
    asked(world.tick("stale_days"))


def test_days_before_the_first_partition_wait_for_the_code_location_to_be_loaded_again(world: Any) -> None:
    world.land("2026-03-05")
    world.definitions = build_definitions(world.home.settings)
    assert days(asked(world.tick("stale_days"))) == ("2026-03-05", "2026-03-05")
    world.land("2026-01-20", session_id="s2")
    assert skipped(world.tick("stale_days")) == (
        "logs of 2026-01-20 have landed, and the partitions of this code location begin on 2026-03-01: reload it"
    )
    world.definitions = build_definitions(world.home.settings)
    assert days(asked(world.tick("stale_days")))[0] == "2026-01-20"
