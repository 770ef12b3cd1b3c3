"""The landed log: append-only JSON Lines, the one thing that cannot be rebuilt; and the gate that it asks.

Every landing adds new segment files beside the old ones and never touches those: `KIND/DAY/000001-HASH.jsonl`,
numbered in the order of landing within kind and day, named by the hash of their content. All tables are made from
this. Callers that append hold the lock of landing of the home.

Erasure alone rewrites: a segment gets a new hash and keeps its number, and what was erased stays away by the gate.
`em_pipelines.landing.erasure_gate` has the one of a home; a log without one takes everything. What should lie here
stands in the manifest (`em_pipelines.storage.log_manifest`), where a home has one.
"""

import hashlib
import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Protocol

import fsspec
import orjson

from em_pipelines.errors import CorruptLogError
from em_pipelines.schema.ids import digest
from em_pipelines.schema.table import Record
from em_pipelines.storage.files import Folders, sync_folder, write_atomically
from em_pipelines.storage.log_manifest import ACCEPT, KINDS, Change, Manifest, Segment, What, named


class Verdict(StrEnum):
    """What becomes of a record at the gate."""

    ADMITTED = "admitted"
    CUT = "cut"
    """Taken in without what was erased in it."""
    KNOWN = "known"
    """It landed before and was rewritten since: a duplicate, whatever it says."""
    ERASED = "erased"
    """Not taken in, and nothing of it is kept."""
    ASKED = "asked"
    """It asks for something to be forgotten: kept as a request, never as a record."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The verdict on one record, and the record as it may be taken in; None where it may not."""

    verdict: Verdict
    record: Record | None


class Gate(Protocol):
    """Judges what is about to be appended to a log. Asked under the home's landing lock."""

    def verify(self) -> None:
        """Raises EmError where nothing could be judged, and so nothing may be appended."""

    def judge(self, kind: str, record: Record) -> Passage:
        """The verdict on a landed record; raises ValueError for a request to forget that names nothing."""

    def admits_letter(self, letter: Record) -> bool:
        """Whether a dead letter may be kept, raw bytes and all."""


