"""Why a fact is what it is: its sentences, how they were read, what was done, and what time did since."""

from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.governance.audit.rows import World, sentence_at
from em_pipelines.governance.audit.why import why
from em_pipelines.graph.confidence_decay import Curve, DecaySettings
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.derived import INFERRED_EDGES
from em_pipelines.schema.tables.graph import EDGES, ENTITY_OPS, GRAPH_OPS
from em_pipelines.settings import load_settings

MARCH = date(2026, 3, 31)
DECAY = DecaySettings()
SAID = (
    {"content": "Good morning! I live in Vienna. It rains."},
    {"content": "I live in Vienna, as my friend says."},
    {"content": "I have moved to Graz."},
    {"content": "I think I like tea."},
    {"content": "I live in Oslo.", "user_id": "ben"},
)


@pytest.fixture(scope="module")
def home(home_with, tmp_path_factory) -> Pipeline:
    return home_with(tmp_path_factory.mktemp("why") / "home", *SAID)


def edge_of(home: Pipeline, relation: str, target: str, user: str = "ada") -> str:
    world = World(home.store.lake, user)
    (found,) = [
        key for key, row in world.edges.items() if (row["relation"], world.said(row)["object"]) == (relation, target)
    ]
    return found


def ask(home: Pipeline, wanted: str, as_of: date = MARCH, decay: DecaySettings = DECAY) -> dict[str, Any]:
    found = why(home.store.lake, wanted, as_of, decay)
    assert found is not None
    return found


def test_a_fact_quotes_the_very_sentences_and_how_they_were_read(home: Pipeline) -> None:
    found = ask(home, edge_of(home, "lives_in", "Vienna"))
    assert (found["kind"], found["user_id"]) == ("fact", "ada")
    assert [source["sentence"] for source in found["sources"]] == [
        "I live in Vienna.", "I live in Vienna, as my friend says.",
    ]  # fmt: skip
    claim = found["sources"][0]["claims"][0]
    assert claim["pattern_id"] == "place.live"
    assert claim["confidence"] == claim["confidence_from"]["hedge"] == 0.9


def test_a_confirmation_is_no_source_whatever_was_said_in_its_turn(home_with, tmp_path) -> None:
    home = home_with(
        tmp_path / "home",
        {"content": "I live in Vienna."},
        {"content": "Good evening!"},
        {"type": "confirm", "relation": "lives_in", "object": "Vienna", "session_id": "s1", "turn_number": 0},
    )
    said, given = ask(home, edge_of(home, "lives_in", "Vienna"))["sources"]
    assert (said["by"], said["sentence"], said["feedback"]) == ("message", "I live in Vienna.", [])
    assert (given["by"], given["sentence"], given["claims"]) == ("feedback", None, [])
    (told,) = given["feedback"]
    assert (told["type"], given["timestamp"]) == ("confirm", told["timestamp"])


def test_a_correction_in_the_turn_that_says_it_is_told_apart_from_the_sentence(examples_home: Path) -> None:
    home = Pipeline(load_settings(home=examples_home))
    found = ask(home, edge_of(home, "lives_in", "Graz", "mirela"), date(2026, 11, 1))
    said = [source["sentence"] for source in found["sources"] if source["by"] == "message"]
    assert said == [
        "Actually, my sister Dana lives in Graz, not in Vienna.",
        "My sister Dana lives in Graz, so it's a whole day by train for them.",
    ]
    given = [source for source in found["sources"] if source["by"] == "feedback"]
    assert given
    assert all(source["sentence"] is None and not source["claims"] and source["feedback"] for source in given)


def test_a_hedge_shows_in_what_made_the_confidence(home: Pipeline) -> None:
    (source,) = ask(home, edge_of(home, "likes", "tea"))["sources"]
    (claim,) = source["claims"]
    assert claim["hedge_level"] != "none"
    assert claim["confidence"] == claim["confidence_from"]["hedge"] < 0.9


def test_operations_stand_in_order_with_what_was_before_and_after(home: Pipeline) -> None:
    operations = ask(home, edge_of(home, "lives_in", "Vienna"))["operations"]
    assert [op["operation"] for op in operations] == ["INSERT", "REINFORCE", "REVISE"]
    assert operations[0]["before"] is None
    assert all(one["after"] == other["before"] for one, other in pairwise(operations))


def test_revisions_are_followed_both_ways(home: Pipeline) -> None:
    old, new = edge_of(home, "lives_in", "Vienna"), edge_of(home, "lives_in", "Graz")
    assert [fact["edge_id"] for fact in ask(home, old)["revised_by"]] == [new]
    assert [fact["edge_id"] for fact in ask(home, new)["revises"]] == [old]
    assert ask(home, new)["revised_by"] == []


