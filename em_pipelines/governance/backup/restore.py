"""Restoring: a home as it was backed up, or of a home that stands what its log has lost.

What was forgotten after the backup stays forgotten as far as anybody knows of it: by the record that the home still
has, or by a later backup of the same home in the same folder. What their tombstones name is taken out of the log again
before the home can be used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path

import orjson

from em_pipelines.errors import CorruptLogError, UsageError
from em_pipelines.governance.audit.lost_log import restoring
from em_pipelines.governance.backup.archive import Archive, Backup
from em_pipelines.governance.backup.backup import LEDGER, TOMBSTONES
from em_pipelines.governance.backup.listed_file import Kept, is_segment
from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.landing.erasure_gate import ErasureGate
from em_pipelines.schema.table import Record
from em_pipelines.storage.files import make_folder, write_atomically
from em_pipelines.storage.landed_log import Rewritten
from em_pipelines.storage.ledger_entries import Act
from em_pipelines.storage.log_manifest import KINDS, Manifest
from em_pipelines.storage.tombstones import Tombstone, Tombstones, stones_in

RESTORE = "restore"
HEAD, SALT, MANIFEST = "record/log.head", "record/salt", "log/manifest.jsonl"
DEAD_LETTERS = "dead_letters"
MAY_HOLD_WHAT_WAS_FORGOTTEN = ("llm", "inbox", "memory", "pool")
"""Left out where something was forgotten after the backup: nothing tells which of it."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restoring came to: the backup, its files, records that a later erasure took out or cut, whether files were
    left out for one, and how many entries of the log the home's own record counts beyond those that came back."""

    name: str
    n_files: int
    n_removed: int = 0
    n_cut: int = 0
    is_reduced: bool = False
    n_later: int = 0


@dataclass(frozen=True, slots=True)
class _Source:
    """Where each part comes from: `record` is the backup whose record is used, None where the home's own stays."""

    archive: Archive
    backup: Backup
    record: Backup | None

    def wanted(self, left_out: Sequence[str] = ()) -> list[Kept]:
        """The files to write: the record first, and the manifest before its log, so that half of a home shows."""
        record = self.record.files if self.record else {}
        files = {path: kept for path, kept in record.items() if path.startswith("record/")}
        own = {path: kept for path, kept in self.backup.files.items() if not path.startswith("record/")}
        head = {HEAD: self.backup.files[HEAD]} if HEAD in self.backup.files else {}
        files |= {path: kept for path, kept in own.items() if path.partition("/")[0] not in left_out} | head
        first = (SALT, HEAD)
        return sorted(
            files.values(),
            key=lambda kept: (kept.path not in first, not kept.path.startswith("record/"), kept.path != MANIFEST),
        )


def restore(home: RebuildableHome, archive: Archive, name: str | None = None, *, is_forced: bool = False) -> Restored:
    """Makes a data directory of a backup, the newest unless one is named. Killed half way, the same again goes on.

    `is_forced` replaces files that are there and differ. Raises, before anything is written, UsageError where the home
    holds more than its record, the record of another memory, a file that would be replaced or a link that leads out of
    it; CorruptBackupError where something of the backup is damaged, is not authentic, or may not be restored.
    """
    backup = archive.backup(name)
    make_folder(home.path)
    with home.lock("run"), home.lock("landing"):
        source = _source_of(home, archive, backup)
        later = _later_tombstones(home, source)
        wanted = source.wanted(MAY_HOLD_WHAT_WAS_FORGOTTEN if later else ())
        _check_targets(home.path, wanted, is_free=is_forced or restoring(home.path).exists())
        for kept in wanted:
            archive.check(kept)
        begun = {"backup": backup.name, "record": source.record and source.record.name}
        write_atomically(restoring(home.path), orjson.dumps(begun))
        n_before = _n_entries(home)
        for kept in wanted:
            archive.get(kept, _target(home.path, kept))
        n_later = max(0, n_before - _n_entries(home))
        gone = _forget_again(home, later)
        home.ledger.append(Act(RESTORE, "", backup.name, datetime.now(UTC), count=len(wanted)))
        restoring(home.path).unlink()
    is_reduced = len(wanted) < len(source.wanted())
    return Restored(backup.name, len(wanted), gone.n_removed, gone.n_changed, is_reduced, n_later)


def restore_lost(home: RebuildableHome, archive: Archive) -> tuple[int, int]:
    """Brings back what the log of a home has lost and any backup holds; how many segments that were, and how many are
    lost still. What was erased is not missed by the log, so nothing of it comes back.

    Raises CorruptLogError where the manifest is lost and no backup has it as it was last; else as `restore` does.
    """
    backups = [archive.backup(name) for name in reversed(archive.names())] or [archive.backup()]
    with home.lock("landing"):
        log = home.store.log
        manifest = log.manifest
        assert manifest is not None
        _restore_manifest(home, manifest, archive, backups)
        damaged = {manifest.mark(*_parts(f"log/{path}")) for kind in KINDS for path in log.damaged(kind)}
        wanted = {*log.lost(), *damaged}
        n_back = 0
        for kept in (kept for backup in backups for kept in backup.files.values()):
            if is_segment(kept.path) and (mark := manifest.mark(*_parts(kept.path))) in wanted:
                archive.get(kept, _target(home.path, kept))
                wanted.remove(mark)
                n_back += 1
    return n_back, len(wanted)


def _parts(path: str) -> tuple[str, date, str]:
    _, kind, day, name = path.split("/")
    return kind, date.fromisoformat(day), name


