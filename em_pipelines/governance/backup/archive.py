"""A folder of backups: the content of files by its digest, and a list for each backup.

DIR/objects/AB/SHA256   what a file held, once, however many backups and names it had
DIR/backups/NAME.json   one backup: path, digest, size and mode of each file, and the digest of all that

An object has its name before a list names it, and a list appears whole: a backup that was killed has left objects that
the next one finds. What is read is held against its digest. Everything is for its owner's eyes alone.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path

import orjson
from filelock import FileLock, Timeout

from em_pipelines.errors import CorruptBackupError, LockedError, UsageError
from em_pipelines.storage.files import is_alive, temporary_beside

LAYOUT = 1
BLOCK_BYTES = 1 << 20
SQLITE_MAGIC = b"SQLite format 3\x00"


@dataclass(frozen=True, slots=True)
class Kept:
    """A file of a backup: its path in the home, SHA-256 (hex) and bytes of its content, and its permissions."""

    path: str
    sha256: str
    size: int
    mode: int


@dataclass(frozen=True)
class Backup:
    """One backup: its name, which is when it was taken, and its files by path."""

    name: str
    files: dict[str, Kept] = field(default_factory=dict)

    def digest_of(self, path: str) -> str | None:
        """The digest of one of its files; None where it has none of that path."""
        return self.files[path].sha256 if path in self.files else None


class Archive:
    """The backups in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lists = folder / "backups"
        self._objects = folder / "objects"

    def begin(self) -> None:
        """Makes the folder, and deletes what killed processes have left. Raises UsageError for what is no backup."""
        if self.folder.exists() and not self._lists.is_dir() and any(self.folder.iterdir()):
            raise UsageError(f"backing up to {self.folder}: it holds something else; give an empty or a new folder")
        for folder in (self.folder, self._lists, self._objects):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in self.folder.rglob(".*.tmp"):
            if not is_alive(path.name.split(".")[-2]):
                path.unlink(missing_ok=True)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Holds the folder: one process at a time changes it. Raises LockedError."""
        try:
            with FileLock(self.folder / "lock", timeout=0):
                yield
        except Timeout as error:
            raise LockedError(f"backing up to {self.folder}: another backup is at work there; try again") from error

    def names(self) -> list[str]:
        """The names of all backups, the oldest first."""
        return sorted(path.stem for path in self._lists.glob("[!.]*.json"))

    def backup(self, name: str | None = None) -> Backup:
        """A backup by its name; the newest where none is named.

        Raises UsageError where there is none, CorruptBackupError where its list is not what was written.
        """
        names = self.names()
        if not names or (name is not None and name not in names):
            there = f"there are {', '.join(names[-3:])}" if names else "there is none"
            raise UsageError(f"reading backups in {self.folder}: no {name or 'backup'} there; {there}")
        path = self._lists / f"{name or names[-1]}.json"
        try:
            said = orjson.loads(path.read_bytes())
            files = [Kept(**row) for row in said["files"]]
            is_whole = said["digest"] == _digest(files) and said["layout"] == LAYOUT
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._unlisted(path) from error
        if not is_whole:
            raise self._unlisted(path)
        return Backup(path.stem, {kept.path: kept for kept in files})

    def write(self, backup: Backup) -> None:
        """Adds a backup, whose objects are there."""
        files = sorted(backup.files.values(), key=lambda kept: kept.path)
        document = {"layout": LAYOUT, "digest": _digest(files), "files": [asdict(kept) for kept in files]}
        path = self._lists / f"{backup.name}.json"
        with temporary_beside(path) as temporary:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as handle:
                handle.write(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))
                handle.flush()
                os.fsync(handle.fileno())
            temporary.replace(path)

    def has(self, kept: Kept) -> bool:
        """Whether the content of a file is there, by its name and size."""
        try:
            return self._object(kept.sha256).stat().st_size == kept.size
        except FileNotFoundError:
            return False

    def put(self, path: str, source: Path) -> tuple[Kept, bool]:
        """Copies a file as it is now, a SQLite database in a whole state; returns it and whether it was new here."""
        mode = source.stat().st_mode & 0o777
        with temporary_beside(self._objects / "incoming") as temporary:
            _copy(source, temporary)
            with temporary.open("rb") as handle:
                digest = sha256()
                while block := handle.read(BLOCK_BYTES):
                    digest.update(block)
                os.fsync(handle.fileno())
            kept = Kept(path, digest.hexdigest(), temporary.stat().st_size, mode)
            is_new = not self.has(kept)
            if is_new:
                target = self._object(kept.sha256)
                target.parent.mkdir(mode=0o700, exist_ok=True)
                temporary.chmod(0o600)
                temporary.replace(target)
        return kept, is_new

    def check(self, kept: Kept) -> None:
        """Raises CorruptBackupError where the content of a file is lost, or not what was copied."""
        try:
            with self._object(kept.sha256).open("rb") as handle:
                self._copied(handle.fileno(), None, kept)
        except FileNotFoundError as error:
            raise self._damaged(self._object(kept.sha256), f"restoring {kept.path}") from error

    def get(self, kept: Kept, target: Path) -> None:
        """Writes a file of a backup to `target`, whole or not at all. Raises CorruptBackupError."""
        try:
            with self._object(kept.sha256).open("rb") as handle, temporary_beside(target) as temporary:
                with temporary.open("wb") as written:
                    os.chmod(temporary, kept.mode)  # noqa: PTH101 - before anything is in it
                    self._copied(handle.fileno(), written.fileno(), kept)
                    os.fsync(written.fileno())
                temporary.replace(target)
        except FileNotFoundError as error:
            raise self._damaged(self._object(kept.sha256), f"restoring {kept.path}") from error

    def bytes_of(self, kept: Kept) -> bytes:
        """What a small file of a backup holds. Raises CorruptBackupError."""
        self.check(kept)
        return self._object(kept.sha256).read_bytes()

    def drop_damaged(self) -> list[Kept]:
        """Deletes objects that are not what was copied; returns the files of all backups that miss theirs."""
        found: dict[str, Kept] = {}
        for name in self.names():
            for kept in self.backup(name).files.values():
                try:
                    self.check(kept)
                except CorruptBackupError:
                    self._object(kept.sha256).unlink(missing_ok=True)
                    found[kept.sha256] = kept
        return list(found.values())

    def prune(self, keep: str) -> int:
        """Deletes all backups but one, and every object that it does not name; returns how many backups went."""
        kept = {one.sha256 for one in self.backup(keep).files.values()}
        gone = [name for name in self.names() if name != keep]
        for name in gone:
            (self._lists / f"{name}.json").unlink()
        for path in self._objects.glob("*/*"):
            if path.name not in kept:
                path.unlink()
                with suppress(OSError):
                    path.parent.rmdir()
        return len(gone)

    def _copied(self, source: int, target: int | None, kept: Kept) -> None:
        digest = sha256()
        while block := os.read(source, BLOCK_BYTES):
            digest.update(block)
            if target is not None:
                os.write(target, block)
        if digest.hexdigest() != kept.sha256:
            raise self._damaged(self._object(kept.sha256), f"restoring {kept.path}")

    def _object(self, digest: str) -> Path:
        return self._objects / digest[:2] / digest

    @staticmethod
    def _unlisted(path: Path) -> CorruptBackupError:
        return CorruptBackupError(
            f"reading a backup: {path} is not the list that was written; choose another backup with --at, and delete it"
        )

    def _damaged(self, path: Path, doing: str) -> CorruptBackupError:
        return CorruptBackupError(
            f"{doing}: {path} is lost, or is not what was copied; choose another backup with --at, or, where the home "
            f"stands, mend this one with `em backup {self.folder} --verify`"
        )


def _copy(source: Path, target: Path) -> None:
    with source.open("rb") as handle:
        is_database = handle.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC
    if not is_database:
        shutil.copyfile(source, target)
        return
    with (
        closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True, timeout=30)) as database,
        closing(sqlite3.connect(target)) as copy,
    ):
        database.backup(copy)


def _digest(files: Iterable[Kept]) -> str:
    rows = [asdict(kept) for kept in files]
    return sha256(orjson.dumps(rows, option=orjson.OPT_SORT_KEYS)).hexdigest()
