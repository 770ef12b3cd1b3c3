"""Partitions of tables on disk or any object store: one Parquet file a table and day, atomic and deterministic.

A file carries in its footer the digest of its own rows and the digest of the inputs it was made from, so that
whether a partition is current is read from the partition itself and survives any crash. Add here what every table
needs; what one table means belongs to the step that makes it.
"""

import os
import posixpath
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

import fsspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from em_pipelines.errors import CorruptTableError
from em_pipelines.schema.table import Table
from em_pipelines.storage.duckdb_engine import ParquetRows, Query, Rows
from em_pipelines.storage.files import (
    Folders,
    partition_days,
    put_in_place,
    storage_error,
    sync_folder,
    temporary_beside,
    write_atomically,
)
from em_pipelines.storage.parquet_files import (
    COMPRESSION,
    CONTENT_KEY,
    INPUTS_KEY,
    ROW_GROUP_ROWS,
    Footer,
    Footers,
    canonical,
    check_whole,
    content_digest,
    copy_to,
    file_of,
    footer_alone,
)
from em_pipelines.storage.staleness import PartitionInfo, Version

IN_MEMORY_ROWS = 50_000
"""Rows up to which a partition is as well read as scanned: some 50 MB of facts."""
KEPT_ANSWERS = 64
Found = TypeVar("Found")

KEPT_BYTES = 256_000_000
"""Of all tables that are remembered; the longest ago written goes first, and one of more than an eighth is not kept."""


class RecentTables:
    """Tables that this process wrote lately, by the path of their file: the step that reads one next need not.

    Each is known by its file as it stood when it was written: once anybody has replaced, thinned or edited that, it is
    forgotten. Threads may share one.
    """

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self._kept_bytes = kept_bytes
        self._n_bytes = 0
        self._tables: OrderedDict[str, tuple[Version, pa.Table, int]] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, path: str, version: Version, table: pa.Table) -> None:
        """Remembers what was written to a file."""
        with self._lock:
            self._forget(path)
            n_bytes = table.get_total_buffer_size()
            if n_bytes * 8 > self._kept_bytes:
                return
            self._tables[path] = version, table, n_bytes
            self._n_bytes += n_bytes
            while self._n_bytes > self._kept_bytes:
                self._forget(next(iter(self._tables)))

    def of(self, path: str, version: Version) -> pa.Table | None:
        """What the file holds, if it is known and the file is still the one that was written."""
        with self._lock:
            found = self._tables.get(path)
            if found is None:
                return None
            if found[0] == version:
                return found[1]
            self._forget(path)
            return None

    def _forget(self, path: str) -> None:
        found = self._tables.pop(path, None)
        if found is not None:
            self._n_bytes -= found[2]


