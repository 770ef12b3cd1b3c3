"""The landed log: append-only JSON Lines, the one thing that cannot be rebuilt.

Every landing adds new segment files beside the old ones and never touches those: `KIND/DAY/000001-HASH.jsonl`,
numbered in the order of landing within kind and day, named by the hash of their content. All tables are made from
this. Callers that append hold the home's landing lock.

Erasure alone rewrites: a segment gets a new hash and keeps its number, and what was erased stays away by the gate.
"""

import hashlib
import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import fsspec
import orjson

from em_pipelines.atomic import write_atomically
from em_pipelines.folders import Folders
from em_pipelines.lake import digest
from em_pipelines.landing.gate import Gate, OpenGate

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What a rewriting did: records removed and changed, and segments that were replaced."""

    n_removed: int = 0
    n_changed: int = 0
    n_segments: int = 0


class LandedLog:
    """All landed records below one root: a path, or any fsspec URL.

    Whoever lands into the log asks its `gate` first.
    """

    def __init__(self, root: str | Path, gate: Gate | None = None) -> None:
        self.gate: Gate = gate or OpenGate()
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
        """The records of a kind and day, in the order of landing."""
        for name in self._segments(kind, day):
            with self._fs.open(posixpath.join(self._folder(kind, day), name), "rb") as handle:
                for line in handle.read().splitlines():
                    yield orjson.loads(line)

    def damaged(self, kind: str) -> Iterator[str]:
        """The segments of a kind whose content is not that of their name, as KIND/DAY/NAME."""
        for day in self.days(kind):
            for name in self._segments(kind, day):
                with self._fs.open(posixpath.join(self._folder(kind, day), name), "rb") as handle:
                    if not name.endswith(f"-{_mark(handle.read())}.jsonl"):
                        yield f"{kind}/{day}/{name}"

    def append(self, kind: str, day: date, records: Sequence[Record]) -> None:
        """Adds one segment holding the records; either all of them stand afterwards, or none."""
        if not records:
            return
        number = max((int(name[:6]) for name in self._segments(kind, day)), default=0) + 1
        self._write(kind, day, number, records)

    def rewrite(self, kind: str, day: date, change: Callable[[Record], Record | None]) -> Rewritten:
        """Replaces each record of a day by what `change` makes of it; None removes it. For erasure alone.

        The new segment is written before the old one goes. A crash in between leaves both, and the same rewriting
        again ends with the new one; `change` leaves alone what it has made itself.
        """
        n_removed = n_changed = n_segments = 0
        for name in self._segments(kind, day):
            path = posixpath.join(self._folder(kind, day), name)
            with self._fs.open(path, "rb") as handle:
                records = [orjson.loads(line) for line in handle.read().splitlines()]
            changed = [change(record) for record in records]
            if changed == records:
                continue
            left = [record for record in changed if record is not None]
            if left:
                self._write(kind, day, int(name[:6]), left)
            self._fs.rm_file(path)
            n_segments += 1
            n_removed += len(records) - len(left)
            n_changed += sum(a != b for a, b in zip(records, changed, strict=True) if b is not None)
        if n_segments and not self._segments(kind, day):
            with suppress(OSError):
                self._fs.rmdir(self._folder(kind, day))
        return Rewritten(n_removed, n_changed, n_segments)

    def _write(self, kind: str, day: date, number: int, records: Sequence[Record]) -> None:
        data = b"".join(orjson.dumps(r, option=orjson.OPT_SORT_KEYS) + b"\n" for r in records)
        name = f"{number:06d}-{_mark(data)}.jsonl"
        path = posixpath.join(self._folder(kind, day), name)
        if self._is_local:
            write_atomically(Path(path), data)
        else:
            self._fs.makedirs(posixpath.dirname(path), exist_ok=True)
            self._fs.pipe_file(path, data)

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


def _shown(names: Iterable[str]) -> list[str]:
    return [name for name in names if not name.startswith(".")]
