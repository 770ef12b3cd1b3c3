"""What steers the shared pool: whether there is one, where it lies and who gives to it."""

from pydantic import BaseModel, ConfigDict, Field


class PoolSettings(BaseModel):
    """The pool that a home shares with others. Nothing is written to it or read of it unless it is switched on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    is_enabled: bool = Field(default=False, description="Whether this home has to do with a shared pool at all.")
    folder: str | None = Field(
        default=None, description="Where the pool lies: a folder, or any fsspec URL; whoever shares it names the same."
    )
    contributors: frozenset[str] = Field(
        default=frozenset(), description="Users who agreed that what recurs for them is shared; nobody else's is."
    )
    public_words: frozenset[str] = Field(
        default=frozenset(),
        description=(
            "Words in small letters beside public_words.yaml that say nothing of anybody: names of tools, say. Others "
            "take in only what is made of words that they know, too."
        ),
    )
    confidence: float = Field(
        default=0.30, ge=0, le=1, description="Of what came from a pool, until the user's own evidence speaks."
    )
    max_entries: int = Field(
        default=10_000, ge=1, description="Contributions of a pool that are read; what is beyond them is refused."
    )
    max_entry_bytes: int = Field(default=2_000, ge=200, description="Of one contribution; a larger one is refused.")
    max_months: int = Field(
        default=12, ge=1, description="Months since a contribution was last seen, after which it is not taken in."
    )
