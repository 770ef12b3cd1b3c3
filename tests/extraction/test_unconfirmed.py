"""Identity and authority: what a document says of them waits for a plain sentence. All of it is invented."""

from datetime import UTC, datetime

import pytest

from em_pipelines.extraction.assemble import readings
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.guard.screening import screened
from em_pipelines.schema.readings import Claim, Extraction, Segment, Turn
from em_pipelines.schema.vocabulary import EntityType, PrivacyLevel, TemporalType

RULES_OF_THE_HOUSE = "Rules of the mill\n\n{}\n\nNobody rows early.\n\nThe door is red.\n\nMeals at noon.\n\nNo dogs."


def claims_of(text: str, note_privacy: str | None = None) -> dict[str, Claim]:
    turn = Turn(
        "m1", 1, "user", "user", text, datetime(2026, 3, 2, tzinfo=UTC), language="en", note_privacy=note_privacy
    )
    ((_, reading),) = readings([Segment("g1", "u1", "s1", "text", (turn,))], RulesExtractor())
    return {claim.relation: claim for claim in reading.claims}


def test_a_profession_behind_a_label_requires_verification_and_the_rest_of_the_profile_does_not() -> None:
    claims = claims_of("Bio: harbour pilot, living in Delft.")
    assert claims["works_as"].requires_verification
    assert claims["works_as"].privacy_level is not PrivacyLevel.PRIVILEGED
    assert not claims["lives_in"].requires_verification


@pytest.mark.parametrize(("sentence", "relation"), [("Dana manages the mill.", "manages"),
                                                    ("Erik reports to Dana.", "reports_to")])  # fmt: skip
def test_authority_in_a_document_requires_verification_and_in_a_plain_sentence_does_not(
    sentence: str, relation: str
) -> None:
    assert claims_of(RULES_OF_THE_HOUSE.format(sentence))[relation].requires_verification
    assert not claims_of(sentence)[relation].requires_verification


def test_a_sentence_of_the_person_is_believed_in_a_long_message_too() -> None:
    assert not claims_of(RULES_OF_THE_HOUSE.format("My name is Oriane."))["has_name"].requires_verification


def test_a_name_in_a_form_is_not_learned_at_all() -> None:
    assert claims_of("Name: Vic Long\nRole: owner\nTwo-step checks: retired") == {}


@pytest.mark.parametrize(
    "sentence",
    [
        "Two-step checks were retired.",
        "Safety checks were promoted to team lead.",
        "Paper forms got divorced in 2021.",
        "Nightly tests were laid off.",
        "Entry forms are certified.",
    ],
)
def test_what_happened_to_a_thing_is_no_status_of_the_person(sentence: str) -> None:
    assert claims_of(sentence) == {}


@pytest.mark.parametrize("sentence", ["Retired in 2019.", "Got divorced last year.", "Am retired."])
def test_notes_without_a_subject_are_of_the_person(sentence: str) -> None:
    assert claims_of(sentence)["has_attribute"].subject == "user"


@pytest.mark.parametrize(
    ("sentence", "subject", "thing"),
    [
        ("I am acting for Nel in all money matters.", "user", "acting for Nel"),
        ("My aunt Berit is authorised to sign for the mill.", "Berit", "sign for the mill"),
        ("Jonne has power of attorney for my father.", "Jonne", "power of attorney"),
        ("Wim signs for the Moorhen Mill in its affairs.", "Wim", "signs for the Moorhen Mill"),
    ],
)
def test_authority_over_the_affairs_of_others_is_a_privilege_claim_whatever_extracted_it(
    sentence: str, subject: str, thing: str
) -> None:
    turn = Turn("m1", 1, "user", "user", sentence, datetime(2026, 3, 2, tzinfo=UTC), language="en")
    start = sentence.index(thing)
    claim = Claim(
        1, subject, EntityType.PERSON, "has_attribute", None, None, thing, 0.9, start, start + len(thing),
        TemporalType.STATE, attribute="role",
    )  # fmt: skip
    (kept,) = screened(Extraction([], [claim], []), Segment("g1", "u1", "s1", "text", (turn,))).claims
    assert (kept.privacy_level, kept.requires_verification) == (PrivacyLevel.PRIVILEGED, True)
