"""The Batch API: many questions in one file, answered within a day at half the price.

Nothing is paid for twice, whenever the process dies. A batch is noted as intended before its file is sent, and carries
its key as metadata; what is intended and has no name is looked for among the endpoint's batches before anything else
is sent. One process at a time sends and collects. See `em_pipelines.llm.batch_queue`.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import openai
from filelock import FileLock, Timeout
from openai.types import Batch
from pydantic import SecretStr

from em_pipelines.errors import (
    LockedError,
    ModelError,
    ModelRefusedError,
    RateLimitedError,
    RequestRefusedError,
)
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.batch_queue import BatchQueue, OpenBatch
from em_pipelines.llm.budget import Budget
from em_pipelines.llm.clock import Clock
from em_pipelines.llm.endpoint_profiles import EndpointProfiles
from em_pipelines.llm.protocol import ChatRequest
from em_pipelines.llm.settings import LlmSettings
from resources.batch_lines import Collected, keep_lines
from resources.clock import SystemClock
from resources.dialect import Dialect
from resources.endpoint import Endpoint, our_errors

MARK = "em_batch"
"""The metadata under which a batch carries its key."""
RUNNING = {"validating", "in_progress", "finalizing", "cancelling"}
PAGE = 100
LOCK_SECONDS = 5
GRACE_SECONDS = 60


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
        self._dialect = Dialect(EndpointProfiles(settings.address, store.database))

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
        n_calls_left, n_tokens_left = self._budget.room(model)
        for request in self._queue.queued(model, self._settings.max_batch_requests):
            line = self._line(request)
            n_bytes += len(line)
            if chunk and n_bytes > self._settings.max_batch_bytes:
                break
            n_tokens += request.n_prompt_tokens
            if len(chunk) >= n_calls_left or n_tokens > n_tokens_left:
                break
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
        """Names batches that were intended and perhaps made; where the endpoint has none, requests are queued again.

        A list may lag behind what was made: who was intended just now is given time to turn up in it.
        """
        lost = {batch.batch_key: batch.made_at for batch in self._queue.open_batches() if batch.batch_id is None}
        if not lost:
            return
        with our_errors("looking for a batch that was sent", self._clock):
            async for batch in self._endpoint.client.batches.list(limit=PAGE):
                batch_key = (batch.metadata or {}).get(MARK)
                if batch_key in lost:
                    self._queue.opened(batch_key, batch.id)
                    del lost[batch_key]
                    if not lost:
                        return
        for batch_key, made_at in lost.items():
            if (self._clock.now() - made_at).total_seconds() > GRACE_SECONDS:
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
                found += keep_lines(self._queue, awaited, await self._lines(file_id), self._settings, self._clock)
        found += Collected(n_released=self._queue.released(batch.batch_key))
        if known is not None:
            await self._delete_files(known)
        return found

    async def _delete_files(self, batch: Batch) -> None:
        """Leaves no prompt and no answer at the endpoint; some know no deleting, and let files expire."""
        for file_id in (batch.input_file_id, batch.output_file_id, batch.error_file_id):
            if file_id:
                with suppress(ModelError), our_errors("deleting the file of a batch", self._clock):
                    await self._endpoint.client.files.delete(file_id)

    async def _lines(self, file_id: str) -> list[bytes]:
        with our_errors("fetching the answers of a batch", self._clock):
            content = await self._endpoint.client.files.content(file_id)
            return [line for line in content.content.splitlines() if line.strip()]
