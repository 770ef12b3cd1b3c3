from datetime import UTC, datetime

import pytest

from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.schema.readings import Segment, Turn

WRITTEN_AT = datetime(2026, 3, 5, 18, 20, tzinfo=UTC)


def after(context: list[tuple[str, str]], text: str, extractor: RulesExtractor) -> list[str]:
    """Claims of a message after earlier turns, given as (role, text)."""
    before = tuple(
        Turn(f"c{n}", n, role, "user" if role == "user" else None, said, WRITTEN_AT)
        for n, (role, said) in enumerate(context)
    )
    turn = Turn("m", len(before), "user", "user", text, WRITTEN_AT)
    found = extractor.extract(Segment("s", "u", "s1", "text", (turn,), before))
    assert {claim.turn_number for claim in found.claims} <= {turn.turn_number}
    return sorted(f"{c.subject} | {c.relation} | {c.object or c.value}" for c in found.claims)


@pytest.mark.parametrize(
    ("context", "text", "expected"),
    [
        ([("user", "My sister Elke moved.")], "She works at Barco now.", ["Elke | works_at | Barco"]),
        ([("assistant", "What does your brother do?")], "He's a plumber.", ["brother | works_as | plumber"]),
        ([("user", "I met Tom and Elke.")], "He likes figs.", ["Tom | likes | figs"]),
        ([("user", "I met Tom and Piet.")], "He likes figs.", []),
        ([("user", "I like figs.")], "She likes plums.", []),
        ([("tool", "My sister Elke moved.")], "She works at Barco now.", []),
    ],
)
def test_pronouns_mean_those_of_the_turns_before(
    extractor: RulesExtractor, context: list[tuple[str, str]], text: str, expected: list[str]
) -> None:
    assert after(context, text, extractor) == expected


def test_they_are_the_two_who_were_spoken_of(claims_of) -> None:
    assert sorted(claims_of("Marta is married to Piotr and they live in Kraków.")) == [
        "Marta | lives_in | Kraków",
        "Marta | spouse_of | Piotr",
        "Piotr | lives_in | Kraków",
    ]


@pytest.mark.parametrize("opening", ["Solvei and Elke came over", "Elke and Solvei came over", "Solvei & Elke rang"])
def test_who_opens_a_sentence_beside_somebody_else_may_be_meant_too(claims_of, opening: str) -> None:
    assert claims_of(f"{opening}, and she wants a kayak.") == []


def test_what_opens_a_sentence_beside_nobody_is_no_person(claims_of) -> None:
    assert "Elke | wants | kayak" in claims_of("Elke called. Rhubarb and mint were on offer. She wants a kayak.")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("My dentist Solvei Maas lives in Ghent.", "Solvei Maas"),
        ("Our piano teacher Mr Moss lives in Ghent.", "Mr Moss"),
        ("My childminder Elke lives in Ghent.", "Elke"),
        ("Dentist Maas lives in Ghent.", "Dentist Maas"),
    ],
)
def test_who_is_named_after_a_role_is_called_by_the_name(claims_of, text: str, name: str) -> None:
    assert claims_of(text) == [f"{name} | lives_in | Ghent"]


def test_a_tool_is_no_person_for_being_called_like_a_trade(claims_of) -> None:
    assert claims_of("I love my editor Quillpad.") == ["user | likes | editor Quillpad"]


def test_whoever_was_met_last_is_meant_before_those_met_long_ago(claims_of) -> None:
    found = claims_of("My brother Tom is here. I like figs. I like plums. My uncle Piet came. He likes eels.")
    assert "Piet | likes | eels" in found


def type_of(name: str, text: str, extractor: RulesExtractor) -> str | None:
    turn = Turn("m", 0, "user", "user", text, WRITTEN_AT)
    found = extractor.extract(Segment("s", "u", "s1", "text", (turn,), ()))
    return next((str(m.entity_type) for m in found.mentions if m.name == name), None)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Oyvane", "I think Oyvane told me that the lift is broken."),
        ("Oyvane", "I hear Oyvane would rather walk."),
        ("Oyvane", "Yesterday I met Oyvane at the market."),
        ("Oyvane", "You should ask Oyvane."),
        ("Oyvane", "On Monday I called Oyvane about the lift."),
        ("Oyvane", "Hey Oyvane, the lift is broken."),
        ("Oyvane", "How was your trip, Oyvane?"),
        ("Oyvane", "A woman called Oyvane fixed the lift."),
        ("Oyvane", "One of the residents, Oyvane, fixed it."),
        ("Oyvane", "The lift was fixed by Oyvane, the electrician."),
        ("Oyvane", "It was fixed by Oyvane, who charged nothing."),
        ("Oyvane", "It was fixed by me and Oyvane."),
        ("Oyvane", "It was fixed by Oyvane and Hannah."),
        ("Frau Oyvane", "It was fixed by Frau Oyvane."),
        ("Hannah", "It was fixed by Hannah."),
        ("Oyvane", "It turns out that Oyvane works at Barco."),
    ],
)
def test_a_person_is_shown_by_what_stands_around_the_name(extractor: RulesExtractor, name: str, text: str) -> None:
    assert type_of(name, text, extractor) == "person"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Oyvane", "I moved the jobs from cron to Oyvane."),
        ("Oyvane", "We want to be done before Oyvane."),
        ("OYVANE", "The platform team is moving to OYVANE."),
        ("OyvaneFactory", "There is a class called OyvaneFactory."),
        ("Oyvane", 'Yesterday he sang "Oyvane" twice.'),
        ("Oyvane", "A girl from Oyvane, she likes tugs, asked for it."),
        ("Oyvane", "It is better to drive through Oyvane."),
        ("Oyvane", "We flew to Oyvane on Friday."),
        ("Oyvane", "The sloop is at anchor in Oyvane."),
        ("Oyvane", "Then Oyvane crashed and took the queue with it."),
        ("Oyvane", "He asked for Oyvane, my ferret."),
    ],
)
def test_a_capital_alone_shows_nobody(extractor: RulesExtractor, name: str, text: str) -> None:
    assert type_of(name, text, extractor) not in (None, "person")


def test_what_is_told_later_in_a_message_types_the_name(extractor: RulesExtractor) -> None:
    assert type_of("Oyvane", "The horse belongs to Oyvane. I rode with Oyvane's sister.", extractor) == "person"


def test_a_short_day_is_no_name(extractor: RulesExtractor) -> None:
    assert type_of("Fri", "We met last Fri in town.", extractor) is None


def test_whom_somebody_is_likened_to_is_not_meant_by_he(claims_of) -> None:
    assert claims_of("a small spaniel with a face like a bank manager he's four years old") == []
    assert "Ivo | has_age | 4" in claims_of("Our neighbour Ivo came by. He's four years old.")
