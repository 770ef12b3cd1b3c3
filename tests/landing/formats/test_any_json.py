"""Whatever JSON a file holds, no converter falls over it, and all of it is accounted for."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from em_pipelines.landing.registry import FORMATS

NAMES = """
messages role content timestamp mapping message parent children current_node chat_messages sender text type sessionId
speaker_a speaker_b session_1 session_1_date_time dia_id blip_caption kind user_id session_id id uuid turn_number
metadata created_at create_time tool_calls parts author attachments conversation speaker
"""
_names = st.sampled_from(NAMES.split())
_leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.sampled_from(["user", "assistant", "human", "tool_use", "feedback", "D1:1", "1:56 pm on 8 May, 2023"]),
)
_json = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_names, inner, max_size=6),
    max_leaves=25,
)
ALWAYS = ("native", "claude")
"""Formats of which `make test` asks, too."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(one.name, marks=() if one.name in ALWAYS else pytest.mark.slow) for one in FORMATS],
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(records=st.lists(_json, min_size=1, max_size=4), is_document=st.booleans())
def test_any_json_is_landed_or_refused(
    new_home: Callable[[str], Any], name: str, records: list[Any], is_document: bool
) -> None:
    home = new_home("any")
    data = orjson.dumps(records) if is_document else b"\n".join(orjson.dumps(record) for record in records)
    report = home.land_data("any.json", data, format=name, user_id="ada")
    assert report.n_rows == report.n_landed + report.n_duplicates + report.n_refused
