"""The lines that a batch brings back: each is kept by itself, so that a crash leaves the rest to the next time."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openai.types.chat import ChatCompletion
from pydantic import ValidationError

from em_pipelines.errors import ModelUnavailableError, RequestRefusedError
from em_pipelines.llm.batch_queue import BatchQueue
from em_pipelines.llm.clock import Clock
from em_pipelines.llm.protocol import ChatRequest
from em_pipelines.llm.settings import LlmSettings
from resources.chat_model import answer_of
from resources.endpoint import is_refused


@dataclass(frozen=True, slots=True)
class Collected:
    """What collecting found. Released requests were in batches that ended without them; they are queued again."""

    n_answered: int = 0
    n_failed: int = 0
    n_released: int = 0
    n_open: int = 0

    def __add__(self, other: "Collected") -> "Collected":
        return Collected(
            self.n_answered + other.n_answered,
            self.n_failed + other.n_failed,
            self.n_released + other.n_released,
            self.n_open + other.n_open,
        )


def keep_lines(
    queue: BatchQueue, awaited: Mapping[str, ChatRequest], lines: Sequence[bytes], settings: LlmSettings, clock: Clock
) -> Collected:
    """Keeps the answers and failures of awaited requests, by the key that each line carries as custom_id.

    Left alone are lines of others, of requests erased since, and of requests that the batch never came to: those are
    released with their batch.
    """
    n_answered = n_failed = 0
    for line in lines:
        row = _row(line)
        request = awaited.get(str(row.get("custom_id")))
        response = row.get("response")
        if request is None or not isinstance(response, dict):
            continue
        try:
            completion = ChatCompletion.model_validate(response.get("body"))
            answer = answer_of(request, completion, settings, latency_ms=0.0, price_share=settings.batch_price_share)
        except (ValidationError, ModelUnavailableError):
            kind = RequestRefusedError if is_refused(_status(response)) else ModelUnavailableError
            n_failed += queue.failed(request, kind.__name__, clock.now())
        else:
            n_answered += queue.answered(request, answer, clock.now())
    return Collected(n_answered, n_failed)


def _row(line: bytes) -> dict[str, Any]:
    """The object of a line; empty for one that is none."""
    try:
        row = json.loads(line)
    except ValueError:
        return {}
    return row if isinstance(row, dict) else {}


def _status(response: Mapping[str, Any]) -> int:
    status = response.get("status_code")
    return status if isinstance(status, int) else 0
