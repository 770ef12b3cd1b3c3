"""Files and folders of a local disk: written whole or not at all, listed again only where they may have changed, and
the locks of a home.

Adding, replacing or removing a file gives its folder another time of change. A time that is nearly now proves nothing:
a second change may fall on the same tick of the clock, so what changed just now is looked at again.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from filelock import FileLock, Timeout

from em_pipelines.errors import LockedError


def write_atomically(path: Path, data: bytes | memoryview) -> None:
    """Writes a local file so that readers and crashes see the old or the new content, never a part."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, _temporary(name))  # noqa: PTH118 - a run writes tens of thousands of files
    try:
        handle = _created(folder, temporary)
        with handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, path)  # noqa: PTH105
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)  # noqa: PTH108
        raise


def _created(folder: str, path: str) -> BinaryIO:
    """A new file to write to, in a folder that is made where it is not there."""
    try:
        return open(path, "wb")  # noqa: PTH123
    except FileNotFoundError:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103
        return open(path, "wb")  # noqa: PTH123


def _temporary(name: str) -> str:
    return f".{name}.{os.getpid()}.tmp"


@contextmanager
def temporary_beside(path: Path) -> Iterator[Path]:
    """A name beside a local file, to write to and rename from; gone afterwards, and swept up after a crash."""
    path.parent.mkdir(parents=True, exist_ok=True)
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
    """Holds one lock of a home; raises LockedError where another process keeps it for too long.

    The lock is the operating system's, on an open file: it is gone with its process, however that ends.
    """
    folder = home / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / f"{name}.lock", timeout=timeout_seconds):
            yield
    except Timeout as error:
        raise LockedError(
            f"taking the {name} lock of {home}: another process has held it for {timeout_seconds:g} s; "
            "wait for it to end and try again"
        ) from error