@pytest.mark.parametrize("decay", [DECAY, DecaySettings(curve=Curve.EXPONENTIAL)], ids=["linear", "exponential"])
def test_what_time_did_is_told_day_by_day(home: Pipeline, decay: DecaySettings) -> None:
    as_of = date(2027, 9, 1)
    today = ask(home, edge_of(home, "lives_in", "Graz"), as_of, decay)["today"]
    assert today["unreferenced_days"] == (as_of - date(2026, 3, 3)).days
    bounds = [(fade["confidence_before"], fade["confidence_after"]) for fade in today["faded"]]
    assert bounds[0][0] >= 0.85 > bounds[0][1]
    assert today["effective_confidence"] <= bounds[-1][1]
    assert [fade["on"] for fade in today["faded"]] == sorted(fade["on"] for fade in today["faded"])


def test_facts_that_speak_against_each_other_are_named(own_home: Pipeline) -> None:
    lake, day = own_home.store.lake, own_home.store.lake.days(EDGES)[-1]
    old, new = edge_of(own_home, "likes", "tea"), edge_of(own_home, "lives_in", "Graz")
    rows = [
        row | {"status": "contradicted", "contradicts": old if row["edge_id"] == new else None}
        if row["edge_id"] in {old, new}
        else row
        for row in lake.read(EDGES, day).to_pylist()
    ]
    lake.write(EDGES, day, EDGES.from_rows(rows))
    assert [fact["edge_id"] for fact in ask(own_home, old)["contradictions"]] == [new]
    assert [fact["edge_id"] for fact in ask(own_home, new)["contradictions"]] == [old]


def test_an_entity_lists_its_names_and_facts_of_its_own_user_alone(home: Pipeline) -> None:
    world = World(home.store.lake, "ada")
    (user,) = [key for key, row in world.entities.items() if row["name_key"] == "user"]
    found = ask(home, user)
    assert found["kind"] == "entity"
    assert {fact["object"] for fact in found["facts"]} >= {"Vienna", "Graz", "tea"}
    assert "Oslo" not in {fact["object"] for fact in found["facts"]}


def test_merged_names_are_read_together(own_home: Pipeline, rows_of) -> None:
    lake, table = own_home.store.lake, own_home.steps["resolution"].outputs[0]
    day = lake.days(table)[-1]
    world = World(lake, "ada")
    graz, vienna = (next(k for k, row in world.entities.items() if row["name_key"] == n) for n in ("graz", "vienna"))
    rows = [
        row | ({"merged_into": graz, "status": "merged"} if row["entity_id"] == vienna else {})
        for row in lake.read(table, day).to_pylist()
    ]
    lake.write(table, day, table.from_rows(rows))
    merge = {"operation": "MERGE", "entity_id": vienna, "other_id": graz, "reason": "feedback"}
    lake.write(ENTITY_OPS, day, rows_of(ENTITY_OPS, merge | {"user_id": "ada"}))
    (names,) = [n for n in ask(own_home, edge_of(own_home, "likes", "tea"))["entities"] if n["name"] == "tea"]
    assert names["changes"] == []
    found = ask(own_home, vienna)
    assert found["names"]["names"] == ["Graz", "Vienna"]
    assert [change["operation"] for change in found["names"]["changes"]] == ["MERGE"]
    assert {fact["object"] for fact in found["facts"]} == {"Graz"}


def test_a_deleted_fact_still_tells_what_was_done_with_it(own_home: Pipeline) -> None:
    gone = edge_of(own_home, "likes", "tea")
    lake, day = own_home.store.lake, own_home.store.lake.days(EDGES)[-1]
    left = [row for row in lake.read(EDGES, day).to_pylist() if row["edge_id"] != gone]
    lake.write(EDGES, day, EDGES.from_rows(left))
    found = ask(own_home, gone)
    assert (found["kind"], [op["operation"] for op in found["operations"]]) == ("deleted_fact", ["INSERT"])
    for on in lake.days(GRAPH_OPS):
        lake.delete(GRAPH_OPS, on)
    assert why(lake, gone, MARCH, DECAY) is None


def test_an_inferred_fact_names_its_premises(own_home: Pipeline, rows_of) -> None:
    premise = edge_of(own_home, "lives_in", "Graz")
    row = {"edge_id": "inf_1", "user_id": "ada", "premises": [premise], "rule_id": "containment"}
    own_home.store.lake.write(INFERRED_EDGES, date(2026, 3, 5), rows_of(INFERRED_EDGES, row))
    found = ask(own_home, "inf_1")
    assert (found["kind"], found["rule_id"]) == ("inferred_fact", "containment")
    assert [fact["edge_id"] for fact in found["premises"]] == [premise]


def test_no_table_knows_an_id_that_nobody_made(home: Pipeline) -> None:
    assert why(home.store.lake, "edge_nothing", MARCH, DECAY) is None


@pytest.mark.parametrize(
    ("text", "part", "expected"),
    [
        ("One. Two here! Three", "Two", "Two here!"),
        ("Only one", "one", "Only one"),
        ("a\nb c\nd", "b", "b c"),
        ("First. Second one. Third.", "Second one. Third", "Second one. Third."),
        ("Cost 3.50 a piece. Yes.", "3.50", "Cost 3.50 a piece."),
    ],
)
def test_a_sentence_is_found_around_a_span(text: str, part: str, expected: str) -> None:
    start = text.index(part)
    assert sentence_at(text, start, start + len(part)) == expected
