from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.extraction.segmentation import (
    SegmentationSettings,
    Session,
    read_segments,
    segment_objects,
    segment_session,
    segments,
)
from em_pipelines.language.cleaning import n_tokens
from em_pipelines.schema.readings import Turn
from em_pipelines.schema.tables.clean import MESSAGES


def turns_of(lengths: list[int]) -> list[Turn]:
    when = datetime(2026, 3, 5, tzinfo=UTC)
    return [Turn(f"m{n}", n, "user", "user", "x" * length, when) for n, length in enumerate(lengths)]


@given(st.lists(st.integers(min_value=0, max_value=200), max_size=30), st.integers(min_value=1, max_value=40))
def test_every_turn_is_in_exactly_one_segment_within_the_limit(lengths: list[int], limit: int) -> None:
    turns = turns_of(lengths)
    settings = SegmentationSettings(max_segment_tokens=limit)
    segments = segment_session(turns, Session("u", "s"), settings)
    assert [turn for segment in segments for turn in segment.turns] == turns
    for segment in segments:
        assert len(segment.turns) == 1 or sum(n_tokens(turn.text) for turn in segment.turns) <= limit
    assert len({segment.segment_id for segment in segments}) == len(segments)


def test_segments_are_the_same_in_whatever_order_the_turns_come() -> None:
    turns = turns_of([50, 60, 70])
    assert segment_session(turns[::-1], Session("u", "s")) == segment_session(turns, Session("u", "s"))


def test_segment_id_follows_its_content() -> None:
    first, other = (segment_session(turns_of([n]), Session("u", "s"))[0] for n in (5, 6))
    assert first.segment_id != other.segment_id


def test_context_is_what_came_before() -> None:
    settings = SegmentationSettings(max_segment_tokens=10, n_context_turns=2)
    segments = segment_session(turns_of([40, 40, 40, 40]), Session("u", "s"), settings)
    assert [turn.turn_number for turn in segments[3].context] == [1, 2]
    assert segments[0].context == ()


@pytest.mark.parametrize(("role", "n_segments"), [("user", 4), ("assistant", 2), ("tool", 1)])
def test_what_no_model_is_shown_fills_no_segment(role: str, n_segments: int) -> None:
    turns = turns_of([2000, 40] * 4)
    answered = [replace(turn, role=role, subject=None) if len(turn.text) > 40 else turn for turn in turns]
    settings = SegmentationSettings(max_segment_tokens=510 if role == "user" else 420)
    assert len(segment_session(turns if role == "user" else answered, Session("u", "s"), settings)) == n_segments


def test_tokens_are_characters_by_four_rounded_up() -> None:
    assert [n_tokens("x" * n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]


@given(
    said=st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("rs"), st.integers(0, 90)), max_size=25),
    limit=st.integers(min_value=1, max_value=40),
    n_context_turns=st.integers(min_value=0, max_value=5),
)
def test_what_is_read_from_the_table_of_segments_is_what_was_packed(
    rows_of: Callable[..., pa.Table], said: list[tuple[str, str, int]], limit: int, n_context_turns: int
) -> None:
    settings = SegmentationSettings(max_segment_tokens=limit, n_context_turns=n_context_turns)
    rows: list[dict[str, Any]] = [
        {
            "user_id": user, "session_id": session, "turn_number": n, "message_id": f"m{n}", "content": "x" * length,
            "channel": "voice" if session == "s" else "text",
        }
        for n, (user, session, length) in enumerate(said)
    ]  # fmt: skip
    messages = rows_of(MESSAGES, *rows) if rows else MESSAGES.empty()
    packed = list(segment_objects(messages, settings))
    assert list(read_segments(segments(messages, settings), messages, n_context_turns)) == packed
