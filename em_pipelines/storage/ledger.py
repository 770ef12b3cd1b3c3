"""The ledger of what people did to memory: corrections, erasures, rollbacks, exports. Append-only, hash-chained.

HOME/record/ledger.jsonl has one line an entry, HOME/record/ledger.head the number of entries and the hash of the last.
An entry names nobody and quotes nothing: people and things stand in it as hashes that only this home can make, so that
it may outlive what it is about. Every entry holds the hash of the one before it and a seal of its own hash; with the
head, any change is found, and so is an end that was cut off.

A ledger that is gone with its head, or was put back as it once was, is whole in itself. So heads are noted elsewhere,
in snapshots, certificates and by people: each of them has to be found in it.

Nothing here is ever mended but the line of an append that was killed. An edit stays visible: appending goes on behind
it and leaves the head as it was found.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from hashlib import sha256
from pathlib import Path

import orjson
from filelock import FileLock, Timeout

from em_pipelines.errors import CorruptLedgerError, LockedError
from em_pipelines.storage.files import make_folder, private, sync_folder, write_atomically
from em_pipelines.storage.ledger_entries import FIRST, Act, Entry, canonical, entry_of, record_of
from em_pipelines.storage.salt import Salt

TAIL_BYTES = 65_536
"""Holds the last line, whose fields are all short."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that no append leaves behind. `line` counts from 1; None: the head."""

    line: int | None
    found: str


@dataclass(frozen=True, slots=True)
class Head:
    """How many entries there are, and the hash of the last, 64 hex digits."""

    count: int
    hash: str


NONE = Head(0, FIRST)


