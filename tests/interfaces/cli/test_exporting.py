"""`em export` and `em import`: streams, files, exit codes and sentences."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import networkx as nx
import pytest

from .conftest import Em

SAID = (
    {"content": "I live in Bergen. My flatmate Torvald works at the aquarium."},
    {"content": "I own a Fender Rhodes.", "session_id": "s2"},
    {"content": "I like rowing.", "user_id": "ivo"},
)


@pytest.fixture
def home(em: Em, native: Callable[..., Path], tmp_path: Path, made_once: Callable[..., None]) -> Path:
    """A home of two people, made."""
    path = tmp_path / "home"

    def make() -> None:
        done = em("run", native(*SAID), "--home", path)
        assert done.returncode == 0, done.stderr

    made_once(path, make)
    return path


@pytest.mark.slow
def test_a_user_moves_to_another_home(em: Em, home: Path, native: Callable[..., Path], tmp_path: Path) -> None:
    went = em("export", "--user", "ada", "--home", home)
    assert (went.returncode, went.stderr) == (0, "")
    assert json.loads(went.stdout)["counts"]["interactions"] == 2
    document, new, alone = tmp_path / "ada.json", tmp_path / "new", tmp_path / "alone"
    done = em("export", "--user", "ada", "--home", home, "--output", document, "--json")
    assert json.loads(done.stdout)["path"] == str(document)
    assert document.read_text() == went.stdout
    came = em("import", document, "--home", new, "--json")
    assert came.returncode == 0, came.stderr
    said = json.loads(came.stdout)
    assert (said["user_id"], said["n_landed"], said["settings_that_differ"]) == ("ada", 2, [])
    assert em("run", "--home", new).returncode == 0
    assert em("run", native(*SAID[:2]), "--home", alone).returncode == 0
    assert em("state-hash", "--home", new).stdout == em("state-hash", "--home", alone).stdout
    again = em("import", document, "--home", new)
    assert again.returncode == 0
    assert "new" in again.stdout
    assert "Nothing is new" in em("run", "--home", new).stdout


@pytest.mark.slow
def test_graph_and_vault(em: Em, home: Path, tmp_path: Path) -> None:
    graph = em("export", "--user", "ada", "--format", "graphml", "--home", home)
    names = set(dict(nx.read_graphml(io.BytesIO(graph.stdout.encode())).nodes(data="name")).values())
    assert {"user", "Bergen", "Torvald"} <= names
    assert "rowing" not in names
    vault = tmp_path / "vault"
    done = em("export", "--user", "ada", "--format", "markdown", "--output", vault, "--home", home)
    assert done.returncode == 0, done.stderr
    assert f"wrote {vault}: " in done.stdout
    assert "[[entities/Bergen|Bergen]]" in (vault / "Person.md").read_text()


def test_days_that_are_not_made_are_told_of(em: Em, native: Callable[..., Path], tmp_path: Path) -> None:
    assert em("land", native(*SAID), "--home", tmp_path / "home").returncode == 0
    done = em("export", "--user", "ada", "--home", tmp_path / "home")
    assert done.returncode == 0
    assert json.loads(done.stdout)["memory"]["facts"] == []
    assert "not materialized" in done.stderr


@pytest.mark.slow
def test_wrong_use_ends_with_2_and_a_sentence(em: Em, home: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('{"format": "em_pipelines.export", "version": 1, "records": {')
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.md").write_text("mine")
    for words, why in (
        (("export", "--user", "ada", "--json"), "--output"),
        (("export", "--user", "ada", "--format", "markdown"), "--output"),
        (("export", "--user", "ada", "--format", "pdf"), "pdf"),
        (("export", "--user", "ada", "--as-of", "yesterday"), "--as-of"),
        (("export", "--user", "ada", "--output", home / "ada.json"), "outside"),
        (("export", "--user", "ada", "--output", tmp_path / "no" / "ada.json"), "does not exist"),
        (("export", "--user", "ada", "--format", "markdown", "--output", tmp_path / "notes"), "not empty"),
        (("import", tmp_path / "nothing.json"), "no such file"),
        (("import", tmp_path / "broken.json"), "nothing was imported"),
    ):
        done = em(*words, "--home", home)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert why in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_conflict_keeps_what_stands(em: Em, home: Path, native: Callable[..., Path], tmp_path: Path) -> None:
    document, other = tmp_path / "ada.json", tmp_path / "other"
    em("export", "--user", "ada", "--home", home, "--output", document)
    assert em("land", native({"content": "I live in Oslo."}), "--home", other).returncode == 0
    done = em("import", document, "--home", other)
    assert done.returncode == 0
    assert "what was landed first stands" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("user", ["nobody", "../ada"])
def test_nobody_has_an_export(em: Em, home: Path, user: str) -> None:
    done = em("export", "--user", user, "--home", home)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "is remembered in" in done.stderr
