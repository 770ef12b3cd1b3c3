"""DuckDB as the engine's executor of set-based steps: connections, and SQL kept in files beside the modules."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import duckdb
import pyarrow as pa


def connect(path: str = ":memory:", *, is_read_only: bool = False) -> duckdb.DuckDBPyConnection:
    """Opens a DuckDB connection that never reaches for the network and reads instants as UTC.

    DuckDB would otherwise try to download extensions it meets the names of.
    """
    connection = duckdb.connect(
        path,
        read_only=is_read_only,
        config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"},
    )
    connection.execute("SET TimeZone = 'UTC'")
    return connection


@cache
def statement(folder: Path, name: str) -> str:
    """The text of `folder/sql/name.sql`."""
    return (folder / "sql" / f"{name}.sql").read_text(encoding="utf-8")


@contextmanager
def registered(connection: duckdb.DuckDBPyConnection, tables: Mapping[str, pa.Table]) -> Iterator[None]:
    """Lets SQL see Arrow tables by name, for as long as the block lasts."""
    for name, rows in tables.items():
        connection.register(name, rows)
    try:
        yield
    finally:
        for name in tables:
            connection.unregister(name)


def fetch(connection: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """Runs a query and returns all of its rows as one Arrow table."""
    return connection.sql(sql).to_arrow_table()


def scalar(connection: duckdb.DuckDBPyConnection, sql: str) -> object:
    """Runs a query of one row and one column and returns its value.

    Fetches all: a result that has not been read to its end keeps the connection from any other work.
    """
    return connection.execute(sql).fetchall()[0][0]
