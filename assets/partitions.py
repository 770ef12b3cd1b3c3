"""The daily partitions of everything that happens on a day, by UTC date."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

import dagster as dg

from em_pipelines.landing.settings import FIRST_PARTITION

if TYPE_CHECKING:
    from dagster._core.instance import DynamicPartitionsStore


class DailyPartitionsDefinition(dg.DailyPartitionsDefinition):
    """Dagster's days at UTC midnight, named by counting.

    Dagster asks a cron schedule for each of the six thousand days, and for every input of every check anew: two seconds
    of each run. The class keeps the name by which Dagster's storage knows it.
    """

    def get_partition_keys(
        self,
        current_time: datetime | None = None,
        dynamic_partitions_store: "DynamicPartitionsStore | None" = None,
    ) -> Sequence[str]:
        """The days from the first partition to the last one there is at `current_time`, as YYYY-MM-DD."""
        with dg.partition_loading_context(current_time, dynamic_partitions_store):
            keys = self.get_first_partition_key(), self.get_last_partition_key()
        if None in keys:
            return []
        first, last = (date.fromisoformat(str(key)) for key in keys)
        return [(first + timedelta(days=n)).isoformat() for n in range((last - first).days + 1)]


DAILY = DailyPartitionsDefinition(start_date=FIRST_PARTITION.isoformat(), end_offset=1)
"""`end_offset` brings in today, so that a log landed now is a fact now, not tomorrow."""

YESTERDAY = dg.TimeWindowPartitionMapping(start_offset=-1, end_offset=-1)
"""A fold reads its own state of the day before."""
