"""Every page of the control UI: what it shows, and how it says that something is not there."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from em_pipelines.governance.alerts.alert import Alert, Look, Severity
from em_pipelines.governance.alerts.telling import tell
from em_pipelines.interfaces.cli.publishing import users as published
from em_pipelines.interfaces.memory import Memory
from em_pipelines.interfaces.ui.routes import PAGES
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.users import users
from em_pipelines.settings import load_settings
from tests.interfaces.ui.conftest import Browser, browser_of, edge_of, read

SHOWN = {
    "/": {},
    "/people": {"q": "mir"},
    "/soundness": {},
    "/answers": {"first": "2026-10-05", "last": "2026-10-05"},
    "/facts": {"user": "mirela"},
    "/fact": {"user": "mirela"},
    "/entity": {"user": "mirela", "name": "Dana"},
    "/entity/join": {"user": "mirela", "name": "Dana", "into": "Dana Marin"},
    "/forget": {"user": "mirela", "entity": "Dana"},
    "/certificate": {"user": "mirela"},
    "/graph": {"user": "mirela"},
    "/review": {"user": "mirela"},
    "/audit": {"user": "mirela", "q": "Porto"},
    "/trace": {"user": "mirela"},
    "/probes": {"user": "mirela"},
    "/probe": {"user": "mirela"},
    "/experience": {"user": "tobias"},
    "/evidence": {"user": "tobias"},
    "/playground": {"user": "mirela", "q": "Where does my sister live?"},
}

BY_ID = ("/fact", "/trace", "/probe", "/evidence", "/certificate")
"""Opened from where they are linked."""


@pytest.fixture(scope="module")
def examples(examples_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Browser:
    home = tmp_path_factory.mktemp("examples") / "home"
    shutil.copytree(examples_home, home, symlinks=True)
    return browser_of(home)


def test_every_page_is_opened_here() -> None:
    assert set(SHOWN) == {path for path, shown in PAGES.items() if shown.show}


@pytest.mark.parametrize(
    "path",
    [pytest.param(one, marks=pytest.mark.slow if one == "/soundness" else ()) for one in SHOWN if one not in BY_ID],
)
def test_a_page_opens(examples: Browser, path: str) -> None:
    answer = examples.open(path, **SHOWN[path])
    assert answer.status_code == 200
    found = read(answer.text)
    assert [tag for tag, _ in found.elements].count("h1") == 1
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"


def test_from_the_list_to_the_sentence_and_through_every_stage(examples: Browser) -> None:
    listed = read(examples.open("/facts", user="mirela", q="Dana lives").text)
    (fact,) = listed.links("/fact?")
    page = read(examples.client.get(fact).text)
    assert "My sister Dana lives in Graz" in page.text
    assert "Actually, my sister Dana lives in Graz, not in Vienna." in page.text
    assert "Takes the place of" in page.text
    stages = read(examples.client.get(page.links("/trace?")[0]).text)
    for stage in ("interactions", "messages", "claims", "graph_ops", "edges"):
        assert stage in stages.text
    assert "What was read in it" in stages.text


def test_a_message_that_no_run_has_extracted_says_so_where_it_is_followed(browser: Browser) -> None:
    Memory(browser.home, "nora").store_observation("I carve spoons in Utne.", session_id="s-new")
    links = read(browser.open("/audit", user="nora").text).links("/trace?")
    answer = browser.client.get(links[0])
    assert answer.status_code == 200
    assert "No run has extracted this message yet" in answer.text
    assert "no run has extracted it yet" in browser.open("/audit", user="nora", q="spoons").text


def test_the_graph_goes_back_in_time(examples: Browser) -> None:
    then = read(examples.open("/graph", user="mirela", as_of="2026-09-25", about="Dana").text)
    now = read(examples.open("/graph", user="mirela", about="Dana").text)
    assert "Dana lives in Vienna" in then.text
    assert "Graz" not in then.text
    assert "Dana lives in Graz" in now.text
    drawn = [given for tag, given in now.elements if tag == "circle"]
    assert len(drawn) > 2


def test_a_drawing_is_the_same_each_time(examples: Browser) -> None:
    first, second = (examples.open("/graph", user="ada").text for _ in range(2))
    assert first.split("<svg")[1].split("</svg>")[0] == second.split("<svg")[1].split("</svg>")[0]


def test_the_graph_is_narrowed(examples: Browser) -> None:
    page = read(examples.open("/graph", user="mirela", relation="lives_in", sure="0.5").text)
    assert "lives in" in page.text
    assert "user works at" not in page.text
    assert examples.open("/graph", user="mirela", sure="much").status_code == 400
    assert examples.open("/graph", user="mirela", kind="place").status_code == 200


@pytest.mark.slow
def test_why_nothing_is_known(examples: Browser) -> None:
    assert "It was never said." in examples.open("/audit", user="mirela", q="Reykjavik").text
    assert "Memory knows it." in examples.open("/audit", user="mirela", q="Graz").text


def test_the_playground_shows_scores_and_the_block(examples: Browser) -> None:
    page = read(examples.open("/playground", user="mirela", q="Where does my sister live?").text)
    assert "<experience_context" in page.text
    assert "tokens" in page.text
    assert "Graz" in page.text


def test_what_would_be_asked_is_shown_and_not_noted(examples: Browser) -> None:
    page = read(examples.open("/probes", user="mirela").text)
    asked = page.links("/probe?")
    assert asked
    assert "It rests on" in examples.client.get(asked[0]).text
    assert read(examples.open("/probes", user="mirela").text).links("/probe?") == asked


def test_lists_are_sorted_and_found_by_words(examples: Browser) -> None:
    unsure = read(examples.open("/facts", user="ada", sort="unsure").text).links("/fact?")
    sure = read(examples.open("/facts", user="ada", sort="confidence").text).links("/fact?")
    assert set(unsure) == set(sure)
    assert unsure != sure
    assert "No fact fits" in examples.open("/facts", user="ada", q="qqqq").text


@pytest.mark.parametrize(
    ("path", "args", "status", "said"),
    [
        ("/facts", {"user": "nobody"}, 404, "nobody is remembered as"),
        ("/facts", {}, 400, "none is named"),
        ("/facts", {"user": "ada", "as_of": "yesterday"}, 400, "is no day"),
        ("/fact", {"user": "ada", "id": "edge_0"}, 404, "has the id"),
        ("/fact", {"user": "ada", "id": ""}, 404, "has the id"),
        ("/entity", {"user": "ada", "name": ""}, 400, "none is given"),
        ("/entity", {"user": "ada", "name": "Zebulon"}, 404, "is called"),
        ("/trace", {"user": "ada", "id": "cor_0"}, 404, "correlation id"),
        ("/probe", {"user": "ada", "id": "prb_0a1b2c"}, 404, "nothing that waits"),
        ("/evidence", {"user": "ada", "id": "exp_0"}, 404, "has that id"),
        ("/forget", {"user": "ada"}, 400, "forget"),
        ("/forget", {"user": "ada", "entity": "Yara", "everything": "1"}, 400, "several things"),
        ("/facts", {"user": "ada", "as_of": "9999-12-31"}, 400, "too far away"),
        ("/playground", {"user": "ada", "q": "tea", "as_of": "9999-12-31"}, 400, "too far away"),
        ("/graph", {"user": "ada", "as_of": "0001-01-01"}, 400, "too far away"),
        ("/audit", {"user": "ada", "before": "yesterday"}, 400, "cut off"),
        ("/certificate", {"user": "ada", "id": "erase_0"}, 404, "no certificate"),
        ("/certificate", {"user": "ada", "id": "../../ledger"}, 404, "no certificate"),
        ("/forget", {"user": "ada", "entity": "Zebulon"}, 404, "forgotten already"),
        ("/entity/join", {"user": "ada", "name": "Yara", "into": "user"}, 400, "stands for ada"),
        ("/entity/join", {"user": "ada", "name": "Yara", "into": "yara"}, 400, "the same name"),
        ("/entity/join", {"user": "ada", "name": "Zebulon", "into": "Yara"}, 404, "is called"),
        ("/review", {"user": "nobody"}, 404, "nobody is remembered"),
        ("/playground", {"user": "nobody", "q": "x"}, 404, "nobody is remembered"),
        ("/nope", {}, 404, "no such page"),
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(
    examples: Browser, path: str, args: dict[str, str], status: int, said: str
) -> None:
    answer = examples.open(path, **args)
    text = read(answer.text).text
    assert (answer.status_code, said.casefold() in text.casefold()) == (status, True), text


def test_a_fact_of_somebody_else_is_not_there(home: Path, browser: Browser) -> None:
    others = edge_of(home, "lives_in", "ivo")
    assert browser.open("/fact", user="nora", id=others).status_code == 404
    assert browser.open("/fact", user="ivo", id=others).status_code == 200


def test_a_home_that_is_not_there_yet_opens(tmp_path: Path) -> None:
    browser = browser_of(tmp_path / "new")
    assert "no snapshot yet" in browser.open("/").text
    assert browser.open("/people").status_code == 200
    assert browser.open("/facts", user="nora").status_code == 404


def test_a_snapshot_that_is_damaged_is_named(home: Path, browser: Browser) -> None:
    Memory(home, "nora").run()
    latest = (home / "snapshots" / "latest.duckdb").resolve()
    latest.chmod(0o600)
    latest.write_bytes(b"\0" * 5000)
    answer = browser.open("/")
    assert answer.status_code == 400
    assert "damaged" in answer.text
    assert browser.open("/facts", user="nora").status_code == 200


def test_health_tells_what_stands(home: Path, browser: Browser) -> None:
    opened = Pipeline(load_settings(home=home))
    alert = Alert("disk_full", Severity.ERROR, "the disk is full", "91 % are used.", "Make room.")
    tell(opened, Look((alert,), frozenset({"disk_full"})), [], datetime.now(UTC), 24)
    assert "the disk is full 91 % are used." in read(browser.open("/").text).text
    (home / "alerts" / "book.json").write_bytes(b"{")
    assert browser.open("/").status_code == 200


def test_somebody_who_is_unknown_has_no_pages_of_their_own(examples: Browser) -> None:
    page = read(examples.open("/facts", user="nobody").text)
    assert not page.links("/graph")
    assert read(examples.open("/fact", user="ada", id="edge_0").text).links("/graph")


def test_a_fact_is_opened_by_the_beginning_of_its_id(examples: Browser) -> None:
    fact = next(f for f in Memory(examples.home, "mirela").facts() if f["object"] == "Graz")
    assert "Graz" in examples.open("/fact", user="mirela", id=fact["edge_id"][:12]).text
    assert examples.open("/fact", user="mirela", id="edge_").status_code == 404


def test_what_ended_is_found_where_every_status_is_shown(examples: Browser) -> None:
    page = read(examples.open("/facts", user="mirela", q="lives in Vienna").text)
    assert "that ended" in page.text
    every = next(one for one in page.links("/facts?") if "all=1" in one and "q=lives" in one)
    assert "superseded" in examples.client.get(every).text
    assert "No fact fits" in examples.open("/facts", user="mirela", q="Vienna Zebulon").text


@pytest.mark.slow
def test_counts_of_facts_are_the_same_everywhere(examples: Browser) -> None:
    each = {one.user_id: one.n_facts for one in users(Pipeline(load_settings(home=examples.home)).store)}
    assert [row[4] for row in published(examples.home / "snapshots" / "latest.duckdb")] == [*each.values()]
    home = examples.open("/").text
    assert f"<dt>facts that hold</dt><dd>{sum(each.values())}</dd>" in home
    people = read(examples.open("/people").text).text
    for n in each.values():
        assert f"{n} facts" in read(home).text
        assert str(n) in people


def test_time_and_repetition_explain_how_sure_a_fact_is(examples: Browser) -> None:
    fact = next(f for f in Memory(examples.home, "mirela").facts() if f["object"] == "celadon green")
    page = read(examples.open("/fact", user="mirela", id=fact["edge_id"]).text).text
    assert "without being said again" in page
    assert f"→ {fact['confidence']:.2f}" in page


@pytest.mark.slow
def test_older_messages_are_reached(examples: Browser) -> None:
    page = read(examples.open("/audit", user="mirela").text)
    seen, n_pages = set(page.links("/trace?")[:30]), 1
    while older := [one for one in page.links("/audit?") if "before=" in one]:
        page, n_pages = read(examples.client.get(older[0]).text), n_pages + 1
        assert seen.isdisjoint(page.links("/trace?")[:30])
        seen |= {*page.links("/trace?")[:30]}
    assert (len(seen), n_pages) == (210, 7)


def test_what_the_drawing_leaves_out_is_named(examples: Browser) -> None:
    page = read(examples.open("/graph", user="mirela", sure="0.9").text)
    assert "less sure than 0.9" in page.text
    listed = read(examples.open("/facts", user="mirela").text).text
    assert "facts that hold, 1 of them too unsure to be told to an agent" in listed
    around = read(examples.open("/graph", user="mirela", about="Ilinca", sure="0").text)
    assert "Nothing joins them with colleagues" in around.text
    assert "the thicker, the surer" in page.text


def test_a_fact_is_asked_about_once_on_a_page(examples: Browser) -> None:
    for user in ("ada", "mirela", "tobias"):
        asked = read(examples.open("/review", user=user).text).links("/fact?")
        assert len(asked) == len(set(asked))


@pytest.mark.slow
def test_a_word_is_looked_for_whole_and_what_is_told_is_not_denied(examples: Browser) -> None:
    assert "It was never said." in examples.open("/audit", user="ada", q="tea").text  # nor is it in "team"
    beside = read(examples.open("/audit", user="ada", q="best timing").text).text
    assert "Not in these words" in beside
    assert "user has birthday 11-17" in beside


@pytest.mark.slow
def test_what_logs_said_of_memory_is_listed(examples: Browser) -> None:
    page = read(examples.open("/audit", user="mirela").text)
    assert "What was said of memory (0)" not in page.text
    assert "user lives in Porto → Bremen" in page.text
    assert "user speaks Portuguese; " in page.text
    for link in page.links("/trace?")[-3:]:
        assert examples.client.get(link).status_code == 200


def test_a_name_that_nothing_that_held_names_is_said_to_be_so(examples: Browser) -> None:
    assert "No fact that held" in examples.open("/graph", user="ada", about="Zebulon").text
