"""After a backfill Great Expectations looks at the tables; after any other run it does not."""

from typing import Any

import dagster as dg
import pytest

from sensors.backfills import BACKFILL_TAG, backfills_sensor


@dg.job
def anything() -> None:
    """A run that does nothing."""


@pytest.mark.parametrize("tags", [{BACKFILL_TAG: "backfill-1"}, {}])
def test_a_run_of_a_backfill_is_followed_by_the_report(tags: dict[str, str], world: Any) -> None:
    done = anything.execute_in_process(
        instance=world.instance, tags=tags, run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
    )
    (success,) = [event for event in done.all_events if event.event_type is dg.DagsterEventType.RUN_SUCCESS]
    sensor = backfills_sensor(dg.define_asset_job("quality", dg.AssetSelection.all()))
    context = dg.build_run_status_sensor_context(
        sensor_name=sensor.name,
        dagster_instance=world.instance,
        dagster_run=done.dagster_run,
        dagster_event=success,
    )
    found = sensor(context)
    if tags:
        assert isinstance(found, dg.RunRequest)
        assert found.run_key == done.run_id
    else:
        assert isinstance(found, dg.SkipReason)
