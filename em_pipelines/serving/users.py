"""Who is remembered: each user of a home with figures, and whether anybody is called so.

Counted is what the tables hold, and beside it what has landed and no run has read yet.
"""

from collections import Counter
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.compute as pc

from em_pipelines.errors import CorruptTableError
from em_pipelines.schema.table import Record
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.schema.tables.raw import INTERACTIONS, SKILL_INVOCATIONS
from em_pipelines.schema.vocabulary import OBSERVATIONS, PrivacyLevel
from em_pipelines.serving.facts import SHOWN, TOLD_FROM
from em_pipelines.storage.duckdb_engine import bind, connect, scratch
from em_pipelines.storage.store import Store

Key = tuple[str, str, int]
FIGURES = """
SELECT user_id, count(*), count(DISTINCT session_id), min(timestamp)::DATE, max(timestamp)::DATE
FROM said GROUP BY user_id ORDER BY user_id
"""
PUBLISHED_FIGURES = """
SELECT user_id, n_messages, n_sessions, CAST(first_seen AS DATE), CAST(last_seen AS DATE), n_facts + n_denials
FROM users
"""


@dataclass(frozen=True, slots=True)
class Remembered:
    """One user: messages and conversations that were read, the days of the first and the last message, facts that
    are told, and messages that wait for a run. Of whom calls of skills alone were read nothing is counted."""

    user_id: str
    n_messages: int = 0
    n_sessions: int = 0
    first_day: date | None = None
    last_day: date | None = None
    n_facts: int = 0
    n_waiting: int = 0


@dataclass(frozen=True, slots=True)
class Stage:
    """How far memory has come with a user, and what the next stage takes, in words; None: there is none. What stages
    there are and what they need is said by the snapshot's views alone (sql/views_growth.sql)."""

    user_id: str
    stage: str
    next_stage: str | None = None
    still_needed: str | None = None


def stages(snapshot: Path) -> list[Stage]:
    """The stage of everybody in a snapshot, by name; nobody's where there is none. Raises CorruptTableError."""
    if not snapshot.exists():
        return []
    try:
        with connect(str(snapshot), is_read_only=True) as connection:
            rows = connection.execute(
                "SELECT user_id, stage, next_stage, still_needed FROM cold_start ORDER BY user_id"
            ).fetchall()
    except duckdb.Error as error:
        raise _damaged(snapshot, error) from error
    return [Stage(*row) for row in rows]


def users(store: Store) -> list[Remembered]:
    """Everybody who is remembered or waits to be, by name. Facts are those that are told at the end of the newest day.

    Raises CorruptTableError and CorruptLogError.
    """
    read = {str(row[0]): row[1:] for row in _said(store)}
    facts, waiting = n_facts(store), n_waiting(store)
    found = []
    for name in sorted({*read, *facts, *waiting, *n_calls(store)}):
        n_messages, n_sessions, first, last = read.get(name, (0, 0, None, None))
        found.append(Remembered(name, n_messages, n_sessions, first, last, facts[name], waiting[name]))
    return found


def published_users(store: Store, snapshot: Path) -> list[Remembered]:
    """The same as the newest snapshot has it, if there is one: what has landed and is not in there waits. For a home on
    which a run is at work or broke off, whose tables are of different times.

    Raises CorruptTableError and CorruptLogError.
    """
    shown, read = _published(snapshot) if snapshot.exists() else ({}, set[Key]())
    waiting: Counter[str] = Counter()
    for day in store.log.days(INTERACTIONS.name):
        waiting.update(key[0] for key in {_key(record) for record in store.log.read(INTERACTIONS.name, day)} - read)
    names = sorted({*shown, *waiting})
    return [replace(shown.get(name, Remembered(name)), n_waiting=waiting[name]) for name in names]


def _published(snapshot: Path) -> tuple[dict[str, Remembered], set[Key]]:
    """Figures by user, and which messages are in there."""
    try:
        with connect(str(snapshot), is_read_only=True) as connection:
            rows = connection.execute(PUBLISHED_FIGURES).fetchall()
            keys = connection.execute("SELECT user_id, session_id, turn_number FROM messages").fetchall()
    except duckdb.Error as error:
        raise _damaged(snapshot, error) from error
    return {row[0]: Remembered(*row) for row in rows}, set(keys)


