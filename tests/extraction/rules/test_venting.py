import pytest

from em_pipelines.vocabulary import Flag


@pytest.mark.parametrize(
    "text",
    [
        "I hate my landlord, nothing ever works here and I want to move out.",
        "I'm so done with this place. I want to move to a lighthouse.",
        "Nobody ever helps me, everything is a mess. I want to quit the choir.",
        "ugh I hate this printer, I want to throw it out. I want a new printer.",
        "I'm exhausted and I can't do this anymore. I want to sell the mill.",
    ],
)
def test_wishes_in_a_message_that_vents_count_for_little(read, text: str) -> None:
    wishes = [claim for claim in read(text).claims if claim.relation == "wants"]
    assert wishes
    assert all(claim.flags == (Flag.EMOTIONAL_STATE,) and claim.confidence == 0.3 for claim in wishes)


@pytest.mark.parametrize(
    "text",
    [
        "I want to quit the choir.",
        "I hate drizzle. I want an umbrella.",
        "Everything else is fine. I want a raft.",
        "I'm so tired after the hike, I want a bath.",
        "I love everything about Delft! I want to move there.",
    ],
)
def test_plain_wishes_and_dislikes_are_not_taken_for_venting(read, text: str) -> None:
    assert all(Flag.EMOTIONAL_STATE not in claim.flags for claim in read(text).claims)


def test_what_is_hated_while_venting_is_an_episode(read) -> None:
    claim = next(c for c in read("I hate my job, everything is awful.").claims if c.relation == "dislikes")
    assert (claim.temporal_type, claim.confidence) == ("episode", 0.9)


def test_wishes_of_others_are_not_touched_by_venting(read) -> None:
    claims = read("I'm fed up with this house. My sister Ida wants a raft.").claims
    assert next(c for c in claims if c.subject == "Ida").flags == ()
