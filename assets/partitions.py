"""The daily partitions of everything that happens on a day, by UTC date."""

import dagster as dg

from em_pipelines.landing.settings import FIRST_PARTITION

DAILY = dg.DailyPartitionsDefinition(start_date=FIRST_PARTITION.isoformat(), end_offset=1)
"""`end_offset` brings in today, so that a log landed now is a fact now, not tomorrow."""

YESTERDAY = dg.TimeWindowPartitionMapping(start_offset=-1, end_offset=-1)
"""A fold reads its own state of the day before."""
