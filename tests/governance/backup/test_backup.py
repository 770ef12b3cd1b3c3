"""Backups: what cannot be made again goes to a folder and comes back, digest by digest; what was erased does not."""

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.errors import CorruptBackupError, CorruptLogError, UsageError
from em_pipelines.governance.audit.lost_log import check
from em_pipelines.governance.backup.archive import Archive
from em_pipelines.governance.backup.backup import BackupReport, back_up
from em_pipelines.governance.backup.restore import Restored, restore, restore_lost
from em_pipelines.governance.erasure.forget import forget
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.state_hash import state_hash
from em_pipelines.settings import load_settings
from em_pipelines.storage.ledger_entries import Act

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
SAID = (
    ("ada", "s1", "I live in Graz."),
    ("ada", "s2", "My neighbour Torvald plays the oboe. I like rhubarb."),
    ("ada", "s3", "Torvald works at the harbour."),
    ("bo", "s1", "I like gooseberries."),
)


def say(home: Pipeline, *said: tuple[str, str, str], first: int = 0) -> None:
    """Lands one message a day, and a line that cannot be read."""
    rows = [
        {
            "user_id": user, "session_id": session, "turn_number": 0, "role": "user", "content": content,
            "timestamp": f"2026-03-{1 + first + number:02}T10:00:00Z",
        }
        for number, (user, session, content) in enumerate(said)
    ]  # fmt: skip
    home.path.mkdir(parents=True, exist_ok=True)
    source = home.path.parent / f"said-{first}.jsonl"
    source.write_bytes(b"\n".join(map(orjson.dumps, rows)) + b'\n{"user_id": "ada", "content": "half')
    land([source], home.store.log, now=NOON, settings=home.settings.landing)


def make(home: Pipeline) -> dict[str, str]:
    """Makes every day and returns the hashes of the memory."""
    check(home)
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))
    return state_hash(home.store, home.settings.decay)


def opened(path: Path) -> Pipeline:
    return Pipeline(load_settings(home=path))


@pytest.fixture
def home(home_path: Path) -> Pipeline:
    home = opened(home_path)
    say(home, *SAID)
    (home.inbox / ".landed" / "x").mkdir(parents=True)
    (home.inbox / ".landed" / "x" / "said.jsonl").write_bytes(b"{}\n")
    home.ledger.append(Act("correct", "ada", "edge_1", NOON))
    make(home)
    return home


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "backups"


@pytest.fixture
def take(home: Pipeline, folder: Path) -> Callable[..., BackupReport]:
    """Backs up, a minute later each time."""
    times: Iterator[datetime] = (NOON + timedelta(minutes=n) for n in range(100))
    return lambda **how: back_up(home, Archive(folder), next(times), **how)


def content(home: Path, *tops: str) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes()
        for top in tops
        for path in sorted((home / top).rglob("*"))
        if path.is_file() and not path.name.startswith(".") and path.suffix != ".lock"
    }


def objects(folder: Path) -> list[Path]:
    return sorted((folder / "objects").glob("*/*"))


SEEDS = (0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 5)))


def test_a_restored_home_makes_the_same_memory(home: Pipeline, take, folder: Path, tmp_path: Path) -> None:
    take()
    other = opened(tmp_path / "other")
    other.path.mkdir()
    restore(other, Archive(folder))
    assert content(other.path, "log", "inbox") == content(home.path, "log", "inbox")
    assert {e.hash for e in home.ledger.entries()} < {e.hash for e in other.ledger.entries()}
    assert other.ledger.verify() == []
    assert other.ledger.entries()[-1].action == "restore"
    assert make(other) == make(home)
    assert not (other.path / "lake" / ".tmp").exists()
    assert (other.record / "salt").stat().st_mode & 0o77 == 0


