"""Tombstones: what may not come back, as salted hashes that only this home can make and nobody can read.

HOME/record/tombstones.jsonl, one a line: what kind of thing, its hash, and until when it was said. A message said
later is new knowledge, whatever it names.

    user      the user                                   nothing of theirs is taken in
    session   user, session                              nothing of it is taken in
    message   user, session, turn                        it stands as it was rewritten, whatever comes again
    record    kind of log, id                            a record or dead letter that was removed or rewritten
    name      user, key of a name; `n_words` of it       messages that hold it are cut
    fact      user, key of the fact                      claims of it are dropped
    edge      user, edge id                              feedback that names it is cut

The last line seals those before it: one that was changed would let something land again without a word.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import orjson

from em_pipelines.errors import CorruptTableError
from em_pipelines.language.name_matching import NameIndex
from em_pipelines.storage.files import write_atomically
from em_pipelines.storage.salt import Salt

CACHED_HASHES = 100_000
SEAL = "seal"
USER, SESSION, MESSAGE, RECORD, NAME, FACT, EDGE = "user", "session", "message", "record", "name", "fact", "edge"


@dataclass(frozen=True, slots=True, order=True)
class Tombstone:
    """One thing that may not come back, if it was said up to `until` (as landed timestamps are written).

    Of names, `n_words` and the hashed `owner` spare looking at texts in which they cannot stand.
    """

    kind: str
    key: str
    until: str
    n_words: int = 0
    owner: str = ""


class Tombstones:
    """The tombstones of one home, read anew whenever their file has changed.

    Reading raises SaltError: with a salt that is lost or foreign none of them would be recognised.
    """

    def __init__(self, path: Path, salt: Salt, more: Iterable[Tombstone] = ()) -> None:
        self._path = path
        self._more = tuple(more)
        self._salt = salt
        self._version: tuple[int, int, int] | str | None = "unread"
        self._until: dict[tuple[str, str], str] = {}
        self._lengths: dict[str, frozenset[int]] = {}
        self._hash = lru_cache(maxsize=CACHED_HASHES)(salt.hash)

    def of(self, kind: str, *parts: str, until: str, n_words: int = 0) -> Tombstone:
        """The tombstone of a thing; its first part is the user."""
        owner = self._hash("owner", parts[0]) if kind == NAME else ""
        return Tombstone(kind, self._hash("tombstone", kind, *parts), until, n_words, owner)

    def with_more(self, more: Iterable[Tombstone]) -> "Tombstones":
        """These and more, which nobody has written down yet."""
        return Tombstones(self._path, self._salt, (*self._more, *more))

    def add(self, new: Iterable[Tombstone]) -> int:
        """Adds those that are not there and returns how many; all of them stand when this returns, or none.

        The caller holds the home's landing lock.
        """
        self._salt.bind(is_far=True)
        standing = self._read()
        missing = sorted(set(new) - set(standing))
        if missing:
            lines = [
                orjson.dumps(asdict(stone), option=orjson.OPT_SORT_KEYS) + b"\n" for stone in [*standing, *missing]
            ]
            stones = b"".join(lines)
            write_atomically(self._path, stones + orjson.dumps({SEAL: self._seal_of(stones)}) + b"\n")
        return len(missing)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was ever erased."""
        self._refresh()
        return not self._until

    def covers(self, kind: str, *parts: str, said_at: str) -> bool:
        """Whether the thing was erased and `said_at` is no later than that."""
        self._refresh()
        if not self._until:
            return False
        return self._covers(kind, *parts, said_at=said_at)

    def _covers(self, kind: str, *parts: str, said_at: str) -> bool:
        until = self._until.get((kind, self._hash("tombstone", kind, *parts)))
        return until is not None and said_at <= until

    def names_of(self, user_id: str, said_at: str) -> NameIndex:
        """The erased names of a user, for what was said at that time."""
        self._refresh()
        lengths = self._lengths.get(self._hash("owner", user_id), frozenset()) if self._lengths else frozenset()
        return NameIndex(lambda key: self._covers(NAME, user_id, key, said_at=said_at), lengths)

    def _refresh(self) -> None:
        version = _version_of(self._path)
        if version == self._version:
            return
        until: dict[tuple[str, str], str] = {}
        lengths: dict[str, frozenset[int]] = {}
        for stone in (*self._read(), *self._more):
            until[stone.kind, stone.key] = max(stone.until, until.get((stone.kind, stone.key), ""))
            if stone.kind == NAME:
                lengths[stone.owner] = lengths.get(stone.owner, frozenset()) | {stone.n_words}
        self._until, self._lengths, self._version = until, lengths, version

    def _read(self) -> list[Tombstone]:
        self._salt.verify()
        if not self._path.exists():
            return []
        data = self._path.read_bytes()
        try:
            found = stones_in(data)
            *stones, last = data.splitlines(keepends=True) or [b""]
            seal = orjson.loads(last).get(SEAL) if last else None
        except (ValueError, TypeError, AttributeError) as error:
            raise self._corrupt(f"a line is no tombstone ({type(error).__name__})") from error
        if seal is not None and seal != self._seal_of(b"".join(stones)):  # files from before have none
            raise self._corrupt("it is not what was written")
        return found

    def _seal_of(self, stones: bytes) -> str:
        return self._salt.hash("tombstones", hashlib.sha256(stones).hexdigest())

    def _corrupt(self, found: str) -> CorruptTableError:
        return CorruptTableError(
            f"reading {self._path}: {found}; restore HOME/record from a backup, or what was forgotten lands again"
        )


def stones_in(data: bytes) -> list[Tombstone]:
    """The tombstones in the bytes of a file; raises ValueError or TypeError for what is none."""
    rows = [orjson.loads(line) for line in data.splitlines()]
    return [Tombstone(**row) for row in rows if set(row) != {SEAL}]


def _version_of(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
