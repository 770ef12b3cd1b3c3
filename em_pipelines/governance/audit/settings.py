"""What may be chosen of the report on tables."""

from pydantic import BaseModel, ConfigDict, Field


class ReportSettings(BaseModel):
    """What the report of Great Expectations may load."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_rows: int = Field(
        default=100_000,
        ge=1,
        description="rows of a table that the report of Great Expectations loads, newest days first",
    )
