"""What the evaluation asset measures, and how far a figure may fall."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from em_pipelines.evaluation.corpus import SHIPPED, Kind


class EvaluationSettings(BaseModel):
    """Labelled corpora of your own, and the tolerance of comparisons."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Path | None = Field(
        default=None,
        description=(
            "A folder with extraction.jsonl, resolution.jsonl and attacks.jsonl; unset, and for a file that it "
            "lacks: the project's own corpora."
        ),
    )
    tolerance: float = Field(
        default=0.005,
        ge=0,
        le=1,
        description="How far a rate may move the wrong way before it is a regression; counts may not move at all.",
    )

    def corpus(self, kind: Kind) -> Path:
        """The corpus of a kind."""
        own = (self.folder or SHIPPED) / f"{kind.value}.jsonl"
        return own if own.exists() else SHIPPED / own.name
