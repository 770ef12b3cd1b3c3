"""What a home keeps of pools: what it has taken in (`HOME/pool/shared.jsonl`), and what it has given, by marks alone
(`HOME/record/pool.jsonl`), so that it can be taken back after nobody knows any more whose it was.

Whoever writes holds the home's lock `pool`.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import orjson

from em_pipelines.errors import CorruptLogError
from em_pipelines.schema.ids import digest
from em_pipelines.storage.files import make_folder, write_atomically

SHARED, GIVEN = "shared.jsonl", "pool.jsonl"
LOCK = "pool"
Line = TypeVar("Line")


@dataclass(frozen=True, slots=True)
class SharedEntry:
    """What one user was given by a pool: contributions to one thing, merged. `pool` is a hash of where it lies."""

    user_id: str
    pool: str
    entry_id: str
    kind: str
    component: str
    category: str
    trigger: str | None
    mitigation: str | None
    count: str
    month: str
    domain: str
    privacy_level: str
    n_contributors: int


@dataclass(frozen=True, slots=True)
class Given:
    """One contribution that was made: where, and whether it is to be taken back. Says nothing of whose it is."""

    entry_id: str
    mark: str
    folder: str
    is_withdrawn: bool = False


class PoolBook:
    """Both files of one home; nothing is made on disk before something is noted."""

    def __init__(self, home: Path, record: Path) -> None:
        self._shared, self._given = home / "pool" / SHARED, record / GIVEN

    @property
    def has_shared(self) -> bool:
        """Whether anything was ever taken in."""
        return self._shared.exists()

    @property
    def has_given(self) -> bool:
        """Whether anything was ever given."""
        return self._given.exists()

    def shared(self) -> list[SharedEntry]:
        """What was taken in; raises CorruptLogError."""
        return _read(self._shared, SharedEntry)

    def taken(self, user_id: str | None, domain: str | None) -> list[SharedEntry]:
        """What was taken in, of one user or all, of one domain or all; raises CorruptLogError."""
        return [one for one in self.shared() if user_id in (None, one.user_id) and domain in (None, one.domain)]

    def given(self) -> list[Given]:
        """What was given and not taken back everywhere; raises CorruptLogError."""
        return _read(self._given, Given)

    def put_shared(self, entries: Iterable[SharedEntry]) -> None:
        """Replaces what was taken in."""
        ordered = sorted(entries, key=lambda one: (one.user_id, one.entry_id, one.pool))
        make_folder(self._shared.parent)
        write_atomically(self._shared, _lines(ordered))

    def put_given(self, given: Iterable[Given]) -> None:
        """Replaces what was given."""
        make_folder(self._given.parent)
        write_atomically(self._given, _lines(sorted(given, key=lambda one: (one.entry_id, one.mark, one.folder))))

    def forget_user(self, user_id: str) -> int:
        """Removes what a user was given; returns how much."""
        found = self.shared()
        left = [one for one in found if one.user_id != user_id]
        if len(left) < len(found):
            self.put_shared(left)
        return len(found) - len(left)


def fingerprint(entries: Iterable[SharedEntry]) -> str:
    """A hash of what was taken in, in whichever order."""
    return digest(sorted(orjson.dumps(asdict(one)).decode() for one in entries))


def _lines(rows: Iterable[Any]) -> bytes:
    return b"".join(orjson.dumps(asdict(row)) + b"\n" for row in rows)


def _read(path: Path, make: Callable[..., Line]) -> list[Line]:
    lines = path.read_bytes().splitlines() if path.exists() else []
    found = []
    for number, line in enumerate(lines, start=1):
        try:
            found.append(make(**orjson.loads(line)))
        except (orjson.JSONDecodeError, TypeError) as error:
            raise CorruptLogError(
                f"reading {path}: line {number} is not what was written; put the file back from a backup"
            ) from error
    return found
