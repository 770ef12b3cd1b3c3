"""Budgets: tokens a day of each model, calls and dollars a night. What was spent is read from the answer store."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from em_pipelines.errors import BudgetSpentError
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.batch_queue import reserved
from em_pipelines.llm.clock import Clock
from em_pipelines.llm.database import day_of, night_of
from em_pipelines.llm.protocol import ChatRequest
from em_pipelines.llm.settings import BudgetSettings

CALLS, DOLLARS = "calls a night", "dollars a night"


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """How much of one budget is used. `period` is the day, or the night by the day on which it begins."""

    name: str
    period: str
    used: float
    limit: float

    @property
    def share(self) -> float:
        """Of the limit, 1 or more where it is spent."""
        return self.used / self.limit if self.limit else 1.0


class Budget:
    """Says whether a call may still be made; shared by all calls of a process.

    `on_warning(use)` hears once a period of a budget that reached `warning_share`. Calls at work and requests in
    batches count with their estimated prompts, so that calls at once cannot overrun a budget by more than the
    completions they are still waiting for. Other processes count once their calls have ended.
    """

    def __init__(
        self,
        store: AnswerStore,
        settings: BudgetSettings,
        clock: Clock,
        on_warning: Callable[[BudgetUse], None] | None = None,
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._on_warning = on_warning
        self._warned: set[tuple[str, str]] = set()
        self._at_work: list[ChatRequest] = []

    def uses(self, model: str) -> list[BudgetUse]:
        """Every budget that a call of the model draws on, those without limit left out."""
        now = self._clock.now()
        day, night = self._store.spent_on_day(model, now), self._store.spent_in_night(now)
        batched, all_batched = reserved(self._store.database, model), reserved(self._store.database)
        n_tokens = sum(request.n_prompt_tokens for request in self._at_work if request.model == model)
        n_calls = night.n_calls + len(self._at_work) + all_batched.n_requests
        found = [
            (_tokens(model), day_of(now), day.n_tokens + n_tokens + batched.n_tokens,
             self._settings.max_tokens_a_day),
            (CALLS, night_of(now), n_calls, self._settings.max_calls_a_night),
            (DOLLARS, night_of(now), night.cost_usd, self._settings.max_usd_a_night),
        ]  # fmt: skip
        return [BudgetUse(name, period, used, limit) for name, period, used, limit in found if limit is not None]

    def room(self, model: str) -> tuple[float, float]:
        """Calls and tokens of a model that fit into all budgets yet; infinite where nothing limits them."""
        self.warn(model)
        uses = {use.name: max(0.0, use.limit - use.used) for use in self.uses(model)}
        has_dollars = uses.get(DOLLARS, math.inf) > 0
        return (uses.get(CALLS, math.inf), uses.get(_tokens(model), math.inf)) if has_dollars else (0.0, 0.0)

    def check(self, model: str) -> None:
        """Raises BudgetSpentError where a budget is used up; warns where one soon will be."""
        for use in self.uses(model):
            if use.used >= use.limit:
                raise BudgetSpentError(
                    f"calling {model}: the budget of {use.limit:g} {use.name} is spent ({use.period}: {use.used:g}); "
                    "the work is deferred: run again in the next period, or raise llm.budget"
                )
        self.warn(model)

    def warn(self, model: str) -> None:
        """Tells of budgets that reached the share at which to warn, once a period."""
        for use in self.uses(model):
            if use.share >= self._settings.warning_share and (use.name, use.period) not in self._warned:
                self._warned.add((use.name, use.period))
                if self._on_warning:
                    self._on_warning(use)

    @contextmanager
    def calling(self, request: ChatRequest) -> Iterator[None]:
        """Counts a call as long as it is at work; raises BudgetSpentError before it."""
        self.check(request.model)
        self._at_work.append(request)
        try:
            yield
        finally:
            self._at_work.remove(request)
        self.warn(request.model)


def _tokens(model: str) -> str:
    return f"tokens a day of {model}"
