"""Parquet files as the lake keeps them: what a footer says of rows and inputs, and how a query is written."""

import hashlib
import io
import os
import posixpath
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from em_pipelines.errors import CorruptTableError
from em_pipelines.schema.table import DATE, FLAG, INSTANT, INT, REAL, TEXT, Table
from em_pipelines.storage.duckdb_engine import Query
from em_pipelines.storage.staleness import FOOTER_NOTES, FooterNotes, PartitionInfo, Version

CONTENT_KEY = b"em.content_digest"
INPUTS_KEY = b"em.inputs_digest"
COMPRESSION = "zstd"
QUICK_COMPRESSION = "lz4"
QUICK_ROWS = 10_000
"""Rows up to which a table in memory is compressed the quick way: making zstd ready for each column takes two thirds of
the time that a day's few rows take to write."""
ROW_GROUP_ROWS = 122_880
"""DuckDB's own row group, so that its scans run in parallel on our files."""
TO_COME = "?" * 64
"""The place of a digest in a footer that is not known yet."""
SEAL_KEY = b"em.footer_digest"
UNSEALED = "!" * 64
"""The place of the footer's own digest, and what that is taken over: it covers statistics and sizes, by which readers
choose what they read. Files from before there was one have none."""
THINNED_KEY = b"em.thinned_rows"
"""How many rows a partition had that were given up because they can be made again."""


class Footers:
    """Reads footers; a local one once for as long as its file stays the same, for planning asks for each many times.

    `root` is the folder of the lake, where it lies on a local disk: what was read may be kept there.
    """

    def __init__(self, fs: Any, root: str | None) -> None:
        self._fs = fs
        self._root = root
        self._notes = FooterNotes(Path(root, FOOTER_NOTES) if root else None)
        self.known: dict[str, tuple[Version, PartitionInfo, pa.Schema | None]] = {}
        self._schemas: dict[str, list[tuple[pq.ParquetSchema, pa.Schema]]] = {}

    def read(self, path: str) -> PartitionInfo | None:
        """What the footer of a file says, or None where there is no file; digests are empty where nobody wrote any."""
        found = self._known(path)
        if not found:
            found = self._read(path)
        return found and found[0]

    def schema(self, path: str) -> pa.Schema | None:
        """The columns of a file as its footer names them, or None where there is no file."""
        found = self._known(path)
        if not found or found[1] is None:
            found = self._read(path)
        return found and found[1]

    def save(self) -> None:
        """Keeps what is known of local files for the next process."""
        root = f"{self._root}/"
        self._notes.save((path.removeprefix(root), known[0], known[1]) for path, known in self.known.items())

    def forget(self) -> None:
        """Keeps nothing of what was read, neither here nor on disk."""
        self.known.clear()
        self._notes.clear()

    def _known(self, path: str) -> tuple[PartitionInfo, pa.Schema | None] | None:
        """What is known of the file as it stands, without reading it."""
        try:
            version = self.version(path)
        except FileNotFoundError:
            return None
        known = self.known.get(path)
        if known and known[0] == version:
            return known[1:]
        noted = self._notes.of(path.removeprefix(f"{self._root}/"), version) if version else None
        if version is None or noted is None:
            return None
        self.known[path] = version, noted, None
        return noted, None

    def _read(self, path: str) -> tuple[PartitionInfo, pa.Schema] | None:
        try:
            version = self.version(path)
            with self._fs.open(path, "rb") as handle:
                footer = _footer_of(handle)
        except FileNotFoundError:
            return None
        meta = pq.read_metadata(pa.BufferReader(footer))
        keys = meta.metadata or {}
        _check_seal(footer, keys)
        n_rows = int(keys.get(THINNED_KEY, meta.num_rows))
        digests = [keys.get(key, b"").decode() for key in (CONTENT_KEY, INPUTS_KEY)]
        found = PartitionInfo(digests[0], digests[1], n_rows, THINNED_KEY in keys)
        schema = self._schema(posixpath.dirname(path), meta.schema)
        if version:
            self.known[path] = version, found, schema
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

    def version(self, path: str) -> Version | None:
        """Differs between any two files that a path has named: replacing a file gives it another inode and time.

        None for what is not local; raises FileNotFoundError.
        """
        if self._root is None:
            return None
        stat = os.stat(path)  # noqa: PTH116 - asked some ten times a partition
        return stat.st_ino, stat.st_mtime_ns, stat.st_size


@dataclass(frozen=True, slots=True)
class FileBytes:
    """A Parquet file, whole, its columns as whoever reads it finds them, and the digest of its content."""

    content_digest: str
    data: bytes | memoryview
    schema: pa.Schema


def file_of(table: Table, rows: pa.Table, inputs_digest: str) -> FileBytes:
    """The file of a partition, its rows `canonical`."""
    if not rows.num_rows and len(inputs_digest) == len(TO_COME):
        digest, empty = _empty_file(table)
        data = memoryview(bytearray(empty.replace(TO_COME.encode(), inputs_digest.encode())))
        return FileBytes(digest, _sealed(data), _written_schema(table))
    digest, data = _encoded(table, rows, inputs_digest)
    return FileBytes(digest, _sealed(data), _written_schema(table))


