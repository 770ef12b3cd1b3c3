"""The schedules: what they ask for each night."""

from datetime import UTC, date, datetime
from typing import Any

import dagster as dg
import pytest

from em_pipelines.schema.tables.derived import CURRENT_EDGES, INFERRED_EDGES


def requests(world: Any, name: str, at: datetime) -> list[dg.RunRequest]:
    schedule = world.definitions.resolve_schedule_def(name)
    with dg.build_schedule_context(
        instance=world.instance,
        scheduled_execution_time=at,
        repository_def=world.definitions.get_repository_def(),
        resources=world.resources,
    ) as context:
        return list(schedule.evaluate_tick(context).run_requests or [])


@pytest.mark.parametrize(
    ("at", "yesterday"),
    [
        (datetime(2026, 3, 10, 2, tzinfo=UTC), "2026-03-09"),
        (datetime(2026, 3, 1, 2, tzinfo=UTC), "2026-02-28"),
        (datetime(2027, 1, 1, 2, tzinfo=UTC), "2026-12-31"),
    ],
)
def test_decay_asks_for_the_day_that_ended(at: datetime, yesterday: str, world: Any) -> None:
    (request,) = requests(world, "nightly_decay", at)
    assert (request.partition_key, request.run_key) == (yesterday, yesterday)


def test_the_night_after_a_quiet_day_still_makes_its_facts(world: Any) -> None:
    world.land("2026-03-01")
    world.make_tables()
    (request,) = requests(world, "nightly_decay", datetime(2026, 3, 5, 2, tzinfo=UTC))
    result = world.definitions.resolve_job_def("lifecycle").execute_in_process(
        instance=world.instance,
        partition_key=request.partition_key,
        asset_selection=[dg.AssetKey(CURRENT_EDGES.name)],
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
    )
    assert result.success
    assert world.home.store.lake.days(CURRENT_EDGES) == [date(2026, 3, 1), date(2026, 3, 4)]


@pytest.mark.slow
def test_inference_is_asked_for_between_decay_and_snapshot_once_there_are_facts(world: Any) -> None:
    schedule = world.definitions.resolve_schedule_def("nightly_inference")
    assert (schedule.cron_schedule, schedule.job_name) == ("45 2 * * *", "infer")
    at = datetime(2026, 3, 9, 3, tzinfo=UTC)
    assert requests(world, "nightly_inference", at) == [], "no facts yet"
    world.land("2026-03-01")
    world.make_tables()
    (request,) = requests(world, "nightly_inference", at)
    assert request.partition_key is None
    quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    job = world.definitions.resolve_job_def("infer")
    assert job.execute_in_process(instance=world.instance, run_config=quiet).success
    assert world.home.store.lake.days(INFERRED_EDGES) == [date(2026, 3, 1)]


def test_the_snapshot_is_asked_for_after_the_decay_once_there_are_facts(world: Any) -> None:
    schedules = {name: world.definitions.resolve_schedule_def(name) for name in ("nightly_decay", "nightly_snapshot")}
    minute, hour = (int(part) for part in str(schedules["nightly_snapshot"].cron_schedule).split()[:2])
    assert (hour, minute) > (2, 0)
    assert requests(world, "nightly_snapshot", datetime(2026, 3, 9, hour, minute, tzinfo=UTC)) == [], "no facts yet"
    world.land("2026-03-01")
    world.make_tables()
    (request,) = requests(world, "nightly_snapshot", datetime(2026, 3, 10, hour, minute, tzinfo=UTC))
    assert request.partition_key is None
    assert schedules["nightly_snapshot"].job_name == "publish"


def test_the_revision_is_asked_for_after_the_decay_and_only_where_it_is_switched_on(world: Any) -> None:
    at = datetime(2026, 3, 10, 2, 15, tzinfo=UTC)
    assert requests(world, "nightly_revision", at) == []
    changed = world.home.settings.revision.model_copy(update={"is_enabled": True})
    world.home.settings = world.home.settings.model_copy(update={"revision": changed})
    (request,) = requests(world, "nightly_revision", at)
    assert (request.run_key, request.run_config["ops"]["revision"]["config"]["night"]) == ("2026-03-09", "2026-03-09")


def test_the_graph_is_asked_for_after_the_snapshot_where_there_is_a_database_and_facts(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = world.definitions.resolve_schedule_def("nightly_graph")
    assert (schedule.cron_schedule, schedule.job_name) == ("0 4 * * *", "project")
    at = datetime(2026, 3, 9, 4, tzinfo=UTC)
    world.land("2026-03-01")
    assert requests(world, "nightly_graph", at) == [], "no database"
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:9")
    assert requests(world, "nightly_graph", at) == [], "no facts yet"
    world.make_tables()
    assert len(requests(world, "nightly_graph", at)) == 1
    for name in ("main", "publish"):
        keys = world.definitions.resolve_job_def(name).asset_layer.selected_asset_keys
        assert dg.AssetKey("graph_projection") not in keys, "a database that is down may keep nothing from being made"


def test_making_old_days_again_asks_nobody_about_the_world(world: Any) -> None:
    for name in ("main", "lifecycle"):
        keys = world.definitions.resolve_job_def(name).asset_layer.selected_asset_keys
        assert dg.AssetKey(CURRENT_EDGES.name) in keys
        assert dg.AssetKey("revision") not in keys


def test_great_expectations_comes_last_in_the_night_once_there_are_facts(world: Any) -> None:
    schedule = world.definitions.resolve_schedule_def("nightly_quality")
    assert (schedule.cron_schedule, schedule.job_name) == ("30 4 * * *", "quality")
    at = datetime(2026, 3, 9, 4, 30, tzinfo=UTC)
    assert requests(world, "nightly_quality", at) == [], "no facts yet"
    world.land("2026-03-01")
    world.make_tables()
    (request,) = requests(world, "nightly_quality", at)
    assert request.partition_key is None
