"""How many calls are sent at once: raised while answers come as fast as before, lowered where they do not.

Additive increase, multiplicative decrease (Chiu and Jain, 1989), with a doubling start as TCP has it. A server with one
slot answers two calls in twice the time: the limit falls back to one. One with many answers eight as fast as one.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

PROMPT_TOKENS_OF_ONE = 20
"""Prompt tokens that take a model about as long as one token of an answer."""
MAX_SLOWDOWN = 1.5
"""Seconds a token at one limit, over the fewest at a lower one, from which the endpoint is at its own limit."""
N_CALLS_BETWEEN_TRIES = 20
"""Answers after a limit was too high before a higher one is tried again."""


class ConcurrencyLimit:
    """The limit for one model: from 1 up to `max_calls`."""

    def __init__(self, max_calls: int) -> None:
        self.limit = 1
        self._max_calls = max_calls
        self.n_at_work = 0
        """Calls that hold a place."""
        self._waiting: list[asyncio.Future[None]] = []
        self._is_starting = True
        self._n_held = 0
        self._best: float | None = None
        self._seconds = self._work = 0.0
        self._n_answers = self._n_stale = 0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Waits until a call may be made, and holds its place until it has ended."""
        while self.n_at_work >= self.limit:
            waiting = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
            try:
                await waiting
            except asyncio.CancelledError:
                self._wake()  # the place may have been given to this call
                raise
        self.n_at_work += 1
        try:
            yield
        finally:
            self.n_at_work -= 1
            self._wake()

    def answered(self, seconds: float, prompt_tokens: int, completion_tokens: int) -> None:
        """Hears of an answer: how long it took, and how much work it was. Answers to calls that were sent under another
        limit say nothing of this one."""
        if self._n_stale:
            self._n_stale -= 1
            return
        self._seconds += seconds
        self._work += prompt_tokens / PROMPT_TOKENS_OF_ONE + completion_tokens
        self._n_answers += 1
        self._n_held = max(0, self._n_held - 1)
        if self._work and self._n_answers >= (1 if self.limit == 1 else 2 * self.limit):  # the first ones had no queue
            self._judge(self._seconds / self._work)

    def overloaded(self) -> None:
        """Hears that the endpoint refused or dropped a call because of its load."""
        self._lower()

    def _judge(self, pace: float) -> None:
        """Compares the seconds a token at this limit with the fewest at a lower one."""
        is_slower = self.limit > 1 and self._best is not None and pace > MAX_SLOWDOWN * self._best
        self._forget_window()
        if is_slower:
            self._lower()
            return
        self._best = pace if self._best is None or self.limit == 1 else min(self._best, pace)
        if not self._n_held:
            self.limit = min(self._max_calls, self.limit * 2 if self._is_starting else self.limit + 1)
            self._wake()

    def _lower(self) -> None:
        self.limit = max(1, self.limit // 2)
        self._is_starting = False
        self._n_held = N_CALLS_BETWEEN_TRIES
        self._forget_window()

    def _forget_window(self) -> None:
        self._seconds = self._work = 0.0
        self._n_answers = 0
        self._n_stale = max(0, self.n_at_work - 1)  # the call that was just answered holds its place still

    def _wake(self) -> None:
        """Lets as many go on as there are free places; who was cancelled, or waited in a loop that ended, has gone."""
        free = self.limit - self.n_at_work
        while free > 0 and self._waiting:
            waiting = self._waiting.pop(0)
            if not waiting.done() and not waiting.get_loop().is_closed():
                waiting.set_result(None)
                free -= 1
