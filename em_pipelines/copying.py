"""Writing the rows of a query as a Parquet file: sorted, typed, and never in memory at once.

For tables that may be larger than memory. The file is the same for the same rows, whatever the number of threads.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from em_pipelines.errors import CorruptTableError
from em_pipelines.sql import Query
from em_pipelines.tables.schema import DATE, FLAG, INSTANT, INT, REAL, TEXT, Table

SQL_TYPES = {TEXT: "VARCHAR", INT: "BIGINT", REAL: "DOUBLE", FLAG: "BOOLEAN", INSTANT: "TIMESTAMPTZ", DATE: "DATE"}
TO_COME = "?" * 64
BLOCK_BYTES = 1 << 20
FOOTER_TAIL_BYTES = 8
"""The length of the footer, four bytes, and the magic word."""


def copy_to(
    path: Path,
    table: Table,
    rows: Query,
    metadata: Mapping[bytes, str],
    digest_key: bytes,
    options: Mapping[str, object],
) -> tuple[str, int]:
    """Writes the query's rows to `path`, in the table's columns, types and order; returns digest and number of rows.

    The footer holds `metadata` and, under `digest_key`, the `content_digest`. `options` are those of DuckDB's
    Parquet writer. Raises CorruptTableError where rows do not fit the table.
    """
    footer = {**metadata, digest_key: TO_COME}
    entries = ", ".join(f"{_text(key.decode())}: {_text(value)}" for key, value in footer.items())
    given = ", ".join(f"{name} {value}" for name, value in options.items())
    columns = ", ".join(f'CAST("{f.name}" AS {sql_type(f.type)}) AS "{f.name}"' for f in table.schema)
    order = ", ".join(f'"{name}"' for name in table.sort_by)
    target = f"TO {_text(str(path))} (FORMAT parquet, {given}, KV_METADATA {{{entries}}}"
    try:
        if rows.is_ordered:
            n_rows = _copied(rows, f"COPY (SELECT {columns} FROM ({rows.sql})) {target}, PRESERVE_ORDER true)")
            if is_sorted(path, table):
                return _stamp(path), n_rows
        n_rows = _copied(rows, f"COPY (SELECT {columns} FROM ({rows.sql}) ORDER BY {order}) {target})")
    except (duckdb.ConversionException, duckdb.BinderException) as error:
        raise CorruptTableError(f"writing {table.name}: {error}; the step that made these rows is at fault") from error
    return _stamp(path), n_rows


def _copied(rows: Query, sql: str) -> int:
    (found,) = rows.connection.execute(sql).fetchall()
    return int(found[0])


def is_sorted(path: Path, table: Table) -> bool:
    """Whether the rows of a file stand in the table's order, which no null is in. Reads those columns alone."""
    last: list[pa.Scalar] = []
    for batch in pq.ParquetFile(path).iter_batches(columns=list(table.sort_by)):
        keys = [batch[name] for name in table.sort_by]
        if last:
            keys = [
                pa.concat_arrays([pa.array([end.as_py()], key.type), key]) for end, key in zip(last, keys, strict=True)
            ]
        if _falls(keys):
            return False
        last = [key[-1] for key in keys]
    return True


def _falls(keys: list[pa.Array]) -> bool:
    """Whether any row is below the one before it, by the first column in which the two differ."""
    is_below = pa.scalar(False)
    for key in reversed(keys):
        before, after = key.slice(0, len(key) - 1), key.slice(1)
        is_below = pc.or_(pc.less(after, before), pc.and_(pc.equal(after, before), is_below))
    return bool(pc.any(is_below).as_py())


def sql_type(kind: pa.DataType) -> str:
    """What DuckDB calls an Arrow type of a declared table."""
    if pa.types.is_list(kind):
        return f"{sql_type(kind.value_type)}[]"
    if pa.types.is_struct(kind):
        fields = ", ".join(f'"{field.name}" {sql_type(field.type)}' for field in kind)
        return f"STRUCT({fields})"
    return SQL_TYPES[kind]


def content_digest(handle: BinaryIO) -> str:
    """SHA-256 (hex) of everything before a Parquet file's footer: equal for equal rows, whatever the footer says."""
    left = _footer_start(handle)
    handle.seek(0)
    found = hashlib.sha256()
    while left > 0 and (block := handle.read(min(left, BLOCK_BYTES))):
        found.update(block)
        left -= len(block)
    return found.hexdigest()


def _footer_start(handle: BinaryIO) -> int:
    size = handle.seek(0, os.SEEK_END)
    handle.seek(-FOOTER_TAIL_BYTES, os.SEEK_END)
    return size - FOOTER_TAIL_BYTES - int.from_bytes(handle.read(4), "little")


def _stamp(path: Path) -> str:
    """Puts the digest of a file's content into the place that was left for it in its footer, and returns it.

    The place is as long as the digest, so that nothing moves.
    """
    with path.open("r+b") as handle:
        found = content_digest(handle)
        start = _footer_start(handle)
        handle.seek(start)
        handle.seek(start + handle.read().rindex(TO_COME.encode()))
        handle.write(found.encode())
        handle.flush()
        os.fsync(handle.fileno())
    return found


def _text(value: str) -> str:
    quoted = value.replace("'", "''")
    return f"'{quoted}'"