class Lake:
    """All partitions below one root: a path, or any fsspec URL.

    Writing is atomic: on local disks a temporary name, fsync and rename; object stores publish on close by
    themselves. Names are brought to the disk by `settle`, a folder at a time: a partition that a loss of power takes
    back is out of date, and made again. The same rows give the same bytes, in whatever order they were handed over.

    `restore` makes the rows of a partition again that were given up; whoever reads one has it called unasked. Whoever
    reads a local file gets what was written, or CorruptTableError.
    """

    def __init__(self, root: str | Path, restore: Callable[[Table, date], None] | None = None) -> None:
        self._restore = restore
        self._fs, self._root = fsspec.core.url_to_fs(str(root))
        self._is_local = "file" in (self._fs.protocol if isinstance(self._fs.protocol, tuple) else (self._fs.protocol,))
        self._footers = Footers(self._fs, self._root if self._is_local else None)
        self._recent = RecentTables()
        self._found_whole: dict[str, Version] = {}
        self._folders = Folders(partition_days)
        self._unsynced: set[str] = set()
        self._answers: OrderedDict[Hashable, tuple[object, object]] = OrderedDict()
        self.local_root = self._root if self._is_local else None
        """The folder of the lake, or None where it lies on no local disk."""

    def path(self, table: Table, day: date) -> str:
        """Where the partition lies; the path alone, without the protocol."""
        return f"{self._root}/{table.name}/{day.isoformat()}.parquet"

    def has(self, table: Table, day: date) -> bool:
        """Whether the day has a partition."""
        if not self._is_local:
            return day in self._days_of(table)
        return os.path.exists(self.path(table, day))  # noqa: PTH110 - asked some ten times a partition

    def days(self, table: Table) -> list[date]:
        """The days that have a partition, in order."""
        return list(self._days_of(table))

    def latest(self, table: Table, until: date) -> date | None:
        """The last day up to and with `until` that has a partition."""
        if self._is_local and self.has(table, until):
            return until  # far and away the commonest case, and no folder is listed for it
        return max((day for day in self._days_of(table) if day <= until), default=None)

    def _days_of(self, table: Table) -> list[date]:
        folder = posixpath.join(self._root, table.name)
        if self._is_local:
            return self._folders.found(folder)
        paths = self._fs.ls(folder, detail=False, refresh=True) if self._fs.exists(folder) else []
        return partition_days(sorted(map(posixpath.basename, paths)))

    def info(self, table: Table, day: date) -> PartitionInfo | None:
        """What the partition's footer says, or None where there is no partition. Raises CorruptTableError.

        A local footer is read once for as long as its file stays the same: planning asks for each many times.
        """
        try:
            return self._footers.read(self.path(table, day))
        except (pa.ArrowException, OSError) as error:
            raise storage_error(error) or self._corrupt(table, day, str(error)) from error

    def schema(self, table: Table, day: date) -> pa.Schema | None:
        """The columns that a partition has, which need not be those declared; None where there is no partition.

        Raises CorruptTableError. Read with the footer, and as seldom.
        """
        try:
            return self._footers.schema(self.path(table, day))
        except (pa.ArrowException, OSError) as error:
            raise storage_error(error) or self._corrupt(table, day, str(error)) from error

    def keep_footers(self) -> None:
        """Notes what is known of footers for the next process, which need not read them again."""
        self._footers.save()

    def once(
        self, question: Hashable, tables: Iterable[Table], days: Collection[date], ask: Callable[[], Found]
    ) -> Found:
        """`ask()`, which reads these partitions; asked before, its last answer while their files are the same.

        What blocks a run is looked at twice in it: when a day is made, and when its checks are due.
        """
        if not self._is_local:
            return ask()
        paths = [self.path(table, day) for table in tables for day in days if self.has(table, day)]
        now = tuple((path, self._footers.version(path)) for path in paths)
        then, answer = self._answers.get(question, (None, None))
        if then != now:
            answer = ask()
            self._answers[question] = now, answer
            self._answers.move_to_end(question)
            while len(self._answers) > KEPT_ANSWERS:
                self._answers.popitem(last=False)
        return cast(Found, answer)

    def forget_footers(self) -> None:
        """Takes back what `keep_footers` noted: after an erasure no digest of what was there is to stay."""
        self._footers.forget()

    def modified_at(self, table: Table, day: date) -> datetime | None:
        """When the partition was last written, with an offset; None where there is none."""
        try:
            found: datetime = self._fs.modified(self.path(table, day))
        except FileNotFoundError:
            return None
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    def read(self, table: Table, day: date) -> pa.Table:
        """Reads one partition; a day without one gives no rows. Raises CorruptTableError, never an empty table."""
        if (recent := self._written(table, day)) is not None:
            return recent
        with self._file(table, day) as file:
            if file is None:
                return table.empty()
            found = file.read(use_threads=self._is_local)
        if found.schema.equals(table.schema):
            return found
        if found.schema.names != table.schema.names:
            raise self._corrupt(table, day, "its columns differ from the declared schema")
        try:  # DuckDB writes neither nullability nor names of list items
            return found.cast(table.schema)
        except (pa.ArrowException, ValueError) as error:
            raise self._corrupt(table, day, "its columns differ from the declared schema") from error

    def _written(self, table: Table, day: date) -> pa.Table | None:
        """The rows of a partition that this process wrote itself, and nobody has touched since."""
        path = self.path(table, day)
        try:
            version = self._footers.version(path)
        except OSError:
            return None
        found = self._recent.of(path, version) if version else None
        return found if found is not None and found.schema.equals(table.schema) else None

    def scan(self, table: Table, day: date) -> Rows:
        """The rows of one partition that may be large: a local file with many is not read before SQL asks it."""
        path = self._whole(table, day)
        info = self.info(table, day)
        if not self._is_local or info is None or info.n_rows <= IN_MEMORY_ROWS:
            return self.read(table, day)
        return ParquetRows(path)

    def local_file(self, table: Table, day: date) -> str | None:
        """The path of a partition with all of its rows, for whoever reads files by itself; None where it lies on no
        local disk, or there is none. Raises CorruptTableError."""
        path = self._whole(table, day)
        return path if self._is_local and Path(path).exists() else None

    def head(self, table: Table, day: date, columns: list[str], n_rows: int) -> list[dict[str, Any]]:
        """The first rows of a partition, of some columns; the rest is not read. Raises CorruptTableError."""
        with self._file(table, day) as file:
            batches = file.iter_batches(n_rows, columns=columns, use_threads=self._is_local) if file else iter(())
            first = next(batches, None)
        return first.select(columns).to_pylist() if first else []

    def damage(self, table: Table, day: date) -> str | None:
        """What is wrong with a partition, in words; None where its data are, byte for byte, those that were written.

        The content digest is that of everything before the footer, so a file that was edited shows whatever wrote it.
        """
        info = self.info(table, day)
        if info is None or info.is_thinned:
            return None
        with self._fs.open(self.path(table, day), "rb") as handle:
            is_whole = content_digest(handle) == info.content_digest
        if not is_whole:
            return "its rows are not those that were written"
        self.read(table, day)
        return None

    def find(self, table: Table, day: date, column: str, values: Collection[str]) -> pa.Table:
        """The rows of one partition whose text column holds one of the values.

        Of a partition without any, no other column is read. Raises CorruptTableError, as `read` does.
        """
        wanted = pa.array(sorted(values), pa.string())
        with self._file(table, day) as file:
            if file is None:
                return table.empty()
            held = file.read(columns=[column], use_threads=self._is_local)[column]
        is_wanted = pc.is_in(held, value_set=wanted)
        return self.read(table, day).filter(is_wanted) if pc.any(is_wanted).as_py() else table.empty()

    def read_days(self, table: Table, days: Iterable[date]) -> pa.Table:
        """Reads several partitions as one table, in the order given."""
        return pa.concat_tables([table.empty(), *(self.read(table, day) for day in days)])

    def write(self, table: Table, day: date, rows: pa.Table | Query, inputs_digest: str = "") -> PartitionInfo:
        """Writes a partition whole, replacing what stood there.

        Rows are sorted by the table's sort order and cast to its schema; raises CorruptTableError where they do not
        fit it. Those of a query go to a local disk without ever being in memory at once.
        """
        if isinstance(rows, Query):
            if self._is_local:
                return self._write_query(table, day, rows, inputs_digest)
            rows = rows.to_table()
        ordered = canonical(table, rows)
        file = file_of(table, ordered, inputs_digest)
        path = self.path(table, day)
        self._publish(path, file.data)
        info = PartitionInfo(file.content_digest, inputs_digest, ordered.num_rows)
        if version := self._footers.version(path):
            self._found_whole[path] = version
            self._footers.known[path] = version, info, file.schema
            self._recent.keep(path, version, ordered)
        return info

    def _write_query(self, table: Table, day: date, rows: Query, inputs_digest: str) -> PartitionInfo:
        path = Path(self.path(table, day))
        with temporary_beside(path) as temporary:
            options = {"COMPRESSION": COMPRESSION, "ROW_GROUP_SIZE": ROW_GROUP_ROWS}
            footer = Footer({INPUTS_KEY: inputs_digest}, CONTENT_KEY)
            content, n_rows = copy_to(temporary, table, rows, footer, options)
            put_in_place(temporary, path, self._unsynced)
        if version := self._footers.version(str(path)):
            self._found_whole[str(path)] = version
        return PartitionInfo(content, inputs_digest, n_rows)

    def thin(self, table: Table, day: date) -> None:
        """Gives up the rows of a partition that can be made again, and keeps what its footer says of them: whatever
        was made from them stays current."""
        info = self.info(table, day)
        if info is None or info.is_thinned:
            return
        self._publish(self.path(table, day), memoryview(footer_alone(table.schema, info)))

    def _whole(self, table: Table, day: date) -> str:
        """The path of a partition, whose rows are made again first where they were given up."""
        info = self.info(table, day)
        if info is not None and info.is_thinned:
            if self._restore is None:
                raise self._corrupt(table, day, "its rows were given up, and here is nobody who makes them again")
            self._restore(table, day)
        self._check_whole(table, day)
        return self.path(table, day)

    def _check_whole(self, table: Table, day: date) -> None:
        """Holds a local file against its digests before anything of it is believed: once, for as long as it stays the
        same, and not what this process wrote. Raises CorruptTableError."""
        path = self.path(table, day)
        try:
            version = self._footers.version(path)
            if version is None or self._found_whole.get(path) == version:
                return
            with open(path, "rb") as handle:  # noqa: PTH123 - many files in a run
                check_whole(handle)
        except FileNotFoundError:
            return
        except (pa.ArrowException, OSError) as error:
            raise self._corrupt(table, day, str(error)) from error
        self._found_whole[path] = version

    def delete(self, table: Table, day: date) -> None:
        """Removes a partition; a missing one is no error."""
        path = self.path(table, day)
        if self._fs.exists(path):
            self._fs.rm_file(path)
            if self._is_local:
                self._unsynced.add(posixpath.dirname(path))

    def settle(self) -> None:
        """Brings to the disk which partitions there are: from now on what was written or deleted stays so."""
        while self._unsynced:
            with suppress(FileNotFoundError):
                sync_folder(self._unsynced.pop())

    @contextmanager
    def _file(self, table: Table, day: date) -> Iterator[pq.ParquetFile | None]:
        """A partition for Arrow, None where there is none; CorruptTableError for whatever goes wrong with it.

        A local file is Arrow's own to read, and another one read in the thread that asks: memory that belongs to
        Python, let go by one of Arrow's threads while Python ends, ends the process with SIGABRT.
        """
        path = self._whole(table, day)
        try:
            handle = pa.OSFile(path) if self._is_local else self._fs.open(path, "rb")
        except FileNotFoundError:
            yield None
            return
        try:
            with handle:
                yield pq.ParquetFile(handle)
        except (pa.ArrowException, OSError, KeyError) as error:
            raise storage_error(error) or self._corrupt(table, day, str(error)) from error

    def _publish(self, path: str, data: bytes | memoryview) -> None:
        if not self._is_local:
            self._fs.makedirs(posixpath.dirname(path), exist_ok=True)
            self._fs.pipe_file(path, bytes(data))
            return
        write_atomically(Path(path), data, self._unsynced)

    def _corrupt(self, table: Table, day: date, found: str) -> CorruptTableError:
        said = " ".join(found.split())
        return CorruptTableError(
            f"reading {table.name} of {day}: {said}; `em repair --apply` makes {self.path(table, day)} again"
        )
