"""The body of an answer as it comes: one JSON document, or a stream of events, put together to one completion.

A stream shows that a slow server makes progress, and lets a model that goes in circles be stopped: the connection is
closed, and the answer counts as cut off (finish reason `loop`). A server that ignores `stream` sends one document.
"""

import json
from collections.abc import AsyncIterator
from typing import Any

from openai.types.chat import ChatCompletion

LOOP = "loop"
"""The finish reason of an answer that was stopped because it repeated itself."""
TAIL_CHARACTERS = 1600
"""Of the end of an answer, looked at for repetition."""
LOOK_CHARACTERS = 200
"""By so many an answer grows before it is looked at again: a slow model takes seconds for them."""
N_REPETITIONS = 5
"""Times that the end of an answer repeats itself before it is stopped."""
_DONE = "[DONE]"


async def read_completion(lines: AsyncIterator[str], content_type: str) -> ChatCompletion:
    """Reads a body to its end, or until it goes in circles. Raises ValueError where it is no JSON."""
    if "text/event-stream" not in content_type:
        return ChatCompletion.construct(**_document("\n".join([line async for line in lines])))
    state = _Stream()
    async for line in lines:
        name, _, value = line.partition(":")
        if name != "data" or not value.strip():  # a comment, or another field of an event: the server is alive
            continue
        if value.strip() == _DONE:
            break
        state.add(_document(value))
        if state.goes_in_circles:
            state.finish_reason = LOOP
            break
    return ChatCompletion.construct(**state.document())


def _document(text: str) -> dict[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise json.JSONDecodeError("no object", text[:0], 0)
    return found


class _Stream:
    """What the events of a stream have brought so far."""

    def __init__(self) -> None:
        self.finish_reason: str | None = None
        self._first: dict[str, Any] = {}
        self._message: dict[str, str] = {}
        self._arguments = ""
        self._usage: Any = None
        self._error: Any = None
        self._has_message = False
        self._n_looked_at = 0

    def add(self, event: dict[str, Any]) -> None:
        """Adds one event."""
        self._first = self._first or event
        self._error = event.get("error") or self._error
        self._usage = event.get("usage") or self._usage
        for choice in event.get("choices") or []:
            self._has_message = True
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
            delta = choice.get("delta") or choice.get("message") or {}
            for name in ("content", "refusal", "reasoning_content", "reasoning"):
                self._message[name] = self._message.get(name, "") + _text(delta.get(name))
            for tool_call in delta.get("tool_calls") or []:
                self._arguments += (tool_call.get("function") or {}).get("arguments") or ""

    @property
    def goes_in_circles(self) -> bool:
        """Whether the end of the text repeats itself."""
        text = self._message.get("content") or self._message.get("reasoning_content") or ""
        if len(text) < max(TAIL_CHARACTERS, self._n_looked_at + LOOK_CHARACTERS):
            return False
        self._n_looked_at = len(text)
        return is_repeating(text[-TAIL_CHARACTERS:])

    def document(self) -> dict[str, Any]:
        """The completion as one document."""
        message: dict[str, Any] = {"role": "assistant", **{name: text or None for name, text in self._message.items()}}
        if self._arguments:
            call = {"id": "", "type": "function", "function": {"name": "", "arguments": self._arguments}}
            message["tool_calls"] = [call]
        choice = {"index": 0, "finish_reason": self.finish_reason, "message": message}
        return {
            **self._first,
            "object": "chat.completion",
            "choices": [choice] if self._has_message else [],
            "usage": self._usage,
            **({"error": self._error} if self._error else {}),
        }


def is_repeating(text: str) -> bool:
    """Whether a text ends in `N_REPETITIONS` of the same words: its shortest period (Knuth, Morris and Pratt, 1977),
    read from its end, goes in it so many times."""
    reverse = text[::-1]
    borders = [0]
    for character in reverse[1:]:
        length = borders[-1]
        while length and reverse[length] != character:
            length = borders[length - 1]
        borders.append(length + (reverse[length] == character))
    return len(text) >= TAIL_CHARACTERS and len(text) >= N_REPETITIONS * (len(text) - borders[-1])


def _text(content: Any) -> str:
    """The text of a delta, which may come as a list of parts; parts of reasoning are none of it."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(
        part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)
        and part.get("type", "text") in {"text", "output_text"}
    )  # fmt: skip
