"""What waits, and since when: days that have landed, messages for a model, dead letters, what would be said."""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Protocol

from em_pipelines.landing.dead_letters import open_letters
from em_pipelines.landing.erasure_requests import RequestBook
from em_pipelines.landing.tables import landing_run
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.outgoing import PROBES, STARTERS
from em_pipelines.schema.tables.raw import FEEDBACK, INTERACTIONS
from em_pipelines.serving.metrics.samples import Sample
from em_pipelines.storage.step import Step
from em_pipelines.storage.store import Store

QUEUED = "queued"
Waits = tuple[str, float, datetime | None]
"""The name of a queue, how much waits there, and since when the oldest; None: nothing waits, or nobody noted when."""


class QueuedHome(Protocol):
    """A home with work that waits."""

    @property
    def store(self) -> Store: ...
    @property
    def answers(self) -> Path: ...
    @property
    def book(self) -> RequestBook: ...


def queues(home: QueuedHome, pending: Sequence[tuple[date, float]], now: datetime) -> Iterator[Sample]:
    """Depth and age of every queue; `pending` are the days with messages that wait for a model, and how many."""
    for name, n, since in _waiting(home, pending):
        yield Sample("em_queue_depth", {"queue_name": name}, n)
        age = max(0.0, (now - since).total_seconds()) if since and n else 0.0
        yield Sample("em_queue_age_seconds", {"queue_name": name}, age)


def _waiting(home: QueuedHome, pending: Sequence[tuple[date, float]]) -> Iterator[Waits]:
    yield from (_landed(home.store, table) for table in (INTERACTIONS, FEEDBACK))
    yield "model", sum(n for _, n in pending), _begin(min((day for day, _ in pending), default=None))
    letters = open_letters(home.store.log)
    first = min((date.fromisoformat(str(letter["landed_on"])) for letter in letters), default=None)
    yield "dead_letters", len(letters), _begin(first)
    yield "batches", *_batches(home.answers)
    aside = list(home.store.quarantine.entries())
    yield "quarantine", len(aside), _begin(min((one.day for one in aside), default=None))
    requests = home.book.pending()
    yield "forget_requests", len(requests), min((one.cutoff for one in requests), default=None)
    yield from (_outgoing(home.store, table) for table in (PROBES, STARTERS))


def _landed(store: Store, table: Table) -> Waits:
    """Days whose log no run has read yet as it is; since the oldest of their segments was written."""
    step = Step.of_log(table, landing_run(table))
    days = sorted(store.outdated(step, store.log.days(table.name), store.look()))
    root = store.log.local_root
    written = [
        path.stat().st_mtime for day in days if root for path in Path(root, table.name, str(day)).glob("*.jsonl")
    ]
    return f"landed_{table.name}_days", len(days), datetime.fromtimestamp(min(written), UTC) if written else None


def _batches(answers: Path) -> tuple[int, datetime | None]:
    if not answers.exists():
        return 0, None
    from em_pipelines.serving.metrics.calls import batches  # noqa: PLC0415  (SQLite, where models were asked)

    n, since = batches(answers)
    return n, datetime.fromisoformat(since) if since else None


def _outgoing(store: Store, table: Table) -> Waits:
    """What memory would say: since its cause came."""
    day = store.lake.latest(table, date.max)
    rows = store.lake.read(table, day).select(["status", "generated_at"]).to_pylist() if day else []
    waiting = [row["generated_at"] for row in rows if row["status"] == QUEUED]
    return table.name, len(waiting), min(waiting, default=None)


def _begin(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)