@cache
def _empty_file(table: Table) -> tuple[str, bytes]:
    """Every second partition has no rows, and they differ in nothing but the digest of their inputs."""
    digest, data = _encoded(table, table.empty(), TO_COME)
    return digest, bytes(data)


@cache
def _written_schema(table: Table) -> pa.Schema:
    return pq.read_metadata(pa.BufferReader(_empty_file(table)[1])).schema.to_arrow_schema()


def _encoded(table: Table, rows: pa.Table, inputs_digest: str) -> tuple[str, memoryview]:
    """The digest of a file's content, and the file."""
    buffer = io.BytesIO()
    codec = COMPRESSION if rows.num_rows > QUICK_ROWS else QUICK_COMPRESSION
    with pq.ParquetWriter(buffer, table.schema, compression=codec, store_schema=True, use_dictionary=True) as writer:
        writer.write_table(rows, row_group_size=ROW_GROUP_ROWS)
        content = hashlib.sha256(buffer.getbuffer()).hexdigest()
        writer.add_key_value_metadata({CONTENT_KEY: content, INPUTS_KEY: inputs_digest, SEAL_KEY: UNSEALED})
    return content, buffer.getbuffer()


def _sealed(data: memoryview) -> memoryview:
    """Puts the footer's digest into its place, which is as long."""
    start = len(data) - FOOTER_TAIL_BYTES - int.from_bytes(data[-FOOTER_TAIL_BYTES:-4], "little")
    footer = bytes(data[start:])
    place = start + footer.rindex(UNSEALED.encode())
    data[place : place + len(UNSEALED)] = hashlib.sha256(footer).hexdigest().encode()
    return data


def _check_seal(footer: bytes, keys: Mapping[bytes, bytes]) -> None:
    """Raises ArrowInvalid where a footer is not the one that was sealed."""
    seal = keys.get(SEAL_KEY)
    if seal is not None and hashlib.sha256(footer.replace(seal, UNSEALED.encode())).hexdigest().encode() != seal:
        raise pa.ArrowInvalid("its footer is not the one that was written")


def footer_alone(schema: pa.Schema, info: PartitionInfo) -> bytes:
    """A file without rows that says what one with them said."""
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, schema) as writer:
        kept = {CONTENT_KEY: info.content_digest, INPUTS_KEY: info.inputs_digest, THINNED_KEY: str(info.n_rows)}
        writer.add_key_value_metadata({**kept, SEAL_KEY: UNSEALED})
    return bytes(_sealed(buffer.getbuffer()))


SQL_TYPES = {TEXT: "VARCHAR", INT: "BIGINT", REAL: "DOUBLE", FLAG: "BOOLEAN", INSTANT: "TIMESTAMPTZ", DATE: "DATE"}
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
    all_entries = {**footer.entries, footer.digest_key: TO_COME, SEAL_KEY: UNSEALED}
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


def check_whole(handle: BinaryIO) -> None:
    """Raises ArrowInvalid where a file is not, byte for byte, the one that was written, as far as it tells."""
    footer = _footer_of(handle)
    keys = pq.read_metadata(pa.BufferReader(footer)).metadata or {}
    _check_seal(footer, keys)
    digest = keys.get(CONTENT_KEY)
    if digest and THINNED_KEY not in keys and content_digest(handle).encode() != digest:
        raise pa.ArrowInvalid("its rows are not those that were written")


def _footer_of(handle: BinaryIO) -> bytes:
    """The end of a Parquet file, from where its content ends; raises ArrowInvalid where it has none."""
    size = handle.seek(0, os.SEEK_END)
    start = _footer_start(handle) if size > FOOTER_TAIL_BYTES else -1
    if start < 0:
        raise pa.ArrowInvalid("it has no footer")
    handle.seek(start)
    return handle.read()


def _footer_start(handle: BinaryIO) -> int:
    size = handle.seek(0, os.SEEK_END)
    handle.seek(-FOOTER_TAIL_BYTES, os.SEEK_END)
    return size - FOOTER_TAIL_BYTES - int.from_bytes(handle.read(4), "little")


def _stamp(path: Path) -> str:
    """Puts the digests of a file's content and of its footer into their places in it, and returns the first.

    A place is as long as the digest, so that nothing moves.
    """
    with path.open("r+b") as handle:
        digest = content_digest(handle)
        start = _footer_start(handle)
        handle.seek(start)
        footer = memoryview(bytearray(handle.read().replace(TO_COME.encode(), digest.encode())))
        handle.seek(start)
        handle.write(_sealed(footer))
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
    is_sorted = np.array_equal(order, np.arange(len(order)))  # as a state mostly is that was read from a file
    return (cast if is_sorted else cast.take(order)).combine_chunks()
