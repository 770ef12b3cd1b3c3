"""The one way to a model: what was answered before is not asked, what must not be asked is refused, the rest is asked.

    cache → one call a key → as many at once as the endpoint bears → budget → breaker → the model → the store, at once

A call is tried once; who wants more climbs a ladder (`em_pipelines.llm.ladder`), since each retry asks differently.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, Protocol

from em_pipelines.errors import (
    AnswerPendingError,
    BreakerOpenError,
    ModelError,
    ModelUnavailableError,
    RateLimitedError,
)
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.batch_queue import BatchQueue
from em_pipelines.llm.breakers import Breaker, BreakerState, ModelBreakers
from em_pipelines.llm.budget import Budget
from em_pipelines.llm.clock import Clock
from em_pipelines.llm.concurrency import ConcurrencyLimit
from em_pipelines.llm.protocol import ChatAnswer, ChatModel, ChatRequest
from em_pipelines.llm.settings import LlmSettings


class BatchSender(Protocol):
    """Sends what is queued; `resources.batch` has the one for the Batch API."""

    async def submit(self) -> int:
        """Sends queued requests as far as budgets allow; returns how many."""


class ModelGateway:
    """Answers requests from the store, or else from `model`. In batch mode it queues them for `batches` instead.

    It may be used in one event loop after the other, in one at a time; leave it (`async with`) before a loop ends.
    """

    def __init__(  # noqa: PLR0913  (the stations of a call, one after the other)
        self,
        model: ChatModel,
        store: AnswerStore,
        budget: Budget,
        breakers: ModelBreakers,
        clock: Clock,
        settings: LlmSettings,
        batches: BatchSender | None = None,
        limits: dict[str, ConcurrencyLimit] | None = None,
    ) -> None:
        self._model = model
        self._store = store
        self._queue = BatchQueue(store.database)
        self._budget = budget
        self._breakers = breakers
        self._clock = clock
        self._settings = settings
        self._batches = batches
        self._loop: asyncio.AbstractEventLoop | None = None
        self._limits = limits if limits is not None else {}
        self._at_work: dict[str, asyncio.Task[ChatAnswer]] = {}
        self._alone = asyncio.Lock()
        self._answering: set[str] = set()
        """Models that have answered anything here: until one has, it is asked one question at a time."""
        self._n_silent = 0
        self._not_before = 0.0

    async def __aenter__(self) -> "ModelGateway":
        return self

    async def __aexit__(self, *_: object) -> None:
        left = list(self._at_work.values())
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        """Answers a request; of several equal ones at once, one is asked.

        Raises what the model raises, besides BudgetSpentError, BreakerOpenError, and AnswerPendingError where the
        answer has to come with a batch.
        """
        known = self._store.answer(request, self._clock.now())
        if known is not None:
            return known
        self._refuse_what_batches_answer(request)
        task = self._at_work.get(request.key) if self._is_same_loop() else None
        is_first = task is None
        if task is None:
            task = self._started(request.key, self._ask(request))
        # Shielded: who gives up waiting does not stop the call, which is paid for, from being stored.
        answer = await asyncio.shield(task)
        return answer if is_first else self._store.answer(request, self._clock.now()) or answer

    async def flush(self) -> int:
        """Sends what is queued for batches; returns the number of requests sent, 0 where there is nothing to send."""
        return await self._batches.submit() if self._batches else 0

    def _refuse_what_batches_answer(self, request: ChatRequest) -> None:
        is_batch = self._settings.mode == "batch"
        error = self._queue.take_error(request.key) if is_batch else None
        if error is not None:
            raise error
        if is_batch:
            self._queue.add(request)
        if is_batch or self._queue.has(request.key, in_batch=True):
            raise AnswerPendingError(
                "asking a model: the question waits for a batch; its answer is there once batches were collected"
            )

    def _limit_of(self, model: str) -> ConcurrencyLimit:
        return self._limits.setdefault(model, ConcurrencyLimit(self._settings.max_concurrent_calls))

    def _is_same_loop(self) -> bool:
        """Whether this is the event loop of the last call; a new loop gets slots of its own."""
        loop = asyncio.get_running_loop()
        if loop is self._loop:
            return True
        self._loop, self._at_work = loop, {}
        self._alone = asyncio.Lock()
        return False

    def _started(self, key: str, asking: Coroutine[Any, Any, ChatAnswer]) -> asyncio.Task[ChatAnswer]:
        task = asyncio.create_task(asking)
        self._at_work[key] = task

        def ended(done: asyncio.Task[ChatAnswer]) -> None:
            self._at_work.pop(key, None)
            if not done.cancelled():
                done.exception()  # heard, also where nobody waits any longer

        task.add_done_callback(ended)
        return task

    async def _ask(self, request: ChatRequest) -> ChatAnswer:
        if request.model not in self._answering:
            async with self._alone:
                if request.model not in self._answering:
                    return await self._ask_the_silent(request)
        breaker = self._breakers.of(request.model)
        while True:
            async with self._limit_of(request.model).slot():
                try:
                    with self._budget.calling(request), breaker.calling():
                        return await self._call(request)
                except BreakerOpenError as error:
                    if breaker.n_failed_trials >= self._settings.n_awaited_trials:
                        raise
                    left = error.retry_after_seconds
            await self._wait_for(breaker, left)

    async def _ask_the_silent(self, request: ChatRequest) -> ChatAnswer:
        """Asks a model that has answered nobody yet. The waits between the first tries are those of all who ask, not of
        each; once they have opened the breaker, nobody waits for a model that may not be there at all."""
        breaker = self._breakers.of(request.model)
        left = self._not_before - self._clock.monotonic()
        if left > 0 and breaker.state is not BreakerState.OPEN:
            await self._clock.sleep(left)
        with self._budget.calling(request), breaker.calling():
            try:
                return await self._call(request)
            except ModelUnavailableError:
                delays = self._settings.ladder.delays_seconds
                wait = delays[min(self._n_silent, len(delays) - 1)] if delays else 0.0
                self._n_silent, self._not_before = self._n_silent + 1, self._clock.monotonic() + wait
                raise

    async def _wait_for(self, breaker: Breaker, left_seconds: float) -> None:
        """Waits until the breaker lets a trial through, or until the one that it let through has ended."""
        if breaker.state is BreakerState.OPEN:
            await self._clock.sleep(left_seconds)
        else:
            await breaker.trial_ended()

    async def _call(self, request: ChatRequest) -> ChatAnswer:
        begun = self._clock.monotonic()
        try:
            answer = await self._model.complete(request)
        except ModelError as error:
            latency_ms = (self._clock.monotonic() - begun) * 1000
            self._store.note_failure(request, error, latency_ms, self._clock.now())
            if isinstance(error, ModelUnavailableError | RateLimitedError):
                self._limit_of(request.model).overloaded()
            if not isinstance(error, ModelUnavailableError):
                self._answering.add(request.model)  # a refusal is an answer, too
            raise
        self._answering.add(request.model)
        limit = self._limit_of(request.model)
        limit.answered(answer.latency_ms / 1000, answer.prompt_tokens, answer.completion_tokens)
        self._store.save(request, answer, self._clock.now())
        return answer
