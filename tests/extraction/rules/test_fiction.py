import pytest


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
