import pytest

from em_pipelines.vocabulary import Flag


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