class OpenGate:
    """Takes everything: the gate of a log that belongs to no home."""

    def verify(self) -> None:
        """Nothing is needed to take everything."""

    def judge(self, kind: str, record: Record) -> Passage:  # noqa: ARG002  (the protocol's signature)
        """Admits the record as it is."""
        return Passage(Verdict.ADMITTED, record)

    def admits_letter(self, letter: Record) -> bool:  # noqa: ARG002
        """Keeps every letter."""
        return True


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What a rewriting did: records removed and changed, and segments that were replaced."""

    n_removed: int = 0
    n_changed: int = 0
    n_segments: int = 0

    def __add__(self, other: "Rewritten") -> "Rewritten":
        return Rewritten(
            self.n_removed + other.n_removed, self.n_changed + other.n_changed, self.n_segments + other.n_segments
        )


class LandedLog:
    """All landed records below one root: a path, or any fsspec URL.

    Whoever lands into the log asks its `gate` first. What is written is entered into its `manifest`.
    """

    def __init__(self, root: str | Path, gate: Gate | None = None, manifest: Manifest | None = None) -> None:
        self.gate: Gate = gate or OpenGate()
        self.manifest = manifest
        self._waiting: list[Change] | None = None
        self._fs, self._root = fsspec.core.url_to_fs(str(root))
        self._is_local = "file" in (self._fs.protocol if isinstance(self._fs.protocol, tuple) else (self._fs.protocol,))
        self._folders = Folders(_shown)

    @property
    def local_root(self) -> str | None:
        """The folder of the log where it lies on a local disk."""
        return self._root if self._is_local else None

    def days(self, kind: str) -> list[date]:
        """The days for which records of this kind have landed, in order."""
        return [date.fromisoformat(name) for name in self._names(posixpath.join(self._root, kind))]

    def digest(self, kind: str, day: date) -> str | None:
        """Digest of everything landed of a kind for a day, or None where nothing has; reads names only."""
        segments = self._segments(kind, day)
        return digest(segments) if segments else None

    def read(self, kind: str, day: date) -> Iterator[Record]:
        """The records of a kind and day, in the order of landing. Raises CorruptLogError for what was not landed."""
        for name in self._segments(kind, day):
            for line in self._content(kind, day, name).splitlines():
                yield orjson.loads(line)

    def _content(self, kind: str, day: date, name: str) -> bytes:
        """The bytes of a segment, which are those that were landed."""
        path = posixpath.join(self._folder(kind, day), name)
        with self._fs.open(path, "rb") as handle:
            data: bytes = handle.read()
        if not _is_named_by(name, data):
            raise CorruptLogError(
                f"reading {path}: it is not what was landed; restore it from a backup (`em restore DIR --lost`), or "
                "move the file away and accept the loss with `em repair --apply --accept-loss`"
            )
        return data

    def damaged(self, kind: str) -> Iterator[str]:
        """The segments of a kind whose content is not that of their name, as KIND/DAY/NAME."""
        for day in self.days(kind):
            for name in self._segments(kind, day):
                with self._fs.open(posixpath.join(self._folder(kind, day), name), "rb") as handle:
                    if not _is_named_by(name, handle.read()):
                        yield f"{kind}/{day}/{name}"

    def append(self, kind: str, day: date, records: Sequence[Record]) -> None:
        """Adds one segment holding the records; either all of them stand afterwards, or none. Raises what the gate
        raises where it cannot judge."""
        if not records:
            return
        self.gate.verify()
        self._open_manifest()
        number = max(map(_number, self._segments(kind, day)), default=0) + 1
        name = self._write(kind, day, number, records)
        self._enter(What.LANDED, kind, day, name)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Enters all that is written meanwhile into the manifest at once: each entering waits for the disk twice."""
        self._waiting = []
        try:
            yield
        finally:
            waiting, self._waiting = self._waiting, None
            if self.manifest:
                self.manifest.enter(waiting)

    def lost(self) -> dict[str, Segment]:
        """The segments that should lie here and do not, by mark. Raises CorruptLogError where nobody can say.

        Needs no lock: what is landed or rewritten meanwhile is looked at again.
        """
        return self._lost(lambda _: True)

    def check(self, kind: str, days: Sequence[date]) -> None:
        """Raises CorruptLogError where any of the days lacks a segment that landed: it must not be made without."""
        wanted = set(days)
        if wanted and (lost := self._lost(lambda one: one.kind == kind and one.day in wanted)):
            raise lost_error(lost.values())

    def _lost(self, is_asked: Callable[[Segment], bool]) -> dict[str, Segment]:
        while self.manifest is not None:
            listed = self.manifest.listed()
            asked = {mark: one for mark, one in listed.segments.items() if is_asked(one)}
            there = self._marks(
                {(one.kind, one.day) for one in asked.values()}
            )  # now: it is entered after it is written
            lost = {mark: one for mark, one in asked.items() if mark not in there}
            if not lost or self.manifest.listed() is listed:
                return lost
        return {}

    def settle(self) -> None:
        """Enters segments that no entry names: of a landing that was killed, or from before there was a manifest.

        The caller holds the landing lock. What an erasure that was killed has left beside what it wrote is not entered.
        """
        if self.manifest is None or not self._is_local:
            return
        listed = self.manifest.listed()
        there = self._marks({(kind, day) for kind in KINDS for day in self.days(kind)})
        standing = {one for mark, one in listed.segments.items() if mark in there}
        found = [
            Change(What.FOUND, one.kind, one.day, one.number, mark)
            for mark, one in there.items()
            if mark not in listed.segments and one not in standing
        ]
        self.manifest.enter(found)

    def _marks(self, days: Iterable[tuple[str, date]]) -> dict[str, Segment]:
        """What lies here of some kinds and days, by mark."""
        assert self.manifest is not None
        return {
            self.manifest.mark(kind, day, name): Segment(kind, day, _number(name))
            for kind, day in days
            for name in self._segments(kind, day)
        }

    def _open_manifest(self) -> None:
        """Before anything is written: a first manifest takes in what lies here, a damaged one takes nothing."""
        if self.manifest is None or self._waiting:
            return
        if self.manifest.is_there:
            self.manifest.check_end()
        else:
            self.settle()

    def _enter(self, what: What, kind: str, day: date, name: str, was: str = "") -> None:
        if self.manifest is None:
            return
        mark, before = (self.manifest.mark(kind, day, one) if one else "" for one in (name, was))
        change = Change(what, kind, day, _number(name or was), mark, before)
        if self._waiting is None:
            self.manifest.enter([change])
        else:
            self._waiting.append(change)

    def rewrite(self, kind: str, day: date, change: Callable[[Record], Record | None]) -> Rewritten:
        """Replaces each record of a day by what `change` makes of it; None removes it. For erasure alone.

        The new segment is written before the old one goes. A crash in between leaves both, and the same rewriting
        again ends with the new one; `change` leaves alone what it has made itself.
        """
        done = Rewritten()
        self._open_manifest()
        for name in self._segments(kind, day):
            done += self._rewrite_segment(kind, day, name, change)
        if done.n_segments and not self._segments(kind, day):
            with suppress(OSError):
                self._fs.rmdir(self._folder(kind, day))
        return done

    def _rewrite_segment(self, kind: str, day: date, name: str, change: Callable[[Record], Record | None]) -> Rewritten:
        records = [orjson.loads(line) for line in self._content(kind, day, name).splitlines()]
        changed = [change(record) for record in records]
        if changed == records:
            return Rewritten()
        left = [record for record in changed if record is not None]
        written = self._write(kind, day, int(name[:6]), left) if left else ""
        self._enter(What.REWRITTEN if left else What.REMOVED, kind, day, written, was=name)  # else it would seem lost
        self._fs.rm_file(posixpath.join(self._folder(kind, day), name))
        if self._is_local:
            sync_folder(self._folder(kind, day))  # what was erased is not to come back with the power
        n_changed = sum(a != b for a, b in zip(records, changed, strict=True) if b is not None)
        return Rewritten(len(records) - len(left), n_changed, n_segments=1)

    def _write(self, kind: str, day: date, number: int, records: Sequence[Record]) -> str:
        """Returns the name of the segment that holds the records now."""
        data = b"".join(orjson.dumps(r, option=orjson.OPT_SORT_KEYS) + b"\n" for r in records)
        name = f"{number:06d}-{_mark(data)}.jsonl"
        path = posixpath.join(self._folder(kind, day), name)
        if self._is_local:
            write_atomically(Path(path), data)
        else:
            self._fs.makedirs(posixpath.dirname(path), exist_ok=True)
            self._fs.pipe_file(path, data)
        return name

    def _folder(self, kind: str, day: date) -> str:
        return posixpath.join(self._root, kind, day.isoformat())

    def _segments(self, kind: str, day: date) -> list[str]:
        return [n for n in self._names(self._folder(kind, day)) if n.endswith(".jsonl")]

    def _names(self, folder: str) -> list[str]:
        if self._is_local:
            return self._folders.found(folder)
        if not self._fs.exists(folder):
            return []
        found = (posixpath.basename(p.rstrip("/")) for p in self._fs.ls(folder, detail=False, refresh=True))
        return _shown(sorted(found))


def _mark(data: bytes) -> str:
    """What a segment's name says of its content."""
    return hashlib.sha256(data).hexdigest()[:16]


def _number(name: str) -> int:
    """The number of a segment; 0 of what is none, which nobody can read either."""
    return int(name[:6]) if name[:6].isdecimal() else 0


def _is_named_by(name: str, data: bytes) -> bool:
    return name.endswith(f"-{_mark(data)}.jsonl")


def lost_error(lost: Iterable[Segment]) -> CorruptLogError:
    """What is said of segments that are lost."""
    return CorruptLogError(f"reading the landed log: {named(lost)} is lost; {ACCEPT}")


def _shown(names: Iterable[str]) -> list[str]:
    return [name for name in names if not name.startswith(".")]