class Ledger:
    """The ledger below one folder; made by the first entry."""

    def __init__(self, folder: Path, salt: Salt) -> None:
        self._folder = folder
        self._path = folder / "ledger.jsonl"
        self._head_path = folder / "ledger.head"
        self._salt = salt

    def append(self, act: Act) -> Entry:
        """Adds one entry; when this returns, it is on disk and counted.

        Raises LockedError where another process keeps the ledger for too long, and SaltError.
        """
        self._salt.bind()
        with self._lock():
            is_sound, last = self._prepare()
            content = {
                "sequence": last.count + 1,
                "at": act.at.astimezone(UTC).isoformat(),
                "action": act.action,
                "actor": act.actor,
                "user": self._salt.hash("ledger user", act.user_id),
                "target": self.mark_of(act.target, act.user_id),
                "count": act.count,
                "certificate_id": act.certificate_id,
                "previous_hash": last.hash,
            }
            own = sha256(canonical(content)).hexdigest()
            record = {**content, "hash": own, "seal": self._salt.hash("ledger entry", own)}
            self._write(canonical(record) + b"\n")
            if is_sound:
                self._write_head(Head(last.count + 1, own))
        return entry_of(record)

    def entries(self) -> list[Entry]:
        """All entries, in order. Raises CorruptLedgerError at the first line that is none."""
        entries = []
        for number, line in enumerate(self._lines()[0], start=1):
            record = record_of(line)
            if record is None:
                raise CorruptLedgerError(
                    f"reading {self._path}: line {number} is no entry; restore the ledger from a backup"
                )
            entries.append(entry_of(record))
        return entries

    def of_user(self, user_id: str) -> list[Entry]:
        """The entries about one user, in order."""
        return [entry for entry in self.entries() if entry.user == self._salt.hash("ledger user", user_id)]

    def of_target(self, target: str, user_ids: Iterable[str]) -> list[Entry]:
        """The entries about one thing of any of these users, in order."""
        entries = self.entries()
        marks = {self.mark_of(target, user) for user in user_ids} if entries else set()
        return [entry for entry in entries if entry.target in marks]

    def mark_of(self, target: str, user_id: str) -> str:
        """What stands in the place of one thing of a user, as `target` of entries."""
        return self._salt.hash("ledger target", user_id, target)

    def verify(self) -> list[Problem]:
        """Everything that shows an edit, the first line first; empty where nothing does.

        One entry more than the head counts is what a killed append leaves, and so is half a line behind that.
        """
        lines, torn = self._lines()
        problems: list[Problem] = []
        previous, hashes = FIRST, [FIRST]
        for number, line in enumerate(lines, start=1):
            record = record_of(line)
            problem = "it is no entry" if record is None else self._flaw(record, number, previous)
            if problem:
                problems.append(Problem(number, problem))
            previous = str(record["hash"]) if record else ""
            hashes.append(previous)
        return problems + self._head_problems(hashes, torn)

    def head(self) -> Head | None:
        """The number of entries and the hash of the last, as the head's file has them; None where it was edited."""
        return self._head()

    def place_of(self, entry_hash: str) -> int | None:
        """After how many entries the ledger had that hash as its last, 0 for none; None where it never had."""
        hashes = self._hashes()
        return hashes.index(entry_hash) if entry_hash in hashes else None

    def holds(self, noted: Head) -> bool:
        """Whether it begins with the entries that it had when that head was noted."""
        hashes = self._hashes()
        return noted.count < len(hashes) and hashes[noted.count] == noted.hash

    def to_note(self, before: Head | None) -> Head | None:
        """The head that is to be noted now where `before` was noted last: its own, unless it does not hold that one. An
        edit is not forgotten because something is noted after it."""
        return before if before is not None and not self.holds(before) else self._head()

    def lacks(self, noted: Head, noted_by: str) -> Problem | None:
        """What shows that a head that `noted_by` holds is not, or no more, one of this ledger; None where it is."""
        if self.holds(noted):
            return None
        count = len(self._hashes()) - 1
        if noted.count > count:
            return Problem(
                count + 1,
                f"{noted_by} knows {noted.count} entries, {count} are there: they were removed, or an older ledger was "
                "put in their place",
            )
        return Problem(noted.count, f"{noted_by} knows another entry there: this is another ledger")

    def _hashes(self) -> list[str]:
        """What its head could have held: before the first entry, and after each; empty for a line that is no entry."""
        records = map(record_of, self._lines()[0])
        return [FIRST, *(str(record["hash"]) if record else "" for record in records)]

    def _flaw(self, record: dict[str, object], number: int, previous: str) -> str | None:
        content = {name: value for name, value in record.items() if name not in {"hash", "seal"}}
        if record["sequence"] != number:
            return f"it is numbered {record['sequence']}: lines were removed, inserted or swapped before it"
        if record["previous_hash"] != previous:
            return "it does not follow the entry before it: one of the two was changed, inserted or swapped"
        if record["hash"] != sha256(canonical(content)).hexdigest():
            return "it was changed: its hash is not that of its content"
        if record["seal"] != self._salt.hash("ledger entry", str(record["hash"])):
            return "it was not written by this home, or the home's salt is another one"
        return None

    def _head_problems(self, hashes: list[str], torn: bytes) -> list[Problem]:
        head, count = self._head(), len(hashes) - 1
        if head is None:
            return [Problem(None, "the head is missing, or was edited")]
        if head.count > count:
            what = "the last line was cut" if torn and head.count == count + 1 else "the end was cut off"
            return [Problem(count + 1, f"{what}: the head counts {head.count} entries, {count} are there")]
        if hashes[head.count] != head.hash:
            return [Problem(head.count or None, "the head holds another hash for it: one of the two was changed")]
        if count > head.count + 1:
            return [
                Problem(head.count + 2, f"the head counts {head.count} entries: lines were added, or it was put back")
            ]
        return []

    @contextmanager
    def _lock(self) -> Iterator[None]:
        make_folder(self._folder)
        try:
            with FileLock(self._folder / "ledger.lock", timeout=60):
                yield
        except Timeout as error:
            raise LockedError(
                f"appending to {self._path}: another process has held it for 60 s; wait for it and try again"
            ) from error

    def _prepare(self) -> tuple[bool, Head]:
        """Mends what a killed append left; returns whether the head agrees with the entries, and the last entry."""
        if not self._path.exists() and not self._head_path.exists():
            self._write_head(NONE)
        head = self._head()
        last, before, torn = self._last()
        is_sound = head is not None and head in (last, before)
        if torn:
            # A whole line lacks its newline alone; half a line was never counted. What was counted is no accident.
            as_entry = record_of(torn)
            if as_entry is None and is_sound:
                with self._path.open("r+b") as handle:
                    handle.truncate(self._path.stat().st_size - len(torn))
            else:
                self._write(b"\n")
                last = Head(last.count + 1, str(as_entry["hash"]) if as_entry else "")
        if is_sound and head != last:
            self._write_head(last)
        return is_sound, last

    def _last(self) -> tuple[Head, Head | None, bytes]:
        """The last whole line and the one before it as a head would hold them, and what stands behind."""
        if not self._path.exists():
            return NONE, None, b""
        with self._path.open("rb") as handle:
            size = handle.seek(0, os.SEEK_END)
            handle.seek(max(0, size - TAIL_BYTES))
            *lines, torn = handle.read().split(b"\n")
        if not lines:
            return NONE, None, torn
        record = record_of(lines[-1])
        if record is None:
            return Head(self._path.read_bytes().count(b"\n"), ""), None, torn
        count = int(str(record["sequence"]))
        return Head(count, str(record["hash"])), Head(count - 1, str(record["previous_hash"])), torn

    def _lines(self) -> tuple[list[bytes], bytes]:
        """All whole lines, and what stands behind the last newline."""
        *lines, torn = self._path.read_bytes().split(b"\n") if self._path.exists() else [b""]
        return lines, torn

    def _head(self) -> Head | None:
        """What the head says, 0 entries before there is any; None where it is missing or was edited."""
        if not self._head_path.exists():
            return None if self._path.exists() else NONE
        data = self._head_path.read_bytes()
        try:
            said = orjson.loads(data)
            head = Head(said["count"], said["hash"])
        except (ValueError, KeyError, TypeError):
            return None
        return head if isinstance(head.count, int) and data == self._sealed(head) else None

    def _write_head(self, head: Head) -> None:
        write_atomically(self._head_path, self._sealed(head))

    def _sealed(self, head: Head) -> bytes:
        seal = self._salt.hash("ledger head", str(head.count), str(head.hash))
        return canonical({"count": head.count, "hash": head.hash, "seal": seal})

    def _write(self, data: bytes) -> None:
        is_new = not self._path.exists()
        with open(self._path, "ab", buffering=0, opener=private) as handle:
            handle.write(data)
            os.fsync(handle.fileno())
        if is_new:
            sync_folder(self._folder)
