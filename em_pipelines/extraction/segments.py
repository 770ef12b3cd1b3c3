"""From the tables `segments` and `messages` back to the objects that extractors read."""

from collections import defaultdict
from collections.abc import Iterator
from typing import cast

import pyarrow as pa

from em_pipelines.schema.readings import Segment, Turn
from em_pipelines.schema.rows import MessageRow, SegmentRow
from em_pipelines.schema.table import rows_of


def read_segments(segments: pa.Table, messages: pa.Table, n_context_turns: int) -> Iterator[Segment]:
    """The day's segments in order of user, session and turn, each with the turns of its session that were said before.

    `segments` and `messages` have the columns of their tables. Raises KeyError for a segment of a message that is not
    there: the tables are of different days.
    """
    rows = {row["message_id"]: row for row in cast("Iterator[MessageRow]", rows_of(messages))}
    before: dict[tuple[str, str], list[Turn]] = defaultdict(list)
    packed = cast("Iterator[SegmentRow]", rows_of(segments))
    ordered = sorted(packed, key=lambda row: (row["user_id"], row["session_id"], row["first_turn"]))
    for row in ordered:
        earlier = before[row["user_id"], row["session_id"]]
        turns = [turn_of(rows[message_id]) for message_id in row["message_ids"]]
        opening = earlier[0] if earlier else turns[0]
        yield Segment(
            segment_id=row["segment_id"],
            user_id=row["user_id"],
            session_id=row["session_id"],
            channel=rows[opening.message_id]["channel"],
            turns=tuple(turns),
            context=tuple(earlier[max(0, len(earlier) - n_context_turns) :]),
            trust=row["trust"],
        )
        earlier += turns


def turn_of(row: MessageRow) -> Turn:
    """A row of `messages` as an extractor sees it."""
    return Turn(
        message_id=row["message_id"],
        turn_number=row["turn_number"],
        role=row["role"],
        subject=row["subject"],
        text=row["content"],
        timestamp=row["timestamp"],
        has_code=row["has_code"],
    )
