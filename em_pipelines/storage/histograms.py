"""Durations counted into buckets: as much as is kept of how long something took, however often it was done.

A file of them is a note: it may be deleted, and whatever cannot be read in it counts as none. Nothing waits for the
disk, and a disk that is full costs a figure and no work.
"""

from bisect import bisect_left
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.errors import StorageError
from em_pipelines.storage.files import put_in_place, temporary_beside

BUCKETS_MS = (1.0, 5.0, 10.0, 50.0, 100.0, 500.0, 1_000.0, 5_000.0, 10_000.0, 60_000.0)
"""Upper ends of the buckets, milliseconds; above the last there is one more."""

FOLDER = "timings"
"""In the home: a note for each step, and one for the calls of the graph database."""


@dataclass(slots=True)
class Histogram:
    """How many durations fell into each bucket, and their sum in milliseconds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS_MS) + 1))
    sum_ms: float = 0.0

    def add(self, duration_ms: float) -> None:
        """Counts one duration."""
        self.counts[bisect_left(BUCKETS_MS, duration_ms)] += 1
        self.sum_ms += duration_ms

    def join(self, other: "Histogram") -> None:
        """Counts all that another has counted."""
        self.counts = [one + two for one, two in zip(self.counts, other.counts, strict=True)]
        self.sum_ms += other.sum_ms


Histograms = dict[str, Histogram]
"""Histograms by the value of one label."""


def document(histograms: Mapping[str, Histogram]) -> dict[str, Any]:
    """Histograms as JSON: by label, the counts of the buckets and the sum."""
    return {label: {"counts": one.counts, "sum_ms": one.sum_ms} for label, one in sorted(histograms.items())}


def histograms_of(found: object) -> Histograms:
    """The histograms of a `document`; none where it is no such document, or of other buckets."""
    try:
        assert isinstance(found, Mapping)
        told = {str(label): Histogram([*map(int, one["counts"])], float(one["sum_ms"])) for label, one in found.items()}
    except (AssertionError, KeyError, TypeError, ValueError):
        return {}
    return told if all(len(one.counts) == len(BUCKETS_MS) + 1 for one in told.values()) else {}


def read_note(path: Path) -> Histograms:
    """What a note holds; nothing where there is none that can be read."""
    try:
        return histograms_of(orjson.loads(path.read_bytes()))
    except (OSError, ValueError):
        return {}


def add_to_note(path: Path, new: Mapping[str, Histogram]) -> None:
    """Adds to a note, or begins it. One writer at a time: else one of two loses what it counted."""
    told = read_note(path)
    for label, histogram in new.items():
        told.setdefault(label, Histogram()).join(histogram)
    with suppress(OSError, StorageError), temporary_beside(path) as temporary:
        temporary.write_bytes(orjson.dumps(document(told)))
        put_in_place(temporary, path, set())
