"""What somebody wants, plans, decided or believes is a phrase of its own, and what a thing is, a kind: no entity, and
one with nothing."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.landing.land import land
from em_pipelines.language.name_keys import name_key
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.ids import edge_id, entity_id
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.schema.vocabulary import PHRASE_OBJECT
from em_pipelines.serving.facts import FactQuery, facts
from em_pipelines.settings import load_settings

DAY = date(2026, 3, 2)


@pytest.fixture
def home(tmp_path: Path) -> Pipeline:
    return Pipeline(load_settings(home=tmp_path / "home"))


def take_in(home: Pipeline, place: Path, *records: dict[str, Any]) -> None:
    log = place / f"log-{len(list(place.iterdir()))}.jsonl"
    log.write_text("".join(json.dumps({"user_id": "ada", **record}) + "\n" for record in records), encoding="utf-8")
    land([log], home.store.log, now=datetime(2026, 4, 1, tzinfo=UTC), settings=home.settings.landing)
    for step in home.steps.values():
        home.store.run_days(step, home.store.stale_days(step))


def message(content: str, turn: int = 0, **changes: Any) -> dict[str, Any]:
    at = f"{DAY}T10:{turn:02d}:00Z"
    return {"session_id": "s1", "turn_number": turn, "role": "user", "content": content, "timestamp": at, **changes}


def test_a_wish_and_a_thing_of_like_words_stay_apart(home: Pipeline, tmp_path: Path) -> None:
    take_in(
        home, tmp_path, message("I like horror films."), message("I want to watch a horror film.", 1, session_id="s2")
    )
    edges = {row["relation"]: row for row in home.store.lake.read(EDGES, DAY).to_pylist()}
    assert (edges["wants"]["value"], edges["wants"]["object_id"]) == ("watch a horror film", None)
    told = {
        (fact["relation"], fact["object"]) for fact in facts(home.store, FactQuery("ada", DAY), home.settings.decay)
    }
    assert told == {("likes", "horror films"), ("wants", "watch a horror film")}


def test_the_kind_of_a_thing_is_none_of_its_things(home: Pipeline, tmp_path: Path) -> None:
    take_in(
        home, tmp_path, message("Oscar is a spaniel."), message("My spaniel Oscar likes parsley.", 1),
        message("Elsa is a spaniel.", 2),
    )  # fmt: skip
    known = facts(home.store, FactQuery("ada", DAY), home.settings.decay)
    kinds = {(fact["subject"], fact["object"]) for fact in known if fact["relation"] == "is_a"}
    assert kinds == {("Oscar", "spaniel"), ("Elsa", "spaniel")}


def test_facts_that_an_agent_adds_are_stored_alike(home: Pipeline, tmp_path: Path) -> None:
    given = [{"subject": "user", "relation": relation, "object": "build a sauna"} for relation in sorted(PHRASE_OBJECT)]
    take_in(
        home, tmp_path,
        {"kind": "feedback", "type": "add_facts", "session_id": "s1", "timestamp": f"{DAY}T11:00:00Z", "facts": given},
    )  # fmt: skip
    edges = home.store.lake.read(EDGES, DAY).to_pylist()
    assert {(row["relation"], row["value"], row["object_id"]) for row in edges} == {
        (relation, "build a sauna", None) for relation in PHRASE_OBJECT
    }


def test_feedback_by_the_id_of_a_former_build_is_still_applied(home: Pipeline, tmp_path: Path) -> None:
    take_in(home, tmp_path, message("I want to build a sauna."))
    (edge,) = home.store.lake.read(EDGES, DAY).to_pylist()
    named = entity_id("ada", name_key("build a sauna"))
    former = edge_id("ada", edge["subject_id"], "wants", named, None, 1, 1)
    assert former != edge["edge_id"]
    retract = {"kind": "feedback", "type": "retract", "session_id": "s1", "edge_id": former}
    take_in(home, tmp_path, {**retract, "timestamp": f"{DAY}T12:00:00Z"})
    (edge,) = home.store.lake.read(EDGES, DAY).to_pylist()
    assert edge["status"] == "retracted"


def test_feedback_by_the_id_of_a_role_without_its_owner_is_still_applied(home: Pipeline, tmp_path: Path) -> None:
    among = {"participants": ["Ada", "Katya"], "speaker": "Katya", "subject": "Katya"}
    ada = {"participants": ["Ada", "Katya"], "speaker": "Ada", "subject": "user"}
    take_in(home, tmp_path, message("Hello Katya!", **ada), message("My dad lives in Ghent.", 1, **among))
    edges = home.store.lake.read(EDGES, DAY).to_pylist()
    (edge,) = [edge for edge in edges if edge["relation"] == "lives_in"]
    former = edge_id("ada", entity_id("ada", "dad"), "lives_in", edge["object_id"], None, 1, 1)
    assert former != edge["edge_id"]
    retract = {"kind": "feedback", "type": "retract", "session_id": "s1", "edge_id": former}
    take_in(home, tmp_path, {**retract, "timestamp": f"{DAY}T12:00:00Z"})
    edges = home.store.lake.read(EDGES, DAY).to_pylist()
    assert {edge["status"] for edge in edges if edge["relation"] == "lives_in"} == {"retracted"}


def test_a_wish_is_found_by_its_words(home: Pipeline, tmp_path: Path) -> None:
    take_in(home, tmp_path, message("I want to build a sauna."), message("I like rye bread.", 1))
    query = FactQuery("ada", DAY, entity="build a sauna")
    assert [fact["object"] for fact in facts(home.store, query, home.settings.decay)] == ["build a sauna"]
