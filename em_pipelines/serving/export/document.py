"""The JSON export as a form: its members, kinds of record, digests and settings. Neither reads nor writes anything.

    {"format": "em_pipelines.export", "version": 1, "user_id": …,
     "settings": {name: value}, "records": {kind: [record, …]}, "counts": {kind: n}, "digests": {kind: SHA-256},
     "memory": {"as_of": …, "entities": […], "facts": […]}}

`records` alone is imported. Raise VERSION when an older reader would take a new document for another one.
"""

from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import orjson
from pydantic import BaseModel

from em_pipelines.schema.described_settings import described
from em_pipelines.schema.table import Record

FORMAT = "em_pipelines.export"
VERSION = 1
KINDS = ("interactions", "skill_invocations", "feedback", "dead_letters")
"""Kinds of record that belong to a user, in the order in which they are written. World events belong to nobody."""
STEERING = (
    "extractor", "safety.", "rules.", "segmentation.", "durable.", "verification.", "resolution.", "fold.", "decay.",
    "inference.", "reading.",
)  # fmt: skip
"""Settings that change what is made of a log."""


@dataclass
class Tally:
    """Counts records by kind, and digests them: SHA-256 over each as JSON with sorted keys and a newline, in order."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    _hashes: dict[str, Any] = field(default_factory=lambda: {kind: sha256() for kind in KINDS})

    def add(self, kind: str, line: bytes) -> None:
        """Takes in one record, as `line_of` gives it."""
        self.counts[kind] += 1
        self._hashes[kind].update(line)
        self._hashes[kind].update(b"\n")

    @property
    def digests(self) -> dict[str, str]:
        """Hex digest by kind."""
        return {kind: found.hexdigest() for kind, found in self._hashes.items()}


def line_of(record: Record) -> bytes:
    """A record as bytes: JSON with sorted keys. Raises orjson.JSONEncodeError for what no record can hold."""
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)


def steering(settings: BaseModel) -> dict[str, str]:
    """The settings that change what is made of a log, as `em settings` shows them; of files not even the name."""
    return {
        name: value
        for name, value, _ in described(settings)
        if name.startswith(STEERING) and not name.endswith("_file")
    }