def test_only_what_is_new_is_copied(home: Pipeline, take, folder: Path) -> None:
    first = take()
    assert first.n_copied > 5
    stamps = {path: path.stat().st_mtime_ns for path in objects(folder)}
    assert take().n_copied == 0
    say(home, ("ada", "s9", "I like cloudberries."), first=20)
    later = take()
    assert 0 < later.n_copied <= 4  # a segment, a letter, the manifest and its head
    assert {path: path.stat().st_mtime_ns for path in stamps} == stamps


@pytest.mark.parametrize("seed", SEEDS)
def test_a_damaged_backup_names_its_file_and_writes_nothing(seed: int, take, folder: Path, tmp_path: Path) -> None:
    take()
    victim = random.Random(seed).choice([path for path in objects(folder) if path.stat().st_size])
    data = bytearray(victim.read_bytes())
    data[random.Random(seed).randrange(len(data))] ^= 16
    victim.write_bytes(data)
    other = opened(tmp_path / "other")
    other.path.mkdir()
    with pytest.raises(CorruptBackupError, match=victim.name):
        restore(other, Archive(folder))
    assert not (other.path / "log").exists()
    assert not (other.path / "record").exists()


def test_a_damaged_list_is_named(take, folder: Path, tmp_path: Path) -> None:
    take()
    (path,) = (folder / "backups").glob("*.json")
    path.write_bytes(path.read_bytes().replace(b'"size": 1', b'"size": 2', 1))
    other = opened(tmp_path / "other")
    other.path.mkdir()
    with pytest.raises(CorruptBackupError, match=path.name):
        restore(other, Archive(folder))


def test_verifying_mends_what_the_home_still_has(take, folder: Path, tmp_path: Path) -> None:
    take()
    victim = max(objects(folder), key=lambda path: path.stat().st_size)
    victim.write_bytes(b"x" * victim.stat().st_size)
    report = take(is_verified=True)
    assert (report.n_mended, report.missing) == (1, ())
    other = opened(tmp_path / "other")
    other.path.mkdir()
    restore(other, Archive(folder))


