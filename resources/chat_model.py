"""The chat model behind an OpenAI-compatible endpoint, by the official client: one request, one attempt, one answer.

Endpoints differ in what they take. The answer is asked for as strict JSON schema; where that is refused as a JSON
object, with the schema in the prompt; where that is refused, too, in the prompt alone. Likewise the limit of tokens
and the temperature. What an endpoint refused once is not sent again.
"""

import asyncio
import json
import math
from dataclasses import dataclass
from typing import Any

import openai
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion
from pydantic import SecretStr

from em_pipelines.errors import ModelUnavailableError
from em_pipelines.llm.clock import Clock
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest
from em_pipelines.llm.settings import LlmSettings
from resources.clock import SystemClock
from resources.endpoint import Endpoint, our_errors

FORMATS = ("json_schema", "json_object", "none")


class Dialect:
    """What one endpoint takes, as far as it has said so; shared by calls and batches."""

    def __init__(self) -> None:
        self.format = FORMATS[0]
        self.limit = "max_completion_tokens"
        self.has_temperature = True

    def parameters(self, request: ChatRequest) -> dict[str, Any]:
        """The body of a request, as the endpoint takes it."""
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        body: dict[str, Any] = {"model": request.model, "messages": messages, self.limit: request.max_output_tokens}
        if self.has_temperature:
            body["temperature"] = request.temperature
        schema = dict(request.schema)
        if self.format == "json_schema":
            wanted = {"name": request.schema_name, "schema": schema, "strict": True}
            return {**body, "response_format": {"type": "json_schema", "json_schema": wanted}}
        asked = f"Answer with one JSON object and nothing else. It matches this JSON schema: {json.dumps(schema)}"
        body["messages"] = [{"role": "system", "content": asked}, *messages]
        return {**body, "response_format": {"type": "json_object"}} if self.format == "json_object" else body

    def learns_from(self, error: openai.APIStatusError, sent: dict[str, Any]) -> bool:
        """Whether the refusal names a parameter that was sent and can be sent otherwise, or was left out since."""
        named = f"{error.param or ''} {error.message}"
        if "response_format" in sent and ("response_format" in named or "json_schema" in named):
            used = sent["response_format"]["type"]
            self.format = FORMATS[max(FORMATS.index(self.format), FORMATS.index(used) + 1)]
            return True
        if "max_completion_tokens" in sent and "max_completion_tokens" in named:
            self.limit = "max_tokens"
            return True
        if "temperature" in sent and "temperature" in named:
            self.has_temperature = False
            return True
        return False


class OpenAIChatModel:
    """A `ChatModel`: asks once, without retrying, within `timeout_seconds` from first to last byte.

    `async with` closes its connections; that has to happen before the event loop ends.
    """

    def __init__(self, settings: LlmSettings, api_key: SecretStr, clock: Clock | None = None) -> None:
        self._settings = settings
        self._clock = clock or SystemClock()
        self._endpoint = Endpoint(settings.base_url, api_key, settings.timeout_seconds)
        self._dialect = Dialect()

    async def __aenter__(self) -> "OpenAIChatModel":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._endpoint.close()

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        """Asks; raises a leaf of ModelError whose message holds neither key nor prompt."""
        begun = self._clock.monotonic()
        asked = f"asking the model {request.model}"
        with our_errors(asked, self._clock):
            async with asyncio.timeout(self._settings.timeout_seconds):
                completion = await self._ask(request)
            return answer_of(request, completion, self._settings, latency_ms=(self._clock.monotonic() - begun) * 1000)

    async def _ask(self, request: ChatRequest) -> ChatCompletion:
        while True:
            sent = self._dialect.parameters(request)
            try:
                completion: ChatCompletion = await self._endpoint.client.chat.completions.create(**sent)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if not self._dialect.learns_from(error, sent):
                    raise
            else:
                return completion


def answer_of(
    request: ChatRequest,
    completion: ChatCompletion,
    settings: LlmSettings,
    *,
    latency_ms: float,
    price_share: float = 1.0,
) -> ChatAnswer:
    """Reads a completion. Tokens that the endpoint does not count are estimated as characters ÷ 4.

    Raises ModelUnavailableError for a completion without a message, as some endpoints send when they are overloaded.
    """
    choice = completion.choices[0] if completion.choices else None
    if choice is None or choice.message is None:
        raise ModelUnavailableError(f"asking the model {request.model}: the answer holds no message; try again")
    text = sound(choice.message.content or "")
    n_tokens = _counted(completion.usage) if completion.usage else TokenCounts.estimated(request, text)
    return ChatAnswer(
        key=request.key,
        text=text,
        finish_reason="refusal" if choice.message.refusal else choice.finish_reason or "stop",
        prompt_tokens=n_tokens.prompt,
        completion_tokens=n_tokens.completion,
        latency_ms=latency_ms,
        cost_usd=price_share * n_tokens.cost_usd(settings, request.model),
    )


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """What one answer took; `cached` of the tokens of the prompt cost less."""

    prompt: int
    completion: int
    cached: int = 0

    @classmethod
    def estimated(cls, request: ChatRequest, text: str) -> "TokenCounts":
        """Where the endpoint does not count: characters ÷ 4."""
        return cls(request.n_prompt_tokens, math.ceil(len(text) / 4))

    def cost_usd(self, settings: LlmSettings, model: str) -> float:
        """In US dollars; 0 where no price is set for the model."""
        return settings.cost_usd(model, self.prompt, self.completion, min(self.prompt, self.cached))


def sound(text: str) -> str:
    """A text as it can be written down: half of a surrogate pair, as of an emoji that was cut in two, is text to JSON
    and none to any file."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _counted(usage: CompletionUsage) -> TokenCounts:
    details = usage.prompt_tokens_details
    return TokenCounts(usage.prompt_tokens, usage.completion_tokens, (details.cached_tokens or 0) if details else 0)
