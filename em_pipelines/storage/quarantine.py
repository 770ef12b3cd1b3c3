"""What is set aside so that the rest can be served, a partition a day: the table `quarantine` is its only store.

An entry holds for the inputs that it was found with. When those, the code or the settings are others, the day is made
with all that it has again, and what still fails is found again.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

from em_pipelines.schema.ids import content_id
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.record import QUARANTINE
from em_pipelines.storage.files import held
from em_pipelines.storage.lake import Lake

LOCK_SECONDS = 60
RAISED = "raised"
"""The rule of what a step could not be made with at all."""


@dataclass(frozen=True, slots=True)
class SetAside:
    """One entry: a claim, or all that a day brought of a user where `claim_id` is None."""

    user_id: str
    day: date
    step: str
    rule: str
    reason: str
    inputs_digest: str
    claim_id: str | None = None

    @property
    def quarantine_id(self) -> str:
        """The same for the same thing, whatever the reason."""
        return content_id("quar", str(self.day), self.step, self.user_id, self.claim_id or "")


class Quarantine:
    """The entries of one lake."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake

    def of(self, step: str, day: date, inputs_digest: str) -> list[SetAside]:
        """The entries that hold for a day of a step, made from these inputs."""
        if not self._lake.has(QUARANTINE, day):
            return []
        return [entry for entry in self._on(day) if entry.step == step and entry.inputs_digest == inputs_digest]

    def entries(self, days: Iterable[date] | None = None) -> Iterator[SetAside]:
        """All entries, of some days or of all, in order."""
        for day in self._lake.days(QUARANTINE) if days is None else days:
            yield from self._on(day)

    def put(self, step: str, day: date, entries: Sequence[SetAside]) -> None:
        """Makes these the entries of a day of a step, in place of those before."""
        if not entries and not self._lake.has(QUARANTINE, day):
            return
        with self._lock():
            others = [entry for entry in self._on(day) if entry.step != step]
            self._write(day, [*others, *entries])

    def add(self, entries: Iterable[SetAside]) -> None:
        """Adds entries, in place of those of the same things."""
        by_day: dict[date, list[SetAside]] = {}
        for entry in entries:
            by_day.setdefault(entry.day, []).append(entry)
        for day, new in by_day.items():
            ids = {entry.quarantine_id for entry in new}
            with self._lock():
                self._write(day, [*(entry for entry in self._on(day) if entry.quarantine_id not in ids), *new])

    def take_out(self, entries: Iterable[SetAside]) -> None:
        """Removes entries."""
        ids = {entry.quarantine_id for entry in entries}
        with self._lock():
            for day in self._lake.days(QUARANTINE):
                entries_then = self._on(day)
                left = [entry for entry in entries_then if entry.quarantine_id not in ids]
                if len(left) < len(entries_then):
                    self._write(day, left)

    def _lock(self) -> AbstractContextManager[None]:
        """Steps of one day may be at work in several processes, and all of them write one partition."""
        root = self._lake.local_root
        return held(Path(root).parent, "quarantine", LOCK_SECONDS) if root else nullcontext()

    def _on(self, day: date) -> list[SetAside]:
        return [_entry(row) for row in rows_of(self._lake.read(QUARANTINE, day))]

    def _write(self, day: date, entries: Sequence[SetAside]) -> None:
        rows = {entry.quarantine_id: asdict(entry) | {"quarantine_id": entry.quarantine_id} for entry in entries}
        if rows:
            self._lake.write(QUARANTINE, day, QUARANTINE.from_rows(list(rows.values())))
        else:
            self._lake.delete(QUARANTINE, day)


def _entry(row: dict[str, Any]) -> SetAside:
    return SetAside(**{name: value for name, value in row.items() if name != "quarantine_id"})
