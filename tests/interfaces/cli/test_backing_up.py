"""`em backup` and `em restore` from end to end."""

import shutil
from pathlib import Path

import orjson
import pytest


@pytest.fixture(scope="module")
def home(em, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    rows = [
        {
            "user_id": "ada", "session_id": f"s{n}", "turn_number": 0, "role": "user", "content": content,
            "timestamp": f"2026-03-0{n}T10:00:00Z",
        }
        for n, content in enumerate(("I live in Graz.", "I like rhubarb.", "I play the oboe."), start=1)
    ]  # fmt: skip
    (folder / "said.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)) + b"\n")
    assert em("run", folder / "said.jsonl", "--home", folder / "home").returncode == 0
    return folder / "home"


def hashes(em, home: Path) -> str:
    return em("state-hash", "--home", home, "--json").stdout


@pytest.mark.slow
def test_there_and_back_again(em, home: Path, tmp_path: Path) -> None:
    done = em("backup", tmp_path / "kept", "--home", home)
    assert done.returncode == 0, done.stderr
    assert "files copied" in done.stdout
    again = orjson.loads(em("backup", tmp_path / "kept", "--home", home, "--json").stdout)
    assert again["n_copied"] == 0
    assert em("backup", tmp_path / "kept", "--home", home, "--verify", "--prune").stdout.count("\n") == 2
    restored = em("restore", tmp_path / "kept", "--home", tmp_path / "other")
    assert restored.returncode == 0, restored.stderr
    assert "forget it again" in restored.stdout
    assert em("run", "--home", tmp_path / "other").returncode == 0
    assert hashes(em, tmp_path / "other") == hashes(em, home)
    assert em("doctor", "--home", tmp_path / "other").returncode == 0
    refused = em("restore", tmp_path / "kept", "--home", tmp_path / "other")
    assert refused.returncode == 2
    assert "empty" in refused.stderr


@pytest.mark.slow
def test_what_the_log_has_lost_comes_back(em, home: Path, tmp_path: Path) -> None:
    own = Path(shutil.copytree(home, tmp_path / "home", symlinks=True))
    assert em("backup", tmp_path / "kept", "--home", own).returncode == 0
    shutil.rmtree(own / "log" / "interactions" / "2026-03-02")
    assert em("backup", tmp_path / "kept", "--home", own).returncode == 2
    done = em("restore", tmp_path / "kept", "--lost", "--home", own, "--json")
    assert orjson.loads(done.stdout) == {"n_restored": 1, "n_lost": 0}
    assert em("run", "--home", own).returncode == 0
    assert hashes(em, own) == hashes(em, home)
    assert em("restore", tmp_path / "kept", "--lost", "--at", "x", "--home", own).returncode == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("backup", "."), "choose a place outside"),
        (("restore", "nowhere"), "no backup there"),
        (("restore", "nowhere", "--at", "then"), "no then there"),
        (("restore", "nowhere", "--lost"), "no backup there"),
    ],
)
def test_bad_places_are_refused_in_one_sentence(em, home: Path, tmp_path: Path, words, said: str) -> None:
    own = home if words[0] == "backup" else tmp_path / "empty"
    done = em(words[0], own if words[1] == "." else tmp_path / words[1], *words[2:], "--home", own)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_there_has_to_be_a_home(em, tmp_path: Path) -> None:
    done = em("backup", tmp_path / "kept", "--home", tmp_path / "none")
    assert done.returncode == 1
    assert "does not exist" in done.stderr


def test_a_key_is_asked_for_before_anything_is_written(em, home: Path, tmp_path: Path) -> None:
    key, other = tmp_path / "key", tmp_path / "other-key"
    key.write_text("a key of more than sixteen bytes")
    other.write_text("another key of more than sixteen")
    assert em("backup", tmp_path / "kept", "--home", home, "--key-file", key).returncode == 0
    for words, said in (((), "--key-file"), (("--key-file", other), "does not fit the key")):
        refused = em("restore", tmp_path / "kept", "--home", tmp_path / "new", *words)
        assert refused.returncode == 2
        assert said in refused.stderr
        assert refused.stderr.count("\n") == 1
        assert not (tmp_path / "new").exists()
    done = em("restore", tmp_path / "kept", "--home", tmp_path / "new", EM_BACKUP__KEY_FILE=str(key))
    assert done.returncode == 0, done.stderr
