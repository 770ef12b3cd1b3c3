"""Statements that are clear by themselves: names and calendar dates in place of `she` and `last Friday`, if so said."""

from datetime import UTC, date, datetime

import pytest

from em_pipelines.extraction.verification import verify
from em_pipelines.schema.readings import Claim, Extraction, Segment, Turn
from em_pipelines.schema.vocabulary import EntityType, TemporalType

SAID_AT = datetime(2024, 5, 9, 9, 30, tzinfo=UTC)
"""A Thursday."""


def talk(*texts: str, speaker: str = "Odalys", language: str | None = None) -> Segment:
    """A conversation of two, of which the first turn is the assistant's where it begins with a star."""
    turns = []
    for number, text in enumerate(texts):
        is_assistant = text.startswith("*")
        role, subject = ("assistant", None) if is_assistant else ("user", speaker)
        turns.append(Turn(f"m{number}", number, role, subject, text.lstrip("*"), SAID_AT, language=language))
    return Segment("s1", "u", "c", "text", tuple(turns))


def stated(
    segment: Segment, statement: str, relation: str, end_name: str, **changes: object
) -> tuple[str | None, list[str]]:
    """What is left of the statement of a claim of the last turn, and the issues found."""
    turn = segment.turns[-1]
    fields = {
        "turn_number": turn.turn_number, "subject": turn.subject, "subject_type": EntityType.PERSON,
        "relation": relation, "object": end_name, "object_type": EntityType.CONCEPT, "value": None, "confidence": 0.9,
        "start": 0, "end": len(turn.text), "temporal_type": TemporalType.EPISODE, "statement": statement,
    }  # fmt: skip
    kept = verify(Extraction(claims=[Claim(**{**fields, **changes})]), segment)  # type: ignore[arg-type]
    return kept.claims[0].statement, [issue.issue for issue in kept.issues]


MARATHON = "I ran the harbour race last Friday, because my brother Wendell had asked me to."


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        (MARATHON, "Odalys ran the harbour race on 3 May 2024 because Wendell had asked"),
        (MARATHON, "Odalys ran the harbour race on 2024-05-03"),
        (MARATHON, "Odalys ran the harbour race in May 2024"),
        (MARATHON, "Odalys ran the harbour race last Friday"),
        ("I'll run the harbour race next Friday.", "Odalys will run the harbour race on 17 May 2024"),
        ("I ran the harbour race last week.", "Odalys ran the harbour race in the week of 29 April 2024"),
        ("I ran the harbour race at the weekend of May 4.", "Odalys ran the harbour race on the weekend of 4 May 2024"),
        ("I've run the harbour race since March.", "Odalys has run the harbour race since March 2024"),
        ("Report from Friday! The harbour race, 40 boats.", "Odalys was at the harbour race on 3 May 2024"),
        ("harbour race this friday, the 10th!", "Odalys is at the harbour race on 10 May 2024"),
        ("can't do the harbour race, may is full", "Odalys can't do the harbour race, May 2024 is full"),
    ],
)  # fmt: skip
def test_a_date_may_be_told_as_the_day_that_its_words_mean(said: str, statement: str) -> None:
    assert stated(talk(said), statement, "attended", "harbour race") == (statement, [])


@pytest.mark.parametrize(
    ("said", "statement"),
    [
        (MARATHON, "Odalys ran the harbour race on 4 May 2024"),
        (MARATHON, "Odalys ran the harbour race in April 2024"),
        (MARATHON, "Odalys ran the harbour race in 2023"),
        ("I ran the harbour race on Friday.", "Odalys ran the harbour race on 10 May 2024"),
        ("I ran the harbour race.", "Odalys ran the harbour race on 9 May 2024"),
        ("I ran the harbour race in May.", "Odalys ran the harbour race on 3 May 2024"),
        ("I ran the harbour race since March.", "Odalys ran the harbour race since April 2024"),
        ("The harbour race moved to June 3.", "The harbour race moved from 20 May 2024 to 3 June 2024"),
    ],
)  # fmt: skip
def test_a_date_that_no_turn_tells_drops_the_statement_and_the_claim_stays(said: str, statement: str) -> None:
    assert stated(talk(said), statement, "attended", "harbour race") == (None, ["unsupported_statement"])


@pytest.mark.parametrize(
    ("said", "statement", "polarity", "is_kept"),
    [
        ("It didn't rain. I ran the harbour race.", "Odalys ran the harbour race, it didn't rain", 1, True),
        ("It didn't rain. I ran the harbour race.", "Odalys didn't run the harbour race", 1, False),
        ("I will never sail again. The harbour race is off.", "Odalys will not sail the harbour race", -1, True),
        ("I ran the harbour race.", "Odalys did not run the harbour race", -1, False),
    ],
)
def test_a_denial_in_a_statement_is_one_of_its_turn(said: str, statement: str, polarity: int, *, is_kept: bool) -> None:
    at = said.index("harbour race")
    found = stated(talk(said), statement, "attended", "harbour race", polarity=polarity, start=at, end=at + 12)
    assert found[0] == (statement if is_kept else None)


@pytest.mark.parametrize(
    "said",
    ["They moved the harbour race: May 20 is off, June 3 it is.", "The harbour race moved from May 20 to June 3."],
)
def test_a_date_may_be_the_value_of_the_claim(said: str) -> None:
    moved = {"subject": "harbour race", "subject_type": EntityType.EVENT, "object": None, "object_type": None}
    statement = "The harbour race moved from 20 May 2024 to 3 June 2024"
    found = stated(talk(said), statement, "has_attribute", "", **moved, value="June 3", attribute="date")
    assert found == (statement, [])


