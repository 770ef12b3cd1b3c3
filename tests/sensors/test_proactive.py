"""What memory would like to say is made when its cause has changed: once a cause, and for none that is lost."""

from typing import Any

import dagster as dg
import pytest

from em_pipelines.schema.tables.outgoing import PROBES

NAMES = ("probes", "starters")


def asked(world: Any, name: str, cursor: str | None = None) -> tuple[dg.RunRequest, str | None]:
    answer, after = world.tick(name, cursor)
    assert isinstance(answer, dg.RunRequest), answer
    return answer, after


def why(world: Any, name: str, cursor: str | None = None) -> tuple[str, str | None]:
    answer, after = world.tick(name, cursor)
    assert isinstance(answer, dg.SkipReason), answer
    return answer.skip_message or "", after


@pytest.mark.parametrize("name", ["probes", pytest.param("starters", marks=pytest.mark.slow)])
def test_a_cause_is_asked_for_until_its_table_stands_and_is_then_the_cursor(name: str, world: Any) -> None:
    assert "no facts yet" in why(world, name)[0]
    world.land("2026-03-01")
    world.make_tables()
    first, cursor = asked(world, name)
    assert cursor is None, "what is asked for is not made yet"
    assert asked(world, name)[0].run_key == first.run_key, "whoever was killed after asking asks for the same run"
    world.home.refresh_proactive()
    reason, cursor = why(world, name)
    assert (reason, cursor is not None) == ("they are made of what has changed", True)
    assert why(world, name, cursor) == ("nothing has changed since", cursor)


@pytest.mark.parametrize("name", ["probes", pytest.param("starters", marks=pytest.mark.slow)])
def test_another_cause_has_another_key_and_an_old_cursor_keeps_nothing_back(name: str, world: Any) -> None:
    world.land("2026-03-01")
    world.make_tables()
    first, _ = asked(world, name)
    world.home.refresh_proactive()
    _, cursor = why(world, name)
    (world.home.path / "log.jsonl").unlink()
    world.land("2026-03-02")
    world.make_tables()
    second, kept = asked(world, name, cursor)
    assert second.run_key != first.run_key
    assert kept == cursor


def test_a_table_that_was_lost_is_asked_for_though_its_cause_is_the_cursor(world: Any) -> None:
    world.land("2026-03-01")
    world.make_tables()
    world.home.refresh_proactive()
    _, cursor = why(world, "probes")
    (day,) = world.home.store.lake.days(PROBES)
    world.home.store.lake.delete(PROBES, day)
    asked(world, "probes", cursor)


def test_it_waits_for_runs_at_work_and_does_not_repeat_one_that_failed(world: Any) -> None:
    world.land("2026-03-01")
    world.make_tables()
    wanted, _ = asked(world, "probes")
    at_work = world.record_run("main", dg.DagsterRunStatus.STARTED, {})
    assert why(world, "probes") == ("a run is at work", None)
    world.instance.delete_run(at_work)
    canceled = world.record_run("proactive", dg.DagsterRunStatus.CANCELED, wanted.tags)
    again, _ = asked(world, "probes")
    assert again.run_key != wanted.run_key, "Dagster would answer the key with the run that was killed"
    world.instance.delete_run(canceled)
    world.record_run("proactive", dg.DagsterRunStatus.FAILURE, wanted.tags)
    assert "failed: mend what it says" in why(world, "probes")[0]
