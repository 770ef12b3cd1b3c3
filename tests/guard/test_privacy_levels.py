"""Who may hear a fact: every line of the table by its examples, and what no line may open."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.guard.screening import levelled, privacy_table
from em_pipelines.schema.readings import Claim
from em_pipelines.schema.vocabulary import LITERAL_OBJECT, RELATIONS, USER, EntityType, Flag, PrivacyLevel, TemporalType

TABLE = privacy_table()
PAGE = Path(__file__).parents[2] / "docs/privacy.md"


def claim_of(said: dict[str, Any]) -> Claim:
    subject = said.get("subject", USER)
    kind = said.get("subject_kind", "person")
    is_literal = said["relation"] in LITERAL_OBJECT
    return Claim(
        turn_number=0, subject=subject, subject_type=EntityType(kind), relation=said["relation"],
        object=None if is_literal else said["object"], object_type=None if is_literal else EntityType(said["kind"]),
        value=said["object"] if is_literal else None, attribute=said.get("attribute"), over=said.get("over"),
        confidence=0.9, start=0, end=1, temporal_type=TemporalType.TRAIT,
    )  # fmt: skip


def level_of(**said: Any) -> str:
    return levelled(claim_of(said)).privacy_level.value


@pytest.mark.parametrize("example", TABLE["examples"], ids=lambda e: f"{e['relation']} {e['object']}")
def test_examples_have_the_level_that_they_say(example: dict[str, Any]) -> None:
    assert level_of(**example) == example["level"]


def test_every_line_has_an_example_and_names_what_there_is() -> None:
    for line in TABLE["levels"]:
        assert set(line["relations"]) <= RELATIONS
        assert set(line.get("kinds", ())) <= set(EntityType)
        assert any(e["relation"] in line["relations"] and e["level"] == line["level"] for e in TABLE["examples"]), line


def test_the_page_has_the_table() -> None:
    rows = [row for row in PAGE.read_text(encoding="utf-8").splitlines() if row.startswith("| L")]
    for line in TABLE["levels"]:
        said = ", ".join(f"`{relation}`" for relation in line["relations"])
        assert any(row.startswith(f"| {line['level']} |") and said in row and line["why"] in row for row in rows), line


@pytest.mark.parametrize("flag", list(Flag))
def test_what_is_hedged_away_is_never_open(flag: Flag) -> None:
    claim = claim_of({"relation": "likes", "kind": "food", "object": "ramen"})
    assert levelled(claim).privacy_level is PrivacyLevel.GENERIC
    assert levelled(replace(claim, flags=(flag,))).privacy_level is PrivacyLevel.PERSONAL


@pytest.mark.parametrize("thing", [
    "insulin", "my neighbour's plums", "tequila", "communion wafers", "porn", "the union's tea", "weed brownies",
    "12 eggs", "a very long list of all kinds of cheese", "", "Ylva's cloudberries", "diet cola", "antidepressants",
])  # fmt: skip
def test_a_harmless_relation_opens_no_private_thing(thing: str) -> None:
    assert level_of(relation="likes", kind="food", object=thing) == "L2"


def test_what_it_is_preferred_over_counts_too() -> None:
    assert level_of(relation="prefers", kind="food", object="tea", over="coffee") == "L1"
    assert level_of(relation="prefers", kind="food", object="tea", over="whisky") == "L2"


@pytest.mark.parametrize("relation", sorted(RELATIONS - {r for line in TABLE["levels"] for r in line["relations"]}))
def test_a_relation_that_the_table_does_not_name_is_personal(relation: str) -> None:
    assert level_of(relation=relation, kind="food", object="ramen") == "L2"