def _damaged(snapshot: Path, error: duckdb.Error) -> CorruptTableError:
    return CorruptTableError(
        f"reading the snapshot {snapshot.resolve()}: it is damaged ({str(error).splitlines()[0]}); "
        "`em repair --apply` publishes it again"
    )


def n_facts(store: Store) -> Counter[str]:
    """The facts that an agent would be told at the end of the newest day, by user: as the views `current_facts` and
    `current_denials` of a snapshot count them."""
    day = store.lake.latest(CURRENT_EDGES, date.max)
    if day is None:
        return Counter()
    rows = store.lake.read(CURRENT_EDGES, day)
    is_told = (
        pc.field("status").isin(SHOWN)
        & (pc.field("effective_confidence") >= TOLD_FROM)
        & ~pc.field("requires_verification")
        & (pc.field("privacy_level") != PrivacyLevel.PRIVILEGED.value)
        & ~pc.field("relation").isin(OBSERVATIONS)
    )
    return Counter(rows.filter(is_told)["user_id"].to_pylist())


def n_calls(store: Store) -> Counter[str]:
    """Calls of skills that were read, by user."""
    found: Counter[str] = Counter()
    for day in store.lake.days(SKILL_INVOCATIONS):
        found.update(store.lake.read(SKILL_INVOCATIONS, day)["user_id"].to_pylist())
    return found


def n_waiting(store: Store) -> Counter[str]:
    """Messages that have landed and that no run has read, by user."""
    found: Counter[str] = Counter()
    for day in _unread_days(store):
        landed = {_key(record) for record in store.log.read(INTERACTIONS.name, day)}
        found.update(user_id for user_id, *_ in landed - _read_keys(store, day))
    return found


def is_known(store: Store, user_id: str) -> bool:
    """Whether anybody is called so: by the entities of the newest day, else by what was said or has landed.

    The first costs a column of one file; the rest is asked only of who is not there.
    """
    day = store.lake.latest(ENTITIES, date.max)
    if day is not None and len(store.lake.find(ENTITIES, day, "user_id", [user_id])):
        return True
    return user_id in names(store)


def names(store: Store) -> set[str]:
    """Everybody of whom anything was said or has landed, feedback and calls of skills among it."""
    return {
        *n_calls(store),
        *(str(row[0]) for row in _said(store)),
        *n_waiting(store),
        *(str(record["user_id"]) for day in store.log.days("feedback") for record in store.log.read("feedback", day)),
    }


def _unread_days(store: Store) -> list[date]:
    """Days that may have landed since they were read, by the times of the log's folder and of the table's file; of a
    home that was copied without its times, all may have."""
    root = store.log.local_root
    if root is None:
        return store.log.days(INTERACTIONS.name)
    found = []
    for day in store.log.days(INTERACTIONS.name):
        read_at = store.lake.modified_at(MESSAGES, day)
        landed_at = Path(root, INTERACTIONS.name, day.isoformat()).stat().st_mtime
        if read_at is None or read_at.timestamp() < landed_at:
            found.append(day)
    return found


def _read_keys(store: Store, day: date) -> set[Key]:
    rows = store.lake.read(INTERACTIONS, day).select(["user_id", "session_id", "turn_number"])
    return set(zip(*(rows[name].to_pylist() for name in rows.column_names), strict=True))


def _key(record: Record) -> Key:
    return record["user_id"], record["session_id"], record["turn_number"]


def _said(store: Store) -> list[tuple[Any, ...]]:
    """Rows of user, messages, conversations, first day and last day."""
    files = [store.lake.local_file(MESSAGES, day) for day in store.lake.days(MESSAGES)]
    with scratch() as connection:
        if not files:
            return []
        if all(files):
            connection.execute("SET VARIABLE files = ?", [files])
            connection.execute("CREATE TEMP VIEW said AS FROM read_parquet(getvariable('files'))")
        else:
            bind(connection, "said", store.lake.read_days(MESSAGES, store.lake.days(MESSAGES)))
        return connection.execute(FIGURES).fetchall()