def test_a_backup_that_was_killed_is_taken_up_by_the_next(home: Pipeline, take, folder: Path) -> None:
    take()
    (path,) = (folder / "backups").glob("*.json")
    path.unlink()
    objects(folder)[0].unlink()
    (folder / "objects" / ".incoming.999999.tmp").write_bytes(b"half")
    assert take().n_copied == 1
    assert not list(folder.rglob("*.tmp"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_a_restoring_that_was_killed_goes_on_and_till_then_nothing_runs(
    seed: int, home: Pipeline, take, folder: Path, tmp_path: Path
) -> None:
    name = take().name
    other = opened(tmp_path / "other")
    other.path.mkdir()
    restore(other, Archive(folder))
    whole = content(other.path, "log", "inbox")
    files = sorted(path for path in other.path.rglob("*") if path.is_file() and path.suffix != ".lock")
    for path in random.Random(seed).sample(files, len(files) // 2):
        path.unlink()
    (other.path / "restoring.json").write_bytes(orjson.dumps({"backup": name, "record": name}))
    with pytest.raises(CorruptLogError, match="interrupted; the same `em restore` again"):
        make(opened(other.path))
    with pytest.raises(CorruptLogError, match="interrupted"):
        back_up(opened(other.path), Archive(tmp_path / "elsewhere"), NOON)
    restore(opened(other.path), Archive(folder))
    assert content(other.path, "log", "inbox") == whole
    assert make(opened(other.path)) == make(home)


def test_a_home_that_holds_something_is_not_restored_into(home: Pipeline, take, folder: Path) -> None:
    take()
    with pytest.raises(UsageError, match="empty"):
        restore(home, Archive(folder))


def test_a_place_in_the_home_or_of_something_else_is_refused(home: Pipeline, tmp_path: Path) -> None:
    for place in (home.path, home.path / "backups", home.path.parent):
        with pytest.raises(UsageError):
            back_up(home, Archive(place), NOON)
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "letter.txt").write_bytes(b"x")
    with pytest.raises(UsageError, match="something else"):
        back_up(home, Archive(tmp_path / "else"), NOON)


def test_a_folder_without_backups_and_a_name_that_is_none(take, folder: Path, tmp_path: Path) -> None:
    other = opened(tmp_path / "other")
    other.path.mkdir()
    with pytest.raises(UsageError, match="no backup"):
        restore(other, Archive(tmp_path / "nowhere"))
    take()
    with pytest.raises(UsageError, match="no yesterday"):
        restore(other, Archive(folder), "yesterday")


def test_a_backup_is_taken_while_a_run_is_at_work(home: Pipeline, take) -> None:
    with home.lock("run"), home.lock("step-fold"):
        assert take().n_files > 5


def test_a_home_that_has_lost_something_is_not_backed_up(home: Pipeline, take) -> None:
    segment = next((home.path / "log" / "interactions").glob("*/*.jsonl"))
    segment.write_bytes(segment.read_bytes().replace(b"I", b"U"))
    with pytest.raises(CorruptLogError, match=segment.name):
        take()
    segment.unlink()
    with pytest.raises(CorruptLogError, match="is lost"):
        take()


@pytest.mark.slow
def test_what_the_log_has_lost_comes_back(home: Pipeline, take, folder: Path) -> None:
    before = make(home)
    take()
    say(home, ("ada", "s9", "I like cloudberries."), first=20)
    days = sorted((home.path / "log" / "interactions").iterdir())
    shutil.rmtree(days[0])
    (damaged,) = days[1].iterdir()
    damaged.write_bytes(damaged.read_bytes().replace(b"oboe", b"tuba"))
    assert restore_lost(opened(home.path), Archive(folder)) == (2, 0)
    check(opened(home.path))
    assert make(opened(home.path)).keys() == before.keys()
    shutil.rmtree(days[-1])
    assert restore_lost(opened(home.path), Archive(folder)) == (0, 1)


def test_a_lost_manifest_comes_back_where_nothing_landed_since(home: Pipeline, take, folder: Path) -> None:
    take()
    manifest = home.path / "log" / "manifest.jsonl"
    whole = manifest.read_bytes()
    shutil.rmtree(home.path / "log")
    back, left = restore_lost(opened(home.path), Archive(folder))
    assert (back > 3, left) == (True, 0)
    assert manifest.read_bytes() == whole
    say(home, ("ada", "s9", "I like cloudberries."), first=20)
    manifest.unlink()
    with pytest.raises(CorruptLogError, match="--accept-loss"):
        restore_lost(opened(home.path), Archive(folder))


SCOPES = [
    Scope(ScopeKind.ENTITY, "ada", "Torvald"),
    Scope(ScopeKind.SESSION, "ada", "s2"),
    Scope(ScopeKind.USER, "ada"),
]


def holds(home: Pipeline, word: bytes) -> bool:
    return word in b"".join(content(home.path, "log", "inbox", "llm").values())


@pytest.mark.parametrize(
    "scope",
    [*(pytest.param(one, marks=pytest.mark.slow) for one in SCOPES[:-1]), SCOPES[-1]],
    ids=lambda scope: scope.kind.value,
)
def test_what_was_forgotten_after_a_backup_does_not_come_back_with_it_where_a_later_backup_knows(
    scope: Scope, home: Pipeline, take, folder: Path, tmp_path: Path
) -> None:
    old = take().name
    forget(home, scope)
    assert take().n_outdated == 1
    other = opened(tmp_path / "other")
    other.path.mkdir()
    done = restore(other, Archive(folder), old)
    assert done.n_removed + done.n_cut > 0
    assert done.is_reduced
    gone = {
        ScopeKind.ENTITY: (b"Torvald",),
        ScopeKind.SESSION: (b"oboe",),
        ScopeKind.USER: (b"Graz", b"rhubarb", b'"ada"'),
    }
    assert not any(holds(other, word) for word in gone[scope.kind])
    assert holds(other, b"gooseberries")
    make(other)
    say(other, *SAID)
    assert not any(holds(other, word) for word in gone[scope.kind])


@pytest.mark.slow
def test_what_was_forgotten_stays_away_where_the_home_still_has_its_record(home: Pipeline, take, folder: Path) -> None:
    take()
    forget(home, SCOPES[0])
    say(home, ("ada", "s9", "I like cloudberries."), first=20)
    certificates = content(home.path, "record/certificates")
    for path in home.path.iterdir():
        if path.name not in {"record", "locks"}:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    other = opened(home.path)
    done = restore(other, Archive(folder))
    assert done.n_removed > 0
    assert done.n_later > 0
    assert not holds(other, b"Torvald")
    assert content(other.path, "record/certificates") == certificates
    assert other.ledger.verify() == []
    check(other)
    make(other)


def test_the_record_of_another_memory_is_refused(home: Pipeline, take, folder: Path, tmp_path: Path) -> None:
    take()
    other = opened(tmp_path / "other")
    other.ledger.append(Act("correct", "eve", "edge_1", NOON))
    with pytest.raises(UsageError, match="another memory"):
        restore(other, Archive(folder))


@pytest.mark.slow
def test_pruning_leaves_nothing_of_what_was_forgotten(home: Pipeline, take, folder: Path, tmp_path: Path) -> None:
    take()
    forget(home, SCOPES[0])
    assert any(b"Torvald" in path.read_bytes() for path in objects(folder))
    report = take(is_pruned=True)
    assert report.n_pruned == 1
    assert not any(b"Torvald" in path.read_bytes() for path in objects(folder))
    other = opened(tmp_path / "other")
    other.path.mkdir()
    restored: Restored = restore(other, Archive(folder))
    assert restored.n_removed == 0
    assert make(other) == make(home)


def test_everything_in_a_backup_is_for_its_owner_alone(take, folder: Path) -> None:
    take()
    found: list[Any] = [folder, *folder.rglob("*")]
    assert [path for path in found if path.name != "lock" and path.stat().st_mode & 0o77] == []


@pytest.mark.faults
def test_backups_and_restorings_that_are_killed_at_any_instant_end_as_undisturbed_ones(
    home: Pipeline, folder: Path, tmp_path: Path
) -> None:
    for n in range(40):
        say(home, *((f"user-{k}", f"t{n}", f"I like number {n}.") for k in range(5)), first=n % 20)
    instants = random.Random(11)
    command = [sys.executable, "-c", "from em_pipelines.interfaces.cli.app import main; main()"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    other = tmp_path / "other"

    def until_done(*words: str, seconds: float) -> int:
        """Kills it at six instants of what it takes by itself, then lets it end; how often it was still at work."""
        n_killed = 0
        for limit in [*sorted(instants.uniform(0.1, seconds) for _ in range(6)), None]:
            process = subprocess.Popen(
                [*command, *words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
            )
            try:
                _, said = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                n_killed += 1
                continue
            # Killed after its last act, while Python ended: the home is restored, and refused as one.
            assert process.returncode == 0 or b"it holds" in said, said
        return n_killed

    def undisturbed(*words: str) -> float:
        begun = time.monotonic()
        subprocess.run([*command, *words], check=True, env=environment, stdout=subprocess.DEVNULL)
        return time.monotonic() - begun

    first, second = str(tmp_path / "first"), str(tmp_path / "second")
    seconds = undisturbed("backup", first, "--home", str(home.path))
    n_killed = until_done("backup", str(folder), "--home", str(home.path), seconds=seconds)
    seconds = undisturbed("restore", first, "--home", second)
    n_killed += until_done("restore", str(folder), "--home", str(other), seconds=seconds)
    assert n_killed > 2
    assert content(other, "log", "inbox") == content(home.path, "log", "inbox")
    assert make(opened(other)) == make(home)
