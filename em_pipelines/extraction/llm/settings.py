"""How a model is asked to read. Apart from the extractor, as the other settings of reading."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from em_pipelines.extraction.settings import GateSettings


class Profile(StrEnum):
    """How much a prompt asks for: `lean` facts, with a sentence where a triple cannot hold one; `full` a sentence for
    every fact, with names and calendar dates, and more kinds of facts."""

    LEAN = "lean"
    FULL = "full"


class LlmExtractionSettings(BaseModel):
    """How the model is asked to read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: Profile = Field(
        default=Profile.FULL,
        description="How much the model is asked for: full (a sentence for every fact) or lean (fewer tokens).",
    )
    max_output_tokens: int = Field(
        default=8192, ge=256, description="Of one answer; a longer one is cut off, and what is missing is asked again."
    )
    temperature: float = Field(default=0.0, ge=0, le=2, description="0: the likeliest answer.")
    n_refused_to_ask_again: int = Field(
        default=3,
        ge=1,
        description="An answer of which verification refuses so many items, and over half, is asked for again once.",
    )
    gate: GateSettings = GateSettings()
