"""Identity and authority: what a document says of them waits for a plain sentence. All of it is invented."""

from datetime import UTC, datetime

import pytest

from em_pipelines.extraction.assemble import readings
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.schema.readings import Claim, Segment, Turn
from em_pipelines.schema.vocabulary import PrivacyLevel

RULES_OF_THE_HOUSE = "Rules of the mill\n\n{}\n\nNobody rows early.\n\nThe door is red.\n\nMeals at noon.\n\nNo dogs."


def claims_of(text: str, note_privacy: str | None = None) -> dict[str, Claim]:
    turn = Turn(
        "m1", 1, "user", "user", text, datetime(2026, 3, 2, tzinfo=UTC), language="en", note_privacy=note_privacy
    )
    ((_, reading),) = readings([Segment("g1", "u1", "s1", "text", (turn,))], RulesExtractor())
    return {claim.relation: claim for claim in reading.claims}


def test_a_name_behind_a_label_requires_verification_and_the_rest_of_the_profile_does_not() -> None:
    claims = claims_of("About me:\nName: Oriane\nCity: Delft")
    assert claims["has_name"].requires_verification
    assert claims["has_name"].privacy_level is not PrivacyLevel.PRIVILEGED
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
