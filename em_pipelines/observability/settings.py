"""How work tells of itself: the form of log lines, and where spans go."""

from pydantic import BaseModel, ConfigDict, Field


class LogSettings(BaseModel):
    """The form of what is logged to stderr."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: str = Field(
        default="text",
        pattern="^(text|json)$",
        description="text: warnings as sentences; json: one JSON object a line, with every step of a run",
    )


class TracingSettings(BaseModel):
    """Where OpenTelemetry spans are sent."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoint: str | None = Field(
        default=None,
        description="address of an OTLP/HTTP collector for spans; OTEL_EXPORTER_OTLP_ENDPOINT where it is unset",
    )
