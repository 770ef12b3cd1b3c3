"""How requests are worded for one endpoint and model, and what its refusals teach.

Endpoints differ in what they take. The answer is asked for as strict JSON schema; where that is refused as a JSON
object, with the schema in the prompt; where that is refused, too, in the prompt alone. Whether a refusal is about the
format is found out by asking without it, whatever words it comes in: what passes then is sent from then on. A parameter
that a refusal names is left out or renamed, and a limit that is too large is lowered. What was learned is kept in the
endpoint's profile.
"""

import json
import re
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import openai
from openai.types.chat import ChatCompletion

from em_pipelines.errors import RequestTooLongError
from em_pipelines.llm.endpoint_profiles import EndpointProfile, EndpointProfiles, Format
from em_pipelines.llm.protocol import ChatRequest
from resources.endpoint import DECLINED, code_of, is_refused

FORMATS = ("json_schema", "json_object", "none")
NOT_FOUND = 404
"""Said of a model, and by routers where no server behind them takes all parameters."""
SERVER_FAILED = 500
DOWN = frozenset({502, 503, 504})
"""Said where no server answers: of no format, so that nothing is found out by asking otherwise."""
OUTPUT_LIMITS = ("max_tokens", "max_completion_tokens")
"""What a parameter that bounds an answer is called: by nearly everybody, and by OpenAI."""
OF_OPENAI = (".openai.com", ".openai.azure.com")
DROPPABLE = ("temperature", "stream_options", "stream")
MIN_OUTPUT_TOKENS = 256
"""A smaller answer holds no facts worth the prompt."""
PROMPT_MARGIN = 1.15
"""How much longer a prompt may be than characters ÷ 4 say."""
_NUMBER = re.compile(r"(?<![\w.-])\d{3,7}(?![\w.-]*\w)")
_CONTEXT_NAMED = re.compile(r"context[ _-]?(?:length|size|window)", re.IGNORECASE)
_CONTEXT = re.compile(r"context[ _-]?(?:length|size|window)\D{0,40}?(\d{3,7})", re.IGNORECASE)
_CONTEXT_FIELD = re.compile(r'"n_ctx"\s*:\s*(\d{3,7})')
"""Of llama.cpp, whose older words have no number, and whose next field is the length of the prompt."""

Send = Callable[[dict[str, Any]], Awaitable[ChatCompletion]]
"""The body of a request to its answer; raises openai.APIStatusError where it is refused."""


class Dialect:
    """Words requests as an endpoint takes them, as far as its profiles know; shared by all calls to it."""

    def __init__(
        self,
        profiles: EndpointProfiles | None = None,
        now: Callable[[], datetime] | None = None,
        *,
        streams: bool = False,
    ) -> None:
        self.profiles = profiles or EndpointProfiles()
        self._now = now or (lambda: datetime.now().astimezone())
        self._streams = streams
        host = urlsplit(self.profiles.address).hostname or ""
        is_openai = not host or f".{host}".endswith(OF_OPENAI)
        self.usual_limit = OUTPUT_LIMITS[is_openai]

    async def ask(self, request: ChatRequest, send: Send) -> ChatCompletion:
        """Sends a request as the endpoint takes it, and finds out how where that is not known yet.

        Raises openai.APIStatusError where it is refused in every format, or no format can be at fault, and
        RequestTooLongError where it does not fit into the model's context.
        """
        known = self._format(request)
        place = known.place
        try:
            completion = await self._sent(request, place, send)
        except openai.APIStatusError as error:
            is_proven = known.is_proven and known.place == place  # another call may have found a format meanwhile
            if is_proven or not _may_be_about_the_request(error):
                raise
            refused = error
        else:
            if not known.is_proven and known.place == place:
                known.is_proven = True
                self._keep(request)
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
                if not _may_be_about_the_request(error):
                    raise
                continue
            if refused.status_code >= SERVER_FAILED:
                try:
                    completion = await self._sent(request, place, send)
                except openai.APIStatusError:
                    pass
                else:
                    known.is_proven = known.is_proven or known.place == place
                    self._keep(request)
                    return completion
            known.place, known.is_proven = max(known.place, other), True
            self._keep(request)
            return completion
        raise refused

    async def _sent(self, request: ChatRequest, place: int, send: Send) -> ChatCompletion:
        """The answer in one format, whatever the endpoint calls its parameters and however small its limits are."""
        while True:
            sent = self.parameters(request, place)
            try:
                return await send(sent)
            except openai.APIStatusError as error:
                if not self._learns_from(error, request, sent):
                    raise

    def parameters(self, request: ChatRequest, place: int | None = None) -> dict[str, Any]:
        """The body of a request, in the format of that place in FORMATS or else as the endpoint takes it.

        Raises RequestTooLongError where the model's context has no room for an answer.
        """
        profile = self.profiles.of(request.model)
        kind = FORMATS[self._format(request).place if place is None else place]
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        limit = profile.output_limit or self.usual_limit
        optional = {
            "temperature": request.temperature,
            **({"stream": True, "stream_options": {"include_usage": True}} if self._streams else {}),
        }
        refused = profile.refused_parameters | ({"stream_options"} if "stream" in profile.refused_parameters else set())
        body: dict[str, Any] = {
            "model": request.model, "messages": messages, limit: _room(request, profile),
            **{name: value for name, value in optional.items() if name not in refused},
        }  # fmt: skip
        schema = dict(request.schema)
        if kind == "json_schema":
            wanted = {"name": request.schema_name, "schema": schema, "strict": True}
            return {**body, "response_format": {"type": kind, "json_schema": wanted}}
        asked = f"Answer with one JSON object and nothing else. It matches this JSON schema: {json.dumps(schema)}"
        body["messages"] = _instructed(messages, asked)
        return {**body, "response_format": {"type": kind}} if kind == "json_object" else body

    def _format(self, request: ChatRequest) -> Format:
        return self.profiles.of(request.model).formats.setdefault(request.schema_name, Format())

    def _keep(self, request: ChatRequest) -> None:
        self.profiles.keep(request.model, self._now())

    def _learns_from(self, error: openai.APIStatusError, request: ChatRequest, sent: dict[str, Any]) -> bool:
        """Whether a refusal names something of what was sent that can be sent otherwise, or be left out."""
        if not is_refused(error.status_code) and error.status_code != SERVER_FAILED:
            return False
        profile, said = self.profiles.of(request.model), error.response.text
        has_learned = (
            _learns_a_limit(profile, request, sent, said, error.status_code)
            or (is_refused(error.status_code) and _learns_a_parameter(profile, sent, said))
        )  # fmt: skip
        if has_learned:
            self._keep(request)
        return has_learned


