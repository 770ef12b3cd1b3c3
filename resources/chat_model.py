"""The chat model behind an OpenAI-compatible endpoint, by the official client: one request, one attempt, one answer.

Endpoints differ in what they take. The answer is asked for as strict JSON schema; where that is refused as a JSON
object, with the schema in the prompt; where that is refused, too, in the prompt alone. Whether a refusal is about the
format is found out by asking without it, whatever words it comes in: what passes then is sent from then on. The limit
of tokens and the temperature are sent otherwise where a refusal names them.
"""

import asyncio
import json
import logging
import math
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import openai
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion
from pydantic import SecretStr

from em_pipelines.errors import ModelUnavailableError
from em_pipelines.llm.clock import Clock
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest
from em_pipelines.llm.settings import LlmSettings
from em_pipelines.observability.work import work
from resources.clock import SystemClock
from resources.endpoint import Endpoint, is_refused, our_errors

_LOGGER = logging.getLogger(__name__)

FORMATS = ("json_schema", "json_object", "none")
NOT_FOUND = 404
"""Said of a model, and by routers where no server behind them takes all parameters."""
SERVER_FAILED = 500
DOWN = frozenset({502, 503, 504})
"""Said where no server answers: of no format, so that nothing is found out by asking otherwise."""


Send = Callable[[dict[str, Any]], Awaitable[ChatCompletion]]
"""The body of a request to its answer; raises openai.APIStatusError where it is refused."""


@dataclass(slots=True)
class Format:
    """How one model is asked for one schema: a place in FORMATS, and whether an answer has come that way."""

    place: int = 0
    is_proven: bool = False


class Dialect:
    """What one endpoint takes, as far as it has shown; shared by all calls to it."""

    def __init__(self) -> None:
        self.limit = "max_completion_tokens"
        self.has_temperature = True
        self._formats: dict[tuple[str, str], Format] = {}

    async def ask(self, request: ChatRequest, send: Send) -> ChatCompletion:
        """Sends a request as the endpoint takes it, and finds out how where that is not known yet.

        Raises openai.APIStatusError where it is refused in every format, or no format can be at fault.
        """
        known = self._format(request)
        place = known.place
        try:
            completion = await self._sent(request, place, send)
        except openai.APIStatusError as error:
            is_proven = known.is_proven and known.place == place  # another call may have found a format meanwhile
            if is_proven or not _may_be_about_the_request(error.status_code):
                raise
            refused = error
        else:
            known.is_proven = known.is_proven or known.place == place
            return completion
        return await self._asked_otherwise(request, place, send, refused)

    async def _asked_otherwise(
        self, request: ChatRequest, place: int, send: Send, refused: openai.APIStatusError
    ) -> ChatCompletion:
        """The answer in the first of the other formats that passes, which is kept. A server that failed is asked once
        more as before: it may have failed for another reason, and then nothing is learned."""
        known = self._format(request)
        for other in range(place + 1, len(FORMATS)):
            try:
                completion = await self._sent(request, other, send)
            except openai.APIStatusError as error:
                if not _may_be_about_the_request(error.status_code):
                    raise
                continue
            if refused.status_code >= SERVER_FAILED:
                try:
                    completion = await self._sent(request, place, send)
                except openai.APIStatusError:
                    pass
                else:
                    known.is_proven = known.is_proven or known.place == place
                    return completion
            known.place, known.is_proven = max(known.place, other), True
            return completion
        raise refused

    async def _sent(self, request: ChatRequest, place: int, send: Send) -> ChatCompletion:
        """The answer in one format, whatever the endpoint calls the limit of tokens."""
        while True:
            sent = self.parameters(request, place)
            try:
                return await send(sent)
            except openai.APIStatusError as error:
                if not self._learns_from(error, sent):
                    raise

    def parameters(self, request: ChatRequest, place: int | None = None) -> dict[str, Any]:
        """The body of a request, in the format of that place in FORMATS or else as the endpoint takes it."""
        kind = FORMATS[self._format(request).place if place is None else place]
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        body: dict[str, Any] = {"model": request.model, "messages": messages, self.limit: request.max_output_tokens}
        if self.has_temperature:
            body["temperature"] = request.temperature
        schema = dict(request.schema)
        if kind == "json_schema":
            wanted = {"name": request.schema_name, "schema": schema, "strict": True}
            return {**body, "response_format": {"type": kind, "json_schema": wanted}}
        asked = f"Answer with one JSON object and nothing else. It matches this JSON schema: {json.dumps(schema)}"
        body["messages"] = _instructed(messages, asked)
        return {**body, "response_format": {"type": kind}} if kind == "json_object" else body

    def _format(self, request: ChatRequest) -> Format:
        return self._formats.setdefault((request.model, request.schema_name), Format())

    def _learns_from(self, error: openai.APIStatusError, sent: dict[str, Any]) -> bool:
        """Whether a refusal names a parameter that was sent and can be sent otherwise, or be left out."""
        if not is_refused(error.status_code):
            return False
        named = error.response.text
        if "max_completion_tokens" in sent and "max_completion_tokens" in named:
            self.limit = "max_tokens"
            return True
        if "temperature" in sent and "temperature" in named:
            self.has_temperature = False
            return True
        return False


