"""Experiences among what is found: whose they are, what takes them away, and that they push nothing out."""

import json
import shutil
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from em_pipelines.errors import UsageError
from em_pipelines.governance.erasure.forget import forget
from em_pipelines.interfaces.cli.app import app
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.lifecycle.consolidation.night import roll_back
from em_pipelines.memory import Memory
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.documents import EXPERIENCE, FACT, MESSAGE, Hit
from em_pipelines.retrieval.packs import build, folder_of, is_current
from em_pipelines.retrieval.search import BOTH, EVERY_KIND, Search
from em_pipelines.retrieval.user_search import ask
from em_pipelines.schema.tables.derived import EXPERIENCES
from em_pipelines.serving.users import is_known, users
from em_pipelines.settings import load_settings
from tests.retrieval.recurring import LANDED, START, call, failing, learn, said, sleep

TODAY = date(2026, 5, 1)
ALONE = frozenset({EXPERIENCE})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ada, whose kiln loses its lease and who likes jasmine tea; Ben, whose kiln does, too, and who says nothing."""
    folder = tmp_path_factory.mktemp("recurring")
    home = Pipeline(load_settings(home=folder / "home"))
    talk = [said(day, "I love jasmine tea.", turn=day) for day in (0, 4, 9)]
    talk += [said(2, "My brother Ossian runs the kiln in Turku."), said(3, "The kiln failed its inspection again.")]
    lines = [*failing([0, 3, 7, 11]), *failing([1, 4, 8], user="ben"), *talk]
    learn(home, folder, lines)
    sleep(home)
    return home.path


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Pipeline:
    shutil.copytree(made, tmp_path / "home")
    return Pipeline(load_settings(home=tmp_path / "home"))


def found(home: Pipeline, text: str, user: str = "ada", kinds: frozenset[str] = EVERY_KIND, **more) -> list[Hit]:
    return ask(home, user, replace(Search(text, 5, TODAY, kinds), **more))


def test_experiences_come_behind_what_was_said_and_push_nothing_out(home: Pipeline) -> None:
    hits = found(home, "What about the kiln lease?")
    recurring = [hit for hit in hits if hit.kind == EXPERIENCE]
    assert len(recurring) == 1
    assert "After renew_lease it worked again" in recurring[0].text
    assert recurring[0].experience_id.startswith("exp_")
    assert hits[:-1] == found(home, "What about the kiln lease?", kinds=BOTH)
    assert {hit.kind for hit in hits[:-1]} == {MESSAGE, FACT}


def test_the_pack_of_messages_is_the_same_with_experiences_and_without(home: Pipeline) -> None:
    folder = folder_of(home, "ada")
    files = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    before = {name: path.read_bytes() for name, path in files.items()}
    for day in home.store.lake.days(EXPERIENCES):
        home.store.lake.delete(EXPERIENCES, day)
    assert sorted(build(home)) == ["ada"]
    left = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    without = {name: data for name, data in before.items() if name.parts[0] not in ("experiences", "pack.json")}
    assert {name: data for name, data in left.items() if name.name != "pack.json"} == without
    assert not folder_of(home, "ben").exists()


def test_what_the_question_is_not_about_is_found_only_by_those_who_look_for_experiences(home: Pipeline) -> None:
    assert not [hit for hit in found(home, "Who works in conversations these days?") if hit.kind == EXPERIENCE]
    assert found(home, "How often did it work again?", kinds=ALONE)


def test_whoever_only_called_skills_is_known_and_found(home: Pipeline) -> None:
    assert is_known(home.store, "ben")
    assert [user.user_id for user in users(home.store)] == ["ada", "ben"]
    assert {hit.kind for hit in found(home, "kiln lease", "ben")} == {EXPERIENCE}
    assert Memory(home, "ben").retrieve_memories("kiln lease", kinds=["experience"])[0].edge_id is None
    assert found(home, "kiln lease", "cora") == []


def test_a_night_puts_the_packs_of_those_out_of_date_of_whom_something_changed(home: Pipeline, tmp_path: Path) -> None:
    assert is_current(home)
    learn(home, tmp_path, failing([13], user="ben"))
    sleep(home)
    before = {user: (folder_of(home, user) / "pack.json").stat().st_mtime_ns for user in ("ada", "ben")}
    learn(home, tmp_path, failing([14], user="ben"))
    night = sleep(home)
    after = {user: (folder_of(home, user) / "pack.json").stat().st_mtime_ns for user in ("ada", "ben")}
    assert (after["ada"] == before["ada"], after["ben"] == before["ben"]) == (True, False)
    roll_back(home, night, LANDED)
    assert not is_current(home)
    assert build(home) == ["ben"]
    assert is_current(home)


def test_what_was_rolled_back_is_found_no_more_even_before_the_packs_are_made_again(home: Pipeline) -> None:
    roll_back(home, home.nights.history().standing[0].target, LANDED)
    assert found(home, "kiln lease", kinds=ALONE) == []


def test_cold_ones_are_found_by_who_looks_for_experiences_alone(home: Pipeline, tmp_path: Path) -> None:
    learn(home, tmp_path, [call(150, "other"), call(151, "other"), call(152, "other")])
    sleep(home)
    assert not [hit for hit in found(home, "jasmine tea") if hit.kind == EXPERIENCE]
    assert found(home, "jasmine tea", kinds=ALONE)


def test_a_taste_that_was_taken_back_since_the_night_is_no_experience(home: Pipeline) -> None:
    def tea() -> list[str]:
        return [hit.text for hit in found(home, "What tea?", kinds=ALONE) if "jasmine" in hit.text]

    assert tea()
    memory = Memory(home, "ada")
    fact = next(fact for fact in memory.facts() if "jasmine" in fact["object"])
    memory.tell([{"type": "retract", "edge_id": fact["edge_id"]}])
    assert tea() == []


@pytest.mark.slow
def test_what_is_about_to_be_forgotten_is_no_experience_and_afterwards_there_is_none(home: Pipeline) -> None:
    forget(home, Scope(ScopeKind.SESSION, "ada", "ada-7"), actor="user", now=LANDED + timedelta(days=1))
    assert found(home, "kiln lease", kinds=ALONE), "others support it"
    forget(home, Scope(ScopeKind.USER, "ada"), actor="user", now=LANDED + timedelta(days=2))
    assert found(home, "kiln lease", kinds=ALONE) == []
    assert not folder_of(home, "ada").exists()
    assert found(home, "kiln lease", "ben", kinds=ALONE)


def test_of_a_day_before_the_night_nothing_is_told(home: Pipeline) -> None:
    assert found(home, "kiln lease", kinds=ALONE, until=START.date()) == []


def test_narrowed_by_conversation_confidence_and_time(home: Pipeline) -> None:
    assert found(home, "kiln lease", kinds=ALONE, sessions=frozenset({"ada-3"}))
    assert not found(home, "kiln lease", kinds=ALONE, sessions=frozenset({"ada-talk-3"}))
    assert not found(home, "kiln lease", kinds=ALONE, min_confidence=0.99)
    assert not found(home, "kiln lease", kinds=ALONE, since=TODAY)
    assert not found(home, "kiln lease", kinds=ALONE, relations=frozenset({"likes"}))
    assert found(home, "jasmine tea", kinds=ALONE, relations=frozenset({"likes", "loves"}))


def test_in_a_domain_nothing_is_told_that_happened_in_another(home: Pipeline, tmp_path: Path) -> None:
    learn(home, tmp_path, [said(20, "The lease costs more now.", session_id="ada-3", domain="pottery")])
    build(home)
    assert found(home, "kiln lease", kinds=ALONE, domain="pottery")
    assert not found(home, "kiln lease", kinds=ALONE, domain="garden")


def test_hits_of_the_command(home: Pipeline) -> None:
    asked = ["search", "kiln lease", "--user", "ben", "--home", str(home.path), "--kind", "experience"]
    shown = CliRunner().invoke(app, [*asked, "--json"])
    (hit,) = json.loads(shown.stdout)
    assert hit["kind"] == EXPERIENCE
    assert (hit["session_id"], hit["turn_number"], hit["edge_id"]) == (None, None, None)
    assert hit["experience_id"].startswith("exp_")
    assert hit["experience_id"] in CliRunner().invoke(app, asked, env={"COLUMNS": "200"}).stdout


def test_the_graph_leads_from_turns_to_what_consolidates_them(home: Pipeline, tmp_path: Path) -> None:
    decided = ["We glaze in the morning.", "Porcelain is fired twice.", "The shelf by the door is for stoneware."]
    noted = [
        said(20 + 3 * n, text, memory_type="decision", tags=["workshop"], session_id=f"w{n}")
        for n, text in enumerate(decided)
    ]
    learn(home, tmp_path, noted)
    sleep(home)
    asked = Search("What did we say about porcelain?", 1, TODAY, EVERY_KIND)
    beyond = [hit for hit in ask(home, "ada", asked, 1) if hit.kind == EXPERIENCE]
    assert [hit.path for hit in beyond] == [("w1 0", beyond[0].experience_id)]
    assert beyond[0].text.startswith("3 decisions on workshop")
    assert 0 < beyond[0].score < ask(home, "ada", asked)[0].score
    assert not [hit for hit in ask(home, "ada", replace(asked, kinds=BOTH), 2) if hit.kind == EXPERIENCE]
    assert len([hit for hit in ask(home, "ada", asked, 2) if hit.path]) <= 8


def test_over_a_thing_the_graph_leads_to_what_consolidates_other_turns_about_it(home: Pipeline, tmp_path: Path) -> None:
    lines = [said(20, "My sister Freja lives in Graz.", session_id="f0")]
    lines += [
        said(21 + 3 * n, text, memory_type="event", tags=["visits"], session_id=f"v{n}")
        for n, text in enumerate(["Freja works at Weserlink.", "Ossian lives in Turku.", "Dana called from Oslo."])
    ]
    learn(home, tmp_path, lines)
    sleep(home)
    asked = Search("Where in Graz?", 1, TODAY, EVERY_KIND)
    assert not [hit for hit in ask(home, "ada", asked, 1) if hit.kind == EXPERIENCE]
    (hit,) = [hit for hit in ask(home, "ada", asked, 2) if hit.kind == EXPERIENCE]
    assert "Freja" in hit.path
    assert hit.path[-2:] == ("v0 0", hit.experience_id)


def test_from_python_and_as_a_frame(home: Pipeline) -> None:
    memory = Memory(home, "ada")
    assert [hit.kind for hit in memory.retrieve_memories("kiln lease")][-1] == EXPERIENCE
    frame = memory.search("kiln lease", kinds=[EXPERIENCE], as_frame=True)
    assert frame["experience_id"].str.startswith("exp_").all()
    assert memory.context("kiln lease").experience_ids
    assert "Recent failures" in memory.bootstrap(as_of=date(2026, 4, 19))


def test_a_session_starts_as_of_a_day_in_each_form_that_a_day_may_have(home: Pipeline) -> None:
    memory = Memory(home, "ada")
    expected = memory.bootstrap(as_of=date(2026, 4, 19))
    assert memory.bootstrap(as_of="2026-04-19") == expected
    assert memory.bootstrap(as_of=datetime(2026, 4, 19, 12, tzinfo=UTC)) == expected
    with pytest.raises(UsageError, match="is no day; give YYYY-MM-DD"):
        memory.bootstrap(as_of="19 April")
