"""Damage of Dagster's own databases: seen, set aside, and never in the way of memory."""

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import dagster as dg
import orjson
import pytest

from em_pipelines.governance.audit.dagster_files import ASIDE, INDEX, RUNS, flaws, lost_events
from em_pipelines.home import Home
from em_pipelines.interfaces.cli import dagster_storage

Damage = Callable[[Path], None]
SUBJECT = "Dagster's history"
SCHEDULES = Path("schedules", "schedules.db")


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def noise(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(5000))


def flipped(path: Path) -> None:
    """Sixty bits anywhere behind the header."""
    data, chance = bytearray(path.read_bytes()), random.Random(3)
    for _ in range(60):
        data[chance.randrange(100, len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)


def unreadable_rows(path: Path) -> None:
    """The file is sound, and its rows are nothing that Dagster could have written."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE event_logs SET event = substr(event, 3)")
        connection.execute("UPDATE asset_event_tags SET value = CAST(x'ff' AS TEXT)")


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES = [emptied, cut, noise, flipped, a_folder]


@pytest.fixture(scope="module")
def made(em, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that a run has made."""
    folder = tmp_path_factory.mktemp("made")
    assert em("run", say(folder, 2, "I live in Oslo.", "I love tea."), "--home", folder / "home").returncode == 0
    return folder / "home"


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(made, tmp_path / "home", symlinks=True))


def say(folder: Path, day: int, *said: str) -> Path:
    path = folder / f"said-{day}.jsonl"
    lines = [
        {
            "user_id": "ada", "session_id": f"s{day}", "turn_number": n, "role": "user", "content": text,
            "timestamp": f"2026-03-{day:02}T10:00:00Z",
        }
        for n, text in enumerate(said)
    ]  # fmt: skip
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return path


def database(home: Path, name: Path | None) -> Path:
    """One of the three that every run opens, or the events of the run that was."""
    folder = home / "dagster"
    return folder / name if name else next(p for p in sorted((folder / INDEX).parent.glob("*-*-*-*-*.db")))


def diagnosis(em, home: Path) -> dict[str, object]:
    return next(d for d in orjson.loads(em("doctor", "--home", home, "--json").stdout) if d["subject"] == SUBJECT)


def test_a_home_that_nothing_happened_to_is_well(em, home: Path) -> None:
    assert diagnosis(em, home)["ok"]
    assert not list((home / "dagster").rglob("*-wal")), "looking leaves nothing behind"


@pytest.mark.parametrize("name", [RUNS, INDEX, SCHEDULES, None], ids=str)
@pytest.mark.parametrize("damage", DAMAGES)
def test_every_damage_is_seen(home: Path, name: Path | None, damage: Damage) -> None:
    path = database(home, name)
    damage(path)
    assert [flaw.path for flaw in flaws(home / "dagster")] == [path]


def test_looking_at_a_history_that_is_gone_makes_none(home: Path) -> None:
    database(home, RUNS).unlink()
    assert lost_events(home / "dagster") == []
    assert not database(home, RUNS).exists()


def test_rows_that_are_no_json_and_events_that_are_gone_are_seen(home: Path) -> None:
    unreadable_rows(database(home, INDEX))
    assert [flaw.path.name for flaw in flaws(home / "dagster")] == ["index.db"]
    lost = database(home, None)
    lost.unlink()
    assert lost_events(home / "dagster") == [lost.stem]


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        (INDEX, flipped),
        pytest.param(RUNS, cut, marks=pytest.mark.slow),
        pytest.param(None, emptied, marks=pytest.mark.slow),
    ],
)
def test_doctor_sees_it_and_repair_mends_it(em, home: Path, name: Path | None, damage: Damage) -> None:
    damage(database(home, name))
    found = diagnosis(em, home)
    assert not found["ok"]
    assert "em repair --apply" in str(found["advice"])
    before = em("state-hash", "--home", home).stdout
    assert em("repair", "--home", home).returncode == 1
    assert em("repair", "--apply", "--home", home).returncode == 0
    assert diagnosis(em, home)["ok"]
    assert em("state-hash", "--home", home).stdout == before
    assert list((home / "dagster").rglob(f"*{ASIDE}*"))


