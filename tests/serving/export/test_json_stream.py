"""The stream of JSON values against a parser that reads the whole text at once."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.serving.export import json_stream
from em_pipelines.serving.export.json_stream import BrokenJsonError, JsonStream

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(TEXT, st.lists(VALUES, max_size=4), max_size=4)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "CHUNK_CHARACTERS", 3)


def walked(text: str) -> dict[str, list[Any]]:
    stream = JsonStream(io.StringIO(text), 1_000_000)
    found = {name: list(stream.elements()) for name in stream.members()}
    stream.end()
    return found


@pytest.mark.slow
@given(OBJECTS, st.sampled_from([None, 0, 2, "\t"]))
def test_it_reads_what_a_parser_reads(value: dict[str, list[Any]], indent: Any) -> None:
    assert walked(json.dumps(value, indent=indent)) == value
    assert walked(json.dumps(value, indent=indent, ensure_ascii=False)) == value


@given(OBJECTS, st.data())
def test_no_beginning_passes_for_the_whole(value: dict[str, list[Any]], data: st.DataObject) -> None:
    text = json.dumps(value)
    with pytest.raises(BrokenJsonError, match="line 1: "):
        walked(text[: data.draw(st.integers(0, len(text) - 1))])


@given(VALUES, VALUES)
def test_what_is_passed_over_may_be_anything(first: Any, second: Any) -> None:
    stream = JsonStream(io.StringIO(json.dumps({"a": first, "b": second})), 1_000_000)
    found = {}
    for name in stream.members():
        found[name] = stream.skip() if name == "a" else stream.value()
    stream.end()
    assert found == {"a": None, "b": second}


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found: Any = json.loads(text, parse_constant=lambda name: 1 / 0)
    except (ValueError, ZeroDivisionError):
        found = None
    is_fit = isinstance(found, dict) and all(isinstance(value, list) for value in found.values())
    if is_fit:
        assert walked(text) == found
    else:
        with pytest.raises(BrokenJsonError):
            walked(text)


def test_it_says_the_line() -> None:
    with pytest.raises(BrokenJsonError, match="line 3: expected ',', found 'x'"):
        walked('{"a":\n[1,\n2 x]}')
