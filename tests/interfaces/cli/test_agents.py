"""`em token`: what is printed, what is kept, what is refused."""

from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from em_pipelines.governance.access_tokens import TokenBook
from em_pipelines.governance.token_scope import TokenScope
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings


@pytest.fixture
def book(home_path: Path) -> TokenBook:
    opened = Pipeline(load_settings(home=home_path))
    return TokenBook(opened.record, opened.salt)


def test_a_token_is_made_listed_and_revoked(em, home_path: Path, book: TokenBook) -> None:
    made = orjson.loads(
        em("token", "create", "--user", "nora", "--scope", "admin", "--home", home_path, "--json").stdout
    )
    found = book.check(made["token"], datetime.now(UTC))
    assert found is not None
    assert (found.user_id, found.scope) == ("nora", TokenScope.ADMIN)
    listed = em("token", "list", "--home", home_path, "--json").stdout
    assert made["token"] not in listed
    assert orjson.loads(listed) == [{name: value for name, value in made.items() if name != "token"}]
    assert em("token", "revoke", made["token_id"], "--home", home_path).returncode == 0
    assert book.check(made["token"], datetime.now(UTC)) is None
    assert orjson.loads(em("token", "list", "--home", home_path, "--json").stdout) == []
    entries = Pipeline(load_settings(home=home_path)).ledger.of_user("nora")
    assert [entry.action for entry in entries] == ["token.create", "token.revoke"]


def test_nothing_but_the_token_is_printed(em, home_path: Path, book: TokenBook) -> None:
    done = em("token", "create", "--user", "nora", "--home", home_path)
    assert done.stderr == f"em: New home: {home_path}\n"
    assert em("token", "create", "--user", "nora", "--home", home_path).stderr == ""
    assert book.check(done.stdout.strip(), datetime.now(UTC))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("create", "--user", ""), "user id"),
        (("create", "--user", "a\nb"), "user id"),
        (("create", "--user", "nora", "--days", "0"), "--days"),
        (("create", "--user", "nora", "--scope", "root"), "--scope"),
        (("create",), "--user"),
        (("revoke", "nope"), "no tokens have that id"),
        (("revoke", "../x"), "no tokens have that id"),
    ],
)  # fmt: skip
def test_wrong_use_is_said_in_one_sentence(em, home_path: Path, words: tuple[str, ...], said: str) -> None:
    home_path.mkdir(exist_ok=True)
    done = em("token", *words, "--home", home_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_a_line_that_was_edited_is_found_and_can_be_removed(em, home_path: Path, book: TokenBook) -> None:
    _, made = book.create("nora", TokenScope.READ, datetime.now(UTC))
    path = home_path / "record" / "tokens.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"level":1', b'"level":3'))
    listed = em("token", "list", "--home", home_path, "--json")
    assert (listed.returncode, listed.stdout) == (1, "[]\n")
    assert "line 1 of HOME/record/tokens.jsonl was edited" in listed.stderr
    assert ["tokens", False] in _diagnoses(em, home_path)
    assert em("token", "revoke", made.token_id, "--home", home_path).returncode == 0
    assert ["tokens", True] in _diagnoses(em, home_path)


def test_a_revoked_token_that_is_put_back_is_found(em, home_path: Path, book: TokenBook) -> None:
    _, made = book.create("nora", TokenScope.READ, datetime.now(UTC))
    before = (home_path / "record" / "tokens.jsonl").read_bytes()
    assert em("token", "revoke", made.token_id, "--home", home_path).returncode == 0
    assert ["tokens", True] in _diagnoses(em, home_path)
    (home_path / "record" / "tokens.jsonl").write_bytes(before)
    assert ["tokens", False] in _diagnoses(em, home_path)


def _diagnoses(em, home: Path) -> list[list[object]]:
    return [[d["subject"], d["ok"]] for d in orjson.loads(em("doctor", "--home", home, "--json").stdout)]
