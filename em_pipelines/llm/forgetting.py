"""Forgetting what models answered about some days, so that the same is asked anew: after a day on which one was bad.

Dropped are answers, where their ladders stand, and errors of batches. Calls stay, for they were paid for. Whoever
forgets puts what was made of the answers out of date: `em_pipelines.governance.forgotten_answers`.
"""

from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

from em_pipelines.errors import UsageError
from em_pipelines.language.counting import counted
from em_pipelines.llm.database import Database
from em_pipelines.llm.ladder_state import EXHAUSTED
from em_pipelines.schema.near_names import hint

_CALLS = """
FROM calls WHERE key IS NOT NULL AND at >= ?1 AND at < ?2
AND (?3 IS NULL OR model = ?3) AND (?4 IS NULL OR task = ?4) AND (?5 IS NULL OR user_id = ?5)
"""
_ANSWERS = f"FROM answers WHERE key IN (SELECT key {_CALLS})"
_LADDERS = f"FROM ladders WHERE (user_id, task, reference) IN (SELECT user_id, task, reference {_CALLS})"
# One answer may serve several references of a user: all of them are to be read again.
_WORK = f"""
SELECT user_id, task, reference FROM calls WHERE key IN (SELECT key {_ANSWERS})
UNION SELECT user_id, task, reference {_LADDERS}
"""


@dataclass(frozen=True, slots=True)
class AskedWork:
    """Work that models were asked for. `first` and `last` are UTC days, both included, of the messages that were asked
    about (`ChatRequest.at`); None of the others means any."""

    first: date
    last: date
    model: str | None = None
    task: str | None = None
    user_id: str | None = None

    def __post_init__(self) -> None:
        if self.first > self.last:
            raise UsageError(
                f"forgetting answers: the first day, {self.first}, is after the last, {self.last}; give the earlier "
                "day first"
            )

    @property
    def bounds(self) -> tuple[str, str, str | None, str | None, str | None]:
        """What statements are given: the first day, the one after the last, model, task and user."""
        end = self.last + timedelta(days=1) if self.last < date.max else self.last
        return str(self.first), str(end), self.model, self.task, self.user_id


@dataclass(frozen=True, slots=True)
class KeptAnswers:
    """What is kept of some work: `work` holds user, task and reference of each piece of it, `n_dead_letters` counts
    those that failed at every rung."""

    n_answers: int = 0
    n_dead_letters: int = 0
    work: frozenset[tuple[str, str, str]] = frozenset()

    @property
    def n_users(self) -> int:
        """How many users it is of."""
        return len({user_id for user_id, _, _ in self.work})

    @property
    def references(self) -> frozenset[str]:
        """What was asked about: segments, among others."""
        return frozenset(reference for _, _, reference in self.work)

    @property
    def tasks(self) -> frozenset[str]:
        """What it was asked for."""
        return frozenset(task for _, task, _ in self.work)

    @property
    def sentence(self) -> str:
        """What forgetting it came to."""
        if not self.work:
            return "Nothing to forget: no answer is kept about these days."
        letters = f" and {counted(self.n_dead_letters, 'dead letter')} given back" if self.n_dead_letters else ""
        forgotten = f"{counted(self.n_answers, 'answer')} of {counted(self.n_users, 'user')} forgotten{letters}"
        return f"{forgotten}; `em run` asks again."


def kept_answers(database: Database, asked: AskedWork) -> KeptAnswers:
    """What is kept of the work. Changes nothing. Raises UsageError for a model or a task that nobody has asked."""
    _check_asked(database, "model", asked.model)
    _check_asked(database, "task", asked.task)
    bounds = asked.bounds
    n_answers = database.rows(f"SELECT count(*) {_ANSWERS}", *bounds)[0][0]
    n_dead = database.rows(f"SELECT count(*) {_LADDERS} AND status = ?6", *bounds, EXHAUSTED)[0][0]
    return KeptAnswers(n_answers, n_dead, frozenset(tuple(row) for row in database.rows(_WORK, *bounds)))


def drop_answers(database: Database, asked: AskedWork) -> None:
    """Drops what is kept of the work."""
    bounds = asked.bounds
    with database.transaction() as execute:
        execute(f"DELETE {_LADDERS}", bounds)
        execute(f"DELETE FROM batch_errors WHERE key IN (SELECT key {_CALLS})", bounds)
        execute(f"DELETE {_ANSWERS}", bounds)
    database.shrink_log()


def asked_of(path: Path) -> tuple[list[str], list[str]]:
    """The models and the tasks of all calls that the file at a path knows, by name; none where there is no file."""
    if not path.exists():
        return [], []
    database = Database(path)
    try:
        return asked_names(database, "model"), asked_names(database, "task")
    finally:
        database.close()


def asked_names(database: Database, what: str) -> list[str]:
    """The models or the tasks of all calls (`what` is `model` or `task`), in order of name."""
    column = {"model": "model", "task": "task"}[what]
    return [row[0] for row in database.rows(f"SELECT DISTINCT {column} FROM calls ORDER BY 1")]


def _check_asked(database: Database, what: str, name: str | None) -> None:
    known = asked_names(database, what)
    if name is not None and known and name not in known:
        raise UsageError(f"forgetting answers: no {what} {name!r:.80} was ever asked; {hint(name, known)}".rstrip("; "))
