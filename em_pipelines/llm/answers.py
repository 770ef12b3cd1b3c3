"""Answers that were paid for, calls that were made, and what they cost: kept so that nothing is paid twice.

Everything is scoped by user. Prompts are not kept, answers are: both are free of secrets, since texts are masked before
a prompt is made of them. The file itself is described in `em_pipelines.llm.database`.
"""

import sqlite3
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from em_pipelines.llm.database import Database, Execute, day_of, instant, night_of
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest
from em_pipelines.schema.ids import content_id

REFUSED = "refused"
"""The outcome of a call whose answer verification refused for the most part."""


@dataclass(frozen=True, slots=True)
class Spend:
    """What calls took together. Cache hits are not among them."""

    n_calls: int = 0
    n_tokens: int = 0
    cost_usd: float = 0.0


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call: a row of the table `llm_calls`.

    `timestamp` is the event time of what it was about, `called_at` when it was made. `outcome` is ok, repaired,
    partial, refused (verification refused most of the answer) or failed; `error_type` the name of our error where it
    failed. Of a cache hit tokens and cost are 0. User and segment are None where they were erased.
    """

    call_id: str
    timestamp: datetime
    called_at: datetime
    user_id: str | None
    segment_id: str | None
    correlation_id: str | None
    model: str
    task: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    latency_ms: float
    is_cache_hit: bool
    outcome: str
    error_type: str | None


class AnswerStore:
    """The store over one SQLite file; every method is one transaction. Safe for several threads and processes.

    `address` is that of the endpoint that is asked (`LlmSettings.address`).
    """

    def __init__(self, path: Path, address: str = "") -> None:
        self.database = Database(path)
        self._address = address
        self._usable: set[str] = set()

    def __enter__(self) -> "AnswerStore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file."""
        self.database.close()

    def answer(self, request: ChatRequest, now: datetime) -> ChatAnswer | None:
        """The answer kept for the request, if it was not rejected; notes a hit, once for each reference."""
        key, user_id = request.key, request.user_id
        kept = self.database.rows(
            "SELECT * FROM answers WHERE key = ? AND user_id = ? AND NOT is_rejected", key, user_id
        )
        if not kept:
            return None
        row = kept[0]
        answer = ChatAnswer(
            key, row["text"], row["finish_reason"], row["prompt_tokens"], row["completion_tokens"], row["latency_ms"],
            row["cost_usd"], is_cache_hit=True,
        )  # fmt: skip
        if not self.database.rows("SELECT 1 FROM calls WHERE call_id = ?", _hit_id(request)):
            with self.database.transaction() as execute:
                _refer(execute, request)
                free = replace(answer, prompt_tokens=0, completion_tokens=0, cost_usd=0.0, latency_ms=0.0)
                _note_call(execute, request, free, now)
        return answer

    def save(self, request: ChatRequest, answer: ChatAnswer, now: datetime) -> None:
        """Keeps an answer that was just given, its call and its cost."""
        with self.database.transaction() as execute:
            save_answer(execute, request, answer, now)

    def note_failure(self, request: ChatRequest, error: Exception, latency_ms: float, now: datetime) -> None:
        """Keeps a call that gave no answer."""
        with self.database.transaction() as execute:
            note_failed_call(execute, request, type(error).__name__, latency_ms, now)

    def mark(self, key: str, outcome: str) -> None:
        """Says of the latest call of a key how well its answer could be read: ok, repaired or partial."""
        with self.database.transaction() as execute:
            _mark(execute, key, outcome, None)

    def refuse(self, key: str) -> None:
        """Says of the latest call of a key that verification refused most of its answer. The first such answer of a key
        counts as none from then on, so that the next run that reads the same asks once more; the second stands."""
        with self.database.transaction() as execute:
            before = execute("SELECT 1 FROM calls WHERE key = ? AND outcome = ?", (key, REFUSED)).fetchone()
            if before is None:
                execute("UPDATE answers SET is_rejected = 1 WHERE key = ?", (key,))
            _mark(execute, key, REFUSED, None)

    def calls(self, user_id: str | None = None) -> list[CallRecord]:
        """Every call, in order of id; of one user where one is named."""
        query = "SELECT * FROM calls WHERE ?1 IS NULL OR user_id = ?1 ORDER BY call_id"
        return [_record(row) for row in self.database.rows(query, user_id)]

    def calls_of(self, user_id: str, reference: str) -> list[CallRecord]:
        """The calls made for one reference of a user, in order of id."""
        query = "SELECT * FROM calls WHERE user_id = ? AND reference = ? ORDER BY call_id"
        return [_record(row) for row in self.database.rows(query, user_id, reference)]

    def spent_on_day(self, model: str, now: datetime) -> Spend:
        """What a model took on the UTC day of the instant."""
        return self._spend("day = ? AND model = ?", day_of(now), model)

    def spent_in_night(self, now: datetime) -> Spend:
        """What all models took in the night of the instant: noon to noon, UTC."""
        return self._spend("night = ?", night_of(now))

    def n_answered(self, model: str) -> int:
        """How often the model has ever answered: what has grown was alive in between."""
        return int(self.database.rows("SELECT coalesce(sum(n_answered), 0) FROM spend WHERE model = ?", model)[0][0])

    def note_usable(self, model: str, now: datetime) -> None:
        """Notes that an answer of the model could be read: the endpoint and the name of the model are right."""
        if model not in self._usable:
            with self.database.transaction() as execute:
                execute("INSERT OR IGNORE INTO usable_answers VALUES (?, ?, ?)", (self._address, model, instant(now)))
            self._usable.add(model)

    def has_usable(self, model: str) -> bool:
        """Whether an answer of the model at this endpoint could ever be read. Where none could, the endpoint or the
        settings are at fault, and no piece of work."""
        query = "SELECT 1 FROM usable_answers WHERE address = ? AND model = ?"
        return model in self._usable or bool(self.database.rows(query, self._address, model))

    def forget_user(self, user_id: str) -> int:
        """Deletes everything of a user but what calls cost; returns the number of answers deleted."""
        with self.database.transaction() as execute:
            n_answers = execute("DELETE FROM answers WHERE user_id = ?", (user_id,)).rowcount
            for table in ("answer_references", "ladders", "batch_requests", "batch_errors"):
                execute(f"DELETE FROM {table} WHERE user_id = ?", (user_id,))
            execute(f"UPDATE calls SET {_NOBODY} WHERE user_id = ?", (user_id,))
        self.database.shrink_log()
        return n_answers

    def forget_reference(self, user_id: str, reference: str) -> int:
        """Deletes everything that came of one reference of a user; returns the number of answers deleted."""
        where = "user_id = ? AND reference = ?"
        with self.database.transaction() as execute:
            keys = f"SELECT key FROM answer_references WHERE {where}"
            n_answers = execute(f"DELETE FROM answers WHERE key IN ({keys})", (user_id, reference)).rowcount
            for table in ("answer_references", "ladders", "batch_requests", "batch_errors"):
                execute(f"DELETE FROM {table} WHERE {where}", (user_id, reference))
            execute(f"UPDATE calls SET {_NOBODY} WHERE {where}", (user_id, reference))
        self.database.shrink_log()
        return n_answers

    def _spend(self, where: str, *values: Any) -> Spend:
        query = f"""SELECT coalesce(sum(n_calls), 0), coalesce(sum(prompt_tokens + completion_tokens), 0),
                    coalesce(sum(cost_usd), 0.0) FROM spend WHERE {where}"""
        return Spend(*self.database.rows(query, *values)[0])


