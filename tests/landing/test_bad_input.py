"""Input as it comes from the world: each bad thing is one dead letter, and what stands beside it lands."""

import gzip
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.landing.settings import LandingSettings

GOOD = (
    b'{"user_id":"ada","session_id":"s1","turn_number":0,"role":"user","content":"fine",'
    b'"timestamp":"2026-03-05T18:20:00Z"}'
)


def good_with(**fields: str) -> bytes:
    """The good line with JSON source put in for fields; turn 1, so that it is no duplicate."""
    parts = {k: orjson.dumps(v).decode() for k, v in orjson.loads(GOOD).items()} | {"turn_number": "1"} | fields
    return ("{" + ",".join(f'"{k}":{v}' for k, v in parts.items()) + "}").encode()


BAD_LINES = {
    "truncated": (GOOD[:40], "invalid_json"),
    "prose": (b"hello there", "invalid_json"),
    "NaN": (good_with(turn_number="NaN"), "invalid_json"),
    "infinity": (good_with(turn_number="1e999"), "invalid_json"),
    "lone surrogate": (good_with(content='"\\ud800"'), "invalid_json"),
    "deep nesting": (b"[" * 100_000, "invalid_json"),
    "deep nesting, closed": (b"[" * 100_000 + b"]" * 100_000, "invalid_json"),
    "deep nesting in a field": (good_with(content="[" * 1000 + "]" * 1000), "wrong_type"),
    "huge integer": (good_with(turn_number="9" * 400), "invalid_json"),
    "large integer": (good_with(turn_number="9" * 30), "wrong_type"),
    "largest unsigned": (good_with(turn_number=str(2**64 - 1)), "invalid_field"),
    "latin-1": (good_with(content='"caf\u00e9"').decode().encode("latin-1"), "not_utf8"),
    "a list": (b"[1, 2]", "not_an_object"),
    "a string": (b'"x"', "not_an_object"),
    "null": (b"null", "not_an_object"),
    "an empty object": (b"{}", "missing_user"),
    "a missing field": (good_with(role="null"), "missing_field"),
    "a wrong type": (good_with(turn_number='"3"'), "wrong_type"),
    "a bool for a number": (good_with(turn_number="true"), "wrong_type"),
    "turn minus one": (good_with(turn_number="-1"), "invalid_field"),
    "a future date": (good_with(timestamp='"2999-01-01T00:00:00Z"'), "future_date"),
    "no offset": (good_with(timestamp='"2026-03-05T18:20:00"'), "invalid_field"),
    "10 MB": (good_with(content='"' + "x" * 10_000_000 + '"'), "line_too_long"),
    "a raw NUL": (good_with(content='"a\x00b"') + b" " * 10, "invalid_json"),
}


@pytest.mark.parametrize(("line", "reason"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_bad_line_is_one_dead_letter_and_its_neighbours_land(home: Any, line: bytes, reason: str) -> None:
    # The head of the file is good for 64 KiB, so that a NUL further on is a bad line, not a binary file.
    filler = b'{"kind":"world_event","title":"x","timestamp":"2026-03-05T18:20:00Z"}\n' * 1000
    after = GOOD.replace(b'"turn_number":0', b'"turn_number":7')
    report = home.land_data("a.jsonl", filler + GOOD + b"\n" + line + b"\n" + after)
    assert report.n_dead_letters == {reason: 1}
    letter = home.the_letter()
    assert letter["line_number"] == 1002
    assert letter["detail"]
    assert [r["turn_number"] for r in home.landed()] == [0, 7]
    if reason == "line_too_long":
        assert len(letter["raw"]) == LandingSettings().max_letter_bytes
    else:
        assert letter["raw"] == line


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty_file"),
        (b"\n  \n\t", "empty_file"),
        (b"\x7fELF\x02\x01\x00\x00" + bytes(9000), "binary_file"),
        (GOOD.decode().encode("utf-16-le"), "binary_file"),
        (gzip.compress(GOOD, mtime=0)[:-4], "broken_gzip"),
    ],
)
def test_a_bad_file_is_one_dead_letter_at_line_one(home: Any, data: bytes, reason: str) -> None:
    report = home.land_data("a.jsonl", data)
    assert report.n_dead_letters == {reason: 1}
    letter = home.the_letter()
    assert letter["line_number"] == 1
    assert len(letter["raw"]) <= 4096
    assert letter["file"].endswith("a.jsonl")


@pytest.mark.parametrize(
    "encode", [lambda b: b"\xef\xbb\xbf" + b, lambda b: b.decode().encode("utf-16"), gzip.compress]
)
def test_marks_recoding_and_packing_change_nothing(home: Any, encode: Any) -> None:
    report = home.land_data("a.jsonl", encode(GOOD + b"\r\n\r\n" + GOOD))
    assert (report.n_landed, report.n_duplicates, report.n_refused) == (1, 1, 0)


def test_of_a_key_given_twice_the_last_value_counts(home: Any) -> None:
    home.land_data("a.jsonl", GOOD[:-1] + b',"content":"second"}')
    assert [r["content"] for r in home.landed()] == ["second"]


def test_an_escaped_nul_and_odd_characters_in_content_are_kept(home: Any, message: Any) -> None:
    content = "a\x00b\u202e\U0001f600\u2028"
    home.land_data("a.jsonl", [message(content=content)])
    assert [r["content"] for r in home.landed()] == [content]


def test_a_file_whose_name_is_no_unicode_is_named_in_its_letter(home: Any) -> None:
    path = Path(str(home.write("x.jsonl", b"")).replace("x.jsonl", "caf\udce9.jsonl"))
    path.write_bytes(b"")
    home.land(path)
    assert home.the_letter()["file"].endswith(".jsonl")
