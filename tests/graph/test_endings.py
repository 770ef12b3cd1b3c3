"""What a death, a divorce or a job that was given up ends of what is known, and what it leaves."""

from dataclasses import replace
from datetime import date
from typing import Any

import pytest

from em_pipelines.language.name_keys import name_key
from em_pipelines.schema.endings import ENDED_BY
from em_pipelines.schema.ids import entity_id
from em_pipelines.schema.vocabulary import LASTING, RELATIONS
from tests.folding.log import USER, Folded, Said, fold_days


def said(subject: str, relation: str, stated: str, day: int = 0, **changes: Any) -> Said:
    return Said(day=day, subject=subject, relation=relation, object=stated, session=f"s{day}", **changes)


def status(subject: str, what: str, day: int = 1, key: str = "status", **changes: Any) -> Said:
    told = {"relation": "has_attribute", "attribute": key, "value": what, "kind": "attribute", **changes}
    return Said(day=day, subject=subject, session=f"s{day}", **told)


def standing(state: Folded) -> set[str]:
    names = {entity_id(USER, name_key(name)): name for name in state.names}
    return {
        f"{names[r['subject_id']]} {r['relation']} {names.get(r['object_id'], r['value'])}"
        for r in state.rows()
        if r["status"] == "active" and r["polarity"] == 1 and r["relation"] != "has_attribute"
    }


KNOWN = [
    said("Piet", "lives_in", "Delft"), said("Piet", "likes", "eel"), said("Piet", "works_as", "welder"),
    said("Berit", "spouse_of", "Piet"), said("user", "knows", "Piet"), said("user", "sibling_of", "Piet"),
    said("Jonne", "child_of", "Piet"), said("Piet", "born_in", "Ghent"), said("user", "lives_in", "Delft"),
    said("Piet", "has_pet", "Miso"), said("user", "likes", "eel"), said("Jonne", "reports_to", "Piet"),
]  # fmt: skip
KEPT = {
    "user knows Piet", "user sibling_of Piet", "Jonne child_of Piet", "Piet born_in Ghent", "user lives_in Delft",
    "user likes eel",
}  # fmt: skip


def test_a_death_ends_what_only_the_living_have_and_nothing_that_lasts() -> None:
    state = fold_days([*KNOWN, status("Piet", "deceased", valid_from=date(2025, 11, 3))])
    assert standing(state) == KEPT
    ended = {(r["status"], r["valid_to"]) for r in state.rows() if r["status"] != "active"}
    assert ended == {("superseded", date(2025, 11, 3))}
    assert {op["reason"] for op in state.ops if op["operation"] == "REVISE"} == {
        "over: what was said of its subject ends it"
    }


@pytest.mark.parametrize(
    "word", ["dead", pytest.param("Died", marks=pytest.mark.slow), pytest.param("passed away", marks=pytest.mark.slow)]
)
def test_other_words_for_a_death_end_the_same(word: str) -> None:
    assert standing(fold_days([*KNOWN, status("Piet", word)])) == KEPT


@pytest.mark.parametrize(
    "doubt",
    [
        {"hedge": "moderate"},
        pytest.param({"hedge": "strong"}, marks=pytest.mark.slow),
        pytest.param({"flags": ("secondhand",)}, marks=pytest.mark.slow),
        {"polarity": -1},
    ],
)
def test_nothing_ends_by_what_is_hedged_heard_or_denied(doubt: dict[str, Any]) -> None:
    assert standing(fold_days([*KNOWN, status("Piet", "deceased", **doubt)])) == standing(fold_days(KNOWN))


def test_a_dead_battery_ends_nothing() -> None:
    assert standing(fold_days([*KNOWN, status("Piet", "dead", key="battery")])) == standing(fold_days(KNOWN))


def test_a_pet_that_died_is_no_pet_any_more() -> None:
    log = [said("user", "has_pet", "Miso"), said("user", "has_pet", "Nori"), status("Miso", "deceased")]
    assert standing(fold_days(log)) == {"user has_pet Nori"}


