"""What steers consolidation: how often something has to have happened, how alike, and what a model may cost."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class ConsolidationSettings(BaseModel):
    """Thresholds of the promotion gate, of retention and of wording. Shares and confidences run from 0 to 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_new_entries: int = Field(
        default=3, ge=1, description="Entries since the last night below which a night is not worth it."
    )
    window_days: int = Field(
        default=365, ge=1, description="How far back a night looks: what is older counts for nothing."
    )
    min_occurrences: int = Field(default=3, ge=2, description="How often something has to have happened.")
    min_span_hours: float = Field(
        default=48, ge=0, description="Hours from the first time to the last: what comes in a burst is an incident."
    )
    min_days: int = Field(default=2, ge=1, description="Different UTC days on which it has to have happened.")
    min_sources: int = Field(default=2, ge=1, description="Different conversations in which it has to have happened.")
    min_agreement: float = Field(
        default=0.5, ge=0, le=1, description="Share of the occurrences that have to be alike, or not spoken against."
    )
    burst_hours: float = Field(
        default=24, gt=0, description="What comes within this of the one before is one incident with it."
    )
    max_per_burst: float = Field(
        default=3, ge=1, description="Occurrences an incident above which as many incidents as occurrences are wanted."
    )
    doubt_factor: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description=(
            "What is left of the confidence where there are doubts: a failure that is a tool's ordinary work, one that "
            "passes by itself, slow calls that have nothing in common. Somebody looks first."
        ),
    )
    max_passing_share: float = Field(
        default=0.7,
        ge=0,
        le=1,
        description="Share of the occurrences after which the same call just worked, above which a failure passes.",
    )
    max_echo_share: float = Field(
        default=0.6,
        gt=0,
        le=1,
        description="Share of the failures that follow another skill's, from which they are its echo.",
    )
    max_outage_share: float = Field(
        default=0.6,
        gt=0,
        le=1,
        description=(
            "Share of the failures that came in runs of calls of the skill, over several conversations, of which none "
            "worked, from which they are outages."
        ),
    )
    min_remedy_share: float = Field(
        default=0.5,
        gt=0,
        le=1,
        description="Share of the failures after which a skill has to have been called to help.",
    )
    min_remedy_lift: float = Field(
        default=3.0, ge=1, description="How many times as often as by chance it has to have been called then."
    )
    max_chance: float = Field(
        default=0.01,
        gt=0,
        le=1,
        description=(
            "Probability that a condition holds for the slow calls by chance, times the conditions looked at "
            "(Bonferroni), above which it is none."
        ),
    )
    min_condition_share: float = Field(
        default=0.5, gt=0, le=1, description="Share of the slow calls that a condition has to hold for."
    )
    min_condition_lift: float = Field(
        default=3.0, ge=1, description="How many times as often it has to hold for them as for the skill's other calls."
    )
    likeness: float = Field(
        default=0.6, gt=0, le=1, description="Word-set similarity from which two messages tell of the same thing."
    )
    slow_factor: float = Field(
        default=2.0, gt=1, description="A success that took this many times the mean of its skill is slow."
    )
    min_slow_score: float = Field(
        default=3.5,
        gt=0,
        description=(
            "Modified z-score of the logarithm of a slow success among those of its skill: below it the skill's times "
            "just vary (Iglewicz and Hoaglin, 1993, who recommend 3.5)."
        ),
    )
    min_confidence: float = Field(
        default=0.70, ge=0, le=1, description="Below this somebody has to look at an experience before it counts."
    )
    n_quiet_calls: int = Field(
        default=20,
        ge=1,
        description="Calls of a skill without a failure of it after which the failure may be over.",
    )
    quiet_factor: float = Field(
        default=8.0,
        gt=0,
        description=("How many times its usual distance a failure has to stay away, with those calls, to be over."),
    )
    retired_factor: float = Field(
        default=2.0, ge=1, description="How many times its longest pause a skill has to be left alone to be retired."
    )
    quiet_days: float = Field(default=14, ge=0, description="Days that it has to stay away in any case.")
    min_order_share: float = Field(
        default=0.7,
        ge=0,
        le=1,
        description="Share of the conversations with the same skills in which a procedure has to come in its order.",
    )
    hot_days: int = Field(default=30, ge=1, description="Days since it was last seen in which an experience is hot.")
    warm_days: int = Field(
        default=90, ge=1, description="Days in which it is warm: told where it is important or was used."
    )
    cold_days: int = Field(
        default=180, ge=1, description="Days in which it is cold: found when it is searched for. Then it is gone."
    )
    min_warm_strength: float = Field(
        default=0.5, ge=0, le=1, description="Strength from which what is warm is important enough to be told."
    )
    is_model_enabled: bool = Field(
        default=False, description="Whether the large model words what the gates have let through; else by template."
    )
    max_calls: int = Field(default=10, ge=0, description="Calls of the model in one night.")
    max_usd: float = Field(default=0.10, ge=0, description="US dollars for the model in one night.")
    max_output_tokens: int = Field(default=150, ge=16, description="Of one answer of the model, and of one rule.")
    rules_file: Path | None = Field(
        default=None, description="A file of safety rules in the place of the one that ships with the project."
    )
    memory_folder: Path | None = Field(
        default=None, description="Where MEMORY.md and SKILL.md are written; unset: HOME/memory."
    )
