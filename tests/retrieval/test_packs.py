"""Packs of a home: made where something changed, one a user, and gone with whoever is forgotten."""

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest
from typer.testing import CliRunner

from em_pipelines.errors import EmError, NotMadeError
from em_pipelines.governance.erasure.forget import forget
from em_pipelines.interfaces.cli.app import app
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.landing.land import land
from em_pipelines.memory import Memory
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.packs import BUILT, build, folder_of, folders, is_current, unfit
from em_pipelines.retrieval.user_search import opened
from em_pipelines.settings import load_settings

NOW = datetime(2026, 5, 1, tzinfo=UTC)
HOSTILE = ["../ada", "a/b", "x" * 200, "quote'\"; --", "ADA", "*"]


def tell(home: Pipeline, folder: Path, user: str, *said: str, session: str = "s1", day: str = "2026-03-02") -> None:
    lines = [
        orjson.dumps(
            {
                "user_id": user, "session_id": session, "turn_number": n, "role": "user", "content": text,
                "timestamp": f"{day}T10:{n:02}:00Z",
            }
        )
        for n, text in enumerate(said)
    ]  # fmt: skip
    source = folder / "said.jsonl"
    source.write_bytes(b"\n".join(lines) + b"\n")
    land([source], home.store.log, now=NOW, settings=home.settings.landing)
    for step in home.steps.values():
        home.store.run_days(step, home.store.stale_days(step))


@pytest.fixture
def home(home_path: Path, tmp_path: Path) -> Pipeline:
    home = Pipeline(load_settings(home=home_path))
    tell(home, tmp_path, "ada", "I own a harpsichord.", "My boat leaks.")
    tell(home, tmp_path, "ben", "I own a kiln.", day="2026-03-03")
    build(home)
    return home


def found(home: Pipeline, user: str, question: str, *more: str) -> list[dict]:
    made = CliRunner().invoke(app, ["search", question, "--user", user, "--home", str(home.path), "--json", *more])
    assert made.exit_code == (0 if user not in HOSTILE else 1), made.output
    return json.loads(made.stdout)


def test_only_those_of_whom_something_changed_are_made_again(home: Pipeline, tmp_path: Path) -> None:
    assert is_current(home)
    assert build(home) == []
    tell(home, tmp_path, "ben", "I bought clay.", session="s2", day="2026-03-09")
    assert not is_current(home)
    assert build(home) == ["ben"]
    assert found(home, "ben", "clay", "--kind", "message")[0]["text"] == "I bought clay."


@pytest.mark.parametrize("lost", ["", pytest.param("window/data.csc.index.npy", marks=pytest.mark.slow)])
def test_what_is_lost_of_a_pack_is_made_again_and_of_nobody_else(home: Pipeline, lost: str) -> None:
    own = folder_of(home, "ben")
    before = {path.relative_to(own): path.read_bytes() for path in own.rglob("*") if path.is_file()}
    if lost:
        (own / lost).write_bytes((own / lost).read_bytes()[:-1])
    else:
        shutil.rmtree(own)
    assert unfit(home) == [own]
    assert not is_current(home)
    assert build(home) == ["ben"]
    assert {path.relative_to(own): path.read_bytes() for path in own.rglob("*") if path.is_file()} == before
    assert unfit(home) == []
    assert is_current(home)


@pytest.mark.slow
def test_a_pack_of_somebody_forgotten_is_not_missed(home: Pipeline) -> None:
    forget(home, Scope(ScopeKind.USER, "ada", ""), now=NOW)
    assert folders(home) == [folder_of(home, "ben")]
    assert unfit(home) == []


@pytest.mark.parametrize("content", [b"{", pytest.param(b"[]", marks=pytest.mark.slow)])
def test_notes_that_cannot_be_read_cost_a_build_and_nothing_else(home: Pipeline, content: bytes) -> None:
    (home.path / "packs" / BUILT).write_bytes(content)
    assert not is_current(home)
    assert build(home) == ["ada", "ben"]
    assert is_current(home)


def test_nobody_finds_what_is_somebody_elses(home: Pipeline) -> None:
    assert found(home, "ada", "harpsichord")[0]["text"] == "I own a harpsichord."
    assert found(home, "ada", "kiln", "--kind", "message") == []
    raw = b"".join(path.read_bytes() for path in folder_of(home, "ada").rglob("*") if path.is_file())
    assert b"kiln" not in raw
    for user in HOSTILE:
        assert found(home, user, "harpsichord") == []
        assert folder_of(home, user).parent == home.path / "packs"


