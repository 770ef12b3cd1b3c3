"""What steers the asking of models. The key of the endpoint is no setting: it is read where the client is made
(`resources.chat_model`), so that nothing that prints settings can print it."""

from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator


class ModelPrice(BaseModel):
    """What a model costs, in US dollars a million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input_usd: float = Field(ge=0, description="Tokens sent.")
    output_usd: float = Field(ge=0, description="Tokens received.")
    cached_input_usd: float | None = Field(
        default=None, ge=0, description="Tokens sent that the endpoint knew already; unset: as any other."
    )


class BudgetSettings(BaseModel):
    """How much may be spent before the rest of the work is deferred. Unset: without limit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_tokens_a_day: int | None = Field(
        default=5_000_000, ge=0, description="Tokens, sent and received, of each model on one UTC day."
    )
    max_calls_a_night: int | None = Field(
        default=20_000, ge=0, description="Calls of all models from noon to noon, UTC."
    )
    max_usd_a_night: float | None = Field(
        default=None, ge=0, description="US dollars for all models from noon to noon, UTC; needs `llm.prices`."
    )
    warning_share: float = Field(default=0.9, gt=0, le=1, description="Share of a budget at which a warning is given.")


class BreakerSettings(BaseModel):
    """When calls stop because too many failed, and for how long."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    n_failures: int = Field(ge=1, description="Failures in a row that stop calls.")
    window_seconds: float = Field(default=60, gt=0, description="They have to lie within this time.")
    open_seconds: float = Field(gt=0, description="How long calls stop before one is let through to try.")


class SmallBreakerSettings(BreakerSettings):
    """Of the small model: a blip is short, and much work waits behind it."""

    n_failures: int = Field(default=3, ge=1, description="Failures in a row that stop calls.")
    open_seconds: float = Field(default=15, gt=0, description="How long calls stop before one is let through to try.")


class LargeBreakerSettings(BreakerSettings):
    """Of the large model: its calls are few and dear."""

    n_failures: int = Field(default=2, ge=1, description="Failures in a row that stop calls.")
    open_seconds: float = Field(default=60, gt=0, description="How long calls stop before one is let through to try.")


class EmbedderBreakerSettings(BreakerSettings):
    """Of the embedder: questions are answered by words in the meantime."""

    n_failures: int = Field(default=1, ge=1, description="Failures in a row that stop calls.")
    open_seconds: float = Field(default=30, gt=0, description="How long calls stop before one is let through to try.")


class LadderSettings(BaseModel):
    """How often a failing piece of work is asked again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    delays_seconds: tuple[float, ...] = Field(default=(1, 5, 30), description="Waits before the second, third, … rung.")
    max_retry_after_seconds: float = Field(
        default=120,
        ge=0,
        description="An endpoint that asks to be left alone for longer than this is asked in the next run.",
    )
    max_rate_limits: int = Field(
        default=5,
        ge=0,
        description="How often in a row a rung waits out a rate limit before it is left to the next run.",
    )
    max_deferrals: int = Field(
        default=3,
        ge=1,
        description=(
            "Runs that may put a piece of work off because the endpoint was down, if others were answered in the "
            "meantime."
        ),
    )


