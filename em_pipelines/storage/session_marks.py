"""What the days of one conversation have to know of each other: that it is untrusted, or that blocks were pasted in it.

A step makes a day from that day, and a conversation may go on for many. One untrusted turn makes all of it untrusted,
however many midnights lie between, and what one conversation with pasted blocks has said alone stays below its ceiling
on each of its days. So the log is asked here, and a day that is concerned is out of date when another day says so.

Beside the log lies an index of conversations by day, with what each day says of them; a day is known in it by a mark of
its folder. Deleting it costs one pass over the log and changes nothing. It holds hashes of conversations, so an erasure
deletes it. A log on an object store has none.
"""

import hashlib
import os
import posixpath
import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from pathlib import Path

import orjson

from em_pipelines.schema.ids import digest
from em_pipelines.schema.table import Record
from em_pipelines.storage.files import settled_until_ns, temporary_beside
from em_pipelines.storage.landed_log import LandedLog

KIND = "interactions"
FILE = ".session-marks.json"
HASH_CHARACTERS = 16
UNTRUSTED, PASTED = 1, 2
PASTED_ELSEWHERE = "is_pasted_elsewhere"
Marks = Mapping[str, int]
"""Of conversations, by their hash, what is said of them."""


class SessionMarks:
    """What other days say of the conversations of a day, as the log stood when it was first asked."""

    def __init__(self, log: LandedLog) -> None:
        self._log = log
        self._path = Path(log.local_root, FILE) if log.local_root else None
        self._crossing: dict[date, dict[str, int]] | None = None

    def of(self, day: date) -> Marks:
        """The conversations of a day that another day marks."""
        if self._crossing is None:
            days = self._log.days(KIND)
            self._crossing = _crossing(self._load(days))
        return self._crossing.get(day, {})

    def digest(self, day: date) -> str | None:
        """Of what other days say of a day; None where they say nothing."""
        found = self.of(day)
        return digest([f"{key} {marks}" for key, marks in sorted(found.items())]) if found else None

    def digest_of_all(self) -> str:
        """The same of all days together; empty where no day is concerned."""
        self.of(date.min)
        said = {day: self.digest(day) for day in sorted(self._crossing or {})}
        return digest([f"{day} {own}" for day, own in said.items()]) if said else ""

    def marked(self, day: date, records: Iterable[Record]) -> Iterator[Record]:
        """The records of a day with what other days say of their conversations."""
        found = self.of(day)
        for record in records:
            marks = found.get(_hash(record), 0) if found else 0
            told = {
                **({"trust": "untrusted"} if marks & UNTRUSTED else {}),
                **({PASTED_ELSEWHERE: True} if marks & PASTED else {}),
            }
            yield {**record, **told} if told else record

    def delete(self) -> None:
        """Removes the file. The caller holds the landing lock."""
        if self._path:
            self._path.unlink(missing_ok=True)

    def _load(self, days: Iterable[date]) -> dict[date, dict[str, int]]:
        """Reads the days that are not in the file, or have changed, and keeps them for the next time."""
        changed_at = self._changed_at()  # before the days are read: what is appended meanwhile shows in it
        kept = _read(self._path) if self._path else {}
        entries: dict[str, tuple[str, dict[str, int]]] = {}
        found: dict[date, dict[str, int]] = {}
        for day in days:
            key, mark = f"{day.toordinal():x}", changed_at.get(day)
            entry = kept.get(key)
            is_known = mark is not None and entry is not None and entry[0] == mark
            found[day] = entry[1] if is_known and entry else _marks_of(self._log.read(KIND, day))
            if mark is not None:
                entries[key] = (mark, found[day])
        if entries and entries != kept:
            self._keep(entries)
        return found

    def _keep(self, entries: dict[str, tuple[str, dict[str, int]]]) -> None:
        if self._path is None:
            return
        own = self._path.with_name(f"{FILE}.{threading.get_ident()}")
        with suppress(OSError), temporary_beside(own) as temporary:
            temporary.write_bytes(orjson.dumps(entries))
            temporary.replace(self._path)

    def _changed_at(self) -> dict[date, str]:
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


def _crossing(by_day: Mapping[date, Marks]) -> dict[date, dict[str, int]]:
    """Of each day the conversations that another one marks."""
    days_of: dict[str, list[date]] = defaultdict(list)
    for day, sessions in by_day.items():
        for key in sessions:
            days_of[key].append(day)
    found: dict[date, dict[str, int]] = defaultdict(dict)
    for key, days in days_of.items():
        if len(days) > 1:
            for day in days:
                marks = 0
                for other in days:
                    marks |= by_day[other][key] if other != day else 0
                if marks:
                    found[day][key] = marks
    return dict(found)


def _marks_of(records: Iterable[Record]) -> dict[str, int]:
    """What a day says of each of its conversations."""
    from em_pipelines.guard.passages import has_pasted_block  # noqa: PLC0415  (the guard; of days that changed)

    found: dict[str, int] = {}
    for record in records:
        key = _hash(record)
        marks = UNTRUSTED if record["trust"] == "untrusted" else 0
        if record["subject"] is not None and not found.get(key, 0) & PASTED and has_pasted_block(record["content"]):
            marks |= PASTED
        found[key] = found.get(key, 0) | marks
    return found


def _read(path: Path) -> dict[str, tuple[str, dict[str, int]]]:
    """What is kept in a file; nothing where there is none, or where it is not what was written."""
    try:
        found = orjson.loads(path.read_bytes())
        return {
            key: (str(mark), {str(hashed): int(marks) for hashed, marks in sessions.items()})
            for key, (mark, sessions) in found.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _hash(record: Record) -> str:
    text = "".join(f"{len(part)}:{part}" for part in (record["user_id"], record["session_id"]))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARACTERS]
