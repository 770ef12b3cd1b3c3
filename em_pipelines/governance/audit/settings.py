"""What may be chosen of the report on tables, and the thresholds of the checks on what tables mean."""

from pydantic import BaseModel, ConfigDict, Field


class ReportSettings(BaseModel):
    """What the report of Great Expectations may load."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_rows: int = Field(
        default=100_000,
        ge=1,
        description="rows of a table that the report of Great Expectations loads, newest days first",
    )


class QualitySettings(BaseModel):
    """From which figure on a check fails. Shares are 0 to 1. They change what checks say, and no row of any table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_relates_to_share: float = Field(
        default=0.05, ge=0, le=1, description="share of a day's claims that may use the last-resort relation"
    )
    warn_hallucination_rate: float = Field(
        default=0.02, ge=0, le=1, description="share of what was read in a day that no turn says: from here a warning"
    )
    max_hallucination_rate: float = Field(
        default=0.05, ge=0, le=1, description="the same: from here a failure, if that is above the warning"
    )
    max_refused_an_hour: int = Field(
        default=5, ge=0, description="items that no turn says, refused within an hour of event time"
    )
    max_open_conflicts: int = Field(
        default=2,
        ge=0,
        description="open conflicts about one thing; with more somebody should look, as poisoned data do this",
    )
    max_noise_share: float = Field(
        default=0.05, ge=0, le=1, description="share of a day's claims read in messages that say nothing durable: below"
    )
    max_duplicate_share: float = Field(
        default=0.10, ge=0, le=1, description="share of a day's longer messages that have landed twice"
    )
    max_dead_letter_share: float = Field(
        default=0.05, ge=0, le=1, description="share of what was landed on a day that is an open dead letter"
    )
    baseline_days: int = Field(
        default=14, ge=1, description="days with data before a day that its figures are compared with"
    )
    min_baseline_days: int = Field(default=5, ge=2, description="so many of them it takes to compare at all")
    min_drift_claims: int = Field(
        default=20, ge=1, description="claims of a day, and of its baseline, from which confidence is compared"
    )
    min_drift_messages: int = Field(
        default=5, ge=1, description="messages of users on a day from which entities a message are compared"
    )
    max_confidence_psi: float = Field(
        default=0.25,
        gt=0,
        description="population stability index of a day's confidence against the days before: above it a warning",
    )
    max_entities_deviations: float = Field(
        default=3.0,
        gt=0,
        description="standard deviations by which entities a message may differ from the days before (warning)",
    )
    max_unfolded_hours: float = Field(
        default=24, ge=0, description="hours that what has landed may wait for its day to be made"
    )
    max_snapshot_hours: float = Field(
        default=24, ge=0, description="hours that a snapshot may stand after what it is made of has changed"
    )
    max_secret_megabytes: int = Field(
        default=20, ge=1, description="megabytes of text that one look for secrets takes; the rest is next night's"
    )
    min_judged: int = Field(
        default=20, ge=1, description="judged facts from which precision and calibration are said at all"
    )
    min_judged_precision: float = Field(
        default=0.85, ge=0, le=1, description="share of judged facts that has to be right"
    )
    max_calibration_error: float = Field(
        default=0.15, ge=0, le=1, description="mean distance of confidence from the share that was judged right"
    )
    history_days: int = Field(
        default=31,
        ge=1,
        description="days of one run, the newest, that each get a row in a check's history; failing ones always do",
    )
