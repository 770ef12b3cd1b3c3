"""What people write around the generated part of a file stays theirs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.lifecycle.consolidation.documents.blocks import (
    BEGIN,
    END,
    DamagedBlockError,
    parts,
    with_block,
)

OWN = st.text(st.sampled_from("ab \n\r#-<>!é"), max_size=30).map(str.encode)
BLOCK = st.text(st.sampled_from("xy\n- "), min_size=1, max_size=30).map(lambda text: f"{text}z\n")


@given(OWN, BLOCK, BLOCK)
def test_what_people_wrote_comes_back_byte_for_byte(own: bytes, first: str, second: str) -> None:
    once = with_block(own, first)
    again = with_block(once, second)

    assert with_block(again, "") == own
    assert with_block(again, first) == once
    assert with_block(once, first) == once


@given(OWN, OWN, BLOCK, BLOCK)
def test_what_people_write_behind_it_stays_too(own: bytes, behind: bytes, first: str, second: str) -> None:
    file = with_block(own, first) + behind

    assert with_block(with_block(file, second), first) == with_block(file, first)
    assert with_block(file, "") == own + behind


def test_it_is_appended_on_lines_of_its_own() -> None:
    made = with_block(b"# Mine", "hello\n").decode().splitlines()

    assert made[0] == "# Mine"
    assert made[2:] == ["hello", END]
    assert with_block(b"# Mine\n", "hello\n").decode().splitlines() == ["# Mine", BEGIN, "hello", END]


def test_its_lines_end_as_those_of_the_file() -> None:
    made = with_block(b"# Mine\r\n", "one\ntwo\n")

    assert made.count(b"\r\n") == made.count(b"\n") == 5
    assert with_block(made, "three\n") == with_block(b"# Mine\r\n", "three\n")


@pytest.mark.parametrize("own", [b"them:end of it\n", b"system:beginning\n"])
def test_words_that_end_alike_are_no_markers(own: bytes) -> None:
    assert parts(own) == (own, b"", False)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (BEGIN.encode(), "damaged"),
        (END.encode(), "damaged"),
        (f"{END}\n{BEGIN}\n".encode(), "damaged"),
        (f"{BEGIN}\nx\n{END}\n{BEGIN}\ny\n{END}\n".encode(), "more than once"),
        (f"{BEGIN}\nx\n{BEGIN}\ny\n{END}\n".encode(), "damaged"),
        (f"{BEGIN}\nx\n{END}\n".replace("-->", "->").encode(), "damaged"),
        (f"> {BEGIN}\nx\n> {END}\n".encode(), "damaged"),
        ("Grüße".encode("latin-1"), "UTF-8"),
    ],
)
def test_a_file_that_cannot_be_told_apart_is_refused(data: bytes, found: str) -> None:
    with pytest.raises(DamagedBlockError, match=found):
        with_block(data, "anything\n")
