"""Readers check what they read: a partition with a flipped bit is refused by name, wherever the bit is."""

import os
import random
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from em_pipelines.errors import CorruptTableError
from em_pipelines.schema.table import INT, TEXT, Table, col
from em_pipelines.storage.duckdb_engine import Query, connect
from em_pipelines.storage.lake import IN_MEMORY_ROWS, Lake

DAY = date(2026, 3, 1)
PAIRS = Table(
    name="pairs",
    group="graph",
    about="Two columns to sort by.",
    columns=(col("user_id", TEXT, "whose"), col("n", INT, "which")),
    key=("user_id", "n"),
    sort_by=("user_id", "n"),
)
READERS: dict[str, Callable[[Lake], object]] = {
    "read": lambda lake: lake.read(PAIRS, DAY),
    "scan": lambda lake: lake.scan(PAIRS, DAY),
    "find": lambda lake: lake.find(PAIRS, DAY, "user_id", ["u7"]),
    "head": lambda lake: lake.head(PAIRS, DAY, ["n"], 3),
    "local_file": lambda lake: lake.local_file(PAIRS, DAY),
}


def written(root: Path, sql: str, *, is_query: bool) -> Path:
    with connect() as connection:
        rows = Query(connection, sql)
        Lake(root).write(PAIRS, DAY, rows if is_query else rows.to_table(), "a" * 64)
    return Path(Lake(root).path(PAIRS, DAY))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("is_query", [False, True], ids=["from Arrow", "from DuckDB"])
def test_a_bit_that_is_flipped_anywhere_is_refused(reader: str, is_query: bool, tmp_path: Path) -> None:
    sql = "SELECT 'u' || (range % 9) AS user_id, range AS n FROM range(300)"
    path = written(tmp_path, sql, is_query=is_query)
    whole = path.read_bytes()
    for bit in random.Random(7).sample(range(8 * len(whole)), 60):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        if b"em.footer_digest" not in flipped:
            continue  # the name of the seal itself: nothing else is changed
        path.write_bytes(flipped)
        with pytest.raises(CorruptTableError, match=r"pairs of 2026-03-01: .*`em repair --apply` makes .*pairs"):
            READERS[reader](Lake(tmp_path))
    path.write_bytes(whole)
    READERS[reader](Lake(tmp_path))


def test_a_state_that_is_handed_over_unread_is_checked_too(tmp_path: Path) -> None:
    path = written(tmp_path, f"SELECT 'u' AS user_id, range AS n FROM range({IN_MEMORY_ROWS + 1})", is_query=True)
    assert pq.read_metadata(path).num_rows == IN_MEMORY_ROWS + 1
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(CorruptTableError, match="its rows are not those that were written"):
        Lake(tmp_path).scan(PAIRS, DAY)


def test_a_file_is_held_against_its_digests_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "SELECT 'u' AS user_id, 1 AS n", is_query=False)
    lake = Lake(tmp_path)
    lake.read(PAIRS, DAY)
    seen: list[object] = []
    monkeypatch.setattr("em_pipelines.storage.lake.check_whole", seen.append)
    lake.read(PAIRS, DAY)
    assert seen == []
    os.utime(lake.path(PAIRS, DAY), ns=(1, 1))
    lake.read(PAIRS, DAY)
    assert len(seen) == 1


def test_a_flipped_digit_of_a_noted_footer_is_not_believed(tmp_path: Path) -> None:
    path = written(tmp_path, "SELECT 'u' AS user_id, 1 AS n", is_query=False)
    os.utime(path, ns=(10**15, 10**15))
    lake = Lake(tmp_path)
    wanted = lake.info(PAIRS, DAY)
    lake.keep_footers()
    notes = tmp_path / ".footers.json"
    whole = notes.read_bytes()
    for place in range(whole.index(b":") + 2, len(whole) - 2):
        notes.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert Lake(tmp_path).info(PAIRS, DAY) == wanted


def test_a_thinned_partition_says_what_it_said(tmp_path: Path) -> None:
    path = written(tmp_path, "SELECT 'u' AS user_id, 1 AS n", is_query=False)
    lake = Lake(tmp_path)
    before = lake.info(PAIRS, DAY)
    lake.thin(PAIRS, DAY)
    after = Lake(tmp_path).info(PAIRS, DAY)
    assert before is not None
    assert after is not None
    assert (after.content_digest, after.inputs_digest, after.n_rows) == (before.content_digest, "a" * 64, 1)
    data = bytearray(path.read_bytes())
    data[data.index(b"a" * 64)] ^= 1
    path.write_bytes(data)
    with pytest.raises(CorruptTableError, match="footer"):
        Lake(tmp_path).info(PAIRS, DAY)
