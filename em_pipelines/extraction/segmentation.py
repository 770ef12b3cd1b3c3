"""Stage 1, packing: consecutive turns of one session become segments, the unit of one extraction call."""

from collections.abc import Iterator, Sequence

from pydantic import BaseModel, ConfigDict, Field

from em_pipelines.extraction.model import Segment, Turn
from em_pipelines.ids import content_id


class SegmentationSettings(BaseModel):
    """How large a segment may grow."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    max_segment_tokens: int = Field(default=1500, ge=1)
    """Turns of a session are packed up to this size, estimated as characters ÷ 4."""
    n_context_turns: int = Field(default=4, ge=0)
    """Earlier turns of the session handed over with a segment, to be read but not extracted from."""


def n_tokens(text: str) -> int:
    """Estimates tokens as characters ÷ 4, rounded up: an estimate that needs no model's vocabulary."""
    return -(-len(text) // 4)


def segment_session(
    turns: Sequence[Turn],
    *,
    user_id: str,
    session_id: str,
    channel: str = "text",
    trust: str = "trusted",
    settings: SegmentationSettings | None = None,
) -> list[Segment]:
    """Packs the turns of one session, in turn order, into as few segments as the token limit allows.

    Every turn is in exactly one segment. A turn above the limit makes a segment of its own.
    """
    settings = settings or SegmentationSettings()
    ordered = sorted(turns, key=lambda turn: turn.turn_number)
    segments: list[Segment] = []
    n_before = 0
    for packed in _packed(ordered, settings.max_segment_tokens):
        context = ordered[max(0, n_before - settings.n_context_turns) : n_before]
        parts = [part for turn in packed for part in (turn.message_id, turn.role, turn.subject, turn.text)]
        segments.append(
            Segment(
                segment_id=content_id("seg", user_id, session_id, *parts),
                user_id=user_id,
                session_id=session_id,
                channel=channel,
                turns=tuple(packed),
                context=tuple(context),
                trust=trust,
            )
        )
        n_before += len(packed)
    return segments


def _packed(turns: Sequence[Turn], limit: int) -> Iterator[list[Turn]]:
    packed: list[Turn] = []
    total = 0
    for turn in turns:
        size = n_tokens(turn.text)
        if packed and total + size > limit:
            yield packed
            packed, total = [], 0
        packed.append(turn)
        total += size
    if packed:
        yield packed
