"""The SQLite files of a folder, each kept open: one connection a file and process, whatever thread asks.

Opening a file anew for each event, and moving what was written from its log into it when it is closed again, costs
many times the bytes of the event. Here a file stays open until it is told to close, too many others are, or the
process ends. What is in the files is no business of this module.
"""

import os
import shutil
import sqlite3
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import URL, create_engine
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from em_pipelines.storage.files import temporary_beside, write_atomically

MAX_OPEN = 8
"""Files that stay open when nobody uses them. Each is up to three handles: the file, its log, the log's index."""

LOG_PAGES = 4000
"""How long a log may grow before it is moved into the file. A page that changes often is moved once: with SQLite's 1000
a run writes a sixth more."""

_LEFT_TO_THE_PARENT: list[object] = []
"""Connections that a process has from the one that it was forked from. SQLite forbids to use them, and closing them is
use; so they are kept here, where nothing ever closes them."""


@dataclass
class _Shard:
    """One file: its connection and the file's identity, None while it is closed; who uses it holds the lock."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    n_users: int = 0
    connection: Connection | None = None
    identity: tuple[int, int] | None = None


class Shards:
    """The files `NAME.db` of a folder.

    `prepare(name, path)` is called before a file is opened and has to leave one there whose log is a WAL.
    A thread that is within a transaction of a file gets the same one when it asks again; others wait. Whoever needs
    two files at once has to take them in the same order everywhere.
    """

    def __init__(self, folder: Path, prepare: Callable[[str, Path], None], busy_seconds: float) -> None:
        self._folder = folder
        self._prepare = prepare
        self._busy_seconds = busy_seconds
        self._open: OrderedDict[str, _Shard] = OrderedDict()
        self._lock = threading.Lock()
        self._pid = os.getpid()
        # Of a process that ends without a word: its logs are moved into the files and deleted, as by any other.
        weakref.finalize(self, _close, self._open, self._pid)

    def path(self, name: str) -> Path:
        """The file of that name."""
        return self._folder / f"{name}.db"

    @contextmanager
    def transaction(self, name: str) -> Iterator[Connection]:
        """A connection in a transaction that is committed at the end, or rolled back where an error leaves it.

        Raises sqlalchemy.exc.OperationalError where another process keeps the file locked for too long.
        """
        shard = self._taken(name)
        try:
            with shard.lock:
                connection = self._connected(shard, name)
                if connection.in_transaction():
                    yield connection
                else:
                    with _dropped_on_error(shard), connection.begin():
                        yield connection
        finally:
            with self._lock:
                shard.n_users -= 1

    def close(self, name: str) -> None:
        """Closes a file that nobody uses, after what its log holds was moved into it; of one in use, nothing."""
        with self._lock:
            shard = self._open.get(name)
            if shard is not None and shard.n_users == 0:
                _checkpoint(shard)
                _disconnect(self._open.pop(name))

    def close_all(self) -> None:
        """Closes every file that nobody uses; one that is asked for afterwards is opened again."""
        with self._lock:
            for name in [name for name, shard in self._open.items() if shard.n_users == 0]:
                _disconnect(self._open.pop(name))

    def _taken(self, name: str) -> _Shard:
        """The file's place, counted as used; those that were not used for longest are closed, if there are too many."""
        if self._pid != os.getpid():
            self._start_anew()
        with self._lock:
            shard = self._open.setdefault(name, _Shard())
            shard.n_users += 1
            self._open.move_to_end(name)
            idle = [other for other, place in self._open.items() if place.n_users == 0]
            for other in idle[: max(0, len(self._open) - MAX_OPEN)]:
                _disconnect(self._open.pop(other))
        return shard

    def _start_anew(self) -> None:
        """In a process that was forked: without the connections and the locks of the other one."""
        _LEFT_TO_THE_PARENT.append(self._open)
        self._open = OrderedDict()
        self._lock = threading.Lock()
        self._pid = os.getpid()
        weakref.finalize(self, _close, self._open, self._pid)

    def _connected(self, shard: _Shard, name: str) -> Connection:
        """The connection to the file that is there now: another one may have taken its name, or it may be gone."""
        path = self.path(name)
        if shard.connection is not None and shard.identity == _identity(path):
            return shard.connection
        _disconnect(shard)
        self._prepare(name, path)
        connection = engine_of(path, self._busy_seconds).connect()
        # With a WAL, NORMAL cannot damage a file: the log is synced before it is moved into the file, so that after
        # a loss of power the last transactions may be missing, and never a half of one.
        connection.exec_driver_sql("PRAGMA synchronous=NORMAL")
        connection.exec_driver_sql(f"PRAGMA wal_autocheckpoint={LOG_PAGES}")
        connection.commit()
        shard.connection, shard.identity = connection, _identity(path)
        return connection


@contextmanager
def _dropped_on_error(shard: _Shard) -> Iterator[None]:
    """Closes the connection after a transaction that failed, as a disk may fail a rollback, too."""
    try:
        yield
    except BaseException:
        _disconnect(shard)
        raise


def engine_of(path: Path, busy_seconds: float) -> Engine:
    """What opens a file, and waits for as many seconds where another process writes to it."""
    return create_engine(
        URL.create("sqlite", database=str(path)),
        poolclass=NullPool,
        connect_args={"timeout": busy_seconds, "check_same_thread": False},
    )


def has_rows(path: Path, table: str) -> bool:
    """Whether a file has the table, and something in it; False, too, of one that is damaged."""
    connection = sqlite3.connect(path, timeout=1.0)
    try:
        return connection.execute(f"SELECT 1 FROM {table}").fetchone() is not None
    except sqlite3.DatabaseError:
        return False
    finally:
        connection.close()


def place_copy(template: Path, path: Path, make: Callable[[Path], None]) -> None:
    """Puts a copy of a template under a name that nobody has yet: whole, or not at all.

    A template that is not there is made, and `empty-*.sqlite` beside it, of other versions, are deleted. Where somebody
    else was faster to take the name, or the file system knows no links, nothing is put there.
    """
    if not template.exists():
        with temporary_beside(template.with_suffix(".made")) as made:
            make(made)
            write_atomically(template, made.read_bytes())
        for other in template.parent.glob("empty-*.sqlite"):
            if other != template:
                other.unlink(missing_ok=True)
    with temporary_beside(path) as copy, suppress(OSError):
        shutil.copyfile(template, copy)
        os.link(copy, path)


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from any other that ever had its name; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _checkpoint(shard: _Shard) -> None:
    """Moves the log into the file though others have it open, as watchers of the file want to see it changed.

    What it cannot move now, the next to write or to close does.
    """
    if shard.connection is not None:
        with suppress(DBAPIError), shard.connection.begin():
            shard.connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)").close()


def _disconnect(shard: _Shard) -> None:
    connection, shard.connection = shard.connection, None
    if connection is not None:
        connection.close()  # without a pool, that closes SQLite's own, too; the last to do so deletes the log


def _close(shards: "OrderedDict[str, _Shard]", pid: int) -> None:
    """Closes files that this process opened itself."""
    if pid != os.getpid():
        _LEFT_TO_THE_PARENT.append(shards)
        return
    while shards:
        _, shard = shards.popitem()
        _disconnect(shard)
