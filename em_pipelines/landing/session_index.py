"""On which days each conversation has landed, kept beside the log so that a landing need not read all of it.

A day is known by a mark of its folder: appending to it or rewriting it gives it another, and the day is read again.
Deleting the file costs one pass over the log and changes nothing. It holds hashes of conversations, by which one whose
user and name are guessed could be recognised: an erasure deletes it. Two conversations of one hash cost reading a day
too many. A log on an object store has no such file.
"""

import hashlib
import os
import posixpath
import threading
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import date
from pathlib import Path

import orjson

from em_pipelines.atomic import temporary_beside
from em_pipelines.folders import settled_until_ns
from em_pipelines.landing.log import LandedLog, Record
from em_pipelines.landing.records import interaction_key

KIND = "interactions"
FILE = ".sessions.json"
HASH_CHARACTERS = 16
Session = tuple[str, str]
"""User and session id."""


class SessionIndex:
    """The days of conversations, as the log stood when it was first asked. Whoever appends meanwhile says so with
    `note`."""

    def __init__(self, log: LandedLog) -> None:
        self._log = log
        self._path = Path(log.local_root, FILE) if log.local_root else None
        self._hashes: dict[date, set[str]] | None = None

    def days(self, sessions: Collection[Session]) -> list[date]:
        """The days, in order, on which any of the conversations may have landed, and on no other has one."""
        wanted = {_hash(session) for session in sessions}
        return sorted(day for day, hashes in self._by_day().items() if not wanted.isdisjoint(hashes))

    def note(self, day: date, records: Iterable[Record]) -> None:
        """Takes in interactions that have just been appended for a day."""
        self._by_day().setdefault(day, set()).update(_hashes(records))

    def delete(self) -> None:
        """Removes the file. The caller holds the landing lock."""
        if self._path:
            self._path.unlink(missing_ok=True)

    def _by_day(self) -> dict[date, set[str]]:
        if self._hashes is None:
            self._hashes = self._load()
        return self._hashes

    def _load(self) -> dict[date, set[str]]:
        """Reads the days that are not in the file, or have changed, and keeps them for the next time."""
        marks = self._marks()  # before the days are read: what is appended meanwhile shows in the mark of then
        kept = _read(self._path) if self._path else {}
        entries: dict[str, list[str]] = {}
        found: dict[date, set[str]] = {}
        for day in self._log.days(KIND):
            key, mark = f"{day.toordinal():x}", marks.get(day)
            entry = kept.get(key)
            if mark is None or entry is None or entry[0] != mark:
                found[day] = _hashes(self._log.read(KIND, day))
                entry = [mark, *sorted(found[day])] if mark else None
            else:
                found[day] = set(entry[1:])
            if entry:
                entries[key] = entry
        if self._path and entries and entries != kept:
            own = self._path.with_name(f"{FILE}.{threading.get_ident()}")
            with suppress(OSError), temporary_beside(own) as temporary:
                temporary.write_bytes(orjson.dumps(entries))
                temporary.replace(self._path)
        return found

    def _marks(self) -> dict[date, str]:
        """What tells the days' folders from any others; without those that could change unseen."""
        found: dict[date, str] = {}
        settled_until = settled_until_ns()
        if self._log.local_root:
            with suppress(FileNotFoundError), os.scandir(posixpath.join(self._log.local_root, KIND)) as folders:
                for folder in folders:
                    stat = folder.stat()
                    if not folder.name.startswith(".") and stat.st_mtime_ns < settled_until:
                        found[date.fromisoformat(folder.name)] = f"{stat.st_ino:x}-{stat.st_mtime_ns:x}"
        return found


def _hashes(records: Iterable[Record]) -> set[str]:
    return {_hash(session) for session in {interaction_key(record)[:2] for record in records}}


def _hash(session: Session) -> str:
    text = "".join(f"{len(part)}:{part}" for part in session)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARACTERS]


def _read(path: Path) -> dict[str, list[str]]:
    """What the file holds; nothing where there is none, or where it is not what was written."""
    try:
        found = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    is_whole = isinstance(found, dict) and all(
        isinstance(entry, list) and entry and all(isinstance(part, str) for part in entry) for entry in found.values()
    )
    return found if is_whole else {}
