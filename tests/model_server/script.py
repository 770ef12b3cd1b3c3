"""What the scripted model server does with a call: steps, and scripts that choose them."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

Answer = str | dict[str, Any] | list[Any]


@dataclass(frozen=True)
class Call:
    """One request for a completion. `number` counts all of them from 1, `attempt` those of the same prompt from 1."""

    number: int
    attempt: int
    body: dict[str, Any]
    headers: dict[str, str] = field(repr=False)
    in_batch: bool = False

    @property
    def messages(self) -> list[dict[str, str]]:
        told = self.body.get("instructions")
        system = [{"role": "system", "content": told}] if told else []
        return [*system, *self.body.get("messages", self.body.get("input", []))]

    @property
    def prompt(self) -> str:
        """The contents of all messages, a blank line between them."""
        return "\n\n".join(str(message["content"]) for message in self.messages)

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema asked for, if any."""
        responses = dict(self.body.get("text", {})).get("format")
        return responses or dict(self.body.get("response_format", {})).get("json_schema")

    @property
    def n_prompt_characters(self) -> int:
        """Characters that are paid for: the messages and the schema."""
        return len(self.prompt) + (len(json.dumps(self.schema)) if self.schema else 0)

    @property
    def prompt_key(self) -> str:
        """Equal for equal messages to one model."""
        return hashlib.sha256(json.dumps([self.body.get("model"), self.messages]).encode()).hexdigest()


@dataclass(frozen=True)
class Step:
    """One answer of the server. `kind` is answer, status, hang, drop or garbage."""

    kind: str = "answer"
    answer: Answer | Callable[[Call], Answer] = ""
    finish_reason: str = "stop"
    status: int = 200
    message: str = ""
    code: str | None = None
    body: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    delay_seconds: float = 0.0
    has_usage: bool = True
    parts: tuple[dict[str, Any], ...] = ()
    """The content as a list of parts, where it is no text."""
    cached_tokens: int = 0
    pages: tuple[tuple[str, str], ...] = ()
    """Address and title of what a web search found; a page without a title is found and not cited."""
    n_searches: int = 0
    piece_characters: int = 40
    piece_delay_seconds: float = 0.0
    """Of a streamed answer."""
    error_code: str | None = None
    """Of a response that failed although HTTP says 200."""

    def text(self, call: Call) -> str:
        """The content of the answer to the call."""
        value = self.answer(call) if callable(self.answer) else self.answer
        return value if isinstance(value, str) else json.dumps(value)


Script = Callable[[Call], Step]


def answer(value: Answer | Callable[[Call], Answer], **changes: Any) -> Step:
    """Answers with a text, with JSON, or with what a function makes of the call."""
    return Step(answer=value, **changes)


def searched(value: Answer | Callable[[Call], Answer], *urls: str, **changes: Any) -> Step:
    """Answers after a web search that found these pages."""
    pages = tuple((url, f"Page {number}") for number, url in enumerate(urls))
    return Step(answer=value, **{"pages": pages, "n_searches": 1, **changes})


def truncated(value: Answer | Callable[[Call], Answer], kept_share: float = 0.5) -> Step:
    """Answers with the beginning alone, finish_reason length."""
    whole = answer(value)
    return Step(answer=lambda call: _beginning(whole.text(call), kept_share), finish_reason="length")


def malformed(value: Answer | Callable[[Call], Answer]) -> Step:
    """Answers with JSON that no parser takes: fenced, its last bracket gone, prose behind it; finish_reason stop."""
    whole = answer(value)
    return Step(answer=lambda call: f"Here it is:\n```json\n{whole.text(call)[:-1]},\n```\nAnything else?")


def failed(
    status: int = 500,
    message: str = "The server had an error.",
    code: str | None = None,
    body: dict[str, Any] | None = None,
) -> Step:
    """Answers with an HTTP error, of OpenAI's form unless a body is given."""
    return Step(kind="status", status=status, message=message, code=code, body=body)


def rate_limited(retry_after: float | str | None = None) -> Step:
    """Answers 429, with Retry-After where it is given: seconds, or an HTTP date."""
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return Step(kind="status", status=429, message="Rate limit reached.", code="rate_limit_exceeded", headers=headers)


def hang() -> Step:
    """Says nothing until the server is closed."""
    return Step(kind="hang")


def dropped() -> Step:
    """Closes the connection without a word."""
    return Step(kind="drop")


def garbage() -> Step:
    """Answers 200 with a body that is no JSON."""
    return Step(kind="garbage")


def in_turn(steps: Sequence[Step]) -> Script:
    """The steps in order; the last one from then on."""
    return lambda call: steps[min(call.number, len(steps)) - 1]


def by_attempt(*steps: Step) -> Script:
    """The steps in order for each prompt by itself; the last one from then on."""
    return lambda call: steps[min(call.attempt, len(steps)) - 1]


def with_faults(script: Script, *, seed: int = 0, failing_share: float = 0.1, truncated_share: float = 0.2) -> Script:
    """Lets so many calls fail with 500 and cuts so many answers; the same call has the same fate in every run.

    The fate hangs on seed, prompt and attempt alone, never on the order in which prompts come.
    """

    def faulty(call: Call) -> Step:
        step = script(call)
        digest = hashlib.sha256(f"{seed} {call.prompt_key} {call.attempt}".encode()).digest()
        drawn = int.from_bytes(digest[:8]) / 2**64
        if drawn < failing_share:
            return failed()
        if drawn < failing_share + truncated_share and step.kind == "answer":
            text = step.text(call)
            return replace(step, answer=_beginning(text, 0.2 + 0.7 * digest[8] / 255), finish_reason="length")
        return step

    return faulty


def _beginning(text: str, share: float) -> str:
    return text[: int(len(text) * share)]
