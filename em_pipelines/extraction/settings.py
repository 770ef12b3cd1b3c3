"""What reading works by, from the cut of conversations to the judgement of claims. Apart from the stages that it
steers, for whoever opens a home reads settings, and few of them read messages."""

from pydantic import BaseModel, ConfigDict, Field

CODING_AGENTS = frozenset(
    {
        "claude-code",
        "codex",
        "cursor",
        "aider",
        "copilot",
        "gemini-cli",
        "cline",
        "windsurf",
        "opencode",
        "zed",
        "continue",
    }
)
"""Values of `agent_id` by which the domain of a message is the project that is worked on."""


class SegmentationSettings(BaseModel):
    """How large a segment may grow."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_segment_tokens: int = Field(
        default=1500,
        ge=1,
        description="Turns of a session are packed up to this size of what a model is shown, in characters ÷ 4.",
    )
    n_context_turns: int = Field(
        default=4,
        ge=0,
        description="Earlier turns of the session handed over with a segment, to be read but not extracted from.",
    )


class GateSettings(BaseModel):
    """What the gate lets through."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_characters: int = Field(
        default=15, ge=0, description="Shorter messages pass only with a name or a number in them."
    )


class RulesSettings(BaseModel):
    """Bounds of the rules extractor."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_characters: int = Field(
        default=20_000, ge=1, description="Of one message; the rest of a longer one is not read, and an issue says so."
    )
    keeps_health: bool = Field(
        default=False,
        description=(
            "Whether claims of allergies, conditions and medicines are made at all; `safety.is_health_enabled` "
            "implies it."
        ),
    )
    min_right: float = Field(
        default=0.45,
        ge=0,
        le=1,
        description=(
            "A claim of a pattern is kept if it is right with this probability at least; 0 keeps all, unjudged."
        ),
    )
    gate: GateSettings = GateSettings()


class VerificationSettings(BaseModel):
    """When a reading is doubted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    factor: float = Field(
        default=0.5, gt=0, le=1, description="The confidence of what a warning touches is multiplied by this."
    )
    contradicted_factor: float = Field(
        default=0.6,
        gt=0,
        le=1,
        description=(
            "Beside `factor`, multiplies the confidence of a claim that its own sentence contradicts: at 0.6 "
            "it is below what agents are served."
        ),
    )
    n_refused_to_halve: int = Field(
        default=3, ge=1, description="From so many refused items of a message on, all its other items are halved."
    )
    min_high_confidence: float = Field(
        default=0.85, ge=0, le=1, description="From here on a confidence is high: too high for a hedged clause."
    )
    min_counted_words: int = Field(
        default=8,
        ge=1,
        description='Shorter messages may consist of names: "Lisbon, with Ana" is no list of inventions.',
    )


class DurableSettings(BaseModel):
    """The pass at a session's end."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    is_enabled: bool = Field(
        default=False, description="Whether sessions of more than one segment are read once more as a whole."
    )
    max_facts_a_session: int = Field(
        default=5, ge=0, description="Lasting facts that the pass may add to one session of one day."
    )
    max_session_tokens: int = Field(
        default=12_000, ge=1, description="Longer sessions are left out; estimated as characters ÷ 4."
    )
