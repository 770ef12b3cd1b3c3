"""Files and folders of a local disk: written whole or not at all and for good, for who may use the home alone; listed
again only where they may have changed; and the locks of a home.

A name is on the disk once its folder is, so every rename is followed by an fsync of the folder: what is acknowledged
survives a loss of power. Where many files are renamed into one folder and all can be made again, that is done once.

Adding, replacing or removing a file gives its folder another time of change. A time that is nearly now proves nothing:
a second change may fall on the same tick of the clock, so what changed just now is looked at again.
"""

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from filelock import FileLock, Timeout

from em_pipelines.errors import LockedError, StorageError

_TROUBLES = {
    errno.ENOSPC: "no space is left; make room",
    errno.EDQUOT: "the quota is used up; make room",
    errno.EFBIG: "a file may not grow so large; raise the limit (ulimit -f)",
    errno.EROFS: "it lies on a read-only file system; mount that for writing, or choose another home",
    errno.EACCES: "permission is denied; give it to who runs this",
    errno.EPERM: "permission is denied; give it to who runs this",
    errno.EIO: "the device failed; see the system's log",
}
_AS_SQLITE_SAYS = {
    "database or disk is full": errno.ENOSPC,
    "readonly database": errno.EROFS,
    "disk I/O error": errno.EIO,
    "unable to open database file": errno.EACCES,
}


def storage_error(error: BaseException | None) -> StorageError | None:
    """What a disk that is full, failed or closed comes to, whichever library met it and whatever it was wrapped into;
    None for any other error."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, StorageError):
            return error
        code = getattr(error, "errno", None) if isinstance(error, OSError) else None
        code = code if code in _TROUBLES else _code_in(str(error))
        if code:
            named = getattr(error, "filename", None)
            where = os.fsdecode(named) if isinstance(named, str | bytes) else "the home"
            return StorageError(
                f"using {where}: {_TROUBLES[code]}; what was there is kept, and the same command goes on from there"
            )
        error = error.__cause__ or error.__context__
    return None


def _code_in(text: str) -> int | None:
    said = {**_AS_SQLITE_SAYS, **{os.strerror(code): code for code in _TROUBLES}}
    return next((code for words, code in said.items() if words in text), None)


class Access(StrEnum):
    """Who may use a home: its owner alone, or the group of its folder as well."""

    OWNER = "owner"
    GROUP = "group"


_ALLOWED = {Access.OWNER: 0o700, Access.GROUP: 0o770}


class _Process:
    """What holds for all homes of this process."""

    allowed = _ALLOWED[Access.OWNER]


def admit(access: Access) -> None:
    """Says who may use what this process makes from now on."""
    _Process.allowed = _ALLOWED[access]


def close_to_others() -> None:
    """Has everything that this process makes closed to those not admitted, whichever library makes it (umask)."""
    os.umask(0o777 & ~_Process.allowed)


def make_folder(folder: str | Path) -> None:
    """Makes a folder, and those above it that are not there; on the disk when this returns."""
    path = Path(folder)
    if path.is_dir():
        return
    if not path.parent.is_dir():
        make_folder(path.parent)
    with suppress(FileExistsError):
        path.mkdir(_Process.allowed)
        sync_folder(path.parent)


def sync_folder(folder: str | Path) -> None:
    """Makes new, replaced and removed names in a folder survive a loss of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:  # file systems that know no such thing
            raise
    finally:
        os.close(descriptor)


def put_in_place(temporary: str | Path, path: str | Path, unsynced: set[str] | None = None) -> None:
    """Renames a file that was written beside its place, closed to those not admitted.

    On the disk when this returns; with `unsynced` its folder is added there, and whoever keeps that syncs it later.
    """
    mode = os.stat(temporary).st_mode & 0o777  # noqa: PTH116 - a run puts tens of thousands of files in place
    if mode & ~_Process.allowed:
        os.chmod(temporary, mode & _Process.allowed)  # noqa: PTH101
    os.replace(temporary, path)  # noqa: PTH105
    folder = os.path.dirname(path) or os.curdir  # noqa: PTH120
    if unsynced is None:
        sync_folder(folder)
    else:
        unsynced.add(folder)


def private(path: str, flags: int) -> int:
    """Opens a file, and makes it for who is admitted alone: an `opener` of `open`."""
    return os.open(path, flags, _Process.allowed & 0o666)


