"""How far each piece of work has climbed its ladder: kept beside the answers, so that a crash forgets nothing."""

import sqlite3
from dataclasses import dataclass, fields, replace
from datetime import datetime

from em_pipelines.llm.answers import reject_answer
from em_pipelines.llm.database import Database, Execute, instant
from em_pipelines.llm.protocol import ChatRequest

CLIMBING, ANSWERED, EXHAUSTED, TOO_LARGE = "climbing", "answered", "exhausted", "too_large"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a piece of work stands.

    `first_key` is the key of the question at its first rung: a new prompt is a new climb. `rung` is the next one to
    ask, counted from 0, or the one that was answered. `streak_rung` is where the endpoint began to be unavailable to
    it, None where the last attempt failed for another reason. `n_answered_before` is how often the model had answered
    anybody when this work first found it unavailable. `last_error` is the name of our error,
    `last_message` what it says.
    """

    user_id: str
    task: str
    reference: str
    first_key: str
    status: str = CLIMBING
    rung: int = 0
    streak_rung: int | None = None
    n_attempts: int = 0
    n_deferrals: int = 0
    n_answered_before: int = 0
    last_error: str = ""
    last_message: str = ""


class LadderStore:
    """Places by user, task and reference; every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def place(self, first: ChatRequest) -> Place | None:
        """Where the work of a first question stands; None where it has not failed yet or the question has changed."""
        query = "SELECT * FROM ladders WHERE user_id = ? AND task = ? AND reference = ? AND first_key = ?"
        rows = self._database.rows(query, first.user_id, first.work, first.reference, first.key)
        return _place(rows[0]) if rows else None

    def keep(self, place: Place, now: datetime, *, rejected: ChatRequest | None = None) -> Place:
        """Writes where the work stands; with `rejected`, its answer counts as none from the same instant."""
        with self._database.transaction() as execute:
            if rejected is not None:
                reject_answer(execute, rejected.key, place.last_error)
            _write(execute, place, now)
        return place

    def exhausted(self, user_id: str | None = None) -> list[Place]:
        """What failed at every rung and waits as a dead letter; of one user where one is named."""
        query = (
            "SELECT * FROM ladders WHERE status = ? AND (?2 IS NULL OR user_id = ?2) ORDER BY user_id, task, reference"
        )
        return [_place(row) for row in self._database.rows(query, EXHAUSTED, user_id)]

    def reset(self, user_id: str, reference: str) -> int:
        """Lets what failed begin again at its first rung: a replay. Returns how many ladders that were."""
        with self._database.transaction() as execute:
            return execute(
                "DELETE FROM ladders WHERE user_id = ? AND reference = ? AND status <> ?",
                (user_id, reference, ANSWERED),
            ).rowcount


def _place(row: sqlite3.Row) -> Place:
    return Place(**{field.name: row[field.name] for field in fields(Place)})


def answered(place: Place, rung: int) -> Place:
    """The place after an answer that could be used."""
    return replace(place, status=ANSWERED, rung=rung, streak_rung=None, n_deferrals=0)


def _write(execute: Execute, place: Place, now: datetime) -> None:
    execute(
        "INSERT OR REPLACE INTO ladders VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            place.user_id, place.task, place.reference, place.first_key, place.status, place.rung, place.streak_rung,
            place.n_attempts, place.n_deferrals, place.n_answered_before, place.last_error, instant(now),
            place.last_message,
        ),
    )  # fmt: skip
