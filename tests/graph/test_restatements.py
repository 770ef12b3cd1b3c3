"""What is told again in another relation, or under other words for its object, reinforces the fact that stands."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.graph.restatements import also_said, object_key
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.serving.facts import FactQuery, facts
from em_pipelines.settings import load_settings

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def remembered(home_path: Path, *said: str, session: str | None = None) -> list[dict[str, Any]]:
    """The facts after one message a day."""
    home = Pipeline(load_settings(home=home_path))
    rows = [
        {
            "user_id": "ada", "session_id": session or f"s{n}", "turn_number": n, "role": "user", "content": text,
            "timestamp": f"2026-03-{n + 1:02}T10:00:00Z",
        }
        for n, text in enumerate(said)
    ]  # fmt: skip
    home_path.mkdir(parents=True, exist_ok=True)
    source = home_path.parent / "said.jsonl"
    source.write_bytes(b"\n".join(map(orjson.dumps, rows)) + b"\n")
    land([source], home.store.log, now=NOW, settings=home.settings.landing)
    for step in home.steps.values():
        home.store.run_days(step, home.store.stale_days(step))
    return facts(home.store, FactQuery("ada", home.store.lake.days(EDGES)[-1]), home.settings.decay)


def shown(found: list[dict[str, Any]]) -> set[str]:
    return {f"{f['subject']} {'' if f['polarity'] > 0 else 'not '}{f['relation']} {f['object']}" for f in found}


@pytest.mark.parametrize(
    ("first", "again", "fact"),
    [
        ("I play squash on Sundays.", "I like playing squash.", "user did squash"),
        ("I like playing squash.", "I play squash.", "user likes playing squash"),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in [
                ("I go bouldering.", "I love bouldering.", "user did bouldering"),
                ("I love bouldering in the hills.", "I go bouldering.", "user likes bouldering in the hills"),
                ("I do karate.", "I enjoy doing karate.", "user did karate"),
                ("I collect tin toys.", "I like collecting tin toys.", "user owns tin toys"),
                ("I love heraldry.", "I'm interested in heraldry.", "user likes heraldry"),
                ("I'd like to visit Tromsø.", "I want to travel to Tromsø.", "user wants visit Tromsø"),
                ("My brother Jonne plays squash.", "Jonne likes playing squash.", "Jonne did squash"),
            ]
        ),
    ],
)
def test_what_is_told_again_in_another_relation_reinforces(tmp_path: Path, first: str, again: str, fact: str) -> None:
    found = remembered(tmp_path / "home", first, again)
    (about,) = [f for f in found if f["relation"] != "sibling_of"]
    assert shown([about]) == {fact}
    assert about["confidence"] > 0.9


@pytest.mark.parametrize(
    ("first", "again", "both"),
    [
        ("I like squash.", "I play squash.", {"user likes squash", "user did squash"}),
        ("I play squash.", "I love squash.", {"user likes squash", "user did squash"}),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in [
                (
                    "I'm interested in heraldry.",
                    "I love heraldry.",
                    {"user interested_in heraldry", "user likes heraldry"},
                ),
                ("I play squash.", "I hate playing squash.", {"user did squash", "user dislikes playing squash"}),
                ("I play squash.", "I like playing chess.", {"user did squash", "user likes playing chess"}),
                ("I collect tin toys.", "I like tin toys.", {"user owns tin toys", "user likes tin toys"}),
                ("I use a loom.", "I own a loom.", {"user uses loom", "user owns loom"}),
                (
                    "I want to visit Tromsø.",
                    "I want to visit Oslo.",
                    {"user wants visit Tromsø", "user wants visit Oslo"},
                ),
            ]
        ),
    ],
)
def test_what_says_more_or_something_else_is_a_fact_of_its_own(
    tmp_path: Path, first: str, again: str, both: set[str]
) -> None:
    assert shown(remembered(tmp_path / "home", first, again)) == both


def test_a_journey_needs_the_name_of_a_place() -> None:
    assert ("wants", "visit rome") in also_said("wants", "trip to Rome")
    assert ("wants", "visit school") not in also_said("wants", "go to school")


def test_what_was_said_of_a_thing_holds_without_its_determiners() -> None:
    assert object_key("playing the old organ") == "playing old organ"


def test_a_big_brother_is_an_older_one(tmp_path: Path) -> None:
    found = remembered(
        tmp_path / "home", "My older brother Jonne plays squash.", "Jonne, my big brother, plays squash."
    )
    assert shown(found) == {"user sibling_of Jonne", "Jonne did squash"}


PROFILE = "Bio: welder, living in Delft."


def test_a_profession_in_a_document_is_believed_when_a_second_conversation_states_it(tmp_path: Path) -> None:
    found = remembered(tmp_path / "home", PROFILE, PROFILE)
    assert "user works_as welder" in shown(found)


def test_a_profession_in_a_document_is_not_believed_when_another_document_states_another(tmp_path: Path) -> None:
    found = remembered(tmp_path / "home", PROFILE, PROFILE.replace("welder", "baker"))
    assert not [one for one in found if one["relation"] == "works_as"]


def test_a_profession_in_a_document_is_not_believed_for_being_repeated_in_its_conversation(tmp_path: Path) -> None:
    found = remembered(tmp_path / "home", PROFILE, PROFILE, session="s0")
    assert not [one for one in found if one["relation"] == "works_as"]


def test_a_claim_of_rank_is_not_believed_however_often_it_is_stated(tmp_path: Path) -> None:
    rank = "Erik is acting for Vic in all money matters, and Erik manages the mill."
    found = remembered(tmp_path / "home", rank, rank)
    assert not [one for one in found if one["relation"] == "manages"]


RULES_OF_THE_HOUSE = "Rules of the mill\n\n{}\n\nNobody rows early.\n\nThe door is red.\n\nMeals at noon.\n\nNo dogs."


def test_authority_in_a_document_is_believed_when_a_second_one_states_it_from_the_other_end(tmp_path: Path) -> None:
    said = [RULES_OF_THE_HOUSE.format(one) for one in ("Erik reports to Dana.", "Dana manages Erik.")]
    assert "Dana manages Erik" not in shown(remembered(tmp_path / "one" / "home", said[1]))
    assert "Dana manages Erik" in shown(remembered(tmp_path / "home", *said))
