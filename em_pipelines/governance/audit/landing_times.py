"""When what lies in the log was written, and what follows: how much of a landing was refused, and which days wait.

Times are those of the log's files, so a home that was copied knows nothing from before; it says so.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from em_pipelines.landing.reasons import OPEN
from em_pipelines.schema.tables.clean import DEAD_LETTERS
from em_pipelines.storage.lake import Lake
from em_pipelines.storage.landed_log import LandedLog

UNCOUNTED = ("dead_letters", "erasures")
"""Kinds of the log that are no input of people."""


@dataclass(frozen=True, slots=True)
class Landed:
    """One UTC day on which something was landed: letters that are still open, and records that got in. `is_known` is
    False where the log was copied since, so that nobody can tell how many got in."""

    day: date
    n_letters: int
    n_records: int
    is_known: bool

    @property
    def share(self) -> float:
        """Of what was landed, the open dead letters: 0 to 1."""
        return self.n_letters / (self.n_letters + self.n_records) if self.is_known and self.n_letters else 0.0


def landings(log: LandedLog, lake: Lake, n_days: int) -> list[Landed]:
    """The last days with dead letters, in order. Raises CorruptTableError."""
    days = lake.days(DEAD_LETTERS)[-n_days:]
    if not days:
        return []
    files = list(_files(log))
    first = min((written_at.date() for _, written_at in files), default=date.max)
    n_records: Counter[date] = Counter()
    for path, written_at in files:
        if written_at.date() in days:
            n_records[written_at.date()] += path.read_bytes().count(b"\n")
    found = []
    for day in days:
        n_letters = lake.read(DEAD_LETTERS, day)["status"].to_pylist().count(OPEN)
        found.append(Landed(day, n_letters, n_records[day], is_known=first <= day or not files))
    return found


def waiting_since(log: LandedLog, days: Iterable[date], now: datetime, hours: float) -> list[date]:
    """Those of the days whose newest record was written longer ago than that; in order."""
    newest: dict[date, datetime] = {}
    for path, written_at in _files(log):
        day = date.fromisoformat(path.parent.name)
        newest[day] = max(written_at, newest.get(day, written_at))
    until = now - timedelta(hours=hours)
    return sorted(day for day in days if newest.get(day, now) < until)


def _files(log: LandedLog) -> Iterable[tuple[Path, datetime]]:
    """The segments of a log on a local disk, and when each was written; none of a log elsewhere."""
    if log.local_root is None:
        return
    for path in sorted(Path(log.local_root).glob("*/????-??-??/*.jsonl")):
        if path.parent.parent.name not in UNCOUNTED:
            yield path, datetime.fromtimestamp(path.stat().st_mtime, UTC)
