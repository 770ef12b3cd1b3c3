"""The daily partitions of everything that happens on a day, by UTC date."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

import dagster as dg

from em_pipelines.pipeline import Pipeline


class DailyPartitionsDefinition(dg.DailyPartitionsDefinition):
    """Dagster's days at UTC midnight, named by counting.

    Dagster asks a cron schedule for each of some thousand days, and for every input of every check anew: two seconds
    of each run. The class keeps the name by which Dagster's storage knows it.
    """

    def get_partition_keys(
        self, current_time: datetime | None = None, dynamic_partitions_store: Any = None
    ) -> Sequence[str]:
        """The days from the first partition to the last one there is at `current_time`, as YYYY-MM-DD."""
        with dg.partition_loading_context(current_time, dynamic_partitions_store):
            keys = self.get_first_partition_key(), self.get_last_partition_key()
        if None in keys:
            return []
        first, last = (date.fromisoformat(str(key)) for key in keys)
        return [(first + timedelta(days=n)).isoformat() for n in range((last - first).days + 1)]


def daily_partitions(first_day: date) -> DailyPartitionsDefinition:
    """The days from `first_day` up to and with today: a log that has landed now is a fact now, not tomorrow."""
    return DailyPartitionsDefinition(start_date=first_day.isoformat(), end_offset=1)


def first_partition(pipeline: Pipeline) -> date:
    """The first day that is shown: that of the settings, else the first of the month in which the first log was
    written, else the earliest day that may land. Earlier days would all be shown as missing.

    Days that wait for their checks are shown although an erasure has left no log of them: they are in the next run."""
    settings, log = pipeline.settings, pipeline.store.log
    if settings.partitions_from:
        return max(settings.partitions_from, settings.landing.earliest_day)
    kinds = (step.log_kind for step in pipeline.steps.values() if step.log_kind)
    landed = [days[0] for kind in kinds if (days := log.days(kind))]
    landed += (pipeline.unchecked or ())[:1] if landed else ()
    return max(min(landed).replace(day=1), settings.landing.earliest_day) if landed else settings.landing.earliest_day
