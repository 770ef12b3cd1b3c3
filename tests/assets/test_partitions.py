"""The days that are named by counting are those that Dagster finds."""

from datetime import UTC, date, datetime
from pathlib import Path

import dagster as dg
import pytest

from assets.partitions import daily_partitions, first_partition
from em_pipelines.landing.settings import FIRST_PARTITION
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings

DAILY = daily_partitions(FIRST_PARTITION)
PLAIN = dg.DailyPartitionsDefinition(start_date=FIRST_PARTITION.isoformat(), end_offset=1)


@pytest.mark.parametrize(
    "now",
    [
        datetime(2024, 2, 29, 23, 59, tzinfo=UTC),
        datetime(2024, 3, 1, tzinfo=UTC),
        datetime.combine(FIRST_PARTITION, datetime.min.time(), UTC),
        datetime(1999, 12, 31, tzinfo=UTC),
    ],
    ids=str,
)
def test_days_until_any_moment(now: datetime) -> None:
    assert DAILY.get_partition_keys(now) == PLAIN.get_partition_keys(now)


def test_days_until_now() -> None:
    with dg.partition_loading_context(datetime(2026, 3, 2, 8, tzinfo=UTC)):
        assert DAILY.get_partition_keys() == PLAIN.get_partition_keys()
        assert DAILY.get_partition_keys()[-1] == "2026-03-02"


def test_dagster_knows_them_by_the_same_name() -> None:
    assert DAILY == PLAIN
    assert DAILY.get_serializable_unique_identifier() == PLAIN.get_serializable_unique_identifier()
    assert type(DAILY).__name__ == type(PLAIN).__name__


def test_days_begin_with_the_month_of_the_first_log(tmp_path: Path) -> None:
    pipeline = Pipeline(load_settings(home=tmp_path))
    assert first_partition(pipeline) == FIRST_PARTITION, "of an empty home nobody knows what will land"
    pipeline.store.log.append("interactions", date(2026, 3, 17), [{}])
    pipeline.store.log.append("feedback", date(2026, 3, 9), [{}])
    assert first_partition(pipeline) == date(2026, 3, 1)


def test_days_begin_where_the_settings_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EM_PARTITIONS_FROM", "2026-02-11")
    assert first_partition(Pipeline(load_settings(home=tmp_path))) == date(2026, 2, 11)
