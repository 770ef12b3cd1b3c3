"""Footers that are kept from one process to the next: believed while their files stay, and of no others."""

import os
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.storage.lake import Lake
from em_pipelines.storage.staleness import FOOTER_NOTES, INCOMPLETE, FooterNotes, PartitionInfo

DAY = date(2026, 3, 1)
HOUR_NS = 3_600_000_000_000
DIGESTS = st.text("0123456789abcdef", min_size=64, max_size=64)
INFOS = st.builds(
    PartitionInfo, DIGESTS, st.one_of(DIGESTS, st.sampled_from(["", INCOMPLETE])), st.integers(0, 2**40), st.booleans()
)
LONG_AGO = (17, 1_000, 4_096)


@pytest.fixture
def footers_read(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How many footers were read from files since the last time it was asked."""
    read = pq.read_metadata
    seen: list[object] = []

    def counted(handle: object) -> object:
        seen.append(handle)
        return read(handle)

    monkeypatch.setattr(pq, "read_metadata", counted)

    def n_read() -> int:
        found = len(seen)
        seen.clear()
        return found

    return n_read


def lake_with_a_day(path: Path) -> Lake:
    lake = Lake(path)
    lake.write(EDGES, DAY, EDGES.empty(), "a" * 64)
    long_ago = time.time_ns() - HOUR_NS
    os.utime(lake.path(EDGES, DAY), ns=(long_ago, long_ago))
    Lake(path).info(EDGES, DAY)
    return Lake(path)


@given(INFOS)
def test_what_is_noted_is_given_back(tmp_path_factory: pytest.TempPathFactory, info: PartitionInfo) -> None:
    path = tmp_path_factory.mktemp("notes") / FOOTER_NOTES
    FooterNotes(path).save([("edges/2026-03-01.parquet", LONG_AGO, info)])
    assert FooterNotes(path).of("edges/2026-03-01.parquet", LONG_AGO) == info
    assert FooterNotes(path).of("edges/2026-03-01.parquet", (18, *LONG_AGO[1:])) is None
    assert FooterNotes(path).of("claims/2026-03-01.parquet", LONG_AGO) is None


def test_the_next_process_reads_no_footer_again(tmp_path: Path, footers_read: Callable[[], int]) -> None:
    lake = lake_with_a_day(tmp_path)
    known = lake.info(EDGES, DAY)
    lake.keep_footers()
    footers_read()
    assert Lake(tmp_path).info(EDGES, DAY) == known
    assert footers_read() == 0
    assert Lake(tmp_path).schema(EDGES, DAY) == EDGES.schema
    assert footers_read() == 1, "columns are not noted"


def test_of_a_file_that_was_replaced_the_footer_is_read(tmp_path: Path) -> None:
    lake = lake_with_a_day(tmp_path)
    lake.info(EDGES, DAY)
    lake.keep_footers()
    Lake(tmp_path).write(EDGES, DAY, EDGES.empty(), "b" * 64)
    found = Lake(tmp_path).info(EDGES, DAY)
    assert found is not None
    assert found.inputs_digest == "b" * 64


def test_of_a_file_that_changed_just_now_nothing_is_noted(tmp_path: Path, footers_read: Callable[[], int]) -> None:
    lake = Lake(tmp_path)
    lake.write(EDGES, DAY, EDGES.empty(), "a" * 64)
    lake.keep_footers()
    footers_read()
    Lake(tmp_path).info(EDGES, DAY)
    assert footers_read() == 1


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"0": 5}', b'{"edges": "x"}'])
def test_damaged_notes_say_nothing(damage: bytes, tmp_path: Path) -> None:
    lake = lake_with_a_day(tmp_path)
    known = lake.info(EDGES, DAY)
    lake.keep_footers()
    (tmp_path / FOOTER_NOTES).write_bytes(damage)
    other = Lake(tmp_path)
    assert other.info(EDGES, DAY) == known
    other.keep_footers()
    assert Lake(tmp_path).info(EDGES, DAY) == known


def test_a_word_that_was_cut_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / FOOTER_NOTES
    FooterNotes(path).save([("edges", LONG_AGO, PartitionInfo("a" * 64, "b" * 64, 3))])
    whole = path.read_bytes()
    for n_cut in (1, 40, 64, 65, 100, 140):
        path.write_bytes(whole[: -2 - n_cut] + b'"}')
        assert FooterNotes(path).of("edges", LONG_AGO) is None


def test_notes_hold_hexadecimal_words_alone_and_go_when_they_are_to_be_forgotten(tmp_path: Path) -> None:
    lake = lake_with_a_day(tmp_path)
    lake.info(EDGES, DAY)
    lake.keep_footers()
    path = tmp_path / FOOTER_NOTES
    assert set(path.read_text()) <= set('{}":,0123456789abcdef')
    lake.forget_footers()
    assert not path.exists()
    lake.info(EDGES, DAY)
    lake.keep_footers()
    assert path.exists()
