"""What a person said of themselves long ago is old, and not worthless: it is served with its day and a label."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from em_pipelines.interfaces.cli.app import app
from em_pipelines.interfaces.memory import Memory
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.context.block import ContextQuery, context_block
from em_pipelines.retrieval.context.bootstrap import bootstrap
from em_pipelines.serving.facts import FactQuery, facts
from em_pipelines.serving.faded import faded
from em_pipelines.settings import load_settings
from tests.lifecycle.consolidation.landed import NOW

SAID = (
    "My name is Maren.", "I live in Roros.", "My sister Solveig lives in Narvik.", "I work as a baker.",
    "I love rye bread.", "I'm planning to buy a kayak.", "Maybe I live in Oslo some day.",
)  # fmt: skip
THEN, TODAY = "2024-01-15", date(2026, 11, 27)
LASTING = {("user", "lives_in", "Roros"), ("Solveig", "lives_in", "Narvik"), ("user", "works_as", "baker")}


def learn(home: Pipeline, texts: tuple[str, ...], day: str, session: str) -> Pipeline:
    lines = [
        {"user_id": "maren", "session_id": session, "turn_number": n, "role": "user", "content": text,
         "timestamp": f"{day}T10:{n:02}:00Z"}
        for n, text in enumerate(texts)
    ]  # fmt: skip
    file = home.path.parent / f"{session}.jsonl"
    file.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    land([file], home.store.log, now=NOW.replace(month=12), settings=home.settings.landing)
    for step in home.steps.values():
        home.store.run_days(step, home.store.stale_days(step))
    return home


@pytest.fixture
def home(tmp_path: Path) -> Pipeline:
    """A home that has heard nothing since January 2024."""
    return learn(Pipeline(load_settings(home=tmp_path / "home")), SAID, THEN, "chat")


def triples(found: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    return {(fact["subject"], fact["relation"], fact["object"]) for fact in found}


def on(home: Pipeline, day: date = TODAY, **how: bool) -> list[dict[str, Any]]:
    return facts(home.store, FactQuery("maren", day, **how), home.settings.decay)


def test_what_a_person_said_of_themselves_and_their_people_is_old_and_not_gone(home: Pipeline) -> None:
    found = on(home, has_old=True)
    assert triples(found) >= LASTING
    old = {fact["object"]: fact for fact in found if fact["is_old"]}
    assert old["Roros"]["confidence"] == 0.0, "confidence goes on fading"
    assert old["Roros"]["last_reinforced"].startswith(THEN)
    assert not next(fact for fact in found if fact["object"] == "Maren")["is_old"]
    assert "kayak" not in {fact["object"] for fact in found}, "a wish ends"
    assert [fact["confidence"] for fact in found] == sorted((fact["confidence"] for fact in found), reverse=True)


def test_who_does_not_ask_for_what_is_old_gets_what_holds(home: Pipeline) -> None:
    found = on(home)
    assert not triples(found) & LASTING
    assert all("is_old" not in fact for fact in found)
    assert not triples(on(home, is_all=True)) & LASTING, "what was archived for half a year is purged"


def test_a_new_conversation_does_not_drop_what_is_old(home: Pipeline) -> None:
    learn(home, ("I moved to Bergen last week.",), "2026-11-20", "new")
    found = triples(on(home, has_old=True))
    assert found >= LASTING - {("user", "lives_in", "Roros")}
    assert ("user", "lives_in", "Bergen") in found
    assert ("user", "lives_in", "Roros") not in found, "what was replaced is not old but over"


def test_an_old_fact_that_is_said_again_is_current(home: Pipeline) -> None:
    learn(home, ("I work as a baker.",), "2026-11-20", "new")
    (fact,) = [fact for fact in on(home, has_old=True) if fact["object"] == "baker"]
    assert (fact["is_old"], fact["status"], fact["reinforcement_count"]) == (False, "active", 1)


def test_the_block_tells_old_facts_with_day_and_label(home: Pipeline) -> None:
    text = context_block(home, ContextQuery("maren", "Where do I live?", TODAY)).text
    (line,) = [one for one in text.splitlines() if "lives in Roros" in one and one.startswith("<fact")]
    assert 'said="2024-01-15" old="may be out of date"' in line
    assert "has name" not in text
    named = context_block(home, ContextQuery("maren", "What is my name?", TODAY)).text
    assert "old=" not in next(one for one in named.splitlines() if "has name Maren" in one)
    early = context_block(home, ContextQuery("maren", "Where do I live?", date(2024, 3, 1))).text
    assert "old=" not in early
    assert "Roros" not in bootstrap(home, "maren", TODAY), "who is told nothing of is asked nothing of it"


def test_what_faded_is_counted(home: Pipeline) -> None:
    (found,) = faded(home.store, TODAY, home.settings.decay)
    old = [fact for fact in on(home, has_old=True) if fact["is_old"]]
    assert (found.user_id, found.n_old) == ("maren", len(old))
    assert found.n_gone >= 1
    assert faded(home.store, date(2024, 1, 20), home.settings.decay)[0].n_old == 0
    memory = Memory(home, "maren")
    assert memory.faded(TODAY) == found
    assert triples(memory.facts(as_of=TODAY, has_old=True)) >= LASTING
    assert Memory(home, "nobody").faded(TODAY).n_old == 0


def test_the_command_shows_what_is_old_and_says_how_much_faded(home: Pipeline) -> None:
    asked = ["facts", "--user", "maren", "--as-of", str(TODAY), "--home", str(home.path)]
    shown = CliRunner().invoke(app, asked, env={"COLUMNS": "250"})
    assert "old, of" in shown.stdout
    assert "Roros" in shown.stdout
    assert "are old" in shown.stderr
    assert "--all" in shown.stderr
    plain = CliRunner().invoke(app, [*asked, "--json"])
    assert not triples(json.loads(plain.stdout)) & LASTING
    assert all("is_old" not in fact for fact in json.loads(plain.stdout))
    assert "are old" in plain.stderr
    assert triples(json.loads(CliRunner().invoke(app, [*asked, "--json", "--old"]).stdout)) >= LASTING
    everything = CliRunner().invoke(app, [*asked, "--all"], env={"COLUMNS": "250"})
    assert "kayak" in everything.stdout


def test_a_doubtful_or_passed_on_word_is_not_kept_for_ever(tmp_path: Path) -> None:
    told = ("Perhaps I might possibly work at Fjellhall.", "Tor told me that Signe lives in Alta.")
    home = learn(Pipeline(load_settings(home=tmp_path / "home")), told, THEN, "chat")
    assert [fact for fact in on(home, has_old=True) if fact["is_old"]] == []
