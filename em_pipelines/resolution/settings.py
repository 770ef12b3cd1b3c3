"""How sure resolution has to be, and how long a conversation lasts."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from em_pipelines.resolution.rewordings import MIN_LIKENESS


class ResolutionSettings(BaseModel):
    """When two names are taken for one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_score: float = Field(
        default=0.85, ge=0, le=1, description="least score, 0 to 1, at which two names are joined by their wording"
    )
    min_rewording: float = Field(
        default=MIN_LIKENESS,
        ge=MIN_LIKENESS,
        le=1,
        description="least likeness, 0 to 1, of phrases that say one thing in other words (rapidfuzz's normalised "
        "indel of their stems: nine words of ten; of fewer than five all)",
    )
    min_meaning: float = Field(
        default=MIN_LIKENESS,
        ge=MIN_LIKENESS,
        le=1,
        description="least cosine, 0 to 1, of the vectors of phrases without a word in common that mean one thing, "
        "where an embedder is set; a model to which everything is alike needs more",
    )
    conversation_hours: float = Field(
        default=12, gt=0, description="hours for which a bare name means the namesake spoken of last"
    )
    definite_days: float = Field(
        default=60, gt=0, description="days for which `the bus` may mean the team bus spoken of before"
    )
    alias_file: Path | None = Field(
        default=None, description="hand-written names that are one (YAML); unset: HOME/aliases.yaml, if there"
    )
