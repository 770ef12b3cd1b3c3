import pytest


@pytest.mark.parametrize(
    "text",
    [
        "Translate this to Danish: I live in Delft and I own a raft",
        "Please proofread:\nMy name is Barnacle. I live in Delft.",
        "> I live in Delft",
        "Lyrics: I want to ride my raft",
        "e.g. I own a raft",
    ],
)
def test_material_to_work_on_and_citations_are_not_read(read, text: str) -> None:
    found = read(text)
    assert found.claims == []
    assert all(mention.name == "Danish" for mention in found.mentions)


@pytest.mark.parametrize(
    "text",
    ["I own a raft. Translate: good morning", "I can't fix the gate: I own a raft", "I own a raft, e.g. for fun"],
)
def test_what_stands_before_is_read(claims_of, text: str) -> None:
    assert "user | owns | raft" in claims_of(text)
