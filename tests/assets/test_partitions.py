"""The days that are named by counting are those that Dagster finds."""

from datetime import UTC, datetime

import dagster as dg
import pytest

from assets.partitions import DAILY
from em_pipelines.landing.settings import FIRST_PARTITION

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
