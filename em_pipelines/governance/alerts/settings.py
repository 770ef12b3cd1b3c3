"""From when on something is worth an alert, how often it is told again, and where mail goes.

User and password of the mail server are no settings, and neither is the address of the webhook: they are read where the
sinks are made (`resources.alert_sinks`), so that nothing that prints settings can print them.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class AlertSettings(BaseModel):
    """Thresholds and the mail server. Shares run from 0 to 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    repeat_hours: float = Field(
        default=24, ge=0, description="Hours after which an alert that stands is told again; 0: never."
    )
    stalled_messages: int = Field(
        default=50, ge=0, description="Messages that wait to be read above which extraction has stalled."
    )
    stalled_minutes: float = Field(default=5, gt=0, description="Minutes after landing from which they count.")
    stopped_minutes: float = Field(
        default=30, gt=0, description="Minutes after landing from which a message that no run could read is told."
    )
    refused_per_hour: int = Field(
        default=5, ge=0, description="Items that no turn says, refused within an hour of event time, that are no spike."
    )
    refused_hours: float = Field(
        default=24, gt=0, description="Hours after a day was read in which a spike on it is worth an alert."
    )
    graph_p99_seconds: float = Field(
        default=1, gt=0, description="Seconds for a batch of the graph database that one of a hundred may exceed."
    )
    graph_hours: float = Field(default=24, gt=0, description="Hours of which batches count.")
    graph_min_batches: int = Field(default=20, ge=1, description="Batches below which nothing is said of them.")
    annoyed_share: float = Field(
        default=0.6, gt=0, le=1, description="Share of probes ignored or deflected above which they annoy."
    )
    annoyed_days: float = Field(default=7, gt=0, description="Days of which probes count.")
    annoyed_min_probes: int = Field(default=10, ge=1, description="Probes below which nothing is said of them.")
    outgoing_hours: float = Field(
        default=24, gt=0, description="Hours that questions, the graph or a batch may be behind their cause."
    )
    disk_share: float = Field(default=0.8, gt=0, le=1, description="Share of the home's disk in use that is a warning.")
    disk_error_share: float = Field(default=0.95, gt=0, le=1, description="The share of it that is an error.")
    damage_hours: float = Field(
        default=24, gt=0, description="Hours between two looks at every byte of the home for damage."
    )
    smtp_server: str | None = Field(default=None, description="Host of the mail server; unset: no mail.")
    smtp_port: int = Field(default=587, ge=1, le=65535, description="Its port.")
    smtp_from: str = Field(default="", description="Address that mail is from.")
    smtp_to: str = Field(default="", description="Addresses that mail goes to, separated by commas.")
    smtp_starttls: Literal["offered", "required", "implicit"] = Field(
        default="offered",
        description="offered: STARTTLS where the server has it; required: no mail without it; implicit: TLS from the "
        "first byte on, as on port 465.",
    )

    @property
    def recipients(self) -> list[str]:
        """The addresses that mail goes to."""
        return [address for part in self.smtp_to.split(",") if (address := part.strip())]