# The id goes, too: it is a hash over the prompt, by which a text could be guessed and checked.
def _record(row: sqlite3.Row) -> CallRecord:
    return CallRecord(
        row["call_id"], datetime.fromisoformat(row["at"]), datetime.fromisoformat(row["called_at"]), row["user_id"],
        row["reference"], row["correlation_id"], row["model"], row["task"], row["prompt_tokens"],
        row["completion_tokens"], row["cost_usd"], row["latency_ms"], bool(row["is_cache_hit"]), row["outcome"],
        row["error_type"],
    )  # fmt: skip


_NOBODY = """call_id = 'call_' || lower(hex(randomblob(10))), key = NULL, user_id = NULL, reference = NULL,
             correlation_id = NULL"""


def save_answer(execute: Execute, request: ChatRequest, answer: ChatAnswer, now: datetime) -> None:
    """Writes an answer, its call and its cost inside a transaction."""
    execute(
        "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
        (
            request.key, request.user_id, request.model, request.task, answer.text, answer.finish_reason,
            answer.prompt_tokens, answer.completion_tokens, answer.latency_ms, answer.cost_usd, instant(now),
        ),
    )  # fmt: skip
    execute("DELETE FROM batch_requests WHERE key = ? AND batch_key IS NULL", (request.key,))
    _refer(execute, request)
    _note_call(execute, request, answer, now)
    _spend(execute, request.model, answer, now)


