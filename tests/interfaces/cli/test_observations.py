"""Observations from the log to every reader: told, searched, superseded, corrected, taken back, forgotten."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import orjson
import pytest

from em_pipelines.interfaces.memory import Memory
from em_pipelines.schema.vocabulary import OBSERVATIONS

TODAY = datetime.now(UTC).date()
INTERVIEW = TODAY + timedelta(days=40)
SAID = (
    ("s1", 9, "We moved to Graz in January, and my sister Dana lives next door. lol ok"),
    ("s1", 9, f"I have a job interview with Orchid Media on {INTERVIEW:%d %B %Y}."),
    ("s2", 8, "Our website has 400 users now."),
    ("s3", 2, "Our website has 650 users now."),
)
MOVE = "We moved to Graz in January, and my sister Dana lives next door"
MEETING = SAID[1][2].removesuffix(".")


@pytest.fixture(scope="module")
def made(em, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("observed")
    lines = [
        {
            "user_id": "ines",
            "session_id": session,
            "turn_number": turn,
            "role": "user",
            "content": text,
            "timestamp": f"{TODAY - timedelta(days=ago)}T10:00:00Z",
        }
        for turn, (session, ago, text) in enumerate(SAID)
    ]
    path = folder / "said.jsonl"
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    done = em("run", path, "--home", folder / "home")
    assert done.returncode == 0, done.stderr
    return folder / "home"


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "home", symlinks=True))


def observed(em, home: Path, *more: str) -> dict[str, dict[str, object]]:
    done = em("facts", "--user", "ines", "--observations", "--json", "--home", home, *more)
    return {one["text"]: one for one in orjson.loads(done.stdout)}


def test_sentences_that_are_worth_keeping_are_told_with_whose_they_are_and_of_what_kind(em, made) -> None:
    found = observed(em, made)
    move = found[MOVE]
    assert (move["owner"], move["subject"], move["kind"] in OBSERVATIONS) == ("user", "user", True)
    assert "lol ok" not in found
    interview = found[MEETING]
    assert (interview["kind"], interview["valid_from"]) == ("plan", INTERVIEW.isoformat())
    table = em("facts", "--user", "ines", "--observations", "--home", made).stdout
    assert "Orchid Media" in table
    assert set(observed(em, made, "--entity", "Dana")) == {MOVE}


def test_facts_are_told_without_them_unless_they_are_asked_for(em, made) -> None:
    facts = orjson.loads(em("facts", "--user", "ines", "--json", "--home", made).stdout)
    assert facts
    assert not {fact["relation"] for fact in facts} & {*OBSERVATIONS}
    memory = Memory(made, "ines")
    assert {one["text"] for one in memory.facts(is_observed=True)} == set(observed(em, made))
    done = em("facts", "--user", "ines", "--observations", "--inferred", "--home", made)
    assert (done.returncode, "leave out --inferred" in done.stderr) == (2, True)


def test_a_newer_value_takes_the_place_of_an_older_one(em, made) -> None:
    found = observed(em, made, "--all")
    assert found["Our website has 400 users now"]["status"] == "superseded"
    assert found["Our website has 650 users now"]["status"] == "active"


def test_search_finds_them(em, made) -> None:
    done = em(
        "search",
        "When is the interview?",
        "--user",
        "ines",
        "--kind",
        "observation",
        "-k",
        "1",
        "--json",
        "--home",
        made,
    )
    (hit,) = orjson.loads(done.stdout)
    assert (hit["kind"], hit["text"]) == ("observation", MEETING)


def test_the_view_has_their_names_and_amounts(made) -> None:
    with duckdb.connect(str(made / "snapshots" / "latest.duckdb"), read_only=True) as snapshot:
        rows = snapshot.execute("SELECT text, entities, amounts, status FROM observations ORDER BY text").fetchall()
    of = {text: more for text, *more in rows}
    assert {"Dana", "Graz"} <= set(of[MOVE][0])
    assert of["Our website has 650 users now"][1:] == [["650 users"], "active"]


def test_one_that_is_corrected_or_taken_back_is_told_no_more(em, home) -> None:
    interview = observed(em, home)[MEETING]
    em("correct", str(interview["edge_id"]), "--user", "ines", "--to", "The interview was cancelled", "--home", home)
    found = observed(em, home)
    assert MEETING not in found
    assert em("run", "--home", home).returncode == 0
    quoted = em(
        "search", "interview with Orchid Media", "--user", "ines", "--kind", "message", "--json", "--home", home
    )
    assert not [hit for hit in orjson.loads(quoted.stdout) if MEETING in hit["text"]]
    website = found["Our website has 650 users now"]
    assert em("retract", str(website["edge_id"]), "--user", "ines", "--yes", "--home", home).returncode == 0
    assert "Our website has 650 users now" not in observed(em, home)


def test_one_goes_with_a_fact_of_its_sentence_that_is_taken_back(em, home) -> None:
    said = ("--relation", "lives_in", "--object", "Graz")
    assert em("retract", "--user", "ines", *said, "--yes", "--home", home).returncode == 0
    assert not [text for text in observed(em, home) if "Graz" in text]


def test_one_that_names_somebody_who_is_forgotten_is_gone(em, home) -> None:
    assert em("forget", "--user", "ines", "--entity", "Orchid Media", "--yes", "--home", home).returncode == 0
    assert not [text for text in observed(em, home, "--all") if "Orchid" in text]
    with duckdb.connect(str(home / "snapshots" / "latest.duckdb"), read_only=True) as snapshot:
        (n_left,) = snapshot.execute("SELECT count(*) FROM observations WHERE text LIKE '%Orchid%'").fetchone() or (1,)
    assert n_left == 0


def test_the_page_of_facts_shows_them_where_they_are_asked_for(made) -> None:
    from em_pipelines.interfaces.ui.rendering import said

    (meeting,) = [one for one in Memory(made, "ines").facts(is_observed=True) if one["text"] == MEETING]
    assert said(meeting) == f"user, plan: {MEETING}"