def _learns_a_limit(
    profile: EndpointProfile, request: ChatRequest, sent: dict[str, Any], said: str, status: int
) -> bool:
    """Whether a refusal says in numbers that the prompt, the answer or both are too long.

    Numbers tell "4096 is too large, at most 2048" from "there is no such parameter". The context is taken from it where
    it is stated, and the room for an answer is what the prompt leaves; where that is refused, too, it is halved.
    """
    name = next(name for name in OUTPUT_LIMITS if name in sent)
    asked = int(sent[name])
    numbers = {int(number) for number in _NUMBER.findall(said)} - {asked, status}
    if not _is_about_length(said, name, numbers):
        return False
    stated = _CONTEXT_FIELD.search(said) or _CONTEXT.search(said)
    if stated is not None and profile.context_tokens != int(stated[1]):
        profile.context_tokens = int(stated[1])
        if _room(request, profile) < asked:  # raises where the prompt alone is too long
            return True
    if asked <= MIN_OUTPUT_TOKENS:
        raise _too_long(request, profile)
    fitting = [number for number in numbers if MIN_OUTPUT_TOKENS <= number < asked and f"most {number}" in said]
    profile.max_output_tokens = max(fitting, default=max(MIN_OUTPUT_TOKENS, 1 << ((asked - 1).bit_length() - 1)))
    return True


def _is_about_length(said: str, name: str, numbers: set[int]) -> bool:
    """Whether a refusal is about the context, or has numbers of tokens; `name` is that of the limit that was sent."""
    has_numbers = bool(numbers) and ("token" in said.casefold() or name in said)
    return has_numbers or _CONTEXT_NAMED.search(said) is not None


def _learns_a_parameter(profile: EndpointProfile, sent: dict[str, Any], said: str) -> bool:
    """Whether a refusal names a parameter that was sent: one that bounds the answer is renamed, another left out."""
    name = next(name for name in OUTPUT_LIMITS if name in sent)
    other = OUTPUT_LIMITS[OUTPUT_LIMITS.index(name) == 0]
    if re.search(rf"\b{name}\b", said) and profile.output_limit is None:
        profile.output_limit = other
        return True
    for parameter in DROPPABLE:
        if parameter in sent and re.search(rf"\b{parameter}\b", said):
            profile.refused_parameters.add(parameter)
            return True
    return False


def _room(request: ChatRequest, profile: EndpointProfile) -> int:
    """Tokens that an answer may take; raises RequestTooLongError where the context has no room for one."""
    room = min(request.max_output_tokens, profile.max_output_tokens or request.max_output_tokens)
    if profile.context_tokens is None:
        return room
    left = profile.context_tokens - int(request.n_prompt_tokens * PROMPT_MARGIN)
    if left < MIN_OUTPUT_TOKENS:
        raise _too_long(request, profile)
    return min(room, left)


def _too_long(request: ChatRequest, profile: EndpointProfile) -> RequestTooLongError:
    context = f" of {profile.context_tokens} tokens" if profile.context_tokens else ""
    return RequestTooLongError(
        f"asking the model {request.model}: the prompt of about {request.n_prompt_tokens} tokens leaves no room for an "
        f"answer in its context{context}; fewer messages are asked about at once, or serve the model with a larger one"
    )


def _instructed(messages: list[dict[str, str]], asked: str) -> list[dict[str, str]]:
    """Messages with one more instruction in their system message: many chat templates take no second one."""
    if not messages or messages[0]["role"] != "system":
        return [{"role": "system", "content": asked}, *messages]
    first = {"role": "system", "content": f"{messages[0]['content']}\n\n{asked}"}
    return [first, *messages[1:]]


def _may_be_about_the_request(error: openai.APIStatusError) -> bool:
    """Whether the same request may pass in another format: a server answered, and refused neither key, pace nor what
    is said."""
    status = error.status_code
    if code_of(error.body) == DECLINED:
        return False
    return is_refused(status) or status == NOT_FOUND or (status >= SERVER_FAILED and status not in DOWN)
