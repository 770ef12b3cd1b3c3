"""Literals that people give are those that extractors read, so that a corrected birthday is still one."""

from datetime import date

import pytest

from em_pipelines.extraction.literals import literal
from tests.folding.log import Said, Told, fold_days

ON = date(2026, 3, 5)


@pytest.mark.parametrize(
    ("relation", "said", "held"),
    [
        ("has_birthday", "4 May", "05-04"),
        ("has_birthday", "May 4th", "05-04"),
        ("has_birthday", " 4 May 1990 ", "1990-05-04"),
        ("has_birthday", "1990-05-04", "1990-05-04"),
        ("has_birthday", "05-04", "05-04"),
        ("has_birthday", "the 4th of May, 1990", "1990-05-04"),
        ("has_birthday", "in spring", "in spring"),
        ("scheduled_for", "3 December", "2026-12-03"),
        ("scheduled_for", "next Friday", "2026-03-13"),
        ("scheduled_for", "May 2027", "2027-05"),
        ("happened_on", "3 December", "2025-12-03"),
        ("happened_on", "a while ago", "a while ago"),
        ("has_age", "forty-six", "46"),
        ("has_age", "46 years old", "46"),
        ("has_age", "46", "46"),
        ("has_age", "old enough", "old enough"),
        ("has_age", "46 cats", "46 cats"),
        ("has_attribute", "Ada@Example.ORG", "ada@example.org"),
        ("has_attribute", "Blue", "Blue"),
        ("has_name", '"Ada"', "Ada"),
    ],
)
def test_literals_are_held_as_they_are_read(relation: str, said: str, held: str) -> None:
    assert literal(relation, said, ON) == held
    assert literal(relation, held, ON) == held


def born(day: str) -> Said:
    return Said(relation="has_birthday", value=day, kind="attribute")


def birthdays(*told: Told) -> list[str]:
    return [row["value"] for row in fold_days([born("05-04"), *told]).rows() if row["status"] == "active"]


def test_a_corrected_birthday_is_a_date() -> None:
    named = {"relation": "has_birthday", "new_object": "6 May"}
    assert birthdays(Told("correct", named, day=1)) == ["05-06"]
    assert birthdays(Told("correct", {**named, "old_object": "4 May"}, day=1)) == ["05-06"]


def test_a_fact_that_is_corrected_by_its_id_alone_is_a_date_too() -> None:
    (edge,) = fold_days([born("05-04")]).rows()
    assert birthdays(Told("correct", {"edge_id": edge["edge_id"], "new_object": "6 May 1990"}, day=1)) == ["1990-05-06"]


def test_what_is_taken_back_or_added_is_worded_as_people_do() -> None:
    assert birthdays(Told("retract", {"relation": "has_birthday", "object": "4 May"}, day=1)) == []
    fact = {"relation": "has_birthday", "object": "4 May", "confidence": 0.9}
    assert birthdays(Told("add_facts", {"facts": [fact]}, day=1, session="s2")) == ["05-04"]
