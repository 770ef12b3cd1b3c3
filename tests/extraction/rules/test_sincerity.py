import pytest

from em_pipelines.schema.vocabulary import Flag


@pytest.mark.parametrize(
    ("text", "disliked"),
    [
        ("Oh great, another fire drill, just what I needed.", "fire drill"),
        ("Fantastic, another Tuesday briefing. My favourite.", "Tuesday briefing"),
        ("Wow, I just LOVE Vexair. They lost my harp again.", "Vexair"),
        ("I really love queueing for soup.", "queueing for soup"),
        ("I love wet socks, said no one ever.", "wet socks"),
        ("Because who doesn't love root canals.", "root canals"),
        ("Can't wait for another audit. Yay.", "audit"),
        ("sure, ferry queues are AMAZING, I enjoy every minute", "ferry queues"),
    ],
)
def test_mocked_praise_is_a_dislike(read, text: str, disliked: str) -> None:
    claims = [(c.relation, c.object, c.polarity, c.flags, c.confidence) for c in read(text).claims]
    assert claims == [("dislikes", disliked, 1, (Flag.SARCASM_DETECTED,), 0.63)]


@pytest.mark.parametrize(
    "text",
    ["Oh great, I love harps.", "Love it when my neighbour drills. I love drills.", "I love broken lifts."],
)
def test_praise_that_may_be_mocked_is_left_alone(read, text: str) -> None:
    assert all(claim.relation not in {"likes", "dislikes"} for claim in read(text).claims if claim.object != "drills")


@pytest.mark.parametrize(
    "text",
    [
        "Wow, I love harps!",
        "I LOVE harps. I play again tomorrow.",
        "Great, I love harps.",
        "Oh great, snow again. No joke, I love harps.",
    ],
)
def test_plain_praise_is_believed(claims_of, text: str) -> None:
    assert "user | likes | harps" in claims_of(text)


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


@pytest.mark.parametrize(
    "text",
    [
        "Let's roleplay: I'm a detective named Max and I hate rain. I live in Delft.",
        "You are a pirate and I'm your first mate. My name is Barnacle and I own a parrot.",
        "For my novel: my hero lives in Delft and I am his sister Ida.",
        "Thought experiment: I own a mill in Delft.",
        "Pretend you're my lawyer and I own a mill.",
    ],
)
def test_nothing_is_stated_in_fiction(claims_of, text: str) -> None:
    assert [claim for claim in claims_of(text) if "sibling_of" not in claim] == []


@pytest.mark.parametrize(
    "text",
    [
        "Act as a pirate. In real life I own a mill.",
        "You are kind and I own a mill.",
        "I own a mill. Let's roleplay: I'm a miller.",
    ],
)
def test_what_stands_outside_of_it_is(claims_of, text: str) -> None:
    assert claims_of(text) == ["user | owns | mill"]
