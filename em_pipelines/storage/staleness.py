"""Which days were found current, and whether anything that this was judged by has changed since.

To find a day current, its footers are read and those of all it was made from; for hundreds of days that takes seconds.
So a month of a step is noted once its days up to one are current, with a mark of the files that this hung on: name,
inode, time of change and size of each. While the mark stays the same so does the judgement. Where it does not, or
nothing is noted, days are judged by their footers as ever. Deleting the note costs time and changes nothing.

It holds one hexadecimal word a month and step, so that no search for what was erased takes it for a name. What footers
say is noted in the same way, in a file of its own.
"""

import hashlib
import os
import threading
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import groupby
from pathlib import Path

import orjson

from em_pipelines.schema.ids import digest
from em_pipelines.storage.files import put_in_place, settled_until_ns, temporary_beside, write_atomically

MARK_CHARACTERS = 64
DAY_CHARACTERS = len("2026-03-01")


@dataclass(frozen=True, slots=True)
class Judged:
    """What the days of a step are judged by: its name and version, folders with a file a day, and of these the ones
    whose newest file before a day counts as well. All files lie on a local disk."""

    name: str
    version: str
    folders: tuple[str, ...]
    states: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of one folder: the day of each, in order, what tells it from any other, and the days of those that
    changed just now."""

    days: list[str]
    lines: list[str]
    changing: list[str]


class Settled:
    """One look at a home: each folder is listed once, so a look is for one pass of planning and no longer.

    Ask for `unsettled` days, judge those, then say with `note` which of them are out of date. The order matters: the
    files are marked as they were before they were judged, so a change in between shows at the next look. Days are to
    be listed after `open`. `path` is where it is kept, or None to keep and know nothing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._noted = _noted_in(path) if path else {}
        self._is_changed = False
        self._files: dict[str, _Files] = {}
        self._marks: dict[tuple[str, str, str], str] = {}

    def open(self, judged: Judged) -> None:
        """Lists what the step's days are judged by."""
        if self._path:
            for folder in (*judged.folders, *judged.states):
                if folder not in self._files:
                    self._files[folder] = _list(folder)

    def unsettled(self, judged: Judged, days: Sequence[date]) -> list[date]:
        """Those of the days, which are in order, that have to be judged: the others are current as they were noted."""
        if not self._path:
            return list(days)
        found: list[date] = []
        for month, of_month in _by_month(days):
            until = self._noted_until(judged, month)
            found += [day for day in of_month if until is None or day > until]
        return found

    def note(self, judged: Judged, days: Sequence[date], stale: Iterable[date]) -> None:
        """Notes what was found of all days of a step: they are current, but for those that are `stale`.

        A month is noted up to the day before the first that is stale, or has a file that may change unseen.
        """
        if not self._path:
            return
        out_of_date = set(stale)
        for month, of_month in _by_month(days):
            end = self._first_changing(judged, month)
            end = min([end, *(day.isoformat() for day in of_month if day in out_of_date)])
            current = [day for day in of_month if day.isoformat() < end]
            key = _key_of(judged, month)
            noted = f"{self._mark(judged, month, current[-1])}{current[-1].toordinal():x}" if current else None
            if noted == self._noted.get(key):
                continue
            self._is_changed = True
            if noted:
                self._noted[key] = noted
            else:
                self._noted.pop(key, None)

    def save(self) -> None:
        """Keeps what was noted for the next process. Where it cannot be kept, nothing is lost."""
        if not self._path or not self._is_changed:
            return
        # Threads of one process may look at once; each has a temporary file of its own.
        own = self._path.with_name(f"{self._path.name}.{threading.get_ident()}")
        with suppress(OSError), temporary_beside(own) as temporary:
            temporary.write_bytes(orjson.dumps(self._noted))
            put_in_place(temporary, self._path, set())  # nobody waits for the disk: it can be made again
            self._is_changed = False

    def _noted_until(self, judged: Judged, month: str) -> date | None:
        noted = self._noted.get(_key_of(judged, month))
        if noted is None:
            return None
        until = date.fromordinal(int(noted[MARK_CHARACTERS:], 16))
        return until if self._mark(judged, month, until) == noted[:MARK_CHARACTERS] else None

    def _mark(self, judged: Judged, month: str, until: date) -> str:
        """Digest of what the days of a month up to one hang on."""
        parts = [judged.name, judged.version, month]
        parts += [self._of_folder(folder, month, until) for folder in (*judged.folders, *judged.states)]
        parts += [self._newest_before(folder, month) for folder in judged.states]
        return digest(parts)

    def _of_folder(self, folder: str, month: str, until: date) -> str:
        key = folder, month, until.isoformat()
        if key not in self._marks:
            files = self._files[folder]
            first, end = bisect_left(files.days, month), bisect_right(files.days, until.isoformat())
            self._marks[key] = digest([folder.rpartition("/")[2], *files.lines[first:end]])
        return self._marks[key]

    def _newest_before(self, folder: str, month: str) -> str:
        files = self._files[folder]
        first = bisect_left(files.days, month)
        return files.lines[first - 1] if first else ""

    def _first_changing(self, judged: Judged, month: str) -> str:
        """The first day of the month with a file that changed just now, or the end of the month."""
        end = f"{month}~"  # sorts after all its days
        found = [end]
        for folder in (*judged.folders, *judged.states):
            found += [day for day in self._files[folder].changing if month <= day < end]
        for folder in judged.states:
            files = self._files[folder]
            first = bisect_left(files.days, month)
            if first and files.days[first - 1] in files.changing:
                found.append(month)
        return min(found)


