"""Which states of old days are kept: they are copies of one thing as it grew."""

from collections.abc import Sequence
from datetime import date, timedelta
from itertools import groupby

from pydantic import BaseModel, ConfigDict, Field


class StateSettings(BaseModel):
    """How long the state of each day is kept."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keep_days: int = Field(
        default=30, ge=1, description="days up to the last of which every state is kept; before them, month ends alone"
    )


def given_up(days: Sequence[date], keep_days: int) -> list[date]:
    """Those of a table's days, which are in order, whose state is not kept: all but the last `keep_days` and the last
    of every month."""
    if not days:
        return []
    first_kept = days[-1] - timedelta(days=keep_days - 1)
    of_months = [list(of_month) for _, of_month in groupby(days, key=lambda day: (day.year, day.month))]
    return [day for of_month in of_months for day in of_month[:-1] if day < first_kept]
