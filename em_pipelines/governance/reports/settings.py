"""Settings of the reports, and of where people are sent to look."""

from pydantic import BaseModel, ConfigDict, Field


class ReportsSettings(BaseModel):
    """What is kept of reports. They change no table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    keep_weeks: int = Field(default=52, ge=1, description="weekly reports that are kept; the health report is the last")
    ui_address: str = Field(
        default="http://127.0.0.1:8723/",
        description="where the control UI is reached: what Dagster's assets link to; empty: no link",
    )