def write_atomically(path: Path, data: bytes | memoryview, unsynced: set[str] | None = None) -> None:
    """Writes a local file so that readers and crashes see the old or the new content, never a part.

    On the disk when this returns, its name with `unsynced` as `put_in_place` says.
    """
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, _temporary(name))  # noqa: PTH118 - a run writes tens of thousands of files
    try:
        handle = _created(folder, temporary)
        with handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        put_in_place(temporary, path, unsynced)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)  # noqa: PTH108
        raise


def _created(folder: str, path: str) -> BinaryIO:
    """A new file to write to, in a folder that is made where it is not there."""
    try:
        return open(path, "wb", opener=private)
    except FileNotFoundError:
        make_folder(folder)
        return open(path, "wb", opener=private)


def _temporary(name: str) -> str:
    return f".{name}.{os.getpid()}.tmp"


@contextmanager
def temporary_beside(path: Path) -> Iterator[Path]:
    """A name beside a local file, to write to and rename from; gone afterwards, and swept up after a crash."""
    make_folder(path.parent)
    temporary = path.with_name(_temporary(path.name))
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def is_alive(process_id: str) -> bool:
    """Whether a process of this machine has the id; what is no id may be anybody's."""
    try:
        os.kill(int(process_id), 0)
    except ProcessLookupError:
        return False
    except (ValueError, PermissionError):
        return True
    return True


Found = TypeVar("Found")
PARTITION = ".parquet"
REMEMBERED_NAMES = 100_000
"""Names of files whose day is remembered: tables share the names of their days, so decades of them are few."""

SETTLED_NS = 1_000_000_000
"""Longer than a tick of any file system's clock: 4 ms where the kernel's timer gives it, 1 s on the coarsest."""


def settled_until_ns() -> int:
    """Nanoseconds since 1970: of what changed before, another change would have to show in the time of change."""
    return time.time_ns() - SETTLED_NS


class Folders(Generic[Found]):
    """What is made of the names in folders, remembered for as long as the folders stay the same.

    `make(names in order)` → what is given out; nobody may change it. A folder that is not there has no names.
    """

    def __init__(self, make: Callable[[list[str]], Found]) -> None:
        self._make = make
        self._known: dict[str, tuple[tuple[int, int], Found]] = {}

    def found(self, folder: str) -> Found:
        """What the names in a folder come to as they are now."""
        path = Path(folder)
        try:
            stat = path.stat()
            version = stat.st_ino, stat.st_mtime_ns
            known = self._known.get(folder)
            if known and known[0] == version:
                return known[1]
            may_keep = stat.st_mtime_ns < settled_until_ns()
            found = self._make(sorted(os.listdir(path)))  # noqa: PTH208 - names alone, and many
        except FileNotFoundError:
            return self._make([])
        if may_keep:
            self._known[folder] = version, found
        return found


def partition_days(names: Iterable[str]) -> list[date]:
    """The days that files of these names, YYYY-MM-DD.parquet, are of; whatever else lies beside them is of none."""
    return [day for name in names if (day := _day(name))]


@lru_cache(maxsize=REMEMBERED_NAMES)
def _day(name: str) -> date | None:
    is_partition = name.endswith(PARTITION) and not name.startswith(".")
    return date.fromisoformat(name.removesuffix(PARTITION)) if is_partition else None


@contextmanager
def held(home: Path, name: str, timeout_seconds: float) -> Iterator[None]:
    """Holds one lock of a home; raises LockedError where another process keeps it for too long, and StorageError where
    the home cannot be written to.

    The lock is the operating system's, on an open file: it is gone with its process, however that ends.
    """
    folder = home / "locks"
    lock = FileLock(folder / f"{name}.lock", timeout=timeout_seconds)
    try:
        make_folder(folder)
        lock.acquire()
    except OSError as error:
        if not isinstance(error, Timeout):
            raise storage_error(error) or error from error
        raise LockedError(
            f"taking the {name} lock of {home}: another process has held it for {timeout_seconds:g} s; "
            "wait for it to end and try again"
        ) from error
    try:
        with suppress(OSError):
            os.utime(lock.lock_file)  # so that `last_held` tells; acquiring changes no time of a file that is there
        yield
    finally:
        lock.release()


def last_held(home: Path, name: str) -> datetime | None:
    """When one lock of a home was taken last, in UTC; None where it never was. Writes nothing."""
    try:
        return datetime.fromtimestamp((home / "locks" / f"{name}.lock").stat().st_mtime, UTC)
    except FileNotFoundError:
        return None


def is_held(home: Path, name: str) -> bool:
    """Whether some process holds one lock of a home. Writes nothing."""
    try:
        descriptor = os.open(home / "locks" / f"{name}.lock", os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
