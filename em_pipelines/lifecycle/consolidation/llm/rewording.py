"""Rules in a model's words: those that kept answers give, and the asking of a night for those that are wanting.

A table is made from answers that are there, and nobody is asked for it: so it is the same however often it is made, and
without a model it is made as well. Asking is a step of the night, the strongest rules first, within calls and dollars
of its own.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from em_pipelines.errors import UnusableAnswerError
from em_pipelines.lifecycle.consolidation.consolidate import Worded
from em_pipelines.lifecycle.consolidation.llm import question as questions
from em_pipelines.lifecycle.consolidation.llm.answer import Reader, reason_of
from em_pipelines.lifecycle.consolidation.llm.question import Question, question_of
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.asked import Asked
from em_pipelines.llm.asking import OpenAsking
from em_pipelines.llm.protocol import ChatRequest
from em_pipelines.llm.words import CostOf, NightBudget, Wanted, ask_for_words
from em_pipelines.schema.ids import content_id, digest

TASK = "consolidation"


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
        wanted = [self._wanted(found, known) for row in ordered if (found := question_of(row))]
        limits = self._settings
        budget = NightBudget(TASK, limits.max_calls, limits.max_usd, "consolidation.max_calls", "consolidation.max_usd")
        return ask_for_words(wanted, budget, self._open_asking, self._cost_of)

    def _wanted(self, question: Question, known: Mapping[str, Collection[str]]) -> Wanted:
        skills = known.get(question.user_id, ())
        return Wanted(
            request_of(question, self._model, self._settings),
            lambda answer: self._reader.rule(answer.text, answer.finish_reason, question, skills),
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
