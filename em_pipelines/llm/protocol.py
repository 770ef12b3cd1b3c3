"""What is asked of a chat model and what comes back; every client, cache and fake of ours speaks this and no more.

A request is data: the prompt is rendered, the JSON schema built and secrets masked before one is made. Nothing here
knows of HTTP; vendors' objects and errors stay in `resources.chat_model`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol

from em_pipelines.schema.ids import content_id


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt; `role` is system, user or assistant."""

    role: str
    content: str


@dataclass(frozen=True)
class ChatRequest:
    """One question to a model, for one user.

    `schema` is the JSON schema that the answer has to match (strict), named `schema_name`. `reference` says what the
    call is for (a segment id), `correlation_id` ties it to a message and `at` is the event time, with an offset, of
    what it is about; `part` says which part of a larger question it is. These determine nothing of the answer and are
    not part of the key.
    """

    user_id: str
    task: str
    model: str
    prompt_version: str
    messages: tuple[Message, ...]
    schema_name: str
    schema: Mapping[str, Any] = field(hash=False)
    max_output_tokens: int
    temperature: float
    reference: str
    correlation_id: str
    at: datetime
    part: str = ""

    @property
    def work(self) -> str:
        """What the piece of work is called among those of one reference."""
        return f"{self.task}{self.part}"

    @cached_property
    def key(self) -> str:
        """The hash of everything that determines the answer, and of the user, so that no answer serves two users."""
        return content_id(
            "ask",
            self.user_id,
            self.task,
            self.model,
            self.prompt_version,
            json.dumps([[message.role, message.content] for message in self.messages], ensure_ascii=False),
            self.schema_name,
            json.dumps(self.schema, sort_keys=True, ensure_ascii=False),
            self.max_output_tokens,
            self.temperature,
        )

    @property
    def n_prompt_tokens(self) -> int:
        """Tokens that the prompt with its schema will take, estimated as characters ÷ 4, rounded up."""
        n_characters = sum(len(message.content) for message in self.messages)
        return -(-(n_characters + len(json.dumps(self.schema))) // 4)


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What a model said, and what it took.

    `text` is as the model gave it, not yet parsed. `finish_reason` is stop, length (cut off), content_filter, refusal
    or what else the endpoint says. `cost_usd` is 0 where no price is set for the model.
    """

    key: str
    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    latency_ms: float
    cost_usd: float
    is_cache_hit: bool = False


class ChatModel(Protocol):
    """Answers requests."""

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        """Asks once, without retrying; raises a leaf of `em_pipelines.errors.ModelError` where there is no answer."""
