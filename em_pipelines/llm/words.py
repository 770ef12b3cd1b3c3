"""Words for what stands by template: a model is asked within calls and dollars of the night's own, and what it does not
answer, or not as it may, keeps its template.

Whoever wants words says what is asked and how an answer is read; how often, what it may cost and what is said of it is
the same for all.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from em_pipelines.errors import AnswerPendingError, BudgetSpentError, LockedError, ModelError, SettingsError
from em_pipelines.llm import ladder
from em_pipelines.llm.answers import Spend
from em_pipelines.llm.asked import Asked
from em_pipelines.llm.asking import Asking, OpenAsking
from em_pipelines.llm.budget import BudgetUse
from em_pipelines.llm.database import night_of
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest
from em_pipelines.llm.spending import spent_on_task

_LOGGER = logging.getLogger(__name__)
N_RUNGS = 2
"""A question is asked once more after an answer that may not stand, and then no more."""
WARNING_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked, and how its answer is read: `read` gives the words, or raises UnusableAnswerError."""

    request: ChatRequest
    read: Callable[[ChatAnswer], str]


@dataclass(frozen=True, slots=True)
class NightBudget:
    """What a task may take in one night, and the settings that say so."""

    task: str
    max_calls: int
    max_usd: float
    calls_setting: str
    usd_setting: str


class CostOf(Protocol):
    """US dollars of so many tokens sent and received, 0 without a price."""

    def __call__(self, prompt_tokens: int, completion_tokens: int) -> float: ...


def ask_for_words(wanted: Sequence[Wanted], budget: NightBudget, open_asking: OpenAsking, cost_of: CostOf) -> Asked:
    """Asks in the order given, one after the other. What was answered before costs nothing."""
    if not wanted:
        return Asked()
    try:
        asked = asyncio.run(_ask_all(wanted, budget, open_asking, cost_of))
    except SettingsError as error:
        _LOGGER.warning("%s: asking for words: %s", budget.task, error)
        asked = Asked(n_waiting=len(wanted), note="no key for a model is set; templates stand")
    for told in (*asked.alerts, *((asked.note,) if asked.note else ())):
        _LOGGER.warning("%s: %s", budget.task, told)
    return asked


async def _ask_all(wanted: Sequence[Wanted], budget: NightBudget, open_asking: OpenAsking, cost_of: CostOf) -> Asked:
    n_worded = n_kept_out = n_seen = 0
    note: str | None = None
    async with open_asking() as asking:
        if asking.collect is not None:
            await _tried("collecting batches", asking.collect())
        gateway = _WithinBudget(asking, budget, cost_of)
        before = gateway.spent.n_calls
        for one in wanted:
            climb = await _climb(asking, gateway, one)
            is_waiting = climb.outcome is ladder.Outcome.PENDING
            if is_waiting and not isinstance(climb.error, AnswerPendingError):
                note = _why(budget.task, climb.error)
                break
            n_seen += not is_waiting
            n_worded += climb.outcome is ladder.Outcome.ANSWERED
            n_kept_out += climb.outcome is ladder.Outcome.EXHAUSTED
        await _tried("sending a batch", asking.gateway.flush())
        spent = gateway.spent
        is_told = spent.n_calls > before or note is not None
        alerts = tuple(map(_told, gateway.uses())) if is_told else ()
    return Asked(
        spent.n_calls, spent.cost_usd, n_worded, len(wanted) - n_seen, n_kept_out, note,
        tuple(alert for alert in alerts if alert),
    )  # fmt: skip


async def _climb(asking: Asking, gateway: "_WithinBudget", one: Wanted) -> ladder.Climb[str]:
    return await ladder.climb(
        [lambda: one.request] * N_RUNGS, one.read,
        gateway=gateway, store=asking.store, clock=asking.clock, settings=asking.ladder,
    )  # fmt: skip


class _WithinBudget:
    """A gateway that asks only within the night's calls and dollars of a task. Questions that wait for a batch count as
    asked."""

    def __init__(self, asking: Asking, budget: NightBudget, cost_of: CostOf) -> None:
        self._asking = asking
        self._budget = budget
        self._cost_of = cost_of

    @property
    def spent(self) -> Spend:
        """What the night took, whichever run asked."""
        return spent_on_task(self._asking.store.database, self._budget.task, self._asking.clock.now())

    def uses(self) -> list[BudgetUse]:
        """Both budgets of the night."""
        spent, night, task = self.spent, night_of(self._asking.clock.now()), self._budget.task
        return [
            BudgetUse(f"calls a night for {task}", night, spent.n_calls, self._budget.max_calls),
            BudgetUse(f"dollars a night for {task}", night, spent.cost_usd, self._budget.max_usd),
        ]

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        """Asks, or raises BudgetSpentError; what is known or waits for its batch is no question."""
        rows = self._asking.store.database.rows
        is_known = rows("SELECT 1 FROM answers WHERE key = ? AND NOT is_rejected", request.key)
        waiting = rows("SELECT key, n_tokens FROM batch_requests WHERE request ->> 'task' = ?", self._budget.task)
        if not is_known and request.key not in {row["key"] for row in waiting}:
            self._check(request, [row["n_tokens"] for row in waiting])
        return await self._asking.gateway.complete(request)

    def _check(self, request: ChatRequest, waiting_tokens: Sequence[int]) -> None:
        spent, limits = self.spent, self._budget
        if spent.n_calls + len(waiting_tokens) >= limits.max_calls:
            raise BudgetSpentError(
                f"the {limits.max_calls} calls of the night are spent; the rest keeps its template until the next one, "
                f"or raise {limits.calls_setting}"
            )
        tokens = (*waiting_tokens, request.n_prompt_tokens)
        reserved = sum(self._cost_of(n, request.max_output_tokens) for n in tokens)
        if reserved and spent.cost_usd + reserved > limits.max_usd:
            raise BudgetSpentError(
                f"the {limits.max_usd:g} US dollars of the night do not reach for another call ({spent.cost_usd:g} are "
                f"spent); the rest keeps its template until the next one, or raise {limits.usd_setting}"
            )


def _why(task: str, error: ModelError | None) -> str:
    """Why asking ended early, in words of our own: what an endpoint says of itself is no figure of a night."""
    if isinstance(error, BudgetSpentError):
        return str(error)
    _LOGGER.warning("%s: asking for words: %s", task, error)
    return f"the model gave no answer ({type(error).__name__}); templates stand, and the next night asks again"


def _told(use: BudgetUse) -> str | None:
    """A sentence about a budget that is nearly used; None of one that is not."""
    if use.share < WARNING_SHARE or not use.limit:
        return None
    return f"the budget of {use.name} ({use.period}) is used to {use.share:.0%}: {use.used:g} of {use.limit:g}"


async def _tried(what: str, act: Any) -> None:
    """Does what can be done later as well."""
    try:
        await act
    except (ModelError, LockedError) as error:
        _LOGGER.warning("%s failed: %s", what, error)
