"""The SQLite file HOME/llm/answers.sqlite: its schema, and transactions on it.

One file, because an answer, what it cost and the rung it ended have to be written together or not at all. Write-ahead
logging lets several processes read and write it, and whatever was committed outlives a kill -9; only a loss of power
can take the last commits, which costs a second call. What is deleted is overwritten (secure_delete).

Nothing here masks anything: prompts are free of secrets before a request is made.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

from filelock import FileLock

from em_pipelines.errors import CorruptTableError
from em_pipelines.storage.files import make_folder

Execute = Callable[..., sqlite3.Cursor]
SCHEMA_VERSION = 5
BUSY_SECONDS = 30

_SCHEMA = """
CREATE TABLE answers (
    key TEXT PRIMARY KEY, user_id TEXT NOT NULL, model TEXT NOT NULL, task TEXT NOT NULL, text TEXT NOT NULL,
    finish_reason TEXT NOT NULL, prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL,
    latency_ms REAL NOT NULL, cost_usd REAL NOT NULL, answered_at TEXT NOT NULL, is_rejected INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_by_user ON answers (user_id);
CREATE TABLE answer_references (
    user_id TEXT NOT NULL, reference TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY (user_id, reference, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE calls (
    call_id TEXT PRIMARY KEY, key TEXT, called_at TEXT NOT NULL, at TEXT NOT NULL, user_id TEXT, reference TEXT,
    correlation_id TEXT, model TEXT NOT NULL, task TEXT NOT NULL, prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL, cost_usd REAL NOT NULL, latency_ms REAL NOT NULL,
    is_cache_hit INTEGER NOT NULL, outcome TEXT NOT NULL, error_type TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX calls_by_key ON calls (key);
CREATE INDEX calls_by_reference ON calls (user_id, reference);
CREATE TABLE spend (
    day TEXT NOT NULL, night TEXT NOT NULL, model TEXT NOT NULL, n_calls INTEGER NOT NULL, n_answered INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, cost_usd REAL NOT NULL,
    PRIMARY KEY (day, night, model)
) STRICT, WITHOUT ROWID;
CREATE TABLE ladders (
    user_id TEXT NOT NULL, task TEXT NOT NULL, reference TEXT NOT NULL, first_key TEXT NOT NULL, status TEXT NOT NULL,
    rung INTEGER NOT NULL, streak_rung INTEGER, n_attempts INTEGER NOT NULL, n_deferrals INTEGER NOT NULL,
    n_answered_before INTEGER NOT NULL, last_error TEXT NOT NULL, changed_at TEXT NOT NULL,
    PRIMARY KEY (user_id, task, reference)
) STRICT, WITHOUT ROWID;
CREATE TABLE batches (
    batch_key TEXT PRIMARY KEY, batch_id TEXT, model TEXT NOT NULL, status TEXT NOT NULL, n_requests INTEGER NOT NULL,
    made_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE batch_requests (
    key TEXT PRIMARY KEY, batch_key TEXT, user_id TEXT NOT NULL, reference TEXT NOT NULL, model TEXT NOT NULL,
    n_tokens INTEGER NOT NULL, request TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX batch_requests_by_batch ON batch_requests (batch_key);
CREATE INDEX batch_requests_by_reference ON batch_requests (user_id, reference);
CREATE TABLE batch_errors (
    key TEXT PRIMARY KEY, user_id TEXT NOT NULL, reference TEXT NOT NULL, error_type TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""
_VECTORS = """
CREATE TABLE vectors (
    user_id TEXT NOT NULL, model TEXT NOT NULL, phrase TEXT NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (user_id, model, phrase)
) STRICT, WITHOUT ROWID
"""
_JUDGEMENTS = """
CREATE TABLE judgements (
    user_id TEXT NOT NULL, judge TEXT NOT NULL, key TEXT NOT NULL, is_told INTEGER NOT NULL,
    PRIMARY KEY (user_id, judge, key)
) STRICT, WITHOUT ROWID
"""
_PROFILES = """
CREATE TABLE endpoint_profiles (
    address TEXT NOT NULL, model TEXT NOT NULL, profile TEXT NOT NULL, changed_at TEXT NOT NULL,
    PRIMARY KEY (address, model)
) STRICT, WITHOUT ROWID
"""
_USABLE = """
CREATE TABLE usable_answers (
    address TEXT NOT NULL, model TEXT NOT NULL, first_at TEXT NOT NULL, PRIMARY KEY (address, model)
) STRICT, WITHOUT ROWID
"""
_MESSAGES = "ALTER TABLE ladders ADD COLUMN last_message TEXT NOT NULL DEFAULT ''"
_NO_JUDGEMENTS = "DROP TABLE judgements"
CHANGES = (
    (),
    tuple(_SCHEMA.split(";\n")),
    (_VECTORS,),
    (_JUDGEMENTS,),
    (_PROFILES, _USABLE, _MESSAGES),
    (_NO_JUDGEMENTS,),
)
"""The statements by which a file of each version comes from the one before."""


class Database:
    """One connection to the file, shared by the threads of a process; made with its folder where there is none."""

    def __init__(self, path: Path) -> None:
        make_folder(path.parent)
        self.path = path
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        path.chmod(0o600)
        self._connection.row_factory = sqlite3.Row
        try:
            self._set_up()
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise self._corrupt(error) from error

    def _set_up(self) -> None:
        # Two processes that switch one new file to write-ahead logging at once: SQLite refuses one without waiting.
        with FileLock(self.path.with_suffix(".lock"), timeout=BUSY_SECONDS):
            self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute("PRAGMA secure_delete = ON")
        with self.transaction() as execute:
            version = execute("PRAGMA user_version").fetchone()[0]
            if version not in range(SCHEMA_VERSION + 1):
                raise sqlite3.DatabaseError(f"its schema is version {version}, this program knows {SCHEMA_VERSION}")
            for statement in chain.from_iterable(CHANGES[version + 1 :]):
                execute(statement)
            if version < SCHEMA_VERSION:
                execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def transaction(self) -> Iterator[Execute]:
        """All statements inside are committed together, or none of them."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection.execute
            except BaseException as error:
                with suppress(sqlite3.DatabaseError):
                    self._connection.execute("ROLLBACK")
                if _is_damage(error):
                    raise self._corrupt(error) from error
                raise
            self._connection.execute("COMMIT")

    def rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        """The rows of a query, outside any transaction."""
        try:
            with self._lock:
                return self._connection.execute(query, values).fetchall()
        except sqlite3.DatabaseError as error:
            if _is_damage(error):
                raise self._corrupt(error) from error
            raise

    def _corrupt(self, error: BaseException) -> CorruptTableError:
        return CorruptTableError(
            f"opening {self.path}: {error}; move the file away: its answers are asked for, and paid for, again"
        )

    def shrink_log(self) -> None:
        """Moves the write-ahead log into the file and empties it, so that what was deleted is in neither."""
        with self._lock:
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Closes the connection; the file stays."""
        with self._lock:
            self._connection.close()


def _is_damage(error: BaseException) -> bool:
    """Whether the file itself is at fault, and not a lock or a statement."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def instant(at: datetime) -> str:
    """An instant as it is written: UTC, so that text sorts as time does."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def day_of(now: datetime) -> str:
    """The UTC day of an instant."""
    return now.astimezone(UTC).date().isoformat()


def night_of(now: datetime) -> str:
    """The night of an instant: from noon to noon, UTC, named by the day on which it begins."""
    return (now.astimezone(UTC) - timedelta(hours=12)).date().isoformat()
