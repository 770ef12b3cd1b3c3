"""A chat model that searches the web, behind an OpenAI-compatible endpoint: one request, one attempt, one answer.

Two ways are known: the Responses API with its `web_search` tool, and Chat Completions of a model that searches by
itself. Either way the text of the answer holds what was said together with the pages that were found
(`revision.answer.Searched`), so that the answer store keeps both. Nothing tells the endpoint where anybody
lives, and it is asked to store nothing.
"""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import openai
from openai.types.chat import ChatCompletion
from openai.types.responses import Response, ResponseUsage
from pydantic import SecretStr

from em_pipelines.errors import ModelUnavailableError, RateLimitedError
from em_pipelines.lifecycle.revision.answer import MAX_PAGES, Searched
from em_pipelines.lifecycle.revision.settings import RevisionSettings
from em_pipelines.lifecycle.revision.source import Page
from em_pipelines.llm.clock import Clock
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest
from em_pipelines.llm.settings import LlmSettings
from resources.chat_model import TokenCounts, answer_of, sound
from resources.dialect import Dialect
from resources.endpoint import Endpoint, our_errors

MAX_PAGE_CHARACTERS = 500
NOWHERE = {"type": "approximate"}
"""The place of a user who is nowhere in particular; left out, the endpoint would take him to be in its own country."""
_MAY_BE_LEFT_OUT = ("text", "include", "max_tool_calls", "tool_choice", "user_location", "search_context_size")


class ResponsesDialect:
    """What one endpoint takes of the Responses API, as far as it has said so. `store` is never left out."""

    def __init__(self, settings: RevisionSettings) -> None:
        self._settings = settings
        self._left_out: set[str] = set()

    def parameters(self, request: ChatRequest) -> dict[str, Any]:
        """The body of a request, as the endpoint takes it."""
        system, *rest = request.messages
        schema = {"type": "json_schema", "name": request.schema_name, "schema": dict(request.schema), "strict": True}
        tool = {
            "type": "web_search",
            "search_context_size": self._settings.search_context_size,
            "user_location": NOWHERE,
        }
        body: dict[str, Any] = {
            "model": request.model,
            "instructions": system.content,
            "input": [{"role": message.role, "content": message.content} for message in rest],
            "tools": [{name: value for name, value in tool.items() if name not in self._left_out}],
            "tool_choice": "required",
            "include": ["web_search_call.action.sources"],
            "max_tool_calls": self._settings.max_searches,
            "max_output_tokens": request.max_output_tokens,
            "store": False,
            "text": {"format": schema},
        }
        if "text" in self._left_out:
            body["instructions"] += f"\n\nAnswer with one JSON object alone that matches {json.dumps(schema['schema'])}"
        return {name: value for name, value in body.items() if name not in self._left_out}

    def learns_from(self, error: openai.APIStatusError) -> bool:
        """Whether the refusal names a parameter that can be left out and was sent."""
        named = f"{error.param or ''} {error.message}"
        for name in _MAY_BE_LEFT_OUT:
            wanted = ("text.format", "json_schema") if name == "text" else (name,)
            if name not in self._left_out and any(word in named for word in wanted):
                self._left_out.add(name)
                return True
        return False


