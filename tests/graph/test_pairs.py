"""Facts that pair two people (spouses, partners) and leave the remembered person out: they hang on both ends."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from em_pipelines.schema.ids import entity_id
from tests.folding.log import USER, Folded, Said, fold_days

PEOPLE = ("brother", "Rex", "Alex", "Maya", "partner", "wife")
"""Roles and names; ids order them in no way that means anything."""


def said(subject: str, stated: str, day: int = 0, **changes: Any) -> Said:
    return Said(day=day, subject=subject, object=stated, relation="spouse_of", session=f"s{day}", **changes)


def standing(state: Folded) -> set[tuple[str, str]]:
    names = {entity_id(USER, name.casefold()): name for name in (*PEOPLE, "user")}
    return {(names[r["subject_id"]], names[r["object_id"]]) for r in state.rows() if r["status"] == "active"}


@pytest.mark.parametrize("who", ["brother", "Maya", "wife"])
@pytest.mark.parametrize("first", ["Rex", pytest.param("Alex", marks=pytest.mark.slow)])
def test_another_spouse_takes_the_place_of_the_one_before_whatever_their_ids(who: str, first: str) -> None:
    second = {"Rex": "Alex", "Alex": "Rex"}[first]
    assert standing(fold_days([said(who, first), said(who, second, day=1)])) == {(who, second)}


def test_the_same_pair_said_from_its_other_end_is_the_same_fact() -> None:
    state = fold_days([said("brother", "Rex"), said("Rex", "brother", day=1)])
    assert [r["reinforcement_count"] for r in state.rows()] == [1]


def test_of_whom_it_is_said_has_one_from_whichever_end_the_first_was_told() -> None:
    assert standing(fold_days([said("Rex", "brother"), said("brother", "Maya", day=1)])) == {("brother", "Maya")}


def test_two_people_with_a_spouse_of_one_name_keep_theirs() -> None:
    found = fold_days([said("brother", "Maya"), said("Rex", "Maya", day=1), said("user", "Maya", day=2)])
    assert standing(found) == {("brother", "Maya"), ("Rex", "Maya"), ("user", "Maya")}


def test_what_is_taken_back_gives_back_what_it_displaced() -> None:
    log = [said("brother", "Rex"), said("brother", "Alex", day=1), said("brother", "Alex", day=2, act="retract")]
    assert standing(fold_days(log)) == {("brother", "Rex")}


def test_a_doubt_about_one_pair_is_none_about_another() -> None:
    unsure = {"hedge": "strong", "confidence": 0.4}
    log = [said("brother", "Rex"), said("Maya", "Alex"), said("brother", "wife", day=1, **unsure)]
    rows = fold_days(log).rows()
    assert Counter(r["status"] for r in rows) == {"contradicted": 2, "active": 1}
    assert standing(fold_days(log)) == {("Maya", "Alex")}


SAID = st.builds(
    said,
    st.sampled_from((*PEOPLE, "user")),
    st.sampled_from(PEOPLE),
    day=st.integers(0, 4),
    minute=st.integers(0, 600),
    polarity=st.sampled_from([1, 1, 1, -1]),
    hedge=st.sampled_from(["none", "none", "strong"]),
    confidence=st.sampled_from([0.9, 0.45]),
).filter(lambda s: s.subject != s.object)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(SAID, max_size=12, unique_by=lambda s: s.timestamp))
def test_nobody_has_two_spouses_at_once(log: list[Said]) -> None:
    for day in (1, 2, 4):
        state = fold_days([one for one in log if one.day <= day])
        active = [r for r in state.rows() if r["status"] == "active" and r["polarity"] == 1]
        assert max(Counter(r["subject_id"] for r in active).values(), default=0) <= 1
