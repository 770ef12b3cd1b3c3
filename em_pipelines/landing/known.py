"""What has landed before, asked for by key.

Costs: the first question finds by the session index which days each conversation touches, and reads the days that are
not in there. From then on a question reads just the days of the conversations asked for, and holds just the records
asked for.
"""

from collections.abc import Iterable
from datetime import date

from em_pipelines.landing.log import LandedLog, Record
from em_pipelines.landing.records import Key, interaction_key
from em_pipelines.landing.session_index import SessionIndex

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
        self._sessions = SessionIndex(log)

    def interactions(self, keys: set[Key]) -> dict[Key, Record]:
        """Those of the keys that have landed, on whatever day, each with the record that landed first."""
        found: dict[Key, Record] = {}
        for day in self._sessions.days({key[:2] for key in keys}):
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
        self._sessions.note(day, records)
