import pytest

from em_pipelines.schema.vocabulary import Flag


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("We live in Delft, sorry, Graz.", ["user | lives_in | Graz"]),
        ("I want to learn Danish, I mean Finnish.", ["user | wants | learn Danish", "user | wants | learn Finnish"]),
        ("I like rye. Actually no, I prefer spelt.", ["user | prefers | spelt"]),
        ("I like rye. Sorry about the noise!", ["user | likes | rye"]),
        ("I like rye and I mean it.", ["user | likes | rye"]),
        ("I own a raft. Actually no dogs are allowed on it.", ["user | owns | raft"]),
        ("No wait, I own a raft.", ["user | owns | raft"]),
    ],
)
def test_what_is_taken_back_is_no_fact_and_what_replaces_it_is(claims_of, text: str, claims: list[str]) -> None:
    assert claims_of(text) == claims


@pytest.mark.parametrize(
    "text",
    [
        "I want to paint the raft no hang on I want to buy tar",
        "I want to call the smith no not the smith I want to buy tar",
    ],
)
def test_only_the_settled_intent_keeps_its_confidence(read, text: str) -> None:
    claims = read(text, channel="voice").claims
    given_up = [c for c in claims if Flag.ABANDONED_INTENT in c.flags]
    assert [c.confidence for c in given_up] == [0.3]
    assert [(c.object, c.confidence) for c in claims if c not in given_up][-1] == ("buy tar", 0.9)


def test_spans_of_mended_claims_lie_in_the_text(read) -> None:
    text = "We live in Delft, sorry, Graz."
    claim = read(text).claims[0]
    assert text[claim.start : claim.end] == "We live in Delft, sorry, Graz"
