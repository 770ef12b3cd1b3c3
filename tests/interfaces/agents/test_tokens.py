"""Tokens: what is kept of them, whom they let in and until when, and that they go with their user."""

import re
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest

from em_pipelines.errors import UsageError
from em_pipelines.governance.access_tokens import TokenBook
from em_pipelines.governance.token_scope import TokenScope
from em_pipelines.interfaces.memory import Memory
from em_pipelines.language.masking import mask_text
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings

NOON = datetime(2026, 4, 1, 12, tzinfo=UTC)


@pytest.fixture
def opened(home_path: Path) -> Pipeline:
    return Pipeline(load_settings(home=home_path))


@pytest.fixture
def book(opened: Pipeline) -> TokenBook:
    return TokenBook(opened.record, opened.salt)


def test_a_token_opens_one_memory_until_its_day(book: TokenBook, opened: Pipeline) -> None:
    token, made = book.create("nora", TokenScope.WRITE, NOON, days=2)
    assert (made.user_id, made.scope, made.expires_at) == ("nora", TokenScope.WRITE, NOON + timedelta(days=2))
    for same in (book, TokenBook(opened.record, opened.salt)):
        assert same.check(token, NOON + timedelta(days=1, hours=23)) == made
        assert same.check(token, NOON + timedelta(days=2)) is None


def test_nothing_but_a_hash_is_kept_for_its_owner_alone(book: TokenBook, opened: Pipeline) -> None:
    token, made = book.create("nora", TokenScope.READ, NOON)
    path = opened.record / "tokens.jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    secret = token.removeprefix(f"emt_{made.token_id}_")
    assert len(secret) == 43
    assert not [p for p in opened.path.rglob("*") if p.is_file() and secret.encode() in p.read_bytes()]
    book.create("ivo", TokenScope.READ, NOON)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_token_that_somebody_pastes_is_masked() -> None:
    for text in (f"emt_0123456789ab_{'aB3-_' * 9}", f"use emt_0123456789ab_{'a' * 43} please"):
        assert re.search(r"emt_\w", mask_text(text)) is None


@pytest.mark.parametrize("change", ["x{}", "{}x", "{} ", "{}\n", "", "emt_", "../{}", "{}\x00"])
def test_what_is_not_the_token_opens_nothing(book: TokenBook, change: str) -> None:
    token, _ = book.create("nora", TokenScope.READ, NOON)
    assert book.check(change.format(token), NOON) is None


def test_the_secret_of_one_is_not_that_of_another(book: TokenBook, opened: Pipeline, tmp_path: Path) -> None:
    one, _ = book.create("nora", TokenScope.READ, NOON)
    other, made = book.create("ivo", TokenScope.ADMIN, NOON)
    assert book.check(f"emt_{made.token_id}_{one.split('_', 2)[2]}", NOON) is None
    elsewhere = Pipeline(load_settings(home=tmp_path / "elsewhere"))
    foreign = TokenBook(elsewhere.record, elsewhere.salt)
    foreign.create("nora", TokenScope.READ, NOON)
    (elsewhere.record / "tokens.jsonl").write_bytes((opened.record / "tokens.jsonl").read_bytes())
    assert foreign.check(other, NOON) is None, "a hash that another home has made"


def test_a_revoked_token_opens_nothing_and_the_others_go_on(book: TokenBook) -> None:
    one, made = book.create("nora", TokenScope.READ, NOON)
    other, kept = book.create("nora", TokenScope.READ, NOON)
    assert book.revoke(made.token_id[:8]) == made
    assert book.check(one, NOON) is None
    assert book.check(other, NOON) == kept
    assert book.all() == book.all("nora") == [kept]
    for wrong in (made.token_id, ""):
        with pytest.raises(UsageError, match="no tokens have that id"):
            book.revoke(wrong)


@pytest.mark.parametrize("user", ["", " ", "a\x00", "x" * 257, "ghp_" + "a1B2" * 9])
def test_users_that_no_log_could_have_get_no_token(book: TokenBook, user: str) -> None:
    with pytest.raises(UsageError, match="user id"):
        book.create(user, TokenScope.READ, NOON)


