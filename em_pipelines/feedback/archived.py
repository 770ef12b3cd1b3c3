"""Which messages are archived: kept, and not to be found any more. Read from the landed feedback, so at once.

The last word on a message counts. Facts that were learned from it stay; whoever wants those gone retracts or forgets.
"""

import threading
from collections.abc import Iterator
from datetime import date

import orjson

from em_pipelines.feedback.payloads import Archive, read_payload
from em_pipelines.landing.log import LandedLog, Record

ARCHIVE = "archive"
Place = tuple[str, int]
"""Session and turn."""


class Archived:
    """What is archived in one log. A day's feedback is read again only when its segments have changed."""

    def __init__(self, log: LandedLog) -> None:
        self._log = log
        self._days: dict[date, tuple[str | None, tuple[Record, ...]]] = {}
        self._lock = threading.Lock()

    def of(self, user_id: str) -> frozenset[Place]:
        """The places of a user's messages that are archived now."""
        said = sorted(
            (record for record in self._said() if record["user_id"] == user_id),
            key=lambda record: (record["timestamp"], record["feedback_id"]),
        )
        last: dict[Place, bool] = {}
        for record in said:
            form: Archive = read_payload(
                ARCHIVE, {"session_id": record["session_id"], **orjson.loads(record["payload"])}
            )
            last[form.session_id, form.turn_number] = form.is_archived
        return frozenset(place for place, is_archived in last.items() if is_archived)

    def _said(self) -> Iterator[Record]:
        with self._lock:
            days = self._log.days("feedback")
            for day in self._days.keys() - set(days):
                del self._days[day]
            for day in days:
                digest = self._log.digest("feedback", day)
                if day not in self._days or self._days[day][0] != digest:
                    found = tuple(r for r in self._log.read("feedback", day) if r["type"] == ARCHIVE)
                    self._days[day] = (digest, found)
            return iter([record for _, records in self._days.values() for record in records])
