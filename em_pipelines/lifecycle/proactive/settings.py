"""What steers probes and starters: what is worth asking, how often anybody may be asked, and when not."""

from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, field_validator


class ProactiveSettings(BaseModel):
    """Limits of asking, and what is worth it. Shares, values and confidences run from 0 to 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    is_enabled: bool = Field(default=True, description="Whether probes and starters are made at all.")
    max_waiting: int = Field(default=10, ge=1, description="Probes that wait for a user at once: those worth most.")
    max_per_entity: int = Field(default=1, ge=1, description="Waiting probes about one thing or person.")
    max_per_template: int = Field(default=2, ge=1, description="Waiting probes of one wording.")
    min_value: float = Field(
        default=0.25,
        ge=0,
        le=1,
        description="Value below which nothing is asked (docs/probes.md has the formula).",
    )
    stale_below_confidence: float = Field(
        default=0.6,
        gt=0,
        le=1,
        description="Confidence after decay below which a fact is asked about again, where facts are told with care.",
    )
    min_premise_confidence: float = Field(
        default=0.4, ge=0, le=1, description="Confidence after decay from which a question takes a fact for granted."
    )
    min_mentions: int = Field(
        default=3, ge=1, description="Mentions from which on somebody unknown is worth a question who they are."
    )
    probe_days: int = Field(default=60, ge=1, description="Days after its cause in which a probe is worth asking.")
    starter_hours: float = Field(
        default=24, gt=0, description="Hours after which a starter that was not delivered is aged out."
    )
    starter_hour: int = Field(
        default=8, ge=0, le=23, description="Hour UTC of the day on which an occasion comes due, from which it is said."
    )
    starter_days_ahead: int = Field(
        default=14,
        ge=1,
        description="Days ahead for which starters are made, so that a night that is missed loses none.",
    )
    starter_days_kept: int = Field(default=7, ge=0, description="Days for which those that aged out are still listed.")
    birthday_lead_days: int = Field(default=3, ge=0, description="Days before a birthday on which it is brought up.")
    event_lead_days: int = Field(default=1, ge=0, description="Days before an event or the day of a plan.")
    deadline_lead_days: int = Field(default=2, ge=0, description="Days before what is due by a day.")
    month_lead_days: int = Field(default=7, ge=0, description="Days before the month that something is planned for.")
    quiet_plan_days: int = Field(
        default=21, ge=1, description="Days without a word on a plan after which it has gone quiet."
    )
    plan_slack_days: int = Field(
        default=14, ge=0, description="Days that a world event may lie from the day of the plan that it concerns."
    )
    is_polish_enabled: bool = Field(
        default=False, description="Whether the small model words questions anew, as far as its words may stand."
    )
    polish_max_calls: int = Field(default=20, ge=0, description="Calls of the model for questions in one night.")
    polish_max_usd: float = Field(default=0.05, ge=0, description="US dollars for it in one night.")
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
    n_hostile: int = Field(
        default=3,
        ge=1,
        description="Probes deflected, and no more accepted, from which on the user is asked once a week at most.",
    )
    prior_accepted: float = Field(
        default=1.0, gt=0, description="Acceptances that a user unknown so far is taken to have given."
    )
    prior_refused: float = Field(default=1.0, gt=0, description="Refusals that they are taken to have given.")
    deflected_weight: float = Field(default=2.0, ge=0, description="Refusals that a deflection counts as.")
    ignored_weight: float = Field(default=0.5, ge=0, description="Refusals that being ignored counts as.")
    prior_days: int = Field(default=180, ge=1, description="Days after which an answer no longer tells of its user.")
    max_apart_days: float = Field(
        default=28, ge=7, description="Days after which even those who turn everything away are asked again."
    )
    max_starters_per_day: int = Field(default=1, ge=0, description="Starters in one day of the user's time zone.")
    max_starters_per_week: int = Field(default=3, ge=0, description="Starters in any seven days.")
    quiet_from_hour: int = Field(
        default=22, ge=0, le=23, description="Hour of the user's day from which nothing is asked."
    )
    quiet_until_hour: int = Field(default=8, ge=0, le=23, description="Hour of the user's day until which it is quiet.")
    time_zone: str = Field(default="UTC", description="IANA time zone of users of whom no other is known.")
    time_zones: dict[str, str] = Field(
        default_factory=dict, description="IANA time zones by user id, for users who have not said theirs."
    )

    @field_validator("time_zone")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ValueError, OSError, KeyError) as error:  # of what is no path, of a folder, of nothing
            raise ValueError(f"{name!r} is no time zone by its IANA name, such as Europe/Lisbon") from error
        return name

    @field_validator("time_zones")
    @classmethod
    def _known_zones(cls, names: dict[str, str]) -> dict[str, str]:
        for name in names.values():
            cls._known_zone(name)
        return names