@pytest.mark.slow
def test_what_is_forgotten_is_found_no_more(home: Pipeline) -> None:
    forget(home, Scope(ScopeKind.ENTITY, "ada", "harpsichord"), now=NOW)
    assert found(home, "ada", "harpsichord", "--kind", "fact") == []
    raw = b"".join(path.read_bytes() for path in (home.path / "packs").rglob("*") if path.is_file())
    assert b"harpsichord" not in raw
    assert found(home, "ada", "boat")[0]["text"] == "My boat leaks."
    forget(home, Scope(ScopeKind.USER, "ada", ""), now=NOW)
    assert opened(home, "ada") is None


def test_a_file_of_questions(home: Pipeline, tmp_path: Path) -> None:
    questions, hits = tmp_path / "questions.jsonl", tmp_path / "hits.jsonl"
    questions.write_text('{"id": "q1", "query": "harpsichord"}\n\n{"id": 2, "query": ""}\n')
    arguments = ["search", "--user", "ada", "--home", str(home.path), "--batch", str(questions), "--output", str(hits)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    first, second = (json.loads(line) for line in hits.read_text().splitlines())
    assert (first["id"], second) == ("q1", {"id": 2, "hits": []})
    assert set(first["hits"][0]) == {"kind", "session_id", "turn_number", "edge_id", "text", "score"}
    questions.write_text('{"id": "q1"}\n')
    assert CliRunner().invoke(app, arguments).exit_code != 0


def landed(home: Pipeline, folder: Path, user: str, text: str) -> None:
    message = {"user_id": user, "session_id": "s9", "turn_number": 0, "role": "user", "content": text}
    source = folder / "landed.jsonl"
    source.write_bytes(orjson.dumps({**message, "timestamp": "2026-03-02T11:00:00Z"}))
    land([source], home.store.log, now=NOW, settings=home.settings.landing)


def asked(home: Pipeline, *words: str) -> tuple[int, str]:
    """The exit code of a command, and the sentence that it ends with where it fails."""
    made = CliRunner().invoke(app, [*words, "--home", str(home.path), "--json"])
    return (made.exception.exit_code, str(made.exception)) if isinstance(made.exception, EmError) else (0, "")


@pytest.mark.parametrize(
    "command",
    [
        ("search", "fjord"),
        pytest.param(("facts",), marks=pytest.mark.slow),
        pytest.param(("context", "fjord"), marks=pytest.mark.slow),
    ],
    ids=lambda words: words[0],
)
def test_what_no_run_has_read_yet_is_no_empty_answer(home: Pipeline, tmp_path: Path, command: tuple[str, ...]) -> None:
    landed(home, tmp_path, "eve", "I live by the fjord.")
    code, said = asked(home, *command, "--user", "eve")
    assert code == 3
    assert "messages of 'eve' have landed, and no run has read them yet; `em run` does, ask then" in said
    assert asked(home, *command, "--user", "nobody")[0] == 0, "nobody of that name has said anything"
    assert asked(home, *command, "--user", "ada")[0] == 0


def test_what_was_read_and_is_not_indexed_yet_is_no_empty_answer(home: Pipeline, tmp_path: Path) -> None:
    tell(home, tmp_path, "eve", "I live by the fjord.", day="2026-03-02")
    code, said = asked(home, "search", "fjord", "--user", "eve")
    assert (code, "the index of 'eve' is not made yet; `em run` makes it" in said) == (3, True)
    build(home)
    assert found(home, "eve", "fjord")


def test_memory_in_python_says_so_too(home: Pipeline, tmp_path: Path) -> None:
    landed(home, tmp_path, "eve", "I live by the fjord.")
    memory = Memory(home, "eve")
    for ask in (memory.facts, lambda: memory.retrieve_memories("fjord"), lambda: memory.context("fjord")):
        with pytest.raises(NotMadeError):
            ask()


@pytest.mark.slow
def test_a_home_that_was_copied_without_its_times_has_read_what_it_has_read(home: Pipeline, tmp_path: Path) -> None:
    tell(home, tmp_path, "eve", "Can you shorten this?", day="2026-03-02")
    build(home)
    for folder in (home.path / "log" / "interactions").iterdir():
        os.utime(folder)
    assert asked(home, "facts", "--user", "eve") == (0, "")
