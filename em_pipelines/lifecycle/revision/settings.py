"""What steers the nightly revision: whether anybody is asked at all, about what, and how much it may cost."""

from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

PublicType = Literal["place", "organization", "product", "tool", "work"]
"""Types of things that everybody may know of; there is no setting that sends out people, pets, vehicles or projects."""

PUBLIC_ATTRIBUTES = (
    "area", "availability", "battery", "capacity", "capital", "colour", "currency", "edition", "founded", "height",
    "headquarters", "industry", "language", "length", "memory", "model", "opening hours", "population", "price",
    "range", "release date", "resolution", "screen size", "speed", "storage", "version", "warranty", "weight", "width",
)  # fmt: skip


class RevisionSettings(BaseModel):
    """The nightly revision. Nobody is asked unless `is_enabled` is set and the endpoint has a key."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    is_enabled: bool = Field(
        default=False, description="Whether stale public facts are sent to a model with web search. Needs a key."
    )
    api: Literal["responses", "chat"] = Field(
        default="responses",
        description=(
            "responses: the Responses API with its web_search tool; chat: Chat Completions of a model that "
            "searches itself."
        ),
    )
    model: str | None = Field(
        default=None, min_length=1, description="The model that searches; unset: `llm.large`, else `llm.small`."
    )
    base_url: str | None = Field(
        default=None,
        description=(
            "Address of the endpoint, with its /v1; unset: `llm.base_url`. Its key: EM_REVISION_API_KEY, else "
            "that of llm."
        ),
    )
    search_context_size: Literal["low", "medium", "high"] = Field(
        default="low", description="How much of the pages the model is given to read."
    )
    max_searches: int = Field(default=3, ge=1, description="Searches for one fact, at most.")
    max_output_tokens: int = Field(default=2_000, ge=16, description="Of one answer, thoughts included.")
    timeout_seconds: float = Field(
        default=120,
        gt=0,
        description="A call without its whole answer after this long has failed; searching takes longer than reading.",
    )
    n_attempts: int = Field(
        default=2, ge=1, description="How often one fact is asked about in a night when no usable answer comes."
    )
    max_calls_per_night: int = Field(
        default=50,
        ge=0,
        description="Calls from noon to noon, UTC, failed ones included; also the outcomes of one night, at most.",
    )
    max_cost_usd: float | None = Field(
        default=None,
        ge=0,
        description=(
            "US dollars from noon to noon, UTC; needs the model's price in `llm.prices`. Unset: without limit."
        ),
    )
    search_usd: float = Field(default=0.01, ge=0, description="US dollars of one web search, beside its tokens.")
    stale_days: int = Field(
        default=90, ge=1, description="A fact is stale when it was last said or verified more than this many days ago."
    )
    retry_days: int = Field(
        default=30, ge=1, description="Days for which a fact is left alone after an answer of unknown."
    )
    entity_types: tuple[PublicType, ...] = Field(
        default=("place", "organization", "product"),
        description="What both ends of a fact have to be; tool and work may be added.",
    )
    attributes: tuple[str, ...] = Field(
        default=PUBLIC_ATTRIBUTES,
        description="Keys of has_attribute that may be asked about; all others may be somebody's own.",
    )

    @field_validator("base_url")
    @classmethod
    def _is_plain_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("is no address; give one like https://HOST/v1")
        if "@" in parts.netloc:
            raise ValueError("holds a user name or a password, which settings would print; use EM_REVISION_API_KEY")
        return value

    @field_validator("attributes")
    @classmethod
    def _as_compared(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(sorted({key.strip().lower() for key in value if key.strip()}))
