"""The OpenAI-compatible endpoint: one client a process, made inside the event loop that uses it, and its errors in
our words.

Messages of vendors never pass: they repeat keys and prompts. What is told is the kind of error, the HTTP status, and
the error code where it is a plain word.
"""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from email.utils import parsedate_to_datetime

import openai
from pydantic import SecretStr

from em_pipelines.errors import (
    ModelError,
    ModelRefusedError,
    ModelUnavailableError,
    RateLimitedError,
    RequestRefusedError,
    SettingsError,
)
from em_pipelines.llm.clock import Clock

OPENAI_URL = "https://api.openai.com/v1"
KEY_VARIABLES = ("EM_LLM_API_KEY", "OPENAI_API_KEY")
NO_CREDIT = "insufficient_quota"
_CODE = re.compile(r"[a-z][a-z0-9_]{0,39}")


def read_api_key(environment: Mapping[str, str]) -> SecretStr:
    """The key of the endpoint; raises SettingsError where there is none, since nothing calls out without one."""
    for name in KEY_VARIABLES:
        if environment.get(name, "").strip():
            return SecretStr(environment[name].strip())
    raise SettingsError(
        "looking for the key of the model endpoint: none of "
        f"{' and '.join(KEY_VARIABLES)} is set; set one (to any word, for an endpoint that asks for none)"
    )


class Endpoint:
    """The client of one endpoint, made when first used. `async with` closes it, before its event loop ends."""

    def __init__(self, base_url: str | None, api_key: SecretStr, timeout_seconds: float) -> None:
        self._base_url = base_url or OPENAI_URL
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self._client: openai.AsyncOpenAI | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> "Endpoint":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

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
def our_errors(asked: str, clock: Clock) -> Iterator[None]:
    """Turns every error of the client, of HTTP and of reading an answer into ours; `asked` says what was attempted.

    Ours hold no reference to what they were made of: a vendor's error carries the request, with key and prompt, and
    what prints errors likes to print their contexts, too.
    """
    try:
        with _translated(asked, clock):
            yield
    except ModelError as error:
        error.__context__ = error.__cause__ = None
        raise


@contextmanager
def _translated(asked: str, clock: Clock) -> Iterator[None]:
    try:
        yield
    except openai.APIStatusError as error:
        raise _of_status(asked, error, clock.now()) from None
    except (openai.APITimeoutError, TimeoutError):
        raise ModelUnavailableError(f"{asked}: the time was over before the answer had come; try again") from None
    except openai.APIConnectionError:
        raise ModelUnavailableError(
            f"{asked}: there was no connection, or it broke; check EM_LLM_BASE_URL and whether the endpoint is up"
        ) from None
    except (openai.OpenAIError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ModelUnavailableError(
            f"{asked}: what came back was no answer of the API ({type(error).__name__}); check EM_LLM_BASE_URL"
        ) from None


def is_refused(status: int) -> bool:
    """Whether an HTTP status refuses the request itself, so that the same one never passes."""
    return 400 <= status < 500 and status not in {401, 402, 403, 404, 408, 409, 425, 429}


def _of_status(asked: str, error: openai.APIStatusError, now: datetime) -> ModelError:
    status, code = error.status_code, code_of(error.body)
    found = f"{asked}: HTTP {status}" + (f", {code}" if code else "")
    if code == NO_CREDIT or status in {401, 402, 403, 404}:
        return ModelRefusedError(f"{found}; check {' or '.join(KEY_VARIABLES)}, EM_LLM_SMALL, EM_LLM_LARGE, credit")
    if status == 429:
        return RateLimitedError(f"{found}; try again later", _retry_after_seconds(error.response.headers, now))
    if is_refused(status):
        return RequestRefusedError(f"{found}; a shorter request may pass")
    return ModelUnavailableError(f"{found}; try again")


def code_of(body: object) -> str | None:
    """The error code of a body, where it is a plain word: some endpoints put sentences there."""
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    code = inner.get("code") if isinstance(inner, Mapping) else None
    return code if isinstance(code, str) and _CODE.fullmatch(code) else None


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
