"""`em why`, `em why-not` and `em trace`: what people see, what programs get, what is said when nothing is found."""

from datetime import UTC, datetime

import orjson
import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.ids import correlation_id
from em_pipelines.settings import load_settings
from em_pipelines.storage.ledger import Ledger
from em_pipelines.storage.ledger_entries import Act


@pytest.fixture(scope="module")
def home(em, tmp_path_factory):
    """A home in which ada moved."""
    folder = tmp_path_factory.mktemp("explaining")
    said = ["I live in Vienna.", "I have moved to Graz.", "Thanks."]
    lines = [
        orjson.dumps(
            {
                "user_id": "ada", "session_id": f"s{n}", "turn_number": 0, "role": "user", "content": text,
                "timestamp": f"2026-03-0{1 + n}T10:00:00Z",
            }
        )
        for n, text in enumerate(said)
    ]  # fmt: skip
    right = {"kind": "feedback", "type": "confirm", "user_id": "ada", "relation": "lives_in", "object": "Graz"}
    where = {"session_id": "s2", "turn_number": 0, "timestamp": "2026-03-03T10:01:00Z"}
    lines.append(orjson.dumps(right | where))
    (folder / "log.jsonl").write_bytes(b"\n".join(lines))
    path = folder / "home"
    em("land", folder / "log.jsonl", "--home", path)
    opened = Pipeline(load_settings(home=path))
    for step in opened.steps.values():
        opened.store.run_days(step, opened.store.days(step))
    return path


def edge_of(em, home, target: str) -> str:
    found = orjson.loads(em("facts", "--user", "ada", "--all", "--home", home, "--json").stdout)
    return next(fact["edge_id"] for fact in found if fact["object"] == target)


def test_why_shows_sentences_changes_and_what_time_did(em, home) -> None:
    shown = em("why", edge_of(em, home, "Vienna"), "--home", home)
    assert shown.returncode == 0
    for part in (
        "user lives_in Vienna",
        "I live in Vienna.",
        "INSERT",
        "Revised by",
        "user lives_in Graz",
        "superseded",
    ):
        assert part in shown.stdout
    document = orjson.loads(em("why", edge_of(em, home, "Graz"), "--home", home, "--json").stdout)
    assert document["kind"] == "fact"
    assert document["fact"]["object"] == "Graz"


def test_why_tells_a_confirmation_for_what_it_is(em, home) -> None:
    shown = em("why", edge_of(em, home, "Graz"), "--home", home).stdout
    assert "\nDecided\n  - confirmed on 2026-03-03 10:01 by ada, in s2\n" in shown
    assert "Thanks." not in shown, "nothing was said of it there"
    assert "user: user" not in shown, "what has one name needs no list of names"


@pytest.mark.slow
def test_why_takes_an_entity(em, home) -> None:
    document = orjson.loads(em("why", edge_of(em, home, "Graz"), "--home", home, "--json").stdout)
    shown = em("why", document["entities"][0]["entity_id"], "--home", home)
    assert shown.returncode == 0
    assert "4 facts" in shown.stdout


def test_why_of_an_id_that_is_not_known_ends_with_a_sentence(em, home) -> None:
    found = em("why", "edge_nothing", "--home", home)
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == (
        f"em: explaining edge_nothing: no table knows that id; `em facts --user NAME --all --home {home}` lists "
        "the ids there are\n"
    )


def test_why_of_what_was_erased_names_the_certificate_and_no_content(em, home) -> None:
    opened = Pipeline(load_settings(home=home))
    ledger = Ledger(opened.record, opened.salt)
    at = datetime(2026, 4, 2, tzinfo=UTC)
    ledger.append(Act("erase", user_id="ada", target="edge_gone", at=at, certificate_id="cert_7"))
    assert "it was erased on 2026-04-02, certificate cert_7" in em("why", "edge_gone", "--home", home).stderr
    assert "may be among the 1 erasure" in em("why", "edge_nothing_else", "--home", home).stderr


@pytest.mark.slow
def test_why_not_says_what_became_of_it(em, home) -> None:
    shown = em("why-not", "vienna", "--user", "ada", "--home", home)
    assert shown.returncode == 0
    assert "superseded: user lives_in Vienna" in shown.stdout
    assert em("why-not", "Oslo", "--user", "ada", "--home", home).stdout == "ada never said it.\n"
    document = orjson.loads(em("why-not", "thanks", "--user", "ada", "--home", home, "--json").stdout)
    assert document["messages"][0]["fates"][0]["what"] == "skipped"


def test_why_not_without_words_is_wrong_use(em, home) -> None:
    found = em("why-not", "  ", "--user", "ada", "--home", home)
    assert (found.returncode, found.stdout) == (2, "")
    assert "no words given" in found.stderr


def test_trace_follows_a_message(em, home) -> None:
    wanted = correlation_id("ada", "s0", 0)
    shown = em("trace", wanted, "--home", home)
    assert shown.returncode == 0
    assert [
        name for name in ("messages", "claims", "graph_ops", "audit_trail") if f"\n{name}\n" not in shown.stdout
    ] == []
    assert "claims" in orjson.loads(em("trace", wanted, "--home", home, "--json").stdout)
    missing = em("trace", "cor_nothing", "--home", home)
    assert (missing.returncode, missing.stdout) == (1, "")
    assert "no table knows that correlation id" in missing.stderr
