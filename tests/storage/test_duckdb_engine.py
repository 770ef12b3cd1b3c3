"""Scratch connections: one database a process, and nothing of one is another's."""

import duckdb
import pyarrow as pa
import pytest

from em_pipelines.storage.duckdb_engine import bind, fetch, scalar, scratch

MADE = (
    "CREATE OR REPLACE TEMP TABLE made AS SELECT 1 AS x",
    "CREATE OR REPLACE TEMP VIEW made AS SELECT 1 AS x",
)


def test_two_see_nothing_of_each_other() -> None:
    with scratch() as one, scratch() as other:
        for connection, value in ((one, 1), (other, 2)):
            bind(connection, "rows", pa.table({"x": [value]}))
            connection.execute("SET VARIABLE x = ?", [value])
            connection.execute(f"CREATE OR REPLACE TEMP MACRO plus(n) AS n + {value}")
        for connection, value in ((one, 1), (other, 2)):
            assert fetch(connection, "FROM rows").to_pylist() == [{"x": value}]
            assert scalar(connection, "SELECT getvariable('x')") == value
            assert scalar(connection, "SELECT plus(10)") == 10 + value


@pytest.mark.parametrize("statement", MADE)
def test_what_one_made_is_gone_with_it(statement: str) -> None:
    with scratch() as one:
        one.execute(statement)
        bind(one, "rows", pa.table({"x": [1]}))
        with scratch() as beside, pytest.raises(duckdb.CatalogException):
            beside.execute("FROM made")
    with scratch() as later:
        for name in ("made", "rows"):
            with pytest.raises(duckdb.CatalogException):
                later.execute(f"FROM {name}")


def test_instants_are_read_as_utc_in_each() -> None:
    with scratch() as one:
        one.execute("SET TimeZone = 'Asia/Tokyo'")
    with scratch() as later:
        assert scalar(later, "SELECT current_setting('TimeZone')") == "UTC"
