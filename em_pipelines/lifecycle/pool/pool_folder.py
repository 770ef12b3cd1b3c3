"""A pool as it lies in a folder or behind an fsspec URL, which many homes write to without knowing of each other.

FOLDER/pool.json                        says that it is one
FOLDER/entries/ENTRY_ID.MARK.json       one contribution: its file is written and deleted by its home alone
FOLDER/withdrawn/ENTRY_ID.MARK.json     it was taken back: a copy of it that is still somewhere counts for nothing
"""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import fsspec

from em_pipelines.errors import EmError, StorageError, UsageError

MARKER = "pool.json"
MARKED = b'{"format": "em_pipelines.pool", "version": 1}\n'
ENTRIES, WITHDRAWN = "entries", "withdrawn"
_NAME = re.compile(r"(pool_[0-9a-f]{20})\.([0-9a-f]{32})\.json")
Place = tuple[str, str]
"""(entry_id, mark)"""


class PoolFolder:
    """One pool. Every method raises StorageError where it cannot be reached, UsageError for what names no place."""

    def __init__(self, folder: str) -> None:
        with _reaching():
            self._fs, self._root = fsspec.core.url_to_fs(folder)

    @property
    def is_there(self) -> bool:
        """Whether a pool was begun there."""
        with _reaching():
            return bool(self._fs.exists(self._path(MARKER)))

    def begin(self) -> None:
        """Makes a pool of an empty folder, or of one that is not there yet; raises UsageError for one that holds
        something else."""
        if self.is_there:
            return
        with _reaching():
            if self._fs.exists(self._root) and self._fs.ls(self._root, detail=False):
                raise UsageError("beginning a pool: the folder holds something else; name an empty one in pool.folder")
            self._fs.makedirs(self._path(ENTRIES), exist_ok=True)
            self._fs.makedirs(self._path(WITHDRAWN), exist_ok=True)
            self._write(self._path(MARKER), MARKED)

    def put(self, place: Place, data: bytes) -> None:
        """Writes a contribution, and that it is not withdrawn any more."""
        with _reaching():
            withdrawn = self._path(WITHDRAWN, _name(place))
            if self._fs.exists(withdrawn):
                self._fs.rm_file(withdrawn)
            self._write(self._path(ENTRIES, _name(place)), data)

    def withdraw(self, place: Place) -> None:
        """Notes that a contribution is withdrawn, and deletes it. Safe to do twice."""
        if not self.is_there:
            raise StorageError("withdrawing from a pool: nothing is where it lay; make it reachable again")
        with _reaching():
            self._fs.makedirs(self._path(WITHDRAWN), exist_ok=True)
            self._write(self._path(WITHDRAWN, _name(place)), b"{}\n")
            path = self._path(ENTRIES, _name(place))
            if self._fs.exists(path):
                self._fs.rm_file(path)

    def contributions(self, max_files: int, max_bytes: int) -> Iterator[tuple[Place | None, bytes | None]]:
        """Every contribution that is not withdrawn, in order of its name, as (place, bytes); place is None of a file
        that is none by its name, bytes are None of one that is too large, or one too many."""
        withdrawn = {path.rsplit("/", 1)[-1] for path in self._list(WITHDRAWN)}
        n_read = 0
        for path in sorted(self._list(ENTRIES)):
            name = path.rsplit("/", 1)[-1]
            if name in withdrawn or name.startswith("."):
                continue
            named = _NAME.fullmatch(name)
            n_read += 1
            if named is None or n_read > max_files:
                yield (named and (named[1], named[2])), None
                continue
            yield (named[1], named[2]), self._read(path, max_bytes)

    def _read(self, path: str, max_bytes: int) -> bytes | None:
        with _reaching():
            try:
                with self._fs.open(path, "rb") as handle:
                    data: bytes = handle.read(max_bytes + 1)
            except (FileNotFoundError, IsADirectoryError):  # withdrawn just now, or no file
                return None
            return data if len(data) <= max_bytes else None

    def _list(self, folder: str) -> list[str]:
        with _reaching():
            try:
                return [str(path) for path in self._fs.ls(self._path(folder), detail=False, refresh=True)]
            except FileNotFoundError:
                return []

    def _write(self, path: str, data: bytes) -> None:
        """Whole or not at all: readers pass over names that begin with a dot."""
        folder, _, name = path.rpartition("/")
        temporary = f"{folder}/.{name}.{os.getpid()}.tmp"
        with self._fs.open(temporary, "wb") as handle:
            handle.write(data)
        self._fs.mv(temporary, path)

    def _path(self, *parts: str) -> str:
        return "/".join((self._root.rstrip("/"), *parts))


def _name(place: Place) -> str:
    return f"{place[0]}.{place[1]}.json"


@contextmanager
def _reaching() -> Iterator[None]:
    """Tells what a file system says in our words; without the address, which may hold a key."""
    try:
        yield
    except EmError:
        raise
    except (ImportError, ValueError) as error:
        raise UsageError(
            f"reaching the pool: pool.folder names no place that can be opened ({type(error).__name__}); give a "
            "folder, or a URL whose fsspec driver is installed"
        ) from error
    except OSError as error:
        raise StorageError(
            f"reaching the pool: {_said(error)}; make pool.folder reachable and writable, then try again"
        ) from error


def _said(error: Any) -> str:
    return os.strerror(error.errno) if error.errno else type(error).__name__
