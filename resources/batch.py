"""The Batch API: many questions in one file, answered within a day at half the price.

Nothing is paid for twice, whenever the process dies. A batch is noted as intended before its file is sent, and carries
its key as metadata; what is intended and has no name is looked for among the endpoint's batches before anything else
is sent. One process at a time sends and collects. See `em_pipelines.models.batch_queue`.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import openai
from filelock import FileLock, Timeout
from openai.types import Batch
from openai.types.chat import ChatCompletion
from pydantic import SecretStr, ValidationError

from em_pipelines.errors import (
    BudgetSpentError,
    LockedError,
    ModelRefusedError,
    ModelUnavailableError,
    RateLimitedError,
    RequestRefusedError,
)
from em_pipelines.models.answers import AnswerStore
from em_pipelines.models.batch_queue import BatchQueue, OpenBatch
from em_pipelines.models.budget import Budget
from em_pipelines.models.clock import Clock
from em_pipelines.models.protocol import ChatRequest
from em_pipelines.models.settings import LlmSettings
from resources.chat_model import Dialect, answer_of
from resources.clock import SystemClock
from resources.endpoint import Endpoint, is_refused, our_errors

MARK = "em_batch"
"""The metadata under which a batch carries its key."""
RUNNING = {"validating", "in_progress", "finalizing", "cancelling"}
PAGE = 100
LOCK_SECONDS = 5


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


class BatchClient:
    """Sends queued requests and collects their answers. `async with` closes its connections."""

    def __init__(
        self,
        settings: LlmSettings,
        api_key: SecretStr,
        store: AnswerStore,
        budget: Budget,
        clock: Clock | None = None,
    ) -> None:
        self._settings = settings
        self._store = store
        self._queue = BatchQueue(store.database)
        self._budget = budget
        self._clock = clock or SystemClock()
        self._endpoint = Endpoint(settings.base_url, api_key, settings.timeout_seconds)
        self._dialect = Dialect()

    async def __aenter__(self) -> "BatchClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._endpoint.close()

    async def submit(self) -> int:
        """Sends what is queued, as far as budgets allow; returns the number of requests sent.

        Raises ModelError where the endpoint does not take a batch, and LockedError where another process is at it;
        what was not sent stays queued.
        """
        n_sent = 0
        with self._alone():
            await self._find_lost()
            for model in self._queue.queued_models():
                while chunk := self._next_chunk(model):
                    await self._send(model, chunk)
                    n_sent += len(chunk)
        return n_sent

    async def collect(self) -> Collected:
        """Polls every open batch once, and keeps what those that ended have brought."""
        found = Collected()
        with self._alone():
            await self._find_lost()
            for batch in self._queue.open_batches():
                found += await self._collect(batch)
        return found

    async def has_ended(self) -> bool:
        """Whether a batch can be collected; asks the endpoint, changes nothing."""
        for batch in self._queue.open_batches():
            if batch.batch_id is None:
                return True
            known = await self._retrieve(batch.batch_id)
            if known is None or known.status not in RUNNING:
                return True
        return False

    @contextmanager
    def _alone(self) -> Iterator[None]:
        path = self._store.database.path.with_suffix(".batches.lock")
        try:
            with FileLock(path, timeout=LOCK_SECONDS):
                yield
        except Timeout as error:
            raise LockedError(
                "sending or collecting batches: another process is at it; wait for it to end and try again"
            ) from error

    def _next_chunk(self, model: str) -> list[tuple[ChatRequest, bytes]]:
        """The next requests that fit into one batch and into the budget, with their lines."""
        chunk: list[tuple[ChatRequest, bytes]] = []
        n_bytes = n_tokens = 0
        for request in self._queue.queued(model, self._settings.max_batch_requests):
            line = self._line(request)
            n_bytes += len(line)
            if chunk and n_bytes > self._settings.max_batch_bytes:
                break
            try:
                self._budget.check(model, n_more_calls=len(chunk), n_more_tokens=n_tokens)
            except BudgetSpentError:
                break
            n_tokens += request.n_prompt_tokens
            chunk.append((request, line))
        return chunk

    def _line(self, request: ChatRequest) -> bytes:
        body = self._dialect.parameters(request)
        line = {"custom_id": request.key, "method": "POST", "url": "/v1/chat/completions", "body": body}
        return json.dumps(line, ensure_ascii=False).encode() + b"\n"

    async def _send(self, model: str, chunk: list[tuple[ChatRequest, bytes]]) -> None:
        batch_key = self._queue.intend(model, [request.key for request, _ in chunk], self._clock.now())
        data = b"".join(line for _, line in chunk)
        try:
            with our_errors(f"sending a batch for the model {model}", self._clock):
                client = self._endpoint.client
                file = await client.files.create(file=(f"{batch_key}.jsonl", data), purpose="batch")
                batch = await client.batches.create(
                    completion_window="24h",
                    endpoint="/v1/chat/completions",
                    input_file_id=file.id,
                    metadata={MARK: batch_key},
                )
        except (ModelRefusedError, RequestRefusedError, RateLimitedError):
            self._queue.released(batch_key)  # the endpoint has said that it made none
            raise
        self._queue.opened(batch_key, batch.id)

    async def _find_lost(self) -> None:
        """Names batches that were intended and perhaps made; where the endpoint has none, requests are queued again."""
        lost = {batch.batch_key for batch in self._queue.open_batches() if batch.batch_id is None}
        if not lost:
            return
        with our_errors("looking for a batch that was sent", self._clock):
            async for batch in self._endpoint.client.batches.list(limit=PAGE):
                batch_key = (batch.metadata or {}).get(MARK)
                if batch_key in lost:
                    self._queue.opened(batch_key, batch.id)
                    lost.remove(batch_key)
                    if not lost:
                        return
        for batch_key in sorted(lost):
            self._queue.released(batch_key)

    async def _retrieve(self, batch_id: str) -> Batch | None:
        """The batch as the endpoint knows it; None where it knows none of that name."""
        with our_errors("asking for a batch", self._clock):
            try:
                return await self._endpoint.client.batches.retrieve(batch_id)
            except openai.NotFoundError:
                return None

    async def _collect(self, batch: OpenBatch) -> Collected:
        if batch.batch_id is None:
            return Collected(n_open=1)
        known = await self._retrieve(batch.batch_id)
        if known is not None and known.status in RUNNING:
            return Collected(n_open=1)
        found = Collected()
        awaited = self._queue.requests(batch.batch_key)
        for file_id in (known.output_file_id, known.error_file_id) if known else ():
            if file_id:
                found += self._keep(awaited, await self._lines(file_id))
        return found + Collected(n_released=self._queue.released(batch.batch_key))

    async def _lines(self, file_id: str) -> list[bytes]:
        with our_errors("fetching the answers of a batch", self._clock):
            content = await self._endpoint.client.files.content(file_id)
            return [line for line in content.content.splitlines() if line.strip()]

    def _keep(self, awaited: dict[str, ChatRequest], lines: list[bytes]) -> Collected:
        """Keeps each line by itself: a crash on the way leaves the rest to the next time."""
        n_answered = n_failed = 0
        for line in lines:
            row = _row(line)
            request = awaited.get(str(row.get("custom_id")))
            response = row.get("response")
            if request is None or not isinstance(response, dict):
                continue  # not ours, erased since, or never asked: then it is released with its batch
            try:
                answer = answer_of(
                    request,
                    ChatCompletion.model_validate(response.get("body")),
                    self._settings,
                    latency_ms=0.0,
                    price_share=self._settings.batch_price_share,
                )
                n_answered += self._queue.answered(request, answer, self._clock.now())
            except (ValidationError, ModelUnavailableError):
                kind = RequestRefusedError if is_refused(int(response.get("status_code", 0))) else ModelUnavailableError
                n_failed += self._queue.failed(request, kind.__name__, self._clock.now())
        return Collected(n_answered, n_failed)


def _row(line: bytes) -> dict[str, Any]:
    """The object of a line; empty for one that is none."""
    try:
        row = json.loads(line)
    except ValueError:
        return {}
    return row if isinstance(row, dict) else {}
