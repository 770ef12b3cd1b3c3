"""What a home is made of is for its owner alone, or for its group, whatever the umask; and on the disk when it is
acknowledged."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from em_pipelines.interfaces.memory import Memory
from em_pipelines.storage.files import Access, admit

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)
    admit(Access.OWNER)


def open_to(home: Path, bits: int) -> list[str]:
    """What has any of these bits, with its mode; links have none of their own."""
    found = [home, *(path for path in home.rglob("*") if not path.is_symlink())]
    return [f"{p.relative_to(home)} {p.stat().st_mode:o}" for p in found if stat.S_IMODE(p.stat().st_mode) & bits]


@pytest.fixture
def used(em, native, tmp_path: Path) -> Path:
    """A home after most of what can be done with one."""
    home = tmp_path / "home"
    log = native({"content": "I live in Oslo."}, {"content": "I like tea."}, {"content": 3})
    assert em("run", log, "--home", home).returncode == 1
    os.umask(0o022)
    for words in (
        ("token", "create", "--user", "ada"),
        ("correct", "--user", "ada", "--subject", "user", "--relation", "lives_in", "--object", "Bergen"),
        ("gate", "as last time"),
        ("snapshot", "--date", "2026-03-01"),
        ("forget", "--user", "ada", "--session", "s1", "--yes"),
        ("run",),
    ):
        assert em(*words, "--home", home).returncode == 0, words
        os.umask(0o022)
    return home


def test_a_home_is_for_its_owner_alone(used: Path) -> None:
    assert open_to(used, 0o077) == []


def test_a_group_may_use_it_where_the_setting_says_so(em, native, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert em("run", native({"content": "I live in Oslo."}), "--home", home, EM_ACCESS="group").returncode == 0
    assert open_to(home, 0o007) == []
    for path in (home, home / "record", home / "log" / "interactions"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o770
    for path in (home / "record" / "salt", home / "snapshots" / "2026-03-01.duckdb"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o660


def test_what_python_stores_is_for_its_owner_alone(tmp_path: Path) -> None:
    memory = Memory(tmp_path / "home", "ada")
    memory.store_observation("I live in Oslo.", session_id="s1")
    assert open_to(tmp_path / "home" / "log", 0o077) == []
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


def test_an_access_that_does_not_exist_is_refused(em, tmp_path: Path) -> None:
    done = em("run", "--home", tmp_path / "home", EM_ACCESS="everybody")
    assert (done.returncode, done.stderr.count("\n"), "access" in done.stderr) == (2, 1, True)


def test_what_is_acknowledged_is_on_the_disk_by_name(em, native, tmp_path: Path, monkeypatch) -> None:
    """After the last name that changed in a folder, the folder was synced."""
    home = tmp_path / "home"
    pending: set[str] = set()
    replace, fsync = os.replace, os.fsync

    def replaced(source, target, **how) -> None:
        replace(source, target, **how)
        pending.add(str(Path(target).parent.resolve()))

    def synced(descriptor: int) -> None:
        fsync(descriptor)
        pending.discard(str(Path(f"/proc/self/fd/{descriptor}").resolve()))

    log = native({"content": "I live in Oslo."}, {"content": "I like tea."})
    monkeypatch.setattr(os, "replace", replaced)
    monkeypatch.setattr(os, "fsync", synced)
    for words in (("land", log), ("run",), ("token", "create", "--user", "ada"),
                  ("forget", "--user", "ada", "--session", "s1", "--yes")):  # fmt: skip
        pending.clear()
        assert em(*words, "--home", home).returncode == 0
        assert [folder for folder in pending if is_kept(Path(folder), home)] == [], words


def is_kept(folder: Path, home: Path) -> bool:
    """Whether a folder holds what is acknowledged. Of the log's own folder nothing but an index that can be made again
    is replaced."""
    return folder != home / "log" and folder.relative_to(home).parts[0] in {"log", "record", "lake", "snapshots"}
