"""Questions that wait for a batch or are in one, in the answer store's file. `resources.batch` talks to the endpoint.

A request is queued, then in a batch, then gone: answered, failed or let go of. A batch is written down as intended
before anything is sent, and as open once the endpoint has named it; so after a crash at any instant it is known which
requests may be out, and none is sent twice. Queued requests hold prompts, which go as soon as they are answered.
"""

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from em_pipelines.errors import ModelUnavailableError, RequestRefusedError
from em_pipelines.llm.answers import note_failed_call, save_answer
from em_pipelines.llm.database import Database, instant
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest, Message
from em_pipelines.schema.ids import content_id

INTENDED, OPEN, ENDED = "intended", "open", "ended"


@dataclass(frozen=True, slots=True)
class OpenBatch:
    """A batch that has not been collected. `batch_id` is None until the endpoint is known to have it."""

    batch_key: str
    batch_id: str | None
    model: str
    n_requests: int
    made_at: datetime


@dataclass(frozen=True, slots=True)
class Reserved:
    """What requests in batches will take at least."""

    n_requests: int
    n_tokens: int


class BatchQueue:
    """The queue and its batches; every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, request: ChatRequest) -> None:
        """Queues a request; one that is queued or in a batch already stays as it is.

        What waits for the same reference with a prompt of another version is of no use any longer, and goes.
        """
        with self._database.transaction() as execute:
            execute(
                """DELETE FROM batch_requests WHERE user_id = ? AND reference = ? AND batch_key IS NULL
                   AND request ->> 'task' = ? AND request ->> 'prompt_version' <> ?""",
                (request.user_id, request.reference, request.task, request.prompt_version),
            )
            execute(
                "INSERT OR IGNORE INTO batch_requests VALUES (?, NULL, ?, ?, ?, ?, ?)",
                (request.key, request.user_id, request.reference, request.model, request.n_prompt_tokens,
                 json.dumps(asdict(request), default=str)),
            )  # fmt: skip

    def has(self, key: str, *, in_batch: bool = False) -> bool:
        """Whether a request is queued or in a batch; with `in_batch`, the latter alone."""
        found = self._database.rows("SELECT batch_key FROM batch_requests WHERE key = ?", key)
        return bool(found) and (not in_batch or found[0]["batch_key"] is not None)

    def take_error(self, key: str) -> ModelUnavailableError | RequestRefusedError | None:
        """The error with which the request came back from its last batch, told once."""
        with self._database.transaction() as execute:
            found = execute("DELETE FROM batch_errors WHERE key = ? RETURNING error_type", (key,)).fetchone()
        if found is None:
            return None
        kind = RequestRefusedError if found["error_type"] == RequestRefusedError.__name__ else ModelUnavailableError
        return kind("asking in a batch: this request failed in it; it is asked again at the next rung of its ladder")

    def queued(self, model: str, limit: int) -> list[ChatRequest]:
        """Requests for one model that wait, in order of key, at most so many."""
        query = "SELECT request FROM batch_requests WHERE batch_key IS NULL AND model = ? ORDER BY key LIMIT ?"
        return [_request(row["request"]) for row in self._database.rows(query, model, limit)]

    def queued_models(self) -> list[str]:
        """Models for which requests wait."""
        query = "SELECT DISTINCT model FROM batch_requests WHERE batch_key IS NULL ORDER BY model"
        return [row["model"] for row in self._database.rows(query)]

    def intend(self, model: str, keys: list[str], now: datetime) -> str:
        """Notes that a batch of these queued requests is about to be sent; returns the key by which to find it."""
        with self._database.transaction() as execute:
            n_before = execute("SELECT count(*) FROM batches").fetchone()[0]
            batch_key = content_id("batch", n_before, instant(now), *keys)
            execute(
                "INSERT INTO batches VALUES (?, NULL, ?, ?, ?, ?)",
                (batch_key, model, INTENDED, len(keys), instant(now)),
            )
            for key in keys:
                execute("UPDATE batch_requests SET batch_key = ? WHERE key = ? AND batch_key IS NULL", (batch_key, key))
        return batch_key

    def opened(self, batch_key: str, batch_id: str) -> None:
        """Notes the name that the endpoint gave to a batch."""
        with self._database.transaction() as execute:
            execute("UPDATE batches SET batch_id = ?, status = ? WHERE batch_key = ?", (batch_id, OPEN, batch_key))

    def released(self, batch_key: str) -> int:
        """Ends a batch that will never come back: its requests are queued again. Returns how many."""
        with self._database.transaction() as execute:
            execute("UPDATE batches SET status = ? WHERE batch_key = ?", (ENDED, batch_key))
            again = execute("UPDATE batch_requests SET batch_key = NULL WHERE batch_key = ?", (batch_key,))
        return again.rowcount

    def open_batches(self) -> list[OpenBatch]:
        """Batches that have not ended, oldest first."""
        query = "SELECT * FROM batches WHERE status <> ? ORDER BY made_at, batch_key"
        return [
            OpenBatch(
                row["batch_key"],
                row["batch_id"],
                row["model"],
                row["n_requests"],
                datetime.fromisoformat(row["made_at"]),
            )
            for row in self._database.rows(query, ENDED)
        ]

    def requests(self, batch_key: str) -> dict[str, ChatRequest]:
        """The requests of a batch that have not come back, by key."""
        rows = self._database.rows("SELECT key, request FROM batch_requests WHERE batch_key = ?", batch_key)
        return {row["key"]: _request(row["request"]) for row in rows}

    def answered(self, request: ChatRequest, answer: ChatAnswer, now: datetime) -> bool:
        """Keeps an answer that came back, unless it was kept before or its user was forgotten; whether it did."""
        with self._database.transaction() as execute:
            is_awaited = execute("DELETE FROM batch_requests WHERE key = ?", (request.key,)).rowcount > 0
            if is_awaited:
                save_answer(execute, request, answer, now)
        return is_awaited

    def failed(self, request: ChatRequest, error_type: str, now: datetime) -> bool:
        """Keeps the failure of a request in its batch, as `answered` does an answer."""
        with self._database.transaction() as execute:
            is_awaited = execute("DELETE FROM batch_requests WHERE key = ?", (request.key,)).rowcount > 0
            if is_awaited:
                note_failed_call(execute, request, error_type, 0.0, now)
                execute(
                    "INSERT OR REPLACE INTO batch_errors VALUES (?, ?, ?, ?)",
                    (request.key, request.user_id, request.reference, error_type),
                )
        return is_awaited


def reserved(database: Database, model: str | None = None) -> Reserved:
    """What requests in batches will take at least; of one model where one is named."""
    query = """SELECT count(*), coalesce(sum(n_tokens), 0) FROM batch_requests
               WHERE batch_key IS NOT NULL AND (?1 IS NULL OR model = ?1)"""
    return Reserved(*database.rows(query, model)[0])


def _request(text: str) -> ChatRequest:
    values: dict[str, Any] = json.loads(text)
    values["messages"] = tuple(Message(**message) for message in values["messages"])
    values["at"] = datetime.fromisoformat(values["at"])
    return ChatRequest(**values)
