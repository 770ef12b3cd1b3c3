"""Messages that no model has read yet: pending ones, which the next run asks for again, and dead letters, which wait
for a replay. Both stand as issues in the table extraction_issues, day by day."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.schema.readings import DEAD_LETTER, PENDING
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.extraction import EXTRACTION_ISSUES
from em_pipelines.storage.lake import Lake


@dataclass(frozen=True, slots=True)
class UnreadSegment:
    """A segment with messages that were not read; `status` is PENDING or DEAD_LETTER, `reason` why, in a word."""

    segment_id: str
    user_id: str
    session_id: str
    day: date
    status: str
    reason: str
    n_messages: int


def unread_segments(lake: Lake, days: Iterable[date] | None = None) -> list[UnreadSegment]:
    """The unread segments of some days, or of all, in order of day, user and session."""
    unread_statuses = pa.array([PENDING, DEAD_LETTER])
    counts: Counter[tuple[str, ...]] = Counter()
    of_day: dict[tuple[str, ...], date] = {}
    for day in lake.days(EXTRACTION_ISSUES) if days is None else days:
        issues = lake.read(EXTRACTION_ISSUES, day)
        for row in rows_of(issues.filter(pc.is_in(issues["issue"], value_set=unread_statuses))):
            key = (row["user_id"], row["session_id"], row["segment_id"], row["issue"], row["reason"])
            counts[key] += 1
            of_day[key] = day
    unread = [
        UnreadSegment(segment, user, session, of_day[key], status, reason, counts[key])
        for key in counts
        for user, session, segment, status, reason in [key]
    ]
    return sorted(unread, key=lambda s: (s.day, s.user_id, s.session_id, s.segment_id))