class WebSearchModel:
    """A `ChatModel` that searches; `settings` are those of its endpoint. `async with` closes its connections."""

    def __init__(self, settings: LlmSettings, revision: RevisionSettings, api_key: SecretStr, clock: Clock) -> None:
        self._settings = settings
        self._revision = revision
        self._clock = clock
        self._endpoint = Endpoint(settings.base_url, api_key, settings.timeout_seconds)
        self._responses = ResponsesDialect(revision)
        self._chat = Dialect()

    async def __aenter__(self) -> "WebSearchModel":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._endpoint.close()

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        """Asks once; raises a leaf of ModelError whose message holds neither key nor prompt."""
        begun = self._clock.monotonic()
        sent = self._endpoint.sent("\n".join(message.content for message in request.messages))
        with our_errors(f"looking a fact up with {request.model}", self._clock, sent):
            async with asyncio.timeout(self._settings.timeout_seconds):
                if self._revision.api == "chat":
                    # Models that search by themselves refuse a temperature.
                    self._chat.profiles.of(request.model).refused_parameters.add("temperature")
                    completion = await self._chat.ask(request, self._send_chat)
                else:
                    response = await self._ask_responses(request)
            latency_ms = (self._clock.monotonic() - begun) * 1000
            if self._revision.api == "chat":
                return self._of_completion(request, completion, latency_ms)
            return self._of_response(request, response, latency_ms)

    async def _ask_responses(self, request: ChatRequest) -> Response:
        while True:
            try:
                response: Response = await self._endpoint.client.responses.create(**self._responses.parameters(request))
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                if not self._responses.learns_from(error):
                    raise
            else:
                return response

    async def _send_chat(self, sent: dict[str, Any]) -> ChatCompletion:
        options = {"search_context_size": self._revision.search_context_size}
        completion: ChatCompletion = await self._endpoint.client.chat.completions.create(
            **sent, web_search_options=options
        )
        return completion

    def _of_completion(self, request: ChatRequest, completion: ChatCompletion, latency_ms: float) -> ChatAnswer:
        plain = answer_of(request, completion, self._settings, latency_ms=latency_ms)
        cited = completion.choices[0].message.annotations or []
        pages = _pages((c.url_citation.url, c.url_citation.title) for c in cited if c.url_citation)
        cost_usd = plain.cost_usd + self._revision.search_usd
        return replace(plain, text=Searched(plain.text, pages).as_text(), cost_usd=cost_usd)

    def _of_response(self, request: ChatRequest, response: Response, latency_ms: float) -> ChatAnswer:
        _refuse_failed(response, request.model)
        parts = _message_parts(response)
        if not parts and response.status != "incomplete":
            raise ModelUnavailableError(f"looking a fact up with {request.model}: the answer holds no message")
        said = "".join(part.text for part in parts if part.type == "output_text")
        searches = [item.action for item in response.output or [] if item.type == "web_search_call"]
        n_searches = sum(getattr(action, "type", "search") == "search" for action in searches)
        n_tokens = _counted(response.usage) if response.usage else TokenCounts.estimated(request, said)
        searched = Searched(sound(said), _pages(_found_pages(parts, searches)), n_searches)
        return ChatAnswer(
            key=request.key,
            text=searched.as_text(),
            finish_reason=_finish_reason(response, parts),
            prompt_tokens=n_tokens.prompt,
            completion_tokens=n_tokens.completion,
            latency_ms=latency_ms,
            cost_usd=n_tokens.cost_usd(self._settings, request.model) + n_searches * self._revision.search_usd,
        )


def _message_parts(response: Response) -> list[Any]:
    return [part for item in response.output or [] if item.type == "message" for part in item.content or []]


def _counted(usage: ResponseUsage) -> TokenCounts:
    details = usage.input_tokens_details
    return TokenCounts(usage.input_tokens, usage.output_tokens, (details.cached_tokens or 0) if details else 0)


def _refuse_failed(response: Response, model: str) -> None:
    """A response can fail although HTTP says 200."""
    if response.status == "failed" or response.error is not None:
        code = response.error.code if response.error else "failed"
        kind = RateLimitedError if code == "rate_limit_exceeded" else ModelUnavailableError
        raise kind(f"looking a fact up with {model}: the response failed; try again")


def _finish_reason(response: Response, parts: list[Any]) -> str:
    if any(part.type == "refusal" for part in parts):
        return "refusal"
    if response.status != "incomplete":
        return "stop"
    reason = response.incomplete_details.reason if response.incomplete_details else None
    return "content_filter" if reason == "content_filter" else "length"


def _found_pages(parts: list[Any], searches: list[Any]) -> Iterator[tuple[str | None, str | None]]:
    """Address and title of what was cited, opened or found, in this order."""
    for part in parts:
        for cited in getattr(part, "annotations", None) or []:
            if cited.type == "url_citation":
                yield cited.url, cited.title
    for action in searches:
        yield getattr(action, "url", None), None
        for source in getattr(action, "sources", None) or []:
            yield getattr(source, "url", None), None


def _pages(addresses: Iterator[tuple[str | None, str | None]]) -> tuple[Page, ...]:
    titles: dict[str, str] = {}
    for url, title in addresses:
        if url:
            titles.setdefault(sound(url)[:MAX_PAGE_CHARACTERS], sound(title or "")[:MAX_PAGE_CHARACTERS])
    return tuple(Page(url, title) for url, title in list(titles.items())[:MAX_PAGES])
