"""How long the graph database took for batches of late: HOME/locks/graph.seconds, a line a batch.

Batches that are written or removed alone: they have at most so many rows (`sync.BATCH_ROWS`), so that a second means
the same of each; how long reading takes grows with the graph. Whoever cannot write the file does without.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import orjson

from em_pipelines.storage.files import write_atomically

FILE = Path("locks", "graph.seconds")
KEPT = 1_000
"""Batches, the last: two million rows, more than a night changes."""


@dataclass(frozen=True, slots=True)
class BatchTime:
    """When a batch was done, and how long it took."""

    at: datetime
    seconds: float


def batch_times(home: Path) -> list[BatchTime]:
    """The last batches, in order. A line that nobody can read is left out: it costs one figure of a thousand."""
    try:
        lines = (home / FILE).read_bytes().splitlines()
    except FileNotFoundError:
        return []
    found = []
    for line in lines:
        with suppress(ValueError, TypeError):
            at, seconds = orjson.loads(line)
            found.append(BatchTime(datetime.fromisoformat(at), float(seconds)))
    return found


def note_batches(home: Path, batches: Sequence[BatchTime]) -> None:
    """Adds batches to those of before. Whoever writes holds the lock of the graph."""
    if not batches:
        return
    with suppress(OSError):
        kept = [*batch_times(home), *batches][-KEPT:]
        lines = (orjson.dumps([one.at.isoformat(), round(one.seconds, 6)]) for one in kept)
        write_atomically(home / FILE, b"".join(line + b"\n" for line in lines))
