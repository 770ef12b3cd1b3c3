"""Rows of a query on their way to a file: sorted, whatever the query says of itself."""

from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.schema.table import INT, TEXT, Table, col
from em_pipelines.storage.duckdb_engine import Query, connect
from em_pipelines.storage.lake import Lake
from em_pipelines.storage.parquet_files import is_sorted

PAIRS = Table(
    name="pairs",
    group="graph",
    about="Two columns to sort by.",
    columns=(col("user_id", TEXT, "whose"), col("n", INT, "which")),
    key=("user_id", "n"),
    sort_by=("user_id", "n"),
)
ROWS = st.lists(st.tuples(st.sampled_from("abc"), st.integers(-3, 3)), max_size=12)


@given(rows=ROWS, group=st.integers(1, 4))
def test_order_is_seen_across_row_groups(rows: list[tuple[str, int]], group: int, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("pairs") / "pairs.parquet"
    users, numbers = [row[0] for row in rows], [row[1] for row in rows]
    table = pa.table({"user_id": pa.array(users, pa.string()), "n": pa.array(numbers, pa.int64())})
    pq.write_table(table, path, row_group_size=group)
    assert is_sorted(path, PAIRS) is (rows == sorted(rows))


@pytest.mark.parametrize(
    "sql",
    ["FROM range(200000) SELECT 'u' AS user_id, range AS n", "SELECT 'u' AS user_id, 9 - range AS n FROM range(10)"],
)
def test_what_is_said_to_be_ordered_is_believed_only_where_it_is(sql: str, tmp_path: Path) -> None:
    written = []
    for is_ordered in (True, False):
        lake = Lake(tmp_path / str(is_ordered))
        with connect() as connection:
            lake.write(PAIRS, date(2026, 3, 1), Query(connection, sql, is_ordered=is_ordered))
        written.append(lake.read(PAIRS, date(2026, 3, 1)))
    assert written[0].equals(written[1])
    numbers = written[0]["n"].to_pylist()
    assert numbers == sorted(numbers)
