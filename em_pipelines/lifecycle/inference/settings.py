"""What steers inference: how sure a conclusion may be, from what, and how far."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

MAX_HOPS = 3
MAX_CONFIDENCE = 0.60


class InferenceSettings(BaseModel):
    """Bounds of what is inferred. Confidences run from 0 to 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    is_enabled: bool = Field(default=True, description="Whether anything is inferred at all.")
    rules_file: Path | None = Field(
        default=None, description="A rule file in the place of the one that ships with the project."
    )
    factor: float = Field(
        default=0.8, gt=0, le=1, description="A conclusion's confidence is the product of its premises' times this."
    )
    max_confidence: float = Field(
        default=MAX_CONFIDENCE,
        gt=0,
        le=MAX_CONFIDENCE,
        description="No conclusion is surer than this, however sure its premises are.",
    )
    min_premise_confidence: float = Field(
        default=0.40,
        ge=0,
        le=1,
        description=(
            "Effective confidence below which a fact is no premise: what an agent would not be told grounds nothing."
        ),
    )
    min_confidence: float = Field(
        default=0.15, ge=0, le=1, description="Conclusions below this are not kept, as claims below it are not stored."
    )
    max_hops: int = Field(default=MAX_HOPS, ge=1, le=MAX_HOPS, description="Stated facts in one chain, at most.")
    max_fan_out: int = Field(
        default=50,
        ge=1,
        description=(
            "Where more edges than this meet at one thing on both sides of a joint, the pairs are left out: an "
            "employer of ten thousand makes no hundred million colleagues, and the work stays linear in the "
            "edges."
        ),
    )
    is_model_enabled: bool = Field(
        default=False,
        description=(
            "Whether the large model is asked what else follows. It sees facts by number, no names; llm.budget "
            "limits it."
        ),
    )
    max_facts_a_question: int = Field(
        default=200, ge=2, description="Facts of a user that the model is shown, the newest ones."
    )
    max_proposals_a_user: int = Field(default=50, ge=0, description="Edges that the model may propose for a user.")
    max_output_tokens: int = Field(default=2048, ge=256, description="Of one answer of the model.")
