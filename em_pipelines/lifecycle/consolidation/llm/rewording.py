"""Rules in a model's words: those that kept answers give, and the asking of a night for those that are wanting.

A table is made from answers that are there, and nobody is asked for it: so it is the same however often it is made, and
without a model it is made as well. Asking is a step of the night, the strongest rules first, within calls and dollars
of its own.
"""

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from em_pipelines.errors import (
    AnswerPendingError,
    BudgetSpentError,
    LockedError,
    ModelError,
    SettingsError,
    UnusableAnswerError,
)
from em_pipelines.lifecycle.consolidation.consolidate import Worded
from em_pipelines.lifecycle.consolidation.consolidating_home import Asked
from em_pipelines.lifecycle.consolidation.llm import question as questions
from em_pipelines.lifecycle.consolidation.llm.answer import Reader, reason_of
from em_pipelines.lifecycle.consolidation.llm.question import Question, question_of
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.llm import ladder
from em_pipelines.llm.answers import AnswerStore, Spend
from em_pipelines.llm.asking import Asking, OpenAsking
from em_pipelines.llm.budget import BudgetUse
from em_pipelines.llm.database import night_of
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest
from em_pipelines.llm.spending import spent_on_task
from em_pipelines.schema.ids import content_id, digest

_LOGGER = logging.getLogger(__name__)
TASK = "consolidation"
N_RUNGS = 2
"""A question is asked once more after an answer that may not stand, and then no more."""
WARNING_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer that is kept."""

    text: str
    finish_reason: str


class Rewording:
    """Rules by answers that are kept: of experience rows, for whoever makes the tables."""

    def __init__(self, kept: Mapping[str, Kept], model: str, settings: ConsolidationSettings) -> None:
        self._kept = kept
        self._model = model
        self._settings = settings
        self._reader = Reader(settings)

    @classmethod
    def of(cls, path: Path, model: str, settings: ConsolidationSettings) -> "Rewording":
        """Those of the answer store at a path, which need not be there."""
        kept = {}
        if path.exists():
            with AnswerStore(path) as store:
                query = "SELECT key, text, finish_reason FROM answers WHERE task = ? AND model = ? ORDER BY key"
                rows = store.database.rows(query, TASK, model)
            kept = {row["key"]: Kept(row["text"], row["finish_reason"]) for row in rows}
        return cls(kept, model, settings)

    @property
    def digest(self) -> str:
        """Changes with whatever the rules could change with."""
        return digest([self._model, *(repr((key, one)) for key, one in self._kept.items())])

    def __call__(self, row: Mapping[str, Any], known: Collection[str]) -> Worded | None:
        """The rule of an experience; None where nobody has answered. `known` are the skills of its user."""
        question = question_of(row)
        found = self._kept.get(request_of(question, self._model, self._settings).key) if question else None
        if question is None or found is None:
            return None
        try:
            rule = self._reader.rule(found.text, found.finish_reason, question, known)
        except UnusableAnswerError as error:
            return Worded(None, self._model, reason_of(error))
        return Worded(rule, self._model)


class CostOf(Protocol):
    """US dollars of so many tokens sent and received, 0 without a price."""

    def __call__(self, prompt_tokens: int, completion_tokens: int) -> float: ...


class Asker:
    """Asks `model` about experiences, one after the other."""

    def __init__(self, model: str, open_asking: OpenAsking, settings: ConsolidationSettings, cost_of: CostOf) -> None:
        self._model = model
        self._open_asking = open_asking
        self._settings = settings
        self._cost_of = cost_of
        self._reader = Reader(settings)

    def ask(self, rows: Sequence[Mapping[str, Any]], known: Mapping[str, Collection[str]]) -> Asked:
        """Asks about the rows of experiences that want a rule, the strongest first. What was answered costs nothing."""
        ordered = sorted(rows, key=lambda row: (-row["strength"], row["experience_id"]))
        wanted = [found for row in ordered if (found := question_of(row))]
        if not wanted:
            return Asked()
        try:
            asked = asyncio.run(self._ask_all(wanted, known))
        except SettingsError as error:
            _LOGGER.warning("consolidation: asking %s for words: %s", self._model, error)
            asked = Asked(n_waiting=len(wanted), note="no key for a model is set; templates stand")
        for told in (*asked.alerts, *((asked.note,) if asked.note else ())):
            _LOGGER.warning("consolidation: %s", told)
        return asked

    async def _ask_all(self, wanted: Sequence[Question], known: Mapping[str, Collection[str]]) -> Asked:
        n_worded = n_kept_out = n_seen = 0
        note: str | None = None
        async with self._open_asking() as asking:
            if asking.collect is not None:
                await _tried("collecting batches", asking.collect())
            gateway = _WithinBudget(asking, self._settings, self._cost_of)
            before = gateway.spent.n_calls
            for question in wanted:
                climb = await self._climb(asking, gateway, question, known.get(question.user_id, ()))
                is_waiting = climb.outcome is ladder.Outcome.PENDING
                if is_waiting and not isinstance(climb.error, AnswerPendingError):
                    note = _why(climb.error)
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

    async def _climb(
        self, asking: Asking, gateway: "_WithinBudget", question: Question, known: Collection[str]
    ) -> ladder.Climb[str]:
        request = request_of(question, self._model, self._settings)

        def read(answer: ChatAnswer) -> str:
            return self._reader.rule(answer.text, answer.finish_reason, question, known)

        return await ladder.climb(
            [lambda: request] * N_RUNGS, read,
            gateway=gateway, store=asking.store, clock=asking.clock, settings=asking.ladder,
        )  # fmt: skip


class _WithinBudget:
    """A gateway that asks only within the night's calls and dollars of consolidation. Questions that wait for a batch
    count as asked."""

    def __init__(self, asking: Asking, settings: ConsolidationSettings, cost_of: CostOf) -> None:
        self._asking = asking
        self._settings = settings
        self._cost_of = cost_of

    @property
    def spent(self) -> Spend:
        """What the night took, whichever run asked."""
        return spent_on_task(self._asking.store.database, TASK, self._asking.clock.now())

    def uses(self) -> list[BudgetUse]:
        """Both budgets of the night."""
        spent, night = self.spent, night_of(self._asking.clock.now())
        return [
            BudgetUse("calls a night for consolidation", night, spent.n_calls, self._settings.max_calls),
            BudgetUse("dollars a night for consolidation", night, spent.cost_usd, self._settings.max_usd),
        ]

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        """Asks, or raises BudgetSpentError; what is known or waits for its batch is no question."""
        rows = self._asking.store.database.rows
        is_known = rows("SELECT 1 FROM answers WHERE key = ? AND NOT is_rejected", request.key)
        waiting = rows("SELECT key, n_tokens FROM batch_requests WHERE request ->> 'task' = ?", TASK)
        if not is_known and request.key not in {row["key"] for row in waiting}:
            self._check(request, [row["n_tokens"] for row in waiting])
        return await self._asking.gateway.complete(request)

    def _check(self, request: ChatRequest, waiting_tokens: Sequence[int]) -> None:
        spent, limits = self.spent, self._settings
        if spent.n_calls + len(waiting_tokens) >= limits.max_calls:
            raise BudgetSpentError(
                f"the {limits.max_calls} calls of the night are spent; the rest keeps its template until the next one, "
                "or raise consolidation.max_calls"
            )
        tokens = (*waiting_tokens, request.n_prompt_tokens)
        reserved = sum(self._cost_of(n, request.max_output_tokens) for n in tokens)
        if reserved and spent.cost_usd + reserved > limits.max_usd:
            raise BudgetSpentError(
                f"the {limits.max_usd:g} US dollars of the night do not reach for another call ({spent.cost_usd:g} are "
                "spent); the rest keeps its template until the next one, or raise consolidation.max_usd"
            )


def request_of(question: Question, model: str, settings: ConsolidationSettings) -> ChatRequest:
    """What is asked; its key hangs on the question, the model and the longest answer."""
    return ChatRequest(
        user_id=question.user_id,
        task=TASK,
        model=model,
        prompt_version=content_id("prompt", questions.SYSTEM)[-12:],
        messages=question.messages,
        schema_name="rule",
        schema=questions.SCHEMA,
        max_output_tokens=settings.max_output_tokens,
        temperature=0.0,
        reference=question.experience_id,
        correlation_id=content_id("cor", question.experience_id),
        at=question.at,
    )


def _why(error: ModelError | None) -> str:
    """Why asking ended early, in words of our own: what an endpoint says of itself is no figure of a night."""
    if isinstance(error, BudgetSpentError):
        return str(error)
    _LOGGER.warning("consolidation: asking for words: %s", error)
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