def _list(folder: str) -> _Files:
    """The files, or folders, of a folder that are named by a day; hidden ones are nobody's days."""
    found = []
    changing = []
    settled_until = settled_until_ns()
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if name.startswith("."):
                continue
            try:
                stat = entry.stat()
            except FileNotFoundError:  # deleted this instant: as if it had been before
                continue
            changed = stat.st_mtime_ns
            found.append(f"{name} {stat.st_ino} {changed} {stat.st_size}")
            if changed >= settled_until:
                changing.append(name[:DAY_CHARACTERS])
    found.sort()
    return _Files([line[:DAY_CHARACTERS] for line in found], found, changing)


def _by_month(days: Iterable[date]) -> Iterable[tuple[str, list[date]]]:
    for month, of_month in groupby(days, key=lambda day: day.isoformat()[:7]):
        yield month, list(of_month)


def _key_of(judged: Judged, month: str) -> str:
    return digest([judged.name, month])


def _noted_in(path: Path) -> dict[str, str]:
    """What is kept in a file; nothing where there is none, or where it is not what was written."""
    try:
        found = orjson.loads(path.read_bytes())
        whole = {key: value for key, value in found.items() if date.fromordinal(int(value[MARK_CHARACTERS:], 16))}
    except (OSError, ValueError, TypeError, AttributeError, OverflowError):
        return {}
    return whole


FOOTER_NOTES = ".footers.json"
Version = tuple[int, int, int]
INCOMPLETE = "incomplete"
_NUMBER, _DIGEST, _CHECK = 16, 64, 16
_THINNED, _INCOMPLETE, _MADE = 1, 2, 4


@dataclass(frozen=True, slots=True)
class PartitionInfo:
    """What a partition's footer says: digests of its rows and inputs, and its number of rows.

    The rows of one that is thinned are not there; all else that is said of them still holds.
    """

    content_digest: str
    inputs_digest: str
    n_rows: int
    is_thinned: bool = False


class FooterNotes:
    """What footers say, kept from one process to the next: to read one costs a third of a millisecond, and a home of
    years has tens of thousands.

    Each is noted with the file that it was read from (inode, time of change, size); of any other file the note says
    nothing. They stand in a file of their own, which may be deleted; of a lake on no local disk, where `path` is None,
    there are none. It holds hexadecimal words alone, so that no search for what was erased takes one for a name.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path

    @cached_property
    def _words(self) -> dict[str, str]:
        try:
            found = orjson.loads(self._path.read_bytes()) if self._path else {}
        except (OSError, orjson.JSONDecodeError):
            return {}
        return found if isinstance(found, dict) else {}

    def of(self, name: str, version: Version) -> PartitionInfo | None:
        """What is noted of a file, if it is still the one that it was noted of. `name` is its path within the lake."""
        key = _key(name)
        word, marked = self._words.get(key), _word_of_version(version)
        if not isinstance(word, str) or not word.startswith(marked) or _guarded(key, word[:-_CHECK]) != word:
            return None
        return _read(word[len(marked) : -_CHECK])

    def save(self, known: Iterable[tuple[str, Version, PartitionInfo]]) -> None:
        """Adds what is known of files (name, version, what its footer says). Of one that changed just now nothing is
        noted: it may change again unseen. Where it cannot be kept, nothing is lost."""
        until = settled_until_ns()
        noted = {
            _key(name): _guarded(_key(name), _word_of_version(version) + _written(info))
            for name, version, info in known
            if version[1] < until and _fits(info)
        }
        if self._path and not noted.items() <= self._words.items():
            self._words.update(noted)
            with suppress(OSError):
                write_atomically(self._path, orjson.dumps(self._words))

    def clear(self) -> None:
        """Forgets everything, on disk, too."""
        self._words.clear()
        if self._path:
            self._path.unlink(missing_ok=True)


def _key(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:_NUMBER]


def _guarded(key: str, word: str) -> str:
    """A word with digits behind it by which a change of it shows."""
    return word + hashlib.sha256((key + word).encode()).hexdigest()[:_CHECK]


def _word_of_version(version: Version) -> str:
    return "".join(f"{number:0{_NUMBER}x}" for number in version)


def _fits(info: PartitionInfo) -> bool:
    has_inputs = len(info.inputs_digest) in (0, _DIGEST) or info.inputs_digest == INCOMPLETE
    return has_inputs and len(info.content_digest) == _DIGEST


def _written(info: PartitionInfo) -> str:
    inputs = info.inputs_digest
    flags = _THINNED * info.is_thinned + (_INCOMPLETE if inputs == INCOMPLETE else _MADE if inputs else 0)
    return f"{info.n_rows:0{_NUMBER}x}{flags:x}{info.content_digest}{inputs if flags & _MADE else ''}"


def _read(word: str) -> PartitionInfo | None:
    """What `_written` has written; None where it is not that."""
    try:
        n_rows, flags = int(word[:_NUMBER], 16), int(word[_NUMBER], 16)
    except (ValueError, IndexError):
        return None
    content, inputs = word[_NUMBER + 1 : _NUMBER + 1 + _DIGEST], word[_NUMBER + 1 + _DIGEST :]
    if len(content) != _DIGEST or len(inputs) != (_DIGEST if flags & _MADE else 0):
        return None
    return PartitionInfo(content, INCOMPLETE if flags & _INCOMPLETE else inputs, n_rows, bool(flags & _THINNED))