def _restore_manifest(home: RebuildableHome, manifest: Manifest, archive: Archive, backups: Sequence[Backup]) -> None:
    """Puts a manifest that is lost or damaged back, where a backup has the one that the head of the home fits."""
    try:
        manifest.listed()
    except CorruptLogError:
        for backup in backups:
            if MANIFEST not in backup.files:
                continue
            data = archive.bytes_of(backup.files[MANIFEST])
            if manifest.would_fit(data):
                write_atomically(_target(home.path, backup.files[MANIFEST]), data)
                return
        raise


def _target(home: Path, kept: Kept) -> Path:
    """Where a file of a backup is written to. Raises UsageError where a link leads out of the data directory."""
    target = home / kept.path
    if not target.resolve().is_relative_to(home.resolve()):
        raise UsageError(
            f"restoring {kept.path}: {target} leads out of {home} by a link, and nothing was written there; remove the "
            "link"
        )
    return target


def _check_targets(home: Path, wanted: Sequence[Kept], *, is_free: bool) -> None:
    """Raises UsageError where a file would be written outside of the home or, unless `is_free`, replace another one.

    The head of the log is no such file: it says how far a log goes that is not there any more.
    """
    targets = [(kept, _target(home, kept)) for kept in wanted]
    if is_free:
        return
    others = [
        kept.path for kept, target in targets if kept.path != HEAD and target.exists() and not _is_same(target, kept)
    ]
    if others:
        raise UsageError(
            f"restoring into {home}: {others[0]} is there and differs from the backup's, and nothing was written; move "
            "it away, or replace it and whatever else differs with --force"
        )


def _is_same(target: Path, kept: Kept) -> bool:
    return target.is_file() and sha256(target.read_bytes()).hexdigest() == kept.sha256


def _source_of(home: RebuildableHome, archive: Archive, backup: Backup) -> _Source:
    """The home's own record stays where it is as new as any in the folder; else the newest of the same home is used.

    Raises UsageError for a home that may not be restored into.
    """
    if restoring(home.path).exists():
        begun = orjson.loads(restoring(home.path).read_bytes())
        if begun["backup"] != backup.name:
            raise UsageError(
                f"restoring into {home.path}: {begun['backup']} was begun there; give --at {begun['backup']}, or "
                "delete the home"
            )
        return _Source(archive, backup, archive.backup(begun["record"]) if begun["record"] else None)
    if holds := sorted(p.name for p in home.path.iterdir() if p.name not in {"locks", "tmp", "record"}):
        raise UsageError(
            f"restoring into {home.path}: it holds {', '.join(holds[:3])}; restore into a home that is empty, or holds "
            "its record alone, or give --lost to bring back what its log has lost"
        )
    same = [archive.backup(name) for name in archive.names() if name >= backup.name]
    newest = [one for one in same if one.digest_of(SALT) == backup.digest_of(SALT)][-1]
    if not (home.record / "salt").exists():
        return _Source(archive, backup, newest)
    salt = backup.files.get(SALT)
    own, its = _bytes(home.path / LEDGER[0]), _bytes_in(archive, newest, LEDGER[0])
    is_its_own = salt is not None and archive.bytes_of(salt) == (home.record / "salt").read_bytes()
    if not is_its_own or not (own.startswith(its) or its.startswith(own)):
        raise UsageError(
            f"restoring into {home.path}: {home.record} is the record of another memory, or was edited; move it away, "
            "or give another home"
        )
    return _Source(archive, backup, None if own.startswith(its) else newest)


def _later_tombstones(home: RebuildableHome, source: _Source) -> list[Tombstone]:
    """What was forgotten after the backup was taken, as far as the home or the folder knows."""
    later = set(stones_in(_bytes(home.path / TOMBSTONES)))
    if source.record:
        later.update(stones_in(_bytes_in(source.archive, source.record, TOMBSTONES)))
    return sorted(later.difference(stones_in(_bytes_in(source.archive, source.backup, TOMBSTONES))))


def _forget_again(home: RebuildableHome, later: Sequence[Tombstone]) -> Rewritten:
    """Takes out of the log what tombstones name that are younger than it. Messages that were cut go whole: how they
    were left stands nowhere."""
    done = Rewritten()
    if not later:
        return done
    gate = ErasureGate(Tombstones(home.record / "none.jsonl", home.salt, later), home.book)
    log = home.store.log
    gone = {
        record["dead_letter_id"]
        for day in log.days(DEAD_LETTERS)
        for record in log.read(DEAD_LETTERS, day)
        if "raw" in record and not gate.admits_letter(record)
    }
    for kind in KINDS:
        for day in log.days(kind):
            done += log.rewrite(kind, day, partial(_left, gate, gone, kind))
    return done


def _left(gate: ErasureGate, letters_gone: set[str], kind: str, record: Record) -> Record | None:
    if kind == DEAD_LETTERS:
        return None if record["dead_letter_id"] in letters_gone else record
    return gate.judge(kind, record).record


def _n_entries(home: RebuildableHome) -> int:
    """How many entries the manifest's head counts; none where it cannot be read, which a restored one takes the place
    of."""
    try:
        return int(orjson.loads(_bytes(home.path / HEAD))["count"])
    except (ValueError, KeyError, TypeError):
        return 0


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _bytes_in(archive: Archive, backup: Backup, path: str) -> bytes:
    return archive.bytes_of(backup.files[path]) if path in backup.files else b""