def _instructed(messages: list[dict[str, str]], asked: str) -> list[dict[str, str]]:
    """Messages with one more instruction in their system message: many chat templates take no second one."""
    if not messages or messages[0]["role"] != "system":
        return [{"role": "system", "content": asked}, *messages]
    first = {"role": "system", "content": f"{messages[0]['content']}\n\n{asked}"}
    return [first, *messages[1:]]


def _may_be_about_the_request(status: int) -> bool:
    """Whether the same request may pass in another format: a server answered, and refused neither key nor pace."""
    return is_refused(status) or status == NOT_FOUND or (status >= SERVER_FAILED and status not in DOWN)


class OpenAIChatModel:
    """A `ChatModel`: asks once, without retrying, within `timeout_seconds` from first to last byte.

    `async with` closes its connections; that has to happen before the event loop ends.
    """

    def __init__(
        self,
        settings: LlmSettings,
        api_key: SecretStr,
        clock: Clock | None = None,
        dialect: Dialect | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock or SystemClock()
        self._endpoint = Endpoint(settings.base_url, api_key, settings.timeout_seconds)
        self._dialect = dialect or Dialect()

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
                completion = await self._dialect.ask(request, partial(self._send, request))
            return answer_of(request, completion, self._settings, latency_ms=(self._clock.monotonic() - begun) * 1000)

    async def _send(self, request: ChatRequest, sent: dict[str, Any]) -> ChatCompletion:
        """Sends one HTTP request; a question that is refused in one format takes several."""
        asked = {"model": request.model, "task": request.task}
        with work("em.model", correlation_id=request.correlation_id, **asked):
            begun = self._clock.monotonic()
            try:
                completion: ChatCompletion = await self._endpoint.client.chat.completions.create(**sent)
                return completion
            finally:
                took_ms = (self._clock.monotonic() - begun) * 1000
                _LOGGER.info("%s was asked for %s: %.0f ms", request.model, request.task, took_ms)


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
    choices = getattr(completion, "choices", None)  # a page in place of an answer is a text to the client
    choice = choices[0] if choices else None
    if choice is None or choice.message is None:
        raise ModelUnavailableError(f"asking the model {request.model}: the answer holds no message; try again")
    text = sound("".join(_texts(choice.message.content)))
    n_tokens = _counted(completion.usage) or TokenCounts.estimated(request, text)
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


def _texts(content: object) -> Iterator[str]:
    """The texts of a message, which is one text or a list of parts; reasoning is a part of another type."""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict) and part.get("type", "text") in {"text", "output_text"}:
            yield from _texts(part.get("text"))


def _counted(usage: CompletionUsage | None) -> TokenCounts | None:
    """What the endpoint counted; None where it did not."""
    if not usage or not usage.prompt_tokens or usage.completion_tokens is None:
        return None
    details = usage.prompt_tokens_details
    return TokenCounts(usage.prompt_tokens, usage.completion_tokens, (details.cached_tokens or 0) if details else 0)
