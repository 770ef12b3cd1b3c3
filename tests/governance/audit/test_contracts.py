"""The contract of a table over its files: days together, damaged files, foreign columns, other stores."""

from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from em_pipelines.errors import CorruptTableError
from em_pipelines.governance.audit.contracts import check_days, check_table, newest_rows
from em_pipelines.schema.expectations import ColumnsMatch, RowsPerDay, Unique, misfit
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.storage.duckdb_engine import Query, connect
from em_pipelines.storage.lake import Lake

Rows = Callable[..., pa.Table]
DAYS = [date(2026, 3, 1) + timedelta(days=n) for n in range(3)]


@pytest.fixture(params=["disk", "object store"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake" if request.param == "disk" else f"memory://{tmp_path.name}/lake")


@pytest.fixture
def local(tmp_path: Path) -> Lake:
    return Lake(tmp_path / "lake")


def write_claims(lake: Lake, rows_of: Rows, *ids: tuple[str, ...]) -> None:
    for day, names in zip(DAYS, ids, strict=False):
        lake.write(CLAIMS, day, rows_of(CLAIMS, *({"claim_id": name} for name in names)))


def test_days_are_looked_at_together(lake: Lake, rows_of: Rows) -> None:
    write_claims(lake, rows_of, ("a", "b"), ("c",), ("d",))
    found = check_days(lake, CLAIMS, DAYS)
    assert (found.is_success, found.n_rows, found.n_days) == (True, 4, 3)
    write_claims(lake, rows_of, ("a", "b"), ("a",), ("b",))
    (broken,) = check_days(lake, CLAIMS, DAYS).broken
    assert (broken.expectation, broken.found) == (Unique(("claim_id",)), "4 rows break it")
    assert check_days(lake, CLAIMS, DAYS[1:]).is_success, "of the days that are not asked for nothing is known"


def test_no_days_and_days_without_partition_pass(lake: Lake, rows_of: Rows) -> None:
    assert check_days(lake, CLAIMS, []).is_success
    assert check_days(lake, CLAIMS, DAYS).n_rows == 0
    assert check_table(lake, CLAIMS).is_success


def test_each_day_has_its_rows(lake: Lake, rows_of: Rows) -> None:
    for day in DAYS:
        lake.write(MESSAGES, day, MESSAGES.empty())
    (broken,) = check_days(lake, MESSAGES, DAYS).broken
    assert (broken.expectation, broken.found) == (RowsPerDay(1), "found 0")


def test_files_of_other_columns_are_broken_and_the_others_are_looked_at(local: Lake, rows_of: Rows) -> None:
    write_claims(local, rows_of, ("a", "b"), ("c",), ("c",))
    path = local.path(CLAIMS, DAYS[0])
    pq.write_table(pq.read_table(path, partitioning=None).drop_columns(["relation"]), path)
    columns, unique = check_days(local, CLAIMS, DAYS).broken
    assert columns.expectation == ColumnsMatch(CLAIMS.schema)
    assert columns.found == (
        "in 1 of 3 files its columns differ from the declared schema, first 2026-03-01: missing: relation"
    )
    assert unique.found == "2 rows break it"


def test_a_file_of_other_types_is_broken(local: Lake, rows_of: Rows) -> None:
    write_claims(local, rows_of, ("a",))
    rows = rows_of(CLAIMS, {})
    place = CLAIMS.schema.get_field_index("polarity")
    pq.write_table(rows.set_column(place, "polarity", pa.array(["plus"])), local.path(CLAIMS, DAYS[0]))
    (broken,) = check_days(local, CLAIMS, DAYS[:1]).broken
    assert broken.found.endswith("first 2026-03-01: of another type: polarity")


@pytest.mark.parametrize("left", [lambda data: data[: len(data) // 2], lambda _: b"", lambda data: data[:4] + data[9:]])
def test_a_file_that_cannot_be_read_is_an_error_that_says_which(
    left: Callable[[bytes], bytes], local: Lake, rows_of: Rows
) -> None:
    write_claims(local, rows_of, ("a",), ("b",), ("c",))
    path = Path(local.path(CLAIMS, DAYS[1]))
    path.write_bytes(left(path.read_bytes()))
    with pytest.raises(CorruptTableError, match=r"(?s)reading claims of 2026-03-02: .*em repair --apply"):
        check_days(local, CLAIMS, DAYS)
    report = check_table(local, CLAIMS)
    assert not report.is_success
    assert report.sentences[0].startswith("reading claims of 2026-03-02: ")


def test_every_column_is_read_so_that_damage_in_any_is_seen(local: Lake, rows_of: Rows) -> None:
    """Of columns that may be anything the footer would tell all that is asked."""
    texts = [{"claim_id": f"c{n}", "over": f"{n * 7919 % 65537:x}" * 9} for n in range(4000)]
    local.write(CLAIMS, DAYS[0], rows_of(CLAIMS, *texts))
    path = Path(local.path(CLAIMS, DAYS[0]))
    group = pq.read_metadata(path).row_group(0)
    names = [group.column(n).path_in_schema for n in range(group.num_columns)]
    column = group.column(names.index("over"))
    data = bytearray(path.read_bytes())
    start = (column.dictionary_page_offset or column.data_page_offset) + 60
    data[start : start + 40] = bytes(40)
    path.write_bytes(bytes(data))
    with pytest.raises(CorruptTableError, match="reading claims of 2026-03-01"):
        check_days(local, CLAIMS, DAYS[:1])


def test_a_state_that_was_given_up_is_made_again_and_looked_at(tmp_path: Path, rows_of: Rows) -> None:
    lake = Lake(tmp_path / "lake", lambda table, day: bool(lake.write(table, day, rows)))
    rows = rows_of(EDGES, {})
    lake.write(EDGES, DAYS[0], rows)
    lake.thin(EDGES, DAYS[0])
    assert check_days(lake, EDGES, DAYS[:1]).n_rows == 1


def test_what_duckdb_writes_has_the_declared_columns(local: Lake, rows_of: Rows) -> None:
    with connect() as connection:
        connection.register("given", rows_of(EDGES, {}))
        local.write(EDGES, DAYS[0], Query(connection, "FROM given"))
    found = local.schema(EDGES, DAYS[0])
    assert found is not None
    assert found != EDGES.schema, "DuckDB has its own names for the items of lists"
    assert misfit(EDGES.schema, found) is None
    assert check_days(local, EDGES, DAYS[:1]).is_success


def test_the_newest_days_that_fit_are_loaded(lake: Lake, rows_of: Rows) -> None:
    write_claims(lake, rows_of, ("a", "b", "c"), ("d", "e"), ("f",))
    for max_rows, n_rows, days in ((6, 6, DAYS), (5, 3, DAYS[1:]), (3, 3, DAYS[1:]), (1, 1, DAYS[2:])):
        newest = newest_rows(lake, CLAIMS, max_rows)
        assert (newest.rows.num_rows, list(newest.days), newest.n_rows_there) == (n_rows, days, 6)
        assert newest.rows.schema == CLAIMS.schema


def test_of_a_day_that_is_too_large_so_many_rows_are_loaded(lake: Lake, rows_of: Rows) -> None:
    write_claims(lake, rows_of, ("a",), ("b", "c", "d"))
    newest = newest_rows(lake, CLAIMS, 2)
    assert (newest.rows.num_rows, newest.days, newest.n_rows_there) == (2, (DAYS[1],), 4)
    assert newest.rows.schema == CLAIMS.schema
