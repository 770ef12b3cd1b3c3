"""What steers probes and starters: what is worth asking, how often anybody may be asked, and when not."""

from pydantic import BaseModel, ConfigDict, Field


class ProactiveSettings(BaseModel):
    """Limits of asking, and what is worth it. Shares, values and confidences run from 0 to 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    is_enabled: bool = Field(default=True, description="Whether probes and starters are made at all.")
    max_waiting: int = Field(default=10, ge=1, description="Probes that wait for a user at once: those worth most.")
    probe_days: int = Field(default=30, ge=1, description="Days after its cause in which a probe is worth asking.")
    starter_hours: float = Field(
        default=24, gt=0, description="Hours after which a starter that was not delivered is aged out."
    )
    max_per_conversation: int = Field(default=1, ge=0, description="Probes in one conversation.")
    max_per_day: int = Field(default=2, ge=0, description="Probes in one day of the user's time zone.")
    max_per_week: int = Field(default=5, ge=0, description="Probes in any seven days.")
    min_turn: int = Field(
        default=3, ge=0, description="The turn of a conversation, counted from 0, before which nothing is asked."
    )
    ignored_cooldown_days: float = Field(
        default=7, ge=0, description="Days for which a probe that was ignored is not asked again."
    )
    deflected_cooldown_days: float = Field(
        default=30, ge=0, description="Days for which a probe that was deflected is not asked again."
    )
    max_deflected: int = Field(
        default=3, ge=0, description="Probes deflected within seven days above which the limits are halved."
    )
    quiet_from_hour: int = Field(
        default=22, ge=0, le=23, description="Hour of the user's day from which nothing is asked."
    )
    quiet_until_hour: int = Field(default=8, ge=0, le=23, description="Hour of the user's day until which it is quiet.")
    time_zone: str = Field(default="UTC", description="IANA time zone of users of whom no other is known.")
