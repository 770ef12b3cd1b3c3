"""The chat model behind an OpenAI-compatible endpoint, by the official client: one request, one attempt, one answer.

How a request is worded, and what a refusal teaches, is a matter of `resources.dialect`.
"""

import logging
import math
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import openai
from httpx2 import Timeout
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion
from pydantic import SecretStr

from em_pipelines.errors import ModelUnavailableError
from em_pipelines.llm.clock import Clock
from em_pipelines.llm.endpoint_profiles import EndpointProfiles
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest
from em_pipelines.llm.settings import LlmSettings
from em_pipelines.observability.work import work
from resources.answer_body import LOOP, TAIL_CHARACTERS, is_repeating, read_completion
from resources.clock import SystemClock
from resources.dialect import Dialect
from resources.endpoint import DECLINED, Endpoint, code_of, our_errors, server_words

_LOGGER = logging.getLogger(__name__)
CONNECT_SECONDS = 10.0
"""A server that is there takes a connection at once, however slow its answers are."""


class OpenAIChatModel:
    """A `ChatModel`: asks once, without retrying. A call fails once it has made no progress for `timeout_seconds`, or,
    where that is unset, for as long as the endpoint's pace suggests.

    `async with` closes its connections; that has to happen before the event loop ends.
    """

    def __init__(
        self,
        settings: LlmSettings,
        api_key: SecretStr,
        clock: Clock | None = None,
        profiles: EndpointProfiles | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock or SystemClock()
        self._endpoint = Endpoint(settings.base_url, api_key, settings.timeout_seconds)
        self._profiles = profiles or EndpointProfiles(settings.base_url or "")
        self._dialect = Dialect(self._profiles, self._clock.now, streams=True)

    async def __aenter__(self) -> "OpenAIChatModel":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._endpoint.close()

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        """Asks; raises a leaf of ModelError whose message holds neither key nor prompt."""
        begun = self._clock.monotonic()
        sent = self._endpoint.sent("\n".join(message.content for message in request.messages))
        with our_errors(f"asking the model {request.model}", self._clock, sent):
            try:
                completion = await self._dialect.ask(request, partial(self._send, request))
            except openai.APIStatusError as error:
                if code_of(error.body) != DECLINED:
                    raise
                message = {"role": "assistant", "content": ""}
                completion = ChatCompletion.construct(choices=[{"finish_reason": DECLINED, "message": message}])
            if not getattr(completion, "choices", None) and (error := getattr(completion, "error", None)):
                words = server_words(error, sent)
                raise ModelUnavailableError(f"asking the model {request.model}: an error in place of an answer{words}")
            return answer_of(request, completion, self._settings, latency_ms=(self._clock.monotonic() - begun) * 1000)

    async def _send(self, request: ChatRequest, sent: dict[str, Any]) -> ChatCompletion:
        """Sends one HTTP request; a question that is refused in one format takes several."""
        asked = {"model": request.model, "task": request.task}
        with work("em.model", correlation_id=request.correlation_id, **asked):
            begun = self._clock.monotonic()
            try:
                return await self._received(request.model, sent)
            finally:
                took_ms = (self._clock.monotonic() - begun) * 1000
                _LOGGER.info("%s was asked for %s: %.0f ms", request.model, request.task, took_ms)

    async def _received(self, model: str, sent: dict[str, Any]) -> ChatCompletion:
        """The answer to one HTTP request, read as it comes."""
        profile = self._profiles.of(model)
        patience = self._settings.timeout_seconds or profile.patience_seconds
        lines = _TimedLines(self._clock)
        create = self._endpoint.client.chat.completions.with_streaming_response.create
        async with create(**sent, timeout=Timeout(patience, connect=min(patience, CONNECT_SECONDS))) as response:
            completion = await read_completion(
                lines.of(response.iter_lines()), response.headers.get("content-type", "")
            )
        if profile.waited(lines.longest_seconds):
            self._profiles.keep(model, self._clock.now())
        return completion


class _TimedLines:
    """Lines as they come, and the longest wait for one of them, from when it was made."""

    def __init__(self, clock: Clock) -> None:
        self.longest_seconds = 0.0
        self._clock = clock
        self._last = clock.monotonic()

    async def of(self, lines: AsyncIterator[str]) -> AsyncIterator[str]:
        """The lines, timed."""
        async for line in lines:
            now = self._clock.monotonic()
            self.longest_seconds, self._last = max(self.longest_seconds, now - self._last), now
            yield line


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
    choices = getattr(completion, "choices", None)
    choice = choices[0] if choices else None
    if choice is None or choice.message is None:
        raise ModelUnavailableError(f"asking the model {request.model}: the answer holds no message; try again")
    text = sound("".join(_texts(choice.message.content))) or _tool_arguments(choice.message)
    finish_reason = "refusal" if getattr(choice.message, "refusal", None) else choice.finish_reason or "stop"
    if finish_reason == "length" and is_repeating(text[-TAIL_CHARACTERS:]):
        finish_reason = LOOP
    n_tokens = _counted(completion.usage) or TokenCounts.estimated(request, text)
    return ChatAnswer(
        key=request.key,
        text=text,
        finish_reason=finish_reason,
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


def _tool_arguments(message: Any) -> str:
    """The arguments of the first tool that a model calls: some call one that has the schema's name."""
    calls = getattr(message, "tool_calls", None) or []
    arguments = getattr(getattr(calls[0], "function", None), "arguments", None) if calls else None
    return sound(arguments) if isinstance(arguments, str) else ""


def _counted(usage: CompletionUsage | None) -> TokenCounts | None:
    """What the endpoint counted; None where it did not."""
    if not usage or not usage.prompt_tokens or usage.completion_tokens is None:
        return None
    details = usage.prompt_tokens_details
    return TokenCounts(usage.prompt_tokens, usage.completion_tokens, (details.cached_tokens or 0) if details else 0)