def note_failed_call(execute: Execute, request: ChatRequest, error_type: str, latency_ms: float, now: datetime) -> None:
    """Writes a call without an answer inside a transaction."""
    nothing = ChatAnswer(request.key, "", "", 0, 0, latency_ms, 0.0)
    _note_call(execute, request, nothing, now, error_type)
    _spend(execute, request.model, None, now)


def reject_answer(execute: Execute, key: str, error_type: str) -> None:
    """Lets an answer that could not be used count as none, so that it can be asked again. It stays paid."""
    execute("UPDATE answers SET is_rejected = 1 WHERE key = ?", (key,))
    _mark(execute, key, "failed", error_type)


def _refer(execute: Execute, request: ChatRequest) -> None:
    execute(
        "INSERT OR IGNORE INTO answer_references VALUES (?, ?, ?)", (request.user_id, request.reference, request.key)
    )


def _hit_id(request: ChatRequest) -> str:
    """The id of a call that the cache answered: one for each reference."""
    return content_id("call", request.key, "hit", request.reference)


def _next_call_id(execute: Execute, key: str) -> str:
    n_before = execute("SELECT count(*) FROM calls WHERE key = ? AND NOT is_cache_hit", (key,)).fetchone()[0]
    return content_id("call", key, n_before)


def _note_call(
    execute: Execute, request: ChatRequest, answer: ChatAnswer, now: datetime, error: str | None = None
) -> None:
    call_id = _hit_id(request) if answer.is_cache_hit else _next_call_id(execute, request.key)
    execute(
        "INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            call_id, request.key, instant(now), instant(request.at), request.user_id, request.reference,
            request.correlation_id, request.model, request.task, answer.prompt_tokens, answer.completion_tokens,
            answer.cost_usd, answer.latency_ms, int(answer.is_cache_hit), "failed" if error else "ok", error,
        ),
    )  # fmt: skip


def _mark(execute: Execute, key: str, outcome: str, error_type: str | None) -> None:
    n_calls = execute("SELECT count(*) FROM calls WHERE key = ? AND NOT is_cache_hit", (key,)).fetchone()[0]
    execute(
        "UPDATE calls SET outcome = ?, error_type = ? WHERE call_id = ?",
        (outcome, error_type, content_id("call", key, n_calls - 1)),
    )


def _spend(execute: Execute, model: str, answer: ChatAnswer | None, now: datetime) -> None:
    took = (answer.prompt_tokens, answer.completion_tokens, answer.cost_usd) if answer else (0, 0, 0.0)
    execute(
        """INSERT INTO spend VALUES (?, ?, ?, 1, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
           n_calls = n_calls + 1, n_answered = n_answered + excluded.n_answered,
           prompt_tokens = prompt_tokens + excluded.prompt_tokens,
           completion_tokens = completion_tokens + excluded.completion_tokens,
           cost_usd = cost_usd + excluded.cost_usd""",
        (day_of(now), night_of(now), model, int(answer is not None), *took),
    )
