"""Who is remembered, what is here, how fresh and what waits: of homes that are whole, empty, damaged or closed."""

import os
import shutil
from pathlib import Path

import orjson
import pytest

from em_pipelines.schema.tables.clean import MESSAGES


@pytest.fixture
def home(examples_home: Path, tmp_path: Path) -> Path:
    """A copy of a home that was run, to be damaged."""
    return Path(shutil.copytree(examples_home, tmp_path / "home", symlinks=True))


def documents(done):
    assert (done.returncode, done.stderr) == (0, "")
    return orjson.loads(done.stdout)


def test_users_are_listed_with_their_figures(em, examples_home) -> None:
    found = {one["user_id"]: one for one in documents(em("users", "--json", "--home", examples_home))}
    assert sorted(found) == ["ada", "mirela", "tobias"]
    facts = documents(em("facts", "--user", "ada", "--as-of", "2026-11-01", "--json", "--home", examples_home))
    assert found["ada"]["n_facts"] == sum(fact["confidence"] >= 0.40 for fact in facts) < len(facts)
    assert (found["ada"]["first_day"], found["ada"]["last_day"]) == ("2026-09-22", "2026-11-01")
    assert found["ada"]["n_waiting"] == 0 < found["ada"]["n_sessions"] < found["ada"]["n_messages"]
    assert "tobias" in em("users", "--home", examples_home).stdout


def test_what_has_landed_and_no_run_has_read_waits(em, native, tmp_path) -> None:
    home = tmp_path / "home"
    em("land", native({"content": "I live in Graz."}, {"content": "I have a dog."}), "--home", home)
    (one,) = documents(em("users", "--json", "--home", home))
    assert (one["user_id"], one["n_messages"], one["n_waiting"]) == ("ada", 0, 2)
    found = documents(em("status", "--json", "--home", home))
    assert (found["n_unread_messages"], found["n_outdated_days"], found["snapshot"]) == (2, 2, None)
    assert found["next_step"].startswith(f"`em run --home {home}` ")


def test_status_of_a_home_that_was_run(em, examples_home) -> None:
    found = documents(em("status", "--json", "--home", examples_home))
    assert (found["n_users"], found["n_packs"], found["n_outdated_days"]) == (3, 3, 0)
    assert (found["n_probes"], found["n_starters"]) == (14, 1)
    assert found["snapshot"]["is_current"]
    assert found["snapshot"]["as_of"] == found["last_day"] == "2026-11-01"
    assert found["n_bytes"] > 1_000_000
    assert found["n_waiting_for_model"] == {}
    assert (found["n_dead_letters"], found["n_quarantined"], found["problems"]) == (0, 0, [])
    assert {one["user_id"]: one["stage"] for one in found["stages"]} == dict.fromkeys(
        ("ada", "mirela", "tobias"), "minimum_viable"
    )
    told = em("status", "--home", examples_home).stdout
    assert "ada: minimum viable; until functional: " in told
    assert "3: ada, mirela, tobias" in told
    assert "next " in told


def test_status_of_one_user_is_theirs(em, examples_home) -> None:
    found = documents(em("status", "--user", "mirela", "--json", "--home", examples_home))
    (own,) = found["users"]
    assert own["user_id"] == "mirela"
    assert (found["n_messages"], found["n_facts"]) == (own["n_messages"], own["n_facts"])
    assert "--user mirela" in found["next_step"]


@pytest.mark.slow
def test_what_waits_is_counted_by_whose_it_is(em, home) -> None:
    said = em("confirm", "--user", "mirela", "--relation", "lives_in", "--object", "Bremen", "--home", home)
    assert said.returncode == 0, said.stderr
    assert documents(em("status", "--json", "--home", home))["n_pending_feedback"] == 1
    assert documents(em("status", "--user", "mirela", "--json", "--home", home))["n_pending_feedback"] == 1
    assert documents(em("status", "--user", "ada", "--json", "--home", home))["n_pending_feedback"] == 0
    assert "1 piece of feedback" in em("status", "--home", home).stdout


@pytest.mark.slow
def test_dead_letters_wait_too(em, home, tmp_path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"user_id": "ada", "content": 7}\nno json\n')
    em("land", tmp_path / "bad.jsonl", "--format", "native", "--home", home)
    assert documents(em("status", "--json", "--home", home))["n_dead_letters"] == 2
    assert documents(em("status", "--user", "ada", "--json", "--home", home))["n_dead_letters"] == 1


def test_an_empty_home_says_how_to_begin(em, tmp_path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    assert documents(em("users", "--json", "--home", home)) == []
    found = documents(em("status", "--json", "--home", home))
    assert (found["n_users"], found["n_messages"], found["n_facts"], found["snapshot"]) == (0, 0, 0, None)
    assert "em run PATH" in found["next_step"]
    assert list(home.iterdir()) == []


def test_a_home_without_a_snapshot_says_so(em, home) -> None:
    shutil.rmtree(home / "snapshots")
    found = documents(em("status", "--json", "--home", home))
    assert found["snapshot"] is None
    assert "em snapshot" in found["next_step"]
    assert "none" in em("status", "--home", home).stdout


@pytest.mark.parametrize(
    "what",
    [
        "messages",
        pytest.param("snapshot", marks=pytest.mark.slow),
        pytest.param("current_edges", marks=pytest.mark.slow),
        pytest.param("log", marks=pytest.mark.slow),
    ],
)
def test_of_a_damaged_home_the_rest_is_told(em, home, what: str) -> None:
    path = next(
        {
            "messages": (home / "lake" / MESSAGES.name).glob("*.parquet"),
            "current_edges": iter(sorted((home / "lake" / "current_edges").glob("*.parquet"))[-1:]),
            "snapshot": (home / "snapshots").glob("2*.duckdb"),
            "log": (home / "log" / "interactions").rglob("*.jsonl"),
        }[what]
    )
    path.chmod(0o600)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    done = em("status", "--json", "--home", home)
    assert "Traceback" not in done.stderr
    found = orjson.loads(done.stdout)
    assert found["n_bytes"] > 0
    assert found["n_packs"] == 3
    if what in ("messages", "current_edges"):
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert found["problems"]
        assert "em doctor" in found["next_step"]


def tree(folder: Path) -> dict[str, int]:
    """Files with their times, but for notes that save time alone and may go at any time."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {str(path): path.stat().st_mtime_ns for path in files}


def test_looking_writes_nothing(em, home) -> None:
    before = tree(home)
    em("users", "--home", home)
    em("status", "--home", home)
    assert tree(home) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to root")
def test_a_home_that_may_only_be_read_is_told(em, home) -> None:
    for path in (home, *home.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o500 if path.is_dir() else 0o400)
    assert documents(em("status", "--json", "--home", home))["n_users"] == 3