def test_who_retires_works_nowhere_and_who_is_divorced_has_no_spouse() -> None:
    log = [
        said("user", "works_at", "Arla"), said("user", "works_as", "welder"), said("user", "spouse_of", "Jonne"),
        said("user", "likes", "welding"),
    ]  # fmt: skip
    retired = fold_days([*log, status("user", "retired", key="employment status")])
    assert standing(retired) == {"user spouse_of Jonne", "user likes welding"}
    divorced = fold_days([status("user", "divorced", day=2, key="marital status")], retired)
    assert standing(divorced) == {"user likes welding"}


def test_a_job_that_was_given_up_ends_wherever_it_was_and_the_next_one_stands() -> None:
    quit_job = Said(day=1, relation="works_at", value="job", act="end", session="s1", valid_from=date(2025, 12, 30))
    state = fold_days([said("user", "works_at", "Arla"), quit_job])
    assert standing(state) == set()
    assert [r["valid_to"] for r in state.rows()] == [date(2025, 12, 30)]
    assert standing(fold_days([said("user", "works_at", "Tarkett", day=2)], state)) == {"user works_at Tarkett"}


def test_a_couple_that_parted_is_none_whichever_it_was() -> None:
    log = [said("user", "spouse_of", "Jonne"), said("user", "partner_of", "Jonne", day=1, polarity=-1)]
    assert standing(fold_days(log)) == set()
    others = [said("Ida", "partner_of", "Piet"), said("Piet", "spouse_of", "Ida", day=1, polarity=-1)]
    assert standing(fold_days(others)) == set()


def test_nothing_ends_before_it_began() -> None:
    log = [
        said("user", "works_at", "Arla", valid_from=date(2025, 6, 1)),
        said("user", "works_at", "Arla", day=1, polarity=-1, valid_from=date(2025, 1, 1)),
    ]
    assert [r["valid_to"] for r in fold_days(log).rows() if r["polarity"] == 1] == [date(2025, 6, 1)]


def test_the_table_names_relations_and_none_that_lasts_but_marriage() -> None:
    assert {relation for ended in ENDED_BY.values() for relation in ended} <= RELATIONS
    assert set(ENDED_BY["deceased"]) & LASTING.keys() == {"spouse_of"}


def favourite(what: str, day: int, **changes: Any) -> list[Said]:
    """What `my favourite tree is …` says: a liking, and of which kind it is the favourite."""
    return [said("user", "likes", what, day, **changes), status("user", what, day, "favourite tree", **changes)]


def test_a_new_favourite_of_a_kind_ends_the_liking_of_the_one_before() -> None:
    state = fold_days([*favourite("rowan", 0), *favourite("alder", 3)])
    assert standing(state) == {"user likes alder"}
    values = {row["value"]: row["status"] for row in state.rows() if row["relation"] == "has_attribute"}
    assert values == {"rowan": "superseded", "alder": "active"}


def test_what_was_liked_before_it_was_a_favourite_is_liked_after() -> None:
    state = fold_days([said("user", "likes", "rowan"), *favourite("rowan", 1), *favourite("alder", 3)])
    assert standing(state) == {"user likes rowan", "user likes alder"}


def test_a_favourite_that_comes_again_is_liked_again() -> None:
    state = fold_days([*favourite("rowan", 0), *favourite("alder", 3), *favourite("rowan", 5)])
    assert standing(state) == {"user likes rowan"}


def test_a_favourite_that_was_only_heard_of_ends_nothing() -> None:
    state = fold_days([*favourite("rowan", 0), *favourite("alder", 3, flags=("secondhand",))])
    assert "user likes rowan" in standing(state)


def test_favourites_of_one_day_end_in_their_order() -> None:
    two = [replace(one, minute=9, session="s9") for one in favourite("alder", 0)]
    assert standing(fold_days([*favourite("rowan", 0), *two])) == {"user likes alder"}
