"""A folder of backups: the content of files by its digest, and a list for each backup.

DIR/objects/AB/SHA256   what a file held, once, however many backups and names it had
DIR/backups/NAME.json   one backup: path, digest, size and mode of each file, and the digest of all that; with a key
                        also an HMAC of it

An object has its name before a list names it, and a list appears whole: a backup that was killed has left objects that
the next one finds. What is read is verified against its digest, and never through a link that leaves DIR. Everything is
for its owner's eyes alone.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
from filelock import FileLock, Timeout

from em_pipelines.errors import CorruptBackupError, LockedError, UsageError
from em_pipelines.governance.backup.key import authentication_code, is_authentic
from em_pipelines.governance.backup.listed_file import PERMISSIONS, Kept, listed_files, path_problem
from em_pipelines.storage.files import is_alive, temporary_beside

LAYOUT = 1
BLOCK_BYTES = 1 << 20
SQLITE_MAGIC = b"SQLite format 3\x00"


@dataclass(frozen=True)
class Backup:
    """One backup: its name, which is when it was taken, and its files by path."""

    name: str
    files: dict[str, Kept] = field(default_factory=dict)

    def digest_of(self, path: str) -> str | None:
        """The digest of one of its files; None where it has none of that path."""
        return self.files[path].sha256 if path in self.files else None


class Archive:
    """The backups in one folder. With a key, lists are written with an HMAC and only such lists are trusted."""

    def __init__(self, folder: Path, key: bytes | None = None) -> None:
        self.folder = folder
        self._key = key
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
        """A backup by its name, authenticated where there is a key; the newest where none is named.

        Raises UsageError where there is none, or the key of its list was not given; CorruptBackupError where its list
        is not what was written, does not fit the key, or names a file that may not be restored.
        """
        return self._read(name, is_trusted=True)

    def unauthenticated(self, name: str) -> Backup:
        """A backup by its name, whoever wrote it: to count it or to read its objects, never to restore it."""
        return self._read(name, is_trusted=False)

    def trusted_before(self) -> Backup:
        """The newest backup, whose segments need not be copied again; an empty one where none is authentic.

        Raises UsageError where its list has an HMAC and no key was given: the next list would be without.
        """
        if not self.names():
            return Backup("")
        try:
            return self.backup()
        except CorruptBackupError:
            if self._key is None:
                raise
            return Backup("")

    def _read(self, name: str | None, *, is_trusted: bool) -> Backup:
        path = self._inside(self._lists / f"{self._known(name)}.json")
        try:
            document = orjson.loads(path.read_bytes())
            digest, is_layout = document["digest"], document["layout"] == LAYOUT
            is_whole = digest == _digest(document["files"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise self._unlisted(path) from error
        if not is_layout or not is_whole:
            raise self._unlisted(path)
        if is_trusted:
            self._authenticate(path, document.get("hmac"), digest)
        try:
            files = listed_files(document["files"])
        except (ValueError, TypeError) as error:
            raise CorruptBackupError(
                f"reading a backup: {path} names a file that no backup holds ({error}), and nothing was written; do "
                "not trust this folder, or choose another backup with --at"
            ) from error
        return Backup(path.stem, {kept.path: kept for kept in files})

    def _known(self, name: str | None) -> str:
        """The name of a backup that is there, the newest's where none is given; raises UsageError."""
        names = self.names()
        if names and (name is None or name in names):
            return name or names[-1]
        there = f"there are {', '.join(names[-3:])}" if names else "there is none"
        raise UsageError(f"reading backups in {self.folder}: no {name or 'backup'} there; {there}")

    def _authenticate(self, path: Path, code: object, digest: str) -> None:
        if self._key is None:
            if code is not None:
                raise UsageError(f"reading a backup: {path} was written with a key; give its file with --key-file")
            return
        if code is None:
            raise CorruptBackupError(
                f"reading a backup: {path} was written without a key, so nothing shows who wrote it; choose another "
                "with --at, delete it, or, if you trust the folder, leave out --key-file"
            )
        if not is_authentic(code, self._key, LAYOUT, path.stem, digest):
            raise CorruptBackupError(
                f"reading a backup: {path} does not fit the key: it was changed, or written with another key; give the "
                "key that it was written with, or choose another backup with --at"
            )

    def write(self, backup: Backup) -> None:
        """Adds a backup, whose objects are there."""
        files = [asdict(kept) for kept in sorted(backup.files.values(), key=lambda kept: kept.path)]
        digest = _digest(files)
        document = {"layout": LAYOUT, "digest": digest, "files": files}
        if self._key is not None:
            document["hmac"] = authentication_code(self._key, LAYOUT, backup.name, digest)
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
        """Copies a file as it is now, a SQLite database in a whole state; returns it and whether it was new here.

        Raises UsageError for a name that could not be restored everywhere.
        """
        if problem := path_problem(path):
            raise UsageError(f"backing up {source}: its name {problem}; rename it")
        mode = source.stat().st_mode & PERMISSIONS
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
            for kept in self.unauthenticated(name).files.values():
                try:
                    self.check(kept)
                except CorruptBackupError:
                    self._object(kept.sha256).unlink(missing_ok=True)
                    found[kept.sha256] = kept
        return list(found.values())

    def prune(self, keep: str) -> int:
        """Deletes all backups but one, and every object that it does not name; returns how many backups went."""
        kept = {one.sha256 for one in self.unauthenticated(keep).files.values()}
        gone = [name for name in self.names() if name != keep]
        for name in gone:
            (self._lists / f"{name}.json").unlink()
        for path in self._objects.glob("*/*"):
            if path.name not in kept and not path.parent.is_symlink():
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
        return self._inside(self._objects / digest[:2] / digest)

    def _inside(self, path: Path) -> Path:
        """The path; raises CorruptBackupError where a link leads out of the folder of the backups."""
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise CorruptBackupError(
                f"reading a backup: {path} leads out of {self.folder} by a link; do not trust this folder, or put the "
                "file itself there"
            )
        return path

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


def _digest(rows: list[dict[str, Any]]) -> str:
    return sha256(orjson.dumps(rows, option=orjson.OPT_SORT_KEYS)).hexdigest()
