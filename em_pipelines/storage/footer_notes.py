"""What footers say, kept from one process to the next: whether a home is current hangs on each of them.

To read a footer costs a third of a millisecond, and a home of years has tens of thousands. So what was read is noted
with the file that it was read from (inode, time of change, size); of any other file the note says nothing. It may be
deleted.

It holds hexadecimal words alone, so that no search for what was erased takes one for a name.
"""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import orjson

from em_pipelines.storage.files import settled_until_ns, write_atomically

FOOTER_NOTES = ".footers.json"
Version = tuple[int, int, int]
INCOMPLETE = "incomplete"
_NUMBER, _DIGEST = 16, 64
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
    """The notes of a lake, in a file of their own; of one on no local disk, where `path` is None, there are none."""

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
        word = self._words.get(_key(name))
        marked = _word_of_version(version)
        return _read(word[len(marked) :]) if isinstance(word, str) and word.startswith(marked) else None

    def save(self, known: Iterable[tuple[str, Version, PartitionInfo]]) -> None:
        """Adds what is known of files (name, version, what its footer says). Of one that changed just now nothing is
        noted: it may change again unseen. Where it cannot be kept, nothing is lost."""
        until = settled_until_ns()
        noted = {
            _key(name): _word_of_version(version) + _written(info)
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
