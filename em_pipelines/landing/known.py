"""What has landed before, asked for by key.

Costs: the first question reads the whole log once to learn which days each conversation touches (memory: one entry
a conversation and day). From then on a question reads just the days of the conversations asked for, and holds just
the records asked for. So a landing costs one pass over the log, and about one more per flush that concerns all days.
"""

from collections.abc import Iterable
from datetime import date

from em_pipelines.landing.log import LandedLog, Record
from em_pipelines.landing.records import Key, interaction_key

ID_COLUMNS = {
    "skill_invocations": "invocation_id",
    "feedback": "feedback_id",
    "world_events": "world_event_id",
}
"""The key of each kind but interactions: a hash of the content."""


class KnownRecords:
    """The records of a log by their keys. Whoever appends to the log meanwhile says so with `note`."""

    def __init__(self, log: LandedLog) -> None:
        self._log = log
        self._days_by_session: dict[tuple[str, str], set[date]] | None = None

    def interactions(self, keys: set[Key]) -> dict[Key, Record]:
        """Those of the keys that have landed, on whatever day, each with the record that landed first."""
        sessions = {key[:2] for key in keys}
        index = self._index()
        days = {day for session in sessions for day in index.get(session, ())}
        found: dict[Key, Record] = {}
        for day in sorted(days):
            for record in self._log.read("interactions", day):
                key = interaction_key(record)
                if key in keys:
                    found.setdefault(key, record)
        return found

    def ids(self, kind: str, days: Iterable[date]) -> set[str]:
        """The ids of a kind that have landed for these days; equal ids have equal content, hence equal days."""
        column = ID_COLUMNS[kind]
        return {record[column] for day in days for record in self._log.read(kind, day)}

    def note(self, day: date, records: Iterable[Record]) -> None:
        """Takes in interactions that have just been appended for a day."""
        index = self._index()
        for session in {interaction_key(record)[:2] for record in records}:
            index.setdefault(session, set()).add(day)

    def _index(self) -> dict[tuple[str, str], set[date]]:
        if self._days_by_session is None:
            self._days_by_session = {}
            for day in self._log.days("interactions"):
                self.note(day, self._log.read("interactions", day))
        return self._days_by_session