@pytest.mark.slow
def test_events_of_a_run_that_are_gone_are_mended_by_an_empty_file(em, home: Path) -> None:
    database(home, None).unlink()
    assert "the events of 1 run are gone" in str(diagnosis(em, home)["found"])
    em("repair", "--apply", "--home", home)
    assert diagnosis(em, home)["ok"]


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        pytest.param(INDEX, flipped, marks=pytest.mark.slow),
        *(pytest.param(name, damage, marks=pytest.mark.faults)
          for name in (RUNS, INDEX, SCHEDULES) for damage in DAMAGES),
    ],
    ids=lambda one: getattr(one, "__name__", str(one)),
)  # fmt: skip
def test_a_run_goes_on_whatever_is_damaged(em, home: Path, tmp_path: Path, name: Path, damage: Damage) -> None:
    damage(database(home, name))
    done = em("run", say(tmp_path, 5, "I play the oboe."), "--home", home)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert len([line for line in done.stderr.splitlines() if line.startswith("em: ")]) <= 1
    facts = orjson.loads(em("facts", "--user", "ada", "--home", home, "--json").stdout)
    assert {"Oslo", "tea", "oboe"} <= {fact["object"] for fact in facts}
    assert orjson.loads(em("doctor", "--home", home, "--json").stdout)
    if damage is not unreadable_rows:  # rows that this run did not need are found when somebody looks
        em("repair", "--apply", "--home", home)
    em("repair", "--apply", "--home", home)
    assert em("doctor", "--home", home).returncode == 0


@pytest.fixture
def in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(dagster_storage, "LOCK_SECONDS", 0.1)
    yield


@pytest.mark.slow
@pytest.mark.parametrize("name", [INDEX, RUNS], ids=str)
def test_a_run_goes_on_beside_a_lock_without_history(em, home: Path, tmp_path: Path, in_a_hurry, name: Path) -> None:
    with closing(sqlite3.connect(database(home, name), isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        done = em("run", say(tmp_path, 5, "I play the oboe."), "--home", home)
        assert done.returncode == 0, done.stderr
        assert f"another process keeps {name.name} locked" in done.stderr
        assert "locked" in str(diagnosis(em, home)["found"])
    assert diagnosis(em, home)["ok"]
    assert em("doctor", "--home", home).returncode == 0, "nothing is left over"


def test_whoever_is_forgotten_is_forgotten_though_it_is_damaged(em, home: Path) -> None:
    flipped(database(home, INDEX))
    cut(database(home, RUNS))
    assert em("forget", "--user", "ada", "--all", "--yes", "--home", home).returncode == 0
    assert not list((home / "dagster").rglob(f"*{ASIDE}*")), "nobody can tell what they hold"


@pytest.mark.slow
def test_a_configuration_that_a_crash_has_emptied_is_written_anew(em, home: Path, tmp_path: Path) -> None:
    (home / "dagster" / "dagster.yaml").write_bytes(b"")
    assert em("run", say(tmp_path, 5, "I play the oboe."), "--home", home).returncode == 0
    assert (home / "dagster" / "dagster.yaml").read_text(encoding="utf-8") == dagster_storage.DAGSTER_YAML


@pytest.mark.slow
@pytest.mark.parametrize("text", ["event_log_storage: {module: no.such, class: None, config: {}}\n", "[", "\x00"])
def test_a_configuration_that_dagster_refuses_costs_history_alone(em, home: Path, tmp_path: Path, text: str) -> None:
    (home / "dagster" / "dagster.yaml").write_text(text, encoding="utf-8")
    done = em("run", say(tmp_path, 5, "I play the oboe."), "--home", home)
    assert (done.returncode, "is not in its history" in done.stderr) == (0, True), done.stderr
    assert (home / "dagster" / "dagster.yaml").read_text(encoding="utf-8") == text


def test_a_storage_that_fails_everywhere_is_said_in_one_sentence(home: Path) -> None:
    folders: list[Path] = []

    def work(folder: Path) -> None:
        folders.append(folder)
        database = folder / "history" / "runs.db"
        database.unlink(missing_ok=True)
        database.mkdir(parents=True)
        with dg.DagsterInstance.from_config(str(folder)):
            pass

    with pytest.raises(dagster_storage.StorageError, match="failed again") as raised:
        dagster_storage.with_storage(Home(home), work)
    assert "\n" not in str(raised.value)
    assert len(folders) == 3
    assert not folders[-1].exists()


def test_what_is_not_of_the_storage_is_tried_once(home: Path) -> None:
    folders: list[Path] = []

    def work(folder: Path) -> None:
        folders.append(folder)
        raise KeyError(folder)

    with pytest.raises(KeyError):
        dagster_storage.with_storage(Home(home), work)
    assert len(folders) == 1


@pytest.mark.parametrize("is_deep", [False, True])
def test_what_stands_in_the_log_beside_it_is_not_missed(tmp_path: Path, is_deep: bool) -> None:
    """On a full disk SQLite takes over the first page of its log, which tells of a length that the file has not got."""
    path, whole = tmp_path / "dagster" / RUNS, tmp_path / "whole.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE runs (run_id TEXT)")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.executemany("INSERT INTO runs VALUES (hex(randomblob(500)))", [()] * 400)
        connection.execute("VACUUM INTO ?", (str(whole),))
        first_page = bytearray(path.read_bytes()[:4096])
        first_page[28:32] = whole.read_bytes()[28:32]
        with path.open("r+b") as handle:
            handle.write(first_page)
        assert flaws(tmp_path / "dagster", is_deep=is_deep) == []
