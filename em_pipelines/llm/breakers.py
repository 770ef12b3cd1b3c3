"""Circuit breakers: what keeps failing is left alone for a while, then tried with one call.

For everything that is called: models, the graph store, the vector index. A breaker is handed its clock and knows
nothing of what it guards; `docs/decisions/2026-11-21-model-calls.md` says why it is written here.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum

from em_pipelines.errors import BreakerOpenError, ModelUnavailableError
from em_pipelines.llm.clock import Clock
from em_pipelines.llm.settings import BreakerSettings, LlmSettings


class BreakerState(IntEnum):
    """As the metric em_circuit_breaker_state has it."""

    CLOSED = 0
    HALF_OPEN = 1
    OPEN = 2


OnState = Callable[[str, bool], None]
"""(name of the breaker, whether it is open) → nothing; heard when a breaker opens, and when it is closed again."""


class Breaker:
    """Stops calls once `n_failures` in a row, none older than `window_seconds`, have failed. What the calls themselves
    took is not counted: an endpoint that fails slowly is as down as one that fails at once.

    A success in between empties the count: a service that answers nine calls of ten is not down, and at eight calls
    at once a plain count over a minute would say so. After `open_seconds` one call is let through; its success closes
    the breaker, its failure opens it again. `failures` are the errors that count; any other says nothing about
    whether the service is there, and does not count.
    """

    def __init__(
        self,
        name: str,
        settings: BreakerSettings,
        clock: Clock,
        failures: tuple[type[BaseException], ...] = (ModelUnavailableError,),
        on_state: OnState | None = None,
    ) -> None:
        self.name = name
        self.settings = settings
        self.n_failed_trials = 0
        """Trial calls that failed since the breaker was last closed."""
        self._clock = clock
        self._failures = failures
        self._failed: deque[tuple[float, float]] = deque()
        """When each failure of the row ended, and how long its call took."""
        self._last_failure = ""
        self._opened_at: float | None = None
        self._is_trying = False
        self._on_state = on_state
        self._is_told_open: bool | None = None
        self._waiting: list[asyncio.Future[None]] = []
        self._lock = threading.Lock()

    @property
    def state(self) -> BreakerState:
        """Closed; open; half-open from when a trial call may be made until it has ended."""
        if self._opened_at is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if self._left_seconds() > 0 else BreakerState.HALF_OPEN

    @contextmanager
    def calling(self) -> Iterator[None]:
        """Guards one call, plain or awaited inside; raises BreakerOpenError where it may not be made."""
        with self._lock:
            is_trial = self._admit()
        begun = self._clock.monotonic()
        try:
            yield
        except self._failures as error:
            self._last_failure = str(error)
            self._ended(begun, is_trial, has_failed=True)
            raise
        except BaseException:
            self._ended(begun, is_trial, has_failed=None)
            raise
        self._ended(begun, is_trial, has_failed=False)

    async def trial_ended(self) -> None:
        """Returns once no trial call is at work."""
        with self._lock:
            if not self._is_trying:
                return
            waiting = asyncio.get_running_loop().create_future()
            self._waiting.append(waiting)
        await waiting

    def _left_seconds(self) -> float:
        opened_at = self._opened_at
        return 0.0 if opened_at is None else opened_at + self.settings.open_seconds - self._clock.monotonic()

    def _admit(self) -> bool:
        """Whether the call is a trial; raises where there may be none."""
        if self._opened_at is None:
            return False
        left = max(0.0, self._left_seconds())
        if left > 0 or self._is_trying:
            raise BreakerOpenError(
                f"{self._last_failure or f'calling {self.name}'}; it is left alone for a while, since "
                f"{self.settings.n_failures} calls in a row or the last trial failed",
                retry_after_seconds=left,
            )
        self._is_trying = True
        return True

    def _ended(self, begun: float, is_trial: bool, *, has_failed: bool | None) -> None:
        with self._lock:
            if is_trial:
                self._is_trying = False
                self._wake()
            elif self._opened_at is not None:
                return  # begun before the breaker opened: what it says is old
            now = self._clock.monotonic()
            if has_failed is False:
                self._failed.clear()
                self._opened_at, self.n_failed_trials = None, 0
            elif has_failed and is_trial:
                self._opened_at = now
                self.n_failed_trials += 1
            elif has_failed:
                self._failed.append((now, now - begun))
                while now - self._failed[0][0] - self._seconds_in_calls() > self.settings.window_seconds:
                    self._failed.popleft()
                if len(self._failed) >= self.settings.n_failures:
                    self._opened_at = now
                    self._failed.clear()
            self._tell(has_failed)

    def _seconds_in_calls(self) -> float:
        """What the calls took that failed after the first of the row, as far as they were not at work together."""
        ends = [ended for ended, _ in self._failed]
        pairs = zip(ends, list(self._failed)[1:], strict=False)
        return sum(min(took, ended - before) for before, (ended, took) in pairs)

    def _tell(self, has_failed: bool | None) -> None:
        """Says that it has opened, each time, and that it is closed, once: a process that was killed may have said
        otherwise before."""
        if self._on_state is None or has_failed is None:
            return
        is_open = self._opened_at is not None
        if is_open if has_failed else self._is_told_open is not False:
            self._is_told_open = is_open
            self._on_state(self.name, is_open)

    def _wake(self) -> None:
        for waiting in self._waiting:
            if not waiting.get_loop().is_closed():
                waiting.get_loop().call_soon_threadsafe(_resolve, waiting)
        self._waiting.clear()


def _resolve(waiting: "asyncio.Future[None]") -> None:
    if not waiting.done():
        waiting.set_result(None)


class ModelBreakers:
    """The breakers of the models: one for each name, with the figures of the small or the large model."""

    def __init__(self, settings: LlmSettings, clock: Clock, on_state: OnState | None = None) -> None:
        self._settings = settings
        self._clock = clock
        self._on_state = on_state
        self.by_model: dict[str, Breaker] = {}

    def of(self, model: str) -> Breaker:
        """The breaker of a model."""
        if model not in self.by_model:
            is_large = model == self._settings.large and model != self._settings.small
            figures = self._settings.large_breaker if is_large else self._settings.small_breaker
            name = f"llm_{'large' if is_large else 'small'}"
            self.by_model[model] = Breaker(name, figures, self._clock, on_state=self._on_state)
        return self.by_model[model]
