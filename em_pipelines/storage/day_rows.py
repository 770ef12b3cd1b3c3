"""Rows of several days of a table as one relation for SQL: local files are read by DuckDB itself, with all their days
in one scan; what lies elsewhere, and what has to be made again first, comes through the lake."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import TypeVar

import duckdb
import pyarrow as pa

from em_pipelines.schema.table import Table
from em_pipelines.storage.duckdb_engine import bind, registered, scratch
from em_pipelines.storage.lake import Lake

DAY = "partition_day"
"""The column that says of which day's partition a row is."""
Answer = TypeVar("Answer")


def ask_days(
    lake: Lake, days: Sequence[date], tables: Iterable[Table], ask: Callable[[duckdb.DuckDBPyConnection], Answer]
) -> Answer:
    """Returns `ask(connection)`, where SQL sees the rows of these days of each table under its name.

    Beside its own columns each has `partition_day`; a day without a partition has no rows. The columns of the files
    have to be those declared. Raises CorruptTableError, which says which file cannot be read and what to do.
    """
    tables = list(tables)
    with scratch() as connection:
        try:
            for table in tables:
                _bind_days(connection, lake, table, days)
            return ask(connection)
        except duckdb.Error:
            rows = {table.name: _through_lake(lake, table, days) for table in tables}  # which says what is wrong
            with registered(connection, rows):
                return ask(connection)


def _bind_days(connection: duckdb.DuckDBPyConnection, lake: Lake, table: Table, days: Sequence[date]) -> None:
    found = [lake.local_file(table, day) for day in days if lake.has(table, day)]
    files = [path for path in found if path is not None]
    if not files or len(files) < len(found):
        bind(connection, table.name, _through_lake(lake, table, days))
        return
    quoted = ", ".join("'" + path.replace("'", "''") + "'" for path in files)
    connection.execute(
        f"CREATE OR REPLACE TEMP VIEW {table.name} AS "
        f"SELECT * EXCLUDE (filename), CAST(parse_filename(filename, true) AS DATE) AS {DAY} "
        f"FROM read_parquet([{quoted}], filename = true, hive_partitioning = false)"
    )


def _through_lake(lake: Lake, table: Table, days: Sequence[date]) -> pa.Table:
    """The same rows, in memory."""
    parts = [(day, lake.read(table, day)) for day in days if lake.has(table, day)]
    dated = [rows.append_column(DAY, pa.repeat(pa.scalar(day, pa.date32()), rows.num_rows)) for day, rows in parts]
    return pa.concat_tables([table.empty().append_column(DAY, pa.array([], pa.date32())), *dated])
