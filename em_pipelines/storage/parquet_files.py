"""Parquet files as the lake keeps them: what a footer says of rows and inputs, and how a query is written."""

import hashlib
import io
import os
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from em_pipelines.errors import CorruptTableError
from em_pipelines.schema.table import DATE, FLAG, INSTANT, INT, REAL, TEXT, Table
from em_pipelines.storage.duckdb_engine import Query

CONTENT_KEY = b"em.content_digest"
INPUTS_KEY = b"em.inputs_digest"
THINNED_KEY = b"em.thinned_rows"
"""How many rows a partition had that were given up because they can be made again."""


@dataclass(frozen=True, slots=True)
class PartitionInfo:
    """What a partition's footer says: digests of its rows and inputs, and its number of rows.

    The rows of one that is thinned are not there; all else that is said of them still holds.
    """

    content_digest: str
    inputs_digest: str
    n_rows: int
    is_thinned: bool = False


class Footers:
    """Reads footers; a local one once for as long as its file stays the same, for planning asks for each many times."""

    def __init__(self, fs: Any, *, is_local: bool) -> None:
        self._fs = fs
        self._is_local = is_local
        self.known: dict[str, tuple[tuple[int, int, int], PartitionInfo, pa.Schema]] = {}
        self._schemas: dict[str, list[tuple[pq.ParquetSchema, pa.Schema]]] = {}

    def read(self, path: str) -> PartitionInfo | None:
        """What the footer of a file says, or None where there is no file; digests are empty where nobody wrote any."""
        found = self._found(path)
        return found and found[0]

    def schema(self, path: str) -> pa.Schema | None:
        """The columns of a file as its footer names them, or None where there is no file."""
        found = self._found(path)
        return found and found[1]

    def _found(self, path: str) -> tuple[PartitionInfo, pa.Schema] | None:
        try:
            version = self._version(path)
            known = self.known.get(path)
            if known and known[0] == version:
                return known[1:]
            with self._fs.open(path, "rb") as handle:
                meta = pq.read_metadata(handle)
        except FileNotFoundError:
            return None
        keys = meta.metadata or {}
        n_rows = int(keys.get(THINNED_KEY, meta.num_rows))
        digests = [keys.get(key, b"").decode() for key in (CONTENT_KEY, INPUTS_KEY)]
        found = PartitionInfo(digests[0], digests[1], n_rows, THINNED_KEY in keys)
        schema = self._schema(posixpath.dirname(path), meta.schema)
        if version:
            self.known[path] = (version, found, schema)
        return found, schema

    def _schema(self, folder: str, stored: pq.ParquetSchema) -> pa.Schema:
        """Files of one folder have one of a few schemas: each is understood once, and kept once."""
        known = self._schemas.setdefault(folder, [])
        for one, schema in known:
            if one.equals(stored):
                return schema
        schema = stored.to_arrow_schema()
        known.append((stored, schema))
        return schema

    def _version(self, path: str) -> tuple[int, int, int] | None:
        """Differs between any two files that a path has named: replacing a file gives it another inode and time."""
        if not self._is_local:
            return None
        stat = Path(path).stat()
        return stat.st_ino, stat.st_mtime_ns, stat.st_size


def footer_alone(schema: pa.Schema, info: PartitionInfo) -> bytes:
    """A file without rows that says what one with them said."""
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, schema) as writer:
        kept = {CONTENT_KEY: info.content_digest, INPUTS_KEY: info.inputs_digest, THINNED_KEY: str(info.n_rows)}
        writer.add_key_value_metadata(kept)
    return buffer.getvalue()


SQL_TYPES = {TEXT: "VARCHAR", INT: "BIGINT", REAL: "DOUBLE", FLAG: "BOOLEAN", INSTANT: "TIMESTAMPTZ", DATE: "DATE"}
TO_COME = "?" * 64
BLOCK_BYTES = 1 << 20
FOOTER_TAIL_BYTES = 8
"""The length of the footer, four bytes, and the magic word."""


@dataclass(frozen=True, slots=True)
class Footer:
    """What the footer of a file is to hold beside its schema: entries, and the `content_digest` under `digest_key`."""

    entries: Mapping[bytes, str]
    digest_key: bytes


def copy_to(path: Path, table: Table, rows: Query, footer: Footer, options: Mapping[str, object]) -> tuple[str, int]:
    """Writes the query's rows to `path`, in the table's columns, types and order; returns digest and number of rows.

    `options` are those of DuckDB's Parquet writer. Raises CorruptTableError where rows do not fit the table.
    """
    all_entries = {**footer.entries, footer.digest_key: TO_COME}
    entries = ", ".join(f"{_text(key.decode())}: {_text(value)}" for key, value in all_entries.items())
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
    ((n_rows,),) = rows.connection.execute(sql).fetchall()
    return int(n_rows)


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
    content = hashlib.sha256()
    while left > 0 and (block := handle.read(min(left, BLOCK_BYTES))):
        content.update(block)
        left -= len(block)
    return content.hexdigest()


def _footer_start(handle: BinaryIO) -> int:
    size = handle.seek(0, os.SEEK_END)
    handle.seek(-FOOTER_TAIL_BYTES, os.SEEK_END)
    return size - FOOTER_TAIL_BYTES - int.from_bytes(handle.read(4), "little")


def _stamp(path: Path) -> str:
    """Puts the digest of a file's content into the place that was left for it in its footer, and returns it.

    The place is as long as the digest, so that nothing moves.
    """
    with path.open("r+b") as handle:
        digest = content_digest(handle)
        start = _footer_start(handle)
        handle.seek(start)
        handle.seek(start + handle.read().rindex(TO_COME.encode()))
        handle.write(digest.encode())
        handle.flush()
        os.fsync(handle.fileno())
    return digest


def _text(value: str) -> str:
    quoted = value.replace("'", "''")
    return f"'{quoted}'"


def canonical(table: Table, rows: pa.Table) -> pa.Table:
    """Returns the rows in declared column order, types and sort order; raises CorruptTableError where they misfit."""
    try:
        cast = rows.select(table.schema.names).cast(table.schema)
    except (pa.ArrowException, KeyError, ValueError) as error:
        raise CorruptTableError(f"writing {table.name}: {error}; the step that made these rows is at fault") from error
    order = pc.sort_indices(cast, sort_keys=[(name, "ascending") for name in table.sort_by])
    return cast.take(order).combine_chunks()
