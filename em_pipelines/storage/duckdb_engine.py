"""DuckDB as the engine's executor of set-based steps: connections, and SQL kept in files beside the modules."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import TypeAlias

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field


class EngineSettings(BaseModel):
    """What the set-based steps may take of the machine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    memory_limit_gb: float = Field(
        default=5.0, gt=0, description="memory of the steps that run as SQL, GB; beyond it they spill to HOME/tmp"
    )


@dataclass(frozen=True, slots=True)
class ParquetRows:
    """The rows of one Parquet file, not read yet; for SQL they are as good as a table in memory."""

    path: str


Rows: TypeAlias = pa.Table | ParquetRows


@dataclass(frozen=True, slots=True)
class Query:
    """Rows that a query gives when it is asked: to be taken before its connection is used for anything else.

    `is_ordered` says that they come in the order of the table that they are for, if it is asked to keep it.
    """

    connection: duckdb.DuckDBPyConnection
    sql: str
    is_ordered: bool = False

    def to_table(self) -> pa.Table:
        """All rows, in memory."""
        return fetch(self.connection, self.sql)


def in_memory(rows: pa.Table | Query) -> pa.Table:
    """The rows as a table, whether they were asked for yet or not."""
    return rows.to_table() if isinstance(rows, Query) else rows


def connect(
    path: str = ":memory:",
    *,
    is_read_only: bool = False,
    engine: EngineSettings | None = None,
    spill: Path | None = None,
) -> duckdb.DuckDBPyConnection:
    """Opens a DuckDB connection that never reaches for the network and reads instants as UTC.

    DuckDB would otherwise try to download extensions it meets the names of. `engine` bounds its memory; what does not
    fit goes to the folder `spill`, or nowhere.
    """
    config: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    config["temp_directory"] = str(spill) if spill else ""
    if engine:
        config["memory_limit"] = f"{engine.memory_limit_gb}GB"
    return _prepared(duckdb.connect(path, read_only=is_read_only, config=config))


def scratch() -> duckdb.DuckDBPyConnection:
    """Opens a connection for a short read over what is bound to it.

    All of them in a process share one database in memory, for making one costs 20 ms, more than most reads. Bound rows,
    variables and what is TEMP are the connection's own; nothing else may be made on it, and no file attached.
    """
    return _prepared(_shared(os.getpid()).cursor())


@cache
def _shared(_: int) -> duckdb.DuckDBPyConnection:
    """The database of a process, by its id: a child that was forked has none of its parent's threads."""
    return connect()


def _prepared(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    connection.execute("SET TimeZone = 'UTC'")
    with suppress(duckdb.InvalidInputException):  # of a notebook that cannot draw one, where there is none anyway
        connection.execute("SET enable_progress_bar = false")  # it would go to stdout, between our own words
    return connection


def bind(connection: duckdb.DuckDBPyConnection, name: str, rows: Rows) -> None:
    """Makes rows readable by SQL under a name; whatever had the name before is replaced."""
    if isinstance(rows, ParquetRows):
        quoted = rows.path.replace("'", "''")
        connection.execute(f"CREATE OR REPLACE TEMP VIEW {name} AS FROM read_parquet('{quoted}')")
    else:
        connection.execute(f"DROP VIEW IF EXISTS {name}")
        connection.register(name, rows)


@cache
def statement(folder: Path, name: str) -> str:
    """The text of `folder/sql/name.sql`."""
    return (folder / "sql" / f"{name}.sql").read_text(encoding="utf-8")


@contextmanager
def registered(connection: duckdb.DuckDBPyConnection, tables: Mapping[str, Rows]) -> Iterator[None]:
    """Lets SQL see rows by name, for as long as the block lasts."""
    for name, rows in tables.items():
        bind(connection, name, rows)
    try:
        yield
    finally:
        for name in tables:
            connection.execute(f"DROP VIEW IF EXISTS {name}")


def fetch(connection: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """Runs a query and returns all of its rows as one Arrow table."""
    return connection.sql(sql).to_arrow_table()


def scalar(connection: duckdb.DuckDBPyConnection, sql: str) -> object:
    """Runs a query of one row and one column and returns its value.

    Fetches all: a result that has not been read to its end keeps the connection from any other work.
    """
    return connection.execute(sql).fetchall()[0][0]


def dated(tables: Mapping[date, pa.Table], name: str) -> pa.Table:
    """The rows of all days, each with its day in a last column `name`: one statement does the work of a day for all.

    All have the same columns.
    """
    return pa.concat_tables(
        [
            table.append_column(name, pa.repeat(pa.scalar(day, pa.date32()), table.num_rows))
            for day, table in tables.items()
        ]
    )


def by_day(rows: pa.Table, name: str, days: Iterable[date], *, is_kept: bool = False) -> dict[date, pa.Table]:
    """The rows of each of the days, told apart by the column `name`; without it, unless it `is_kept`."""
    found = {day: rows.filter(pc.equal(rows[name], pa.scalar(day, pa.date32()))) for day in days}
    return found if is_kept else {day: own.drop_columns([name]) for day, own in found.items()}
