"""Backing up: everything of a home that cannot be made again goes to a folder, and only what is new is copied.

Left out is what `em run` makes again. The landing lock is held meanwhile: nothing lands and no erasure rewrites, so log
and record fit together; steps may be at work.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from em_pipelines.errors import CorruptLogError, UsageError
from em_pipelines.governance.audit.lost_log import check_restored, lost
from em_pipelines.governance.backup.archive import Archive, Backup
from em_pipelines.governance.backup.listed_file import Kept, is_backed_up, is_named_by_its_content, is_segment
from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.storage.landed_log import lost_error

TOMBSTONES = "record/tombstones.jsonl"
LEDGER = ("record/ledger.jsonl", "record/ledger.head")
TRIES = 100


@dataclass(frozen=True, slots=True)
class BackupReport:
    """What a backup came to: its name, its files, of these how many were copied, with their bytes, and how many older
    ones there are that hold what was forgotten since; backups that were deleted, damaged objects that were copied again
    and files of older backups whose content is gone."""

    name: str
    n_files: int
    n_copied: int
    n_bytes: int
    n_outdated: int
    n_pruned: int = 0
    n_mended: int = 0
    missing: tuple[str, ...] = ()


def back_up(
    home: RebuildableHome, archive: Archive, now: datetime, *, is_pruned: bool = False, is_verified: bool = False
) -> BackupReport:
    """Adds a backup of the home to an archive. `now` names it.

    `is_pruned` deletes all other backups of the folder afterwards; `is_verified` reads every object first, and copies
    again what is damaged. Raises UsageError for a place in the home, and where the newest list has a key that was not
    given; CorruptLogError where the log has lost something; LockedError where something lands for too long.
    """
    _check_place(archive.folder, home.path)
    archive.begin()
    with archive.held():
        damaged = archive.drop_damaged() if is_verified else []
        backup, copied = _copied(home, archive, now.astimezone(UTC).strftime("%Y%m%dT%H%M%S.%fZ"))
        archive.write(backup)
        missing = tuple(sorted(kept.path for kept in damaged if not archive.has(kept)))
        outdated = sum(
            archive.unauthenticated(name).digest_of(TOMBSTONES) != backup.digest_of(TOMBSTONES)
            for name in archive.names()
        )
        n_pruned = archive.prune(backup.name) if is_pruned else 0
    return BackupReport(
        name=backup.name,
        n_files=len(backup.files),
        n_copied=len(copied),
        n_bytes=sum(kept.size for kept in copied),
        n_outdated=0 if is_pruned else outdated,
        n_pruned=n_pruned,
        n_mended=len(damaged) - len(missing),
        missing=() if is_pruned else missing,
    )


def _check_place(folder: Path, home: Path) -> None:
    chosen, own = folder.resolve(), home.resolve()
    if not own.is_dir():
        raise UsageError(f"backing up {home}: there is no home; land something first: `em run PATH`")
    if chosen == own or own in chosen.parents or chosen in own.parents:
        raise UsageError(f"backing up to {folder}: it belongs to the home; choose a place outside of it")


def _copied(home: RebuildableHome, archive: Archive, name: str) -> tuple[Backup, list[Kept]]:
    """The backup, whose objects are there, and those of its files that were not there before."""
    before = archive.trusted_before()
    files: dict[str, Kept] = {}
    new: list[Kept] = []
    check_restored(home)
    with home.lock("landing"):
        home.store.log.settle()
        if missing := lost(home):
            raise lost_error(missing)
        for path in _sources(home.path):
            known = before.files.get(path)
            if known and is_segment(path) and archive.has(known):  # its name is that of its content
                files[path] = known
                continue
            kept, is_new = _put(home.path, path, archive)
            files[path] = kept
            new += [kept] if is_new else []
        for kept, is_new in _ledger(home.path, archive):
            files[kept.path] = kept
            new += [kept] if is_new else []
    return Backup(name, files), new


def _ledger(home: Path, archive: Archive) -> list[tuple[Kept, bool]]:
    """Copies the ledger, which is written without the landing lock: until nothing was entered meanwhile."""
    there = [path for path in LEDGER if (home / path).exists()]
    copies = [archive.put(path, home / path) for path in there]
    for _ in range(TRIES):
        again = [archive.put(path, home / path) for path in there]
        if [kept for kept, _ in again] == [kept for kept, _ in copies]:
            break
        copies = again
    return copies


def _sources(home: Path) -> Iterator[str]:
    """The paths of the home's files that a backup holds, in order."""
    for path in sorted(home.rglob("*")):
        name = path.relative_to(home).as_posix()
        if name not in LEDGER and is_backed_up(name) and path.is_file() and not path.is_symlink():
            yield name


def _put(home: Path, path: str, archive: Archive) -> tuple[Kept, bool]:
    kept, is_new = archive.put(path, home / path)
    if is_segment(path) and not is_named_by_its_content(kept):
        raise CorruptLogError(
            f"backing up {home / path}: it is not what was landed; restore it with `em restore DIR --lost`, or move it "
            "away and accept the loss with `em repair --apply --accept-loss`"
        )
    return kept, is_new
