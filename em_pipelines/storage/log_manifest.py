"""The manifest of the landed log: which segments should lie there, so that one that is lost is missed.

HOME/log/manifest.jsonl has one line an entry, HOME/record/log.head the number of entries and the hash of the last. Each
entry's hash covers the hash of the one before it. Segments stand in it by kind, day and number, and by a salted hash of
their name, which is the name of their content: after an erasure nothing tells what they held.

A segment is written first and entered then. One that no entry names is what a killed landing leaves, and is entered by
whoever looks next; one that is entered and not there is lost. Whoever enters anything holds the home's landing lock.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import IntEnum
from hashlib import sha256
from pathlib import Path

import orjson

from em_pipelines.errors import CorruptLogError
from em_pipelines.storage.files import make_folder, private, sync_folder, write_atomically
from em_pipelines.storage.salt import Salt

KINDS = ("interactions", "skill_invocations", "feedback", "world_events", "dead_letters", "erasures")
"""By their numbers in entries, where a word might be a name that somebody wants forgotten. Only ever added to."""
MARK_CHARACTERS = 32
FIRST = "0" * 64
TAIL_BYTES = 4096
"""Holds the last line, of which none is longer than 300 bytes."""
_FIELDS = {
    "sequence": int, "what": int, "kind": int, "day": int, "number": int, "mark": str, "was": str, "hash": str,
}  # fmt: skip
ACCEPT = "restore it from a backup (`em restore DIR --lost`), or accept the loss with `em repair --apply --accept-loss`"


class What(IntEnum):
    """What an entry says of a segment."""

    LANDED = 1
    FOUND = 2
    """It lay there and no entry named it: from before there was a manifest, or of a landing that was killed."""
    REWRITTEN = 3
    """By an erasure: another content under the same number."""
    REMOVED = 4
    """By an erasure, whole."""
    LOST = 5
    """It was lost, and somebody has accepted that. Number 0: whatever the day held."""


@dataclass(frozen=True, slots=True)
class Change:
    """Something that happened to a segment; `was` is its mark from before it was rewritten."""

    what: What
    kind: str
    day: date
    number: int
    mark: str = ""
    was: str = ""


@dataclass(frozen=True, slots=True, order=True)
class Segment:
    """Where a segment should lie. Its name is not known, only that it begins with its number."""

    kind: str
    day: date
    number: int

    def __str__(self) -> str:
        name = f"/{self.number:06d}-*.jsonl" if self.number else ""
        return f"log/{self.kind}/{self.day}{name}"


@dataclass(frozen=True)
class Listed:
    """What the entries come to: the segments that should be there by mark, and every kind and day ever entered."""

    segments: dict[str, Segment] = field(default_factory=dict)
    days: set[tuple[str, date]] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Head:
    count: int
    hash: str


class Manifest:
    """The manifest of one home's log; `path` and `head` are its two files."""

    def __init__(self, path: Path, head: Path, salt: Salt) -> None:
        self._path = path
        self._head_path = head
        self._salt = salt
        self._known: tuple[object, Listed] | None = None

    @property
    def is_there(self) -> bool:
        """Whether anything was ever entered; not so in homes from before there was a manifest."""
        return self._path.exists() or self._head_path.exists()

    def mark(self, kind: str, day: date, name: str) -> str:
        """What stands for a segment's name."""
        return self._salt.hash("log segment", kind, day.isoformat(), name)[:MARK_CHARACTERS]

    def check_end(self) -> None:
        """Raises CorruptLogError where nothing can be entered: the head or the last entry is not as it was written."""
        self._last()

    def enter(self, changes: Sequence[Change]) -> None:
        """Adds entries; when this returns, they are on disk and counted. Raises CorruptLogError."""
        if not changes:
            return
        if not self.is_there:
            self._write_head(_Head(0, FIRST))
        last, torn = self._last()
        lines = []
        for change in changes:
            content = self._content(change, last.count + 1)
            last = _Head(last.count + 1, _hash_of(last.hash, content))
            lines.append(orjson.dumps({**content, "hash": last.hash}, option=orjson.OPT_SORT_KEYS) + b"\n")
        is_new = not self._path.exists()
        make_folder(self._path.parent)
        with open(self._path, "wb" if is_new else "r+b", opener=private) as handle:
            handle.truncate(handle.seek(0, os.SEEK_END) - torn)
            handle.seek(0, os.SEEK_END)
            handle.write(b"".join(lines))
            handle.flush()
            os.fsync(handle.fileno())
        if is_new:
            sync_folder(self._path.parent)
        self._write_head(last)

    def listed(self) -> Listed:
        """What all entries come to. Raises CorruptLogError where one of them, or the head, is not as it was written.

        Entries behind those that the head counts, and half a line, are what a killed landing leaves.
        """
        if not self.is_there:
            return Listed()
        version = _version(self._path), _version(self._head_path)
        if self._known is None or self._known[0] != version:
            self._known = version, self._read()
        return self._known[1]

    def would_fit(self, data: bytes) -> bool:
        """Whether these bytes, in the place of the manifest, would be the one that the head counts."""
        try:
            self._replay(data.split(b"\n")[:-1], self._head())
        except CorruptLogError:
            return False
        return True

    def discard(self) -> None:
        """Deletes a manifest that nobody can read any more, for another to be begun."""
        self._path.unlink(missing_ok=True)
        self._head_path.unlink(missing_ok=True)

    @staticmethod
    def _content(change: Change, sequence: int) -> dict[str, object]:
        return {
            "sequence": sequence,
            "what": int(change.what),
            "kind": KINDS.index(change.kind),
            "day": change.day.toordinal(),
            "number": change.number,
            "mark": change.mark,
            "was": change.was,
        }

    def _read(self) -> Listed:
        head = self._head()  # first: what is entered meanwhile is then behind what it counts
        data = self._path.read_bytes() if self._path.exists() else b""
        return self._replay(data.split(b"\n")[:-1], head)

    def _replay(self, lines: Sequence[bytes], head: _Head) -> Listed:
        if len(lines) < head.count:
            raise self._corrupt(f"{head.count} entries were made and {len(lines)} are there")
        found = Listed()
        last = FIRST
        for number, line in enumerate(lines, start=1):
            record = _record_of(line)
            if (
                record is None
                or record["sequence"] != number
                or record["hash"] != _hash_of(last, _without_hash(record))
            ):
                raise self._corrupt(f"line {number} is not the entry that was made")
            last = str(record["hash"])
            if number == head.count and last != head.hash:
                raise self._corrupt(f"line {number} is not the entry that was made")
            _apply(found, record)
        return found

    def _last(self) -> tuple[_Head, int]:
        """The last whole entry, as a head would hold it, and how many bytes of half an entry stand behind it."""
        if not self.is_there:
            return _Head(0, FIRST), 0
        head = self._head()
        *lines, torn = _tail_of(self._path).split(b"\n")
        last: _Head | None = _Head(0, FIRST)
        if lines:
            record = _record_of(lines[-1])
            last = _Head(int(str(record["sequence"])), str(record["hash"])) if record else None
        if last is None or last.count < head.count or (last.count == head.count and last != head):
            raise self._corrupt("its end is not the entry that was made last")
        return last, len(torn)

    def _head(self) -> _Head:
        try:
            data = self._head_path.read_bytes()
            said = orjson.loads(data)
            head = _Head(int(said["count"]), str(said["hash"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._corrupt(f"{self._head_path} is lost or cannot be read") from error
        if data != self._sealed(head):
            raise self._corrupt(
                f"{self._head_path} was not written with the salt beside it: one of the two was changed"
            )
        return head

    def _write_head(self, head: _Head) -> None:
        write_atomically(self._head_path, self._sealed(head))

    def _sealed(self, head: _Head) -> bytes:
        seal = self._salt.hash("log head", str(head.count), head.hash)
        return orjson.dumps({"count": head.count, "hash": head.hash, "seal": seal}, option=orjson.OPT_SORT_KEYS)

    def _corrupt(self, found: str) -> CorruptLogError:
        return CorruptLogError(f"reading {self._path}: {found}; {ACCEPT}")


def _apply(found: Listed, record: dict[str, object]) -> None:
    kind, day = KINDS[int(str(record["kind"]))], date.fromordinal(int(str(record["day"])))
    what, mark, was = record["what"], str(record["mark"]), str(record["was"])
    found.days.add((kind, day))
    found.segments.pop(was, None)
    if what in (What.REMOVED, What.LOST):
        found.segments.pop(mark, None)
    else:
        found.segments[mark] = Segment(kind, day, int(str(record["number"])))


def _hash_of(previous: str, content: dict[str, object]) -> str:
    return sha256(previous.encode() + orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _without_hash(record: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in record.items() if name != "hash"}


def _record_of(line: bytes) -> dict[str, object] | None:
    """The line as fields; None unless it is, byte for byte, how an entry is written."""
    try:
        found = orjson.loads(line)
        is_entry = (
            isinstance(found, dict)
            and found.keys() == _FIELDS.keys()
            and all(type(found[name]) is kind for name, kind in _FIELDS.items())
            and orjson.dumps(found, option=orjson.OPT_SORT_KEYS) == line
        )
    except ValueError:
        return None
    return found if is_entry else None


def _tail_of(path: Path) -> bytes:
    try:
        with path.open("rb") as handle:
            handle.seek(max(0, handle.seek(0, os.SEEK_END) - TAIL_BYTES))
            return handle.read()
    except FileNotFoundError:
        return b""


def _version(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


def named(segments: Iterable[Segment], most: int = 3) -> str:
    """Segments in a sentence: the first of them by name, the others by number."""
    ordered = sorted(segments)
    shown = ", ".join(map(str, ordered[:most]))
    return shown if len(ordered) <= most else f"{shown} and {len(ordered) - most} more"
