"""The OpenAI-compatible endpoint: one client a process, made inside the event loop that uses it, and its errors in
our words.

What a server says is told in its own words, since nobody can mend what is not named. They are cut short, secrets are
masked, and a stretch that repeats the prompt is left out: vendors repeat keys and prompts.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

import httpx2
import openai
from pydantic import SecretStr

from em_pipelines.errors import (
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    RateLimitedError,
    RequestRefusedError,
    SettingsError,
    SlowModelError,
)
from em_pipelines.language.masking import mask_detected, mask_text
from em_pipelines.llm.clock import Clock

OPENAI_URL = "https://api.openai.com/v1"
USUAL_SECONDS = 60.0
KEY_VARIABLES = ("EM_LLM_API_KEY", "OPENAI_API_KEY")
NO_CREDIT = "insufficient_quota"
DECLINED = "content_filter"
"""The finish reason of an answer that a filter has stopped, and Azure's code of a prompt that it refuses (400)."""
MAX_SERVER_CHARACTERS = 240
N_KEY_CHARACTERS = 6
"""Of the beginning of a key, by which a part of it is known again."""
MIN_REPEATED_WORDS = 3
"""Words in a row that a server repeats of a prompt before they are left out."""
_CODE = re.compile(r"[a-z][a-z0-9_]{0,39}")
_KEY_NAMED = re.compile(r"api[ _-]?key", re.IGNORECASE)
_TITLE = re.compile(r"(?is)<title>(.{1,120}?)</title>")


@dataclass(frozen=True, slots=True)
class Variables:
    """The variables that set up one endpoint, for what an error advises. The first key that is set is used."""

    address: str
    models: str
    keys: tuple[str, ...]


CHAT = Variables("EM_LLM_BASE_URL", "EM_LLM_SMALL and EM_LLM_LARGE, which name the models", KEY_VARIABLES)


def read_api_key(environment: Mapping[str, str], names: Sequence[str] = KEY_VARIABLES) -> SecretStr:
    """The key of the endpoint; raises SettingsError where there is none, since nothing calls out without one."""
    for name in names:
        if environment.get(name, "").strip():
            return SecretStr(environment[name].strip())
    raise SettingsError(
        f"looking for the key of the model endpoint: none of {', '.join(names[:-1])} and {names[-1]} is set; set one "
        "(to any word, for an endpoint that asks for none)"
    )


class Endpoint:
    """The client of one endpoint, made when first used. `async with` closes it, before its event loop ends."""

    def __init__(self, base_url: str | None, api_key: SecretStr, timeout_seconds: float | None) -> None:
        self._base_url = base_url or OPENAI_URL
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds or USUAL_SECONDS
        self._client: openai.AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> "Endpoint":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def sent(self, prompt: str) -> "Sent":
        """What is sent with a prompt."""
        return Sent(prompt, self._api_key)

    async def close(self) -> None:
        """Closes all connections; the next use opens new ones."""
        if self._client is not None:
            client, self._client, self._loop = self._client, None, None
            await client.close()

    @property
    def client(self) -> openai.AsyncOpenAI:
        """The client of this event loop; RuntimeError where another loop's was not closed."""
        loop = asyncio.get_running_loop()
        if self._client is None:
            self._loop = loop
            self._client = openai.AsyncOpenAI(
                base_url=self._base_url,
                api_key=self._api_key.get_secret_value(),
                max_retries=0,
                timeout=self._timeout_seconds,
            )
        if self._loop is not loop:
            raise RuntimeError("an endpoint is used in a second event loop: close it before the first one ends")
        return self._client


@contextmanager
def our_errors(asked: str, clock: Clock, sent: "Sent | None" = None, variables: Variables = CHAT) -> Iterator[None]:
    """Turns every error of the client, of HTTP and of reading an answer into ours; `asked` says what was attempted.
    The server's own words are told where it is known what was `sent`, of which nothing is in a message; the advice
    names the `variables` of the endpoint.

    Ours hold no reference to what they were made of: a vendor's error carries the request, with key and prompt, and
    what prints errors likes to print their contexts, too.
    """
    try:
        with _translated(asked, clock, sent, variables):
            yield
    except ModelError as error:
        error.__context__ = error.__cause__ = None
        raise


