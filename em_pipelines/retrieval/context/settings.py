"""What the context block weighs, and how much room it gives to what."""

from pydantic import BaseModel, ConfigDict, Field

from em_pipelines.retrieval.context.bounds import BUDGET_TOKENS, LEAST_TOKENS


class RelevanceWeights(BaseModel):
    """The share of each part in the relevance of a fact."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    entity: float = Field(default=0.40, ge=0, description="how near the fact is to what the question names")
    topic: float = Field(
        default=0.25, ge=0, description="likeness of the fact, or of where it was said, to the question"
    )
    confidence: float = Field(default=0.20, ge=0, description="effective confidence of the fact")
    recency: float = Field(default=0.15, ge=0, description="how lately it was said")


class ContextSettings(BaseModel):
    """The context block and the bootstrap of a session."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    budget_tokens: int = Field(
        default=BUDGET_TOKENS, ge=LEAST_TOKENS, le=BUDGET_TOKENS, description="tokens of a block, at most"
    )
    weights: RelevanceWeights = Field(default_factory=RelevanceWeights)
    min_confidence: float = Field(
        default=0.40, ge=0, le=1, description="effective confidence below which a fact is not told"
    )
    n_facts_an_entity: int = Field(default=5, ge=1, description="facts of one entity, at most")
    facts_share: float = Field(
        default=0.2, ge=0, le=1, description="share of the budget for facts where more was said than fits"
    )
    n_experiences: int = Field(default=5, ge=0, description="experiences of one block, at most")
    instructions_share: float = Field(
        default=0.15, ge=0, le=1, description="share of the budget for how the person wants to be answered"
    )
    experiences_share: float = Field(
        default=0.15, ge=0, le=1, description="share of the budget for experiences where more was said than fits"
    )
    probes_share: float = Field(
        default=0.15, ge=0, le=1, description="share of the budget that a question to ask may take; 0: none is told"
    )
    reminder_days: int = Field(default=30, ge=0, description="how far ahead a date is a reminder")
    n_messages: int = Field(default=30, ge=0, description="messages that are looked at for quotes")
    quote_tokens: int = Field(
        default=40, ge=8, description="messages of so many tokens are quoted whole; of longer ones single sentences"
    )
