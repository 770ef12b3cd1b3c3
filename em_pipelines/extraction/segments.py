"""Segments between their two forms: rows of the table `segments`, and the objects that extractors read."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pyarrow as pa

from em_pipelines.extraction.model import Segment, Turn
from em_pipelines.extraction.segmentation import SegmentationSettings, n_tokens, segment_session
from em_pipelines.lake import rows_of
from em_pipelines.tables.extraction import SEGMENTS

Row = dict[str, Any]


def segments(messages: pa.Table, settings: SegmentationSettings) -> pa.Table:
    """Packs one day's messages, session by session; returns the columns of `segments`. Every message is in one."""
    return SEGMENTS.from_rows(
        [
            {
                "segment_id": segment.segment_id,
                "user_id": segment.user_id,
                "session_id": segment.session_id,
                "first_turn": segment.turns[0].turn_number,
                "last_turn": segment.turns[-1].turn_number,
                "message_ids": [turn.message_id for turn in segment.turns],
                "n_tokens": sum(n_tokens(turn.text) for turn in segment.turns),
                "trust": segment.trust,
            }
            for segment in segment_objects(messages, settings)
        ]
    )


def segment_objects(messages: pa.Table, settings: SegmentationSettings) -> Iterator[Segment]:
    """The segments of one day's messages, in order of user, session and turn."""
    ordered = sorted(rows_of(messages), key=lambda row: (row["user_id"], row["session_id"], row["turn_number"]))
    for (user_id, session_id), group in groupby(ordered, key=lambda row: (row["user_id"], row["session_id"])):
        rows = list(group)
        yield from segment_session(
            [_turn(row) for row in rows],
            user_id=user_id,
            session_id=session_id,
            channel=rows[0]["channel"],
            trust=rows[0]["trust"],
            settings=settings,
        )


def _turn(row: Row) -> Turn:
    return Turn(
        message_id=row["message_id"],
        turn_number=row["turn_number"],
        role=row["role"],
        subject=row["subject"],
        text=row["content"],
        timestamp=row["timestamp"],
        has_code=row["has_code"],
    )
