"""Settings of the reports."""

from pydantic import BaseModel, ConfigDict, Field


class ReportsSettings(BaseModel):
    """What is kept of reports. They change no table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keep_weeks: int = Field(default=52, ge=1, description="weekly reports that are kept; the health report is the last")