def test_a_date_may_be_in_the_question_before() -> None:
    asked = talk("What did you do last Friday?", "I ran the harbour race.")
    statement = "Odalys ran the harbour race on 3 May 2024"
    assert stated(asked, statement, "attended", "harbour race") == (statement, [])


def test_what_a_claim_was_resolved_to_is_a_date_of_its_turn() -> None:
    resolved = {"valid_from": date(2021, 5, 9), "valid_precision": "year"}
    said = talk("I've had the harbour pass for three years.")
    statement = "Odalys has had the harbour pass since 2021"
    assert stated(said, statement, "owns", "harbour pass", **resolved) == (statement, [])
    assert stated(said, statement, "owns", "harbour pass") == (None, ["unsupported_statement"])


@pytest.mark.parametrize(
    ("turns", "statement", "relation", "end"),
    [
        (("Please give lengths in metric units.",), "Odalys prefers lengths in metric units", "prefers",
         "lengths in metric units"),
        (("*I suggest nightly backups of the ledger.", "Good, let's do that."),
         "Odalys decided on nightly backups of the ledger, as the assistant suggests", "decided", "nightly backups"),
    ],
)  # fmt: skip
def test_names_stand_for_pronouns_and_relations_for_what_they_say(
    turns: tuple[str, ...], statement: str, relation: str, end: str
) -> None:
    assert stated(talk(*turns), statement, relation, end) == (statement, [])


def test_the_name_of_somebody_else_stands_for_a_pronoun() -> None:
    said = talk("My brother Wendell is coming.", "He wants to see the harbour.")
    statement = "Wendell, Odalys' brother, wants to see the harbour"
    assert stated(said, statement, "wants", "see the harbour", subject="Wendell") == (statement, [])


@pytest.mark.parametrize(
    ("turns", "statement"),
    [
        (("Please give lengths in metric units.",), "Odalys prefers lengths in metric units for her bakery in Graz"),
        (("*I suggest nightly backups.", "I like metric units."), "Odalys prefers metric units since Ingrid insists"),
        (("I like metric units.",), "Odalys prefers metric units for all 14 reports"),
    ],
)  # fmt: skip
def test_what_nobody_said_is_refused_whatever_is_resolved(turns: tuple[str, ...], statement: str) -> None:
    kept, issues = stated(talk(*turns), statement, "prefers", "metric units")
    assert kept is None
    assert issues == ["unsupported_statement"]


def test_of_another_language_the_claim_knows_the_days() -> None:
    said = talk("El viernes pasado corrí la carrera del puerto.", language="es")
    told = {"valid_from": date(2024, 5, 3), "valid_precision": "day"}
    statement = "Odalys corrí la carrera del puerto 2024-05-03"
    assert stated(said, statement, "attended", "carrera del puerto", **told) == (statement, [])
    assert stated(said, statement, "attended", "carrera del puerto")[0] is None


FUND = "The harbour fund wrote back and they pay 3,800. The money lands on 1 May, says my brother Wendell."
ABOUT = {
    "subject": "grant",
    "subject_type": EntityType.CONCEPT,
    "object": None,
    "value": "3,800",
    "attribute": "amount",
}


def is_kept(segment: Segment, **changes: object) -> bool:
    """Whether a claim of the last turn is stored, by itself."""
    turn = segment.turns[-1]
    fields = {
        "turn_number": turn.turn_number, "subject": turn.subject, "subject_type": EntityType.PERSON,
        "relation": "has_attribute", "object": None, "object_type": None, "value": None, "confidence": 0.9, "start": 0,
        "end": len(turn.text), "temporal_type": TemporalType.STATE,
    }  # fmt: skip
    return bool(verify(Extraction(claims=[Claim(**{**fields, **changes})]), segment).claims)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "is_right"),
    [
        ({**ABOUT, "statement": "The harbour fund pays a grant of 3,800"}, True),
        ({**ABOUT, "statement": None}, False),
        ({**ABOUT, "statement": "The harbour fund pays 3,800"}, False),
        ({**ABOUT, "value": "4,800", "statement": "The harbour fund pays a grant of 4,800"}, False),
        ({**ABOUT, "subject": "Brindlewick", "statement": "The harbour fund pays Brindlewick 3,800"}, False),
        ({**ABOUT, "subject_type": EntityType.PERSON, "statement": "The harbour fund pays a grant of 3,800"}, False),
        ({**ABOUT, "statement": "The grant buys a boat, two nets and a winch for 3,800"}, False),
        ({**ABOUT, "statement": "The harbour fund pays the grant of 3,800 on 2 May 2024"}, False),
    ],
)
def test_a_statement_that_is_said_shows_what_a_noun_means_that_nobody_says(
    changes: dict[str, object], is_right: bool
) -> None:
    assert is_kept(talk(FUND), **changes) is is_right


@pytest.mark.parametrize(
    ("end", "statement", "is_right"),
    [
        ("labels for the jars", "A magazine gave Odalys the idea of labels for the jars", True),
        ("labels for the jars", "A magazine made Odalys rich, famous and happy with labels for the jars", False),
        ("trip to Hobart", "A magazine gave Odalys the idea for the jars and a trip to Hobart", False),
        ("sailing", "A magazine gave Odalys the idea of sailing jars", False),
    ],
)
def test_an_object_needs_some_words_of_its_own_that_are_said(end: str, statement: str, is_right: bool) -> None:
    segment = talk("A magazine gave me the idea for what stands on the jars.")
    given = {"subject": "magazine", "subject_type": EntityType.CONCEPT, "relation": "causes", "object": end}
    assert is_kept(segment, **given, object_type=EntityType.CONCEPT, statement=statement) is is_right
