"""Who may open what: forms of others, names of others, tokens and how far they reach."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from em_pipelines.errors import UsageError
from em_pipelines.governance.access_tokens import TokenBook
from em_pipelines.governance.token_scope import TokenScope
from em_pipelines.interfaces.agents.address import Address
from em_pipelines.interfaces.memory import Memory
from em_pipelines.interfaces.ui import access
from em_pipelines.interfaces.ui.access import Access, Session
from em_pipelines.interfaces.ui.routes import PAGES, About
from em_pipelines.interfaces.ui.serving import serve
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
from tests.interfaces.ui.conftest import BASE, SECRET, Browser, browser_of, edge_of, read

ACTS = [path for path, shown in PAGES.items() if shown.act]
ALWAYS = ("/fact/confirm", "/forget")
"""Of which `make test` asks, too."""


def book(home: Path) -> TokenBook:
    opened = Pipeline(load_settings(home=home))
    return TokenBook(opened.record, opened.salt)


def entered(home: Path, scope: TokenScope, user: str = "nora") -> Browser:
    browser = browser_of(home, needs_token=True)
    token, _ = book(home).create(user, scope, datetime.now(UTC), 1)
    secret = SECRET.search(browser.client.get("/").text)
    assert secret
    answer = browser.client.post("/enter", data={"csrf": secret[1], "token": token}, follow_redirects=True)
    assert answer.status_code == 200, read(answer.text).text
    return browser


@pytest.mark.parametrize("path", [pytest.param(one, marks=() if one in ALWAYS else pytest.mark.slow) for one in ACTS])
def test_a_form_of_somebody_else_does_nothing(home: Path, browser: Browser, path: str) -> None:
    fields = {
        "user": "nora",
        "id": edge_of(home, "lives_in"),
        "right": "x",
        "into": "x",
        "name": "Ylva",
        "how": "accept",
    }
    before = Memory(home, "nora").facts(is_all=True)
    mine = browser.secret()
    assert browser.client.post(path, data=fields).status_code == 403
    assert browser.client.post(path, data={**fields, "csrf": "0" * 64}).status_code == 403
    far = {"sec-fetch-site": "cross-site"}
    assert browser.client.post(path, data={**fields, "csrf": mine}, headers=far).status_code == 403
    other = browser_of(home)
    assert other.client.post(path, data={**fields, "csrf": mine}).status_code == 403
    assert Memory(home, "nora").facts(is_all=True) == before


@pytest.mark.parametrize("path", [path for path, shown in PAGES.items() if shown.show is None])
def test_nothing_is_done_by_a_link(browser: Browser, path: str) -> None:
    assert browser.client.get(path).status_code in (404, 405)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8723", "127.0.0.1.evil.example"])
def test_a_name_that_was_turned_to_us_opens_nothing(home: Path, browser: Browser, host: str) -> None:
    answer = browser.client.get("/facts", params={"user": "nora"}, headers={"host": host})
    assert answer.status_code == 403
    assert "Bergen" not in answer.text


def test_without_a_token_nothing_is_shown(home: Path) -> None:
    browser = browser_of(home, needs_token=True)
    for path, shown in PAGES.items():
        if shown.show:
            answer = browser.open(path, user="nora")
            assert answer.status_code == 401
            assert "Bergen" not in answer.text
            assert "nora" not in read(answer.text).text


def test_a_token_opens_one_memory(home: Path) -> None:
    browser = entered(home, TokenScope.ADMIN)
    assert "Bergen" in browser.open("/facts").text
    for path, shown in PAGES.items():
        if shown.show and shown.about is not About.ANYONE:
            assert browser.open(path, user="ivo").status_code == 403
    assert browser.open("/people").status_code == 403
    assert browser.open("/soundness").status_code == 403
    assert browser.send("/experience/rollback", id="con_0").status_code == 403
    assert browser.send("/forget", user="ivo", everything="1").status_code == 403
    assert Memory(home, "ivo").facts()


@pytest.mark.parametrize(
    ("scope", "may_correct", "may_forget"),
    [
        (TokenScope.READ, False, False),
        (TokenScope.WRITE, True, False),
        pytest.param(TokenScope.ADMIN, True, True, marks=pytest.mark.slow),
    ],
)
def test_a_scope_bounds_what_is_done(home: Path, scope: TokenScope, may_correct: bool, may_forget: bool) -> None:
    browser = entered(home, scope)
    edge = edge_of(home, "lives_in")
    assert browser.send("/fact/correct", user="nora", id=edge, right="Oslo").status_code == (
        200 if may_correct else 403
    )
    assert browser.open("/forget", user="nora", entity="Ylva").status_code == (200 if may_forget else 403)
    assert browser.send("/forget", user="nora", entity="Ylva").status_code == (200 if may_forget else 403)


def test_a_token_that_was_revoked_opens_nothing_more(home: Path) -> None:
    browser = entered(home, TokenScope.READ)
    assert browser.open("/facts").status_code == 200
    (token,) = book(home).all("nora")
    book(home).revoke(token.token_id)
    assert browser.open("/facts").status_code == 401


def test_tokens_that_open_nothing_here(home: Path) -> None:
    browser = browser_of(home, needs_token=True)
    secret = SECRET.search(browser.client.get("/").text)
    assert secret
    of_a_domain, _ = book(home).create("nora", TokenScope.READ, datetime.now(UTC), 1, "work")
    for token, said in (("", "not valid"), ("em_wrong", "not valid"), (of_a_domain, "one domain")):
        answer = browser.client.post("/enter", data={"csrf": secret[1], "token": token})
        assert (answer.status_code, said in answer.text) == (401, True)


def test_who_leaves_is_out(home: Path) -> None:
    browser = entered(home, TokenScope.READ)
    browser.send("/leave")
    assert browser.open("/facts").status_code == 401


def test_a_session_is_new_once_a_token_was_given(home: Path) -> None:
    browser = browser_of(home, needs_token=True)
    browser.client.get("/")
    before = browser.client.cookies["em_ui"]
    after = entered(home, TokenScope.READ).client.cookies["em_ui"]
    assert before != after


def test_beyond_loopback_there_has_to_be_tls(home: Path) -> None:
    with pytest.raises(UsageError, match="clear text"):
        serve(load_settings(home=home), None, None, Address("0.0.0.0", 0), needs_token=False, on_start=lambda: None)


def test_a_form_that_is_too_long_is_refused(browser: Browser) -> None:
    answer = browser.client.post("/fact/correct", data={"csrf": browser.secret(), "right": "x" * 100_000})
    assert answer.status_code == 413


def sent_in_chunks(browser: Browser, path: str, kind: str, headers: dict[str, str]) -> tuple[int, int]:
    """The status of a form of 1 MB without a length, and how many of its 250 chunks were read."""
    n_read = status = 0

    async def receive() -> dict[str, Any]:
        nonlocal n_read
        n_read += 1
        return {"type": "http.request", "body": b"right=" + b"x" * 4000, "more_body": n_read < 250}

    async def send(message: Any) -> None:
        nonlocal status
        status = message.get("status", status)

    given = {"host": "127.0.0.1:8723", "content-type": kind, "transfer-encoding": "chunked", **headers}
    scope = {
        "type": "http", "method": "POST", "path": path, "raw_path": path.encode(), "query_string": b"",
        "root_path": "", "scheme": "http", "server": ("127.0.0.1", 8723), "client": ("127.0.0.1", 1),
        "http_version": "1.1", "headers": [(name.encode(), value.encode()) for name, value in given.items()],
    }  # fmt: skip
    asyncio.run(browser.client.app(scope, receive, send))
    return status, n_read


KINDS = ("application/x-www-form-urlencoded", "multipart/form-data; boundary=b", "text/plain")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("path", ["/fact/correct", "/enter", "/leave"])
def test_a_form_without_a_length_is_refused_before_it_is_read_whole(
    home: Path, caplog: pytest.LogCaptureFixture, path: str, kind: str
) -> None:
    admitted = entered(home, TokenScope.WRITE)
    cookie = {"cookie": f"em_ui={admitted.client.cookies['em_ui']}"}
    status, n_read = sent_in_chunks(admitted, path, kind, cookie)
    assert (status, n_read < 20) == (413, True)
    assert caplog.records == []


def test_without_a_token_no_form_is_read_and_nothing_is_logged(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    stranger = browser_of(home, needs_token=True)
    assert sent_in_chunks(stranger, "/fact/correct", KINDS[1], {}) == (401, 0)
    broken = {"content": b"--b\r\nno form", "headers": {"content-type": KINDS[1]}}
    assert stranger.client.post("/fact/correct", **broken).status_code == 401
    assert stranger.client.post("/enter", **broken).status_code == 401
    many = stranger.client.post("/enter", data={f"field{n}": "x" for n in range(200)})
    assert many.status_code == 401
    assert caplog.records == []


def test_what_is_no_form_is_said_to_be_none(browser: Browser, caplog: pytest.LogCaptureFixture) -> None:
    answer = browser.client.post("/fact/correct", content=b"--b\r\nno", headers={"content-type": KINDS[1]})
    assert answer.status_code in (400, 403)
    assert caplog.records == []


def test_whoever_brings_no_token_signs_nobody_out(home: Path) -> None:
    admitted = entered(home, TokenScope.READ)
    stranger = TestClient(admitted.client.app, base_url=BASE)
    for n in range(1005):
        stranger.cookies.clear()
        path = ("/", "/facts", "/nope", "/enter")[n % 4]
        assert stranger.request("POST" if path == "/enter" else "GET", path).status_code in (401, 404)
    assert admitted.open("/facts").status_code == 200


def test_too_many_sessions_of_one_user_cost_that_user_the_longest_idle_one(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(access, "MAX_SESSIONS", 3)
    tokens = book(home)
    opened = Access(tokens, Address(port=8723), needs_token=True)
    made = {user: tokens.create(user, TokenScope.READ, datetime.now(UTC), 1)[0] for user in ("nora", "ivo")}
    first, *rest = [opened.enter(Session("x"), made[user]) for user in ("nora", "ivo", "ivo", "ivo", "ivo")]
    known = [one for one in (first, *rest) if opened.session(asking(one.key)) is one]
    assert known == [first, *rest[-2:]]
    another = opened.enter(Session("x"), made["nora"])
    assert opened.session(asking(first.key)) is not first, "of the same user the longest idle one goes"
    assert opened.session(asking(another.key)) is another


def asking(key: str) -> Request:
    """A request of the browser whose session has that key."""
    return Request({"type": "http", "headers": [(b"cookie", f"em_ui={key}".encode())]})