class LlmSettings(BaseModel):
    """The endpoint, its models and their limits."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str | None = Field(
        default=None,
        description=(
            "Address of an OpenAI-compatible endpoint, with its /v1; unset: OpenAI's own. Variable: EM_LLM_BASE_URL."
        ),
    )
    small: str = Field(
        default="gpt-4.1-mini", min_length=1, description="The model that reads segments. Variable: EM_LLM_SMALL."
    )
    large: str | None = Field(
        default=None,
        description="The model for inference and consolidation; unset: the small one. Variable: EM_LLM_LARGE.",
    )
    mode: Literal["realtime", "batch"] = Field(
        default="realtime",
        description=(
            "realtime: calls that answer at once; batch: the Batch API, at half the price. Variable: EM_LLM_MODE."
        ),
    )
    timeout_seconds: float | None = Field(
        default=None,
        gt=0,
        description=(
            "A call that makes no progress for this long has failed; unset: by the endpoint's pace, a minute or more."
        ),
    )
    max_concurrent_calls: int = Field(
        default=8,
        ge=1,
        description="The most calls at work together; how many there are is found by the endpoint's pace.",
    )
    n_awaited_trials: int = Field(
        default=2,
        ge=0,
        description="How many trial calls of an open breaker a run waits for before it puts its work off.",
    )
    retry_minutes: float = Field(
        default=15, gt=0, description="How long the sensor leaves a day alone that waits for a model."
    )
    budget: BudgetSettings = Field(default_factory=BudgetSettings, description="Limits of spending.")
    prices: dict[str, ModelPrice] = Field(
        default_factory=dict, description="US dollars a million tokens, by name of the model."
    )
    batch_price_share: float = Field(
        default=0.5, ge=0, le=1, description="What a token costs in a batch, as a share of its price."
    )
    max_batch_requests: int = Field(
        default=50_000, ge=1, le=50_000, description="Requests of one batch; the limit is OpenAI's."
    )
    max_batch_bytes: int = Field(
        default=200_000_000, ge=1, le=200_000_000, description="Bytes of the file of one batch; the limit is OpenAI's."
    )
    small_breaker: SmallBreakerSettings = Field(
        default=SmallBreakerSettings(), description="For calls of the small model."
    )
    large_breaker: LargeBreakerSettings = Field(
        default=LargeBreakerSettings(), description="For calls of the large model."
    )
    embedder_breaker: EmbedderBreakerSettings = Field(
        default=EmbedderBreakerSettings(), description="For calls of the embedder behind the endpoint."
    )
    embedder_base_url: str | None = Field(
        default=None,
        description=(
            "Address of the endpoint of the embedder, with its /v1; unset: `llm.base_url`. Its key: "
            "EM_EMBEDDER_API_KEY, else that of llm. Variable: EM_EMBEDDER_BASE_URL."
        ),
    )
    embedder_batch_size: int = Field(
        default=64,
        ge=1,
        le=2048,
        description=(
            "Texts of one request to the embedder behind an endpoint, at most; a server that refuses so many is sent "
            "fewer."
        ),
    )
    embedder_seconds: float = Field(
        default=3, gt=0, description="A question without its vector after this long is answered by words alone."
    )
    ladder: LadderSettings = Field(default_factory=LadderSettings, description="Retries of work that fails.")

    @field_validator("base_url", "embedder_base_url")
    @classmethod
    def _holds_no_password(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value and "@" in urlsplit(value).netloc:
            key = "EM_LLM_API_KEY" if info.field_name == "base_url" else "EM_EMBEDDER_API_KEY"
            raise ValueError(f"holds a user name or a password, which settings would print; use {key}")
        return value

    @model_validator(mode="after")
    def _dollars_need_prices(self) -> "LlmSettings":
        unpriced = sorted({name for name in (self.small, self.large) if name and name not in self.prices})
        if self.budget.max_usd_a_night is not None and unpriced:
            raise ValueError(f"max_usd_a_night needs the prices of {', '.join(unpriced)}: add them to llm.prices")
        return self

    @property
    def address(self) -> str:
        """By which what is known of the endpoint is kept."""
        return self.base_url or ""

    def model_of(self, size: Literal["small", "large"]) -> str:
        """The name of the small or the large model."""
        return (self.large or self.small) if size == "large" else self.small

    @property
    def retries(self) -> LadderSettings:
        """The ladder of the mode: between two batches there is nothing to wait for."""
        return self.ladder if self.mode == "realtime" else self.ladder.model_copy(update={"delays_seconds": ()})

    def cost_usd(self, model: str, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """US dollars that a call costs outside a batch; 0.0 for a model without a price."""
        price = self.prices.get(model)
        if price is None:
            return 0.0
        cached_usd = price.input_usd if price.cached_input_usd is None else price.cached_input_usd
        sent = (prompt_tokens - cached_tokens) * price.input_usd + cached_tokens * cached_usd
        return (sent + completion_tokens * price.output_usd) / 1_000_000
