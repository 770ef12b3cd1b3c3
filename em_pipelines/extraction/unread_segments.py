"""Messages that no model has read yet: pending ones, which the next run asks for again, dead letters, which wait for a
replay, and those in languages that rules do not read. Each is an issue in the table extraction_issues, day by day."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.schema.readings import DEAD_LETTER, OTHER_LANGUAGE, PENDING
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.extraction import EXTRACTION_ISSUES
from em_pipelines.storage.lake import Lake


@dataclass(frozen=True, slots=True)
class UnreadSegment:
    """A segment with messages that were not read; `status` is PENDING or DEAD_LETTER, `reason` why, in a word, and
    `detail` in a sentence; empty where it was read by an earlier version. Where there are several, those
    of most messages."""

    segment_id: str
    user_id: str
    session_id: str
    day: date
    status: str
    reason: str
    n_messages: int
    detail: str = ""


_KEY = ("segment_id", "user_id", "session_id", "issue")


def causes(unread: Iterable[UnreadSegment]) -> list[str]:
    """Why messages were not read, those reasons first that most messages have: a sentence each, with the endpoint's own
    words and what to do where they are known."""
    counts: Counter[str] = Counter()
    for segment in unread:
        counts[segment.detail or segment.reason] += segment.n_messages
    return [cause for cause, _ in counts.most_common()]


def unread_segments(lake: Lake, days: Iterable[date] | None = None) -> list[UnreadSegment]:
    """The unread segments of some days, or of all, in order of day, user and session."""
    unread_statuses = pa.array([PENDING, DEAD_LETTER])
    found: dict[tuple[Any, ...], Counter[tuple[str, str]]] = defaultdict(Counter)
    for day in lake.days(EXTRACTION_ISSUES) if days is None else days:
        issues = lake.read(EXTRACTION_ISSUES, day)
        for row in rows_of(issues.filter(pc.is_in(issues["issue"], value_set=unread_statuses))):
            found[day, *(row[name] for name in _KEY)][row["reason"], row["detail"] or ""] += 1
    unread = []
    for (day, segment, user, session, status), whys in found.items():
        reason, detail = whys.most_common(1)[0][0]
        unread.append(UnreadSegment(segment, user, session, day, status, reason, whys.total(), detail))
    return sorted(unread, key=lambda s: (s.day, s.user_id, s.session_id, s.segment_id))


def unread_languages(lake: Lake, days: Iterable[date] | None = None) -> dict[str, dict[str, int]]:
    """How many messages wait for a model since rules read English alone: by user and by language (ISO 639-1), most
    first; of some days, or of all. Users of whom none wait are left out, and a home that a model reads has none."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for day in lake.days(EXTRACTION_ISSUES) if days is None else days:
        for row in rows_of(lake.find(EXTRACTION_ISSUES, day, "reason", [OTHER_LANGUAGE])):
            counts[row["user_id"]][row["detail"]] += 1
    return {user: dict(sorted(counts[user].items(), key=lambda item: (-item[1], item[0]))) for user in sorted(counts)}


def sessions_with(reason: str, lake: Lake, days: Iterable[date]) -> set[tuple[str, str]]:
    """The conversations of some days (user and session) with an issue of a reason: UNTRUSTED_SESSION, of which nothing
    is learned, for one of their turns came from outside; TOO_LONG, with a message of which the end was not read."""
    return {
        (row["user_id"], row["session_id"])
        for day in days
        for row in rows_of(lake.find(EXTRACTION_ISSUES, day, "reason", [reason]))
    }