@pytest.mark.parametrize("user", ["../ivo", "nora'--", 'no"ra', "{}", "нора", "x" * 256])
def test_hostile_ids_are_users_of_their_own(book: TokenBook, user: str) -> None:
    token, _ = book.create(user, TokenScope.READ, NOON)
    found = book.check(token, NOON)
    assert found is not None
    assert found.user_id == user


@pytest.mark.parametrize("days", [0, -1, 3651])
def test_nobody_gets_a_token_for_ever(book: TokenBook, days: int) -> None:
    with pytest.raises(UsageError, match="give 1 to 3650"):
        book.create("nora", TokenScope.READ, NOON, days=days)


@pytest.mark.parametrize(
    "change",
    [
        {"user_id": "ivo"}, {"level": 3}, {"expires": 4_000_000_000}, {"created": 0}, {"hash": "0" * 64}, {"more": 1},
        {"seal": "0" * 64}, {"seal": 7}, {"seal": None}, {"token_id": "0123456789ab"},
    ],
    ids=str,
)  # fmt: skip
def test_a_line_that_somebody_edited_lets_nobody_in_and_stops_nobody_else(
    book: TokenBook, opened: Pipeline, change: dict[str, object]
) -> None:
    one, _ = book.create("nora", TokenScope.READ, NOON, days=2)
    other, kept = book.create("ivo", TokenScope.READ, NOON)
    path = opened.record / "tokens.jsonl"
    first, *rest = path.read_bytes().splitlines()
    fields = orjson.loads(first) | change
    without = [name for name in fields if fields[name] is None]
    path.write_bytes(b"\n".join([orjson.dumps({n: v for n, v in fields.items() if n not in without}), *rest]) + b"\n")
    for token in (one, one.replace(one.split("_")[1], "0123456789ab")):
        assert book.check(token, NOON) is None
    assert book.check(other, NOON) == kept
    assert book.edited() == [1]
    assert book.all() == [kept]
    book.create("nora", TokenScope.READ, NOON)
    assert book.edited() == [1]
    assert book.revoke(str(fields["token_id"])) is None
    assert book.edited() == []


@pytest.mark.parametrize("line", [b"{", b"{}", b"[]", b'{"token_id": "a", "user_id": "nora"}', b"\xff", b"7", b""])
def test_a_line_that_is_no_token_lets_nobody_in_and_stops_nobody_else(
    book: TokenBook, opened: Pipeline, line: bytes
) -> None:
    token, made = book.create("nora", TokenScope.READ, NOON)
    with (opened.record / "tokens.jsonl").open("ab") as handle:
        handle.write(line + b"\n")
    assert book.check(token, NOON) == made
    assert book.edited() == [2]
    assert book.forget_user("nora") == 2
    assert (opened.record / "tokens.jsonl").read_bytes() == b""


def test_erasing_a_user_takes_their_tokens_and_nobody_elses(nora: Memory) -> None:
    book = TokenBook(nora.home.record, nora.home.salt)
    own, _ = book.create("nora", TokenScope.ADMIN, NOON)
    others, _ = book.create("ivo", TokenScope.READ, NOON)
    nora.forget(entity="Torvald")
    assert book.check(own, NOON)
    certificate = nora.forget(everything=True)
    assert (certificate.result, certificate.n_found_after) == ("erased", 0)
    assert book.check(own, NOON) is None
    assert book.check(others, NOON)
    assert b"nora" not in (nora.home.record / "tokens.jsonl").read_bytes()


@pytest.mark.slow
def test_a_token_that_were_left_would_be_found_by_the_erasure(nora: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    from em_pipelines.errors import ErasureIncompleteError

    book = TokenBook(nora.home.record, nora.home.salt)
    book.create("nora", TokenScope.ADMIN, NOON)
    monkeypatch.setattr(TokenBook, "forget_user", lambda *_: 0)
    with pytest.raises(ErasureIncompleteError, match=r"tokens\.jsonl"):
        nora.forget(everything=True)