@contextmanager
def _translated(asked: str, clock: Clock, sent: "Sent | None", variables: Variables) -> Iterator[None]:
    try:
        yield
    except openai.APIStatusError as error:
        raise _of_status(_found(asked, error, sent), error, clock.now(), variables) from None
    except (openai.APITimeoutError, httpx2.TimeoutException, TimeoutError):
        raise SlowModelError(
            f"{asked}: no progress until the time was over; is the server overloaded, or still loading the model? "
            "llm.timeout_seconds sets how long to wait"
        ) from None
    except (openai.APIConnectionError, httpx2.TransportError):
        raise ModelUnavailableError(
            f"{asked}: there was no connection, or it broke; check {variables.address} and whether the endpoint is up"
        ) from None
    except (openai.OpenAIError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ModelUnavailableError(
            f"{asked}: what came back was no answer of the API ({type(error).__name__}); check {variables.address}, "
            "which usually ends in /v1"
        ) from None


def is_refused(status: int) -> bool:
    """Whether an HTTP status refuses the request itself, so that the same one never passes."""
    return 400 <= status < 500 and status not in {401, 402, 403, 404, 408, 409, 425, 429}


def _found(asked: str, error: openai.APIStatusError, sent: "Sent | None") -> str:
    code = code_of(error.body)
    words = server_words(error.body if error.body is not None else error.response.text, sent) if sent else ""
    return f"{asked}: HTTP {error.status_code}" + (f", {code}" if code else "") + words


def _of_status(found: str, error: openai.APIStatusError, now: datetime, variables: Variables) -> ModelError:
    status, code = error.status_code, code_of(error.body)
    check_names = f"check {variables.models}, and {variables.address}"
    if code == NO_CREDIT or status == 402:
        return ModelRefusedError(f"{found}; check the credit and limits of the account")
    if status in {401, 403} or (status == 400 and _KEY_NAMED.search(found)):  # Gemini refuses a wrong key with 400
        return ModelRefusedError(f"{found}; check the key in {' or '.join(variables.keys)}")
    if status == 404:
        return ModelRefusedError(f"{found}; {check_names}")
    if status == 429:
        seconds = _retry_after_seconds(error.response.headers, now)
        wait = "later" if seconds is None else f"in {seconds:.0f} s"
        return RateLimitedError(f"{found}; try again {wait}", seconds)
    if is_refused(status):
        return RequestRefusedError(f"{found}; {check_names}; if others pass, a shorter request may")
    return ModelUnavailableError(f"{found}; try again")


def code_of(body: object) -> str | None:
    """The error code of a body, where it is a plain word: some endpoints put sentences there."""
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    code = inner.get("code") if isinstance(inner, Mapping) else None
    return code if isinstance(code, str) and _CODE.fullmatch(code) else None


@dataclass(frozen=True, slots=True)
class Sent:
    """What was sent to a server, so that its errors are not told with it."""

    prompt: str
    key: SecretStr


def server_words(body: object, sent: Sent) -> str:
    """What a server says of an error, as `: "its words"`: without secrets or what repeats the prompt, cut short; empty
    where it says nothing."""
    words = _without_key(mask_detected(mask_text(_message(body))).split(), sent.key.get_secret_value())
    told = _without_prompt(words, sent.prompt)
    if len(told) > MAX_SERVER_CHARACTERS:
        told = told[: MAX_SERVER_CHARACTERS - 1] + "…"
    return f': "{told}"' if told.strip(" .…[]") else ""


def _without_key(words: list[str], key: str) -> list[str]:
    """The words, masked where one holds the beginning of the key: servers show keys in part."""
    beginning = key[:N_KEY_CHARACTERS]
    return ["[masked:key]" if len(beginning) == N_KEY_CHARACTERS and beginning in word else word for word in words]


def _message(body: object) -> str:
    """The first text of an error body that is a sentence, wherever the server puts it; a web page is its title."""
    if isinstance(body, str):
        title = _TITLE.search(body)
        return title[1] if title else "" if "<html" in body.casefold() else body
    if isinstance(body, Mapping):
        named = (body.get(name) for name in ("error", "message", "msg", "detail"))
        return next((found for value in named if (found := _message(value))), "")
    if isinstance(body, list):
        return next((found for value in body if (found := _message(value))), "")
    return ""


def _without_prompt(told: list[str], prompt: str) -> str:
    """The words without each run of them, or more, that stands in the prompt as well."""
    asked = f" {' '.join(prompt.split()).casefold()} "
    is_repeated = [False] * len(told)
    for first in range(len(told) - MIN_REPEATED_WORDS + 1):
        run = " ".join(told[first : first + MIN_REPEATED_WORDS]).casefold().strip("\"'.,:")
        if run in asked:
            is_repeated[first : first + MIN_REPEATED_WORDS] = [True] * MIN_REPEATED_WORDS
    kept = ["[…]" if repeated else word for word, repeated in zip(told, is_repeated, strict=True)]
    return " ".join(word for n, word in enumerate(kept) if word != "[…]" or n == 0 or kept[n - 1] != "[…]")


def _retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """RFC 9110, 10.2.3: seconds or a date; OpenAI's own header counts milliseconds. None where it is neither."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        return max(0.0, float(headers["retry-after"]))
    except KeyError:
        return None
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(headers["retry-after"]) - now).total_seconds())
    except (ValueError, TypeError):
        return None
