from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from em_pipelines.schema.readings import Claim, Segment, Turn

WHEN = datetime(2026, 3, 5, 18, 20, tzinfo=UTC)


@pytest.fixture
def said(extractor) -> Callable[..., list[Claim]]:
    """The claims of the last of some turns, each `who: what`; the others are context."""

    def read_turns(*lines: str) -> list[Claim]:
        turns = []
        for n, line in enumerate(lines):
            who, text = line.split(": ", 1)
            is_assistant = who == "assistant"
            turns.append(Turn(f"m{n}", n, who if is_assistant else "user", None if is_assistant else who, text, WHEN))
        return extractor.extract(Segment("seg", "u1", "s1", "text", (turns[-1],), tuple(turns[:-1]))).claims

    return read_turns


def stated(claims: list[Claim]) -> list[tuple[str, str, str | None, int]]:
    return [(c.subject, c.relation, c.object or c.value, c.polarity) for c in claims]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("assistant: Do you have any pets?", "user: Yes, a goat"), [("user", "has_pet", "goat", 1)]),
        (("assistant: Do you eat eels?", "user: nope"), [("user", "likes", "eels", -1)]),
        (("Olga: where do you live?", "user: Delft"), [("user", "lives_in", "Delft", 1)]),
        (("assistant: You like eels.", "user: thanks for that!"), []),
        (("user: I'm 46", "assistant: Noted.", "user: it's 47, not 46"), [("user", "has_age", "47", 1)]),
        (("user: We live in Delft", "user: Sorry, not Delft, Graz."), [("user", "lives_in", "Graz", 1)]),
        (("user: I was born in Delft", "user: Sorry, I meant Graz."), [("user", "born_in", "Graz", 1)]),
        (
            ("user: I own a Tonka", "user: it's a Wexel, not a Tonka"),
            [("user", "owns", "Wexel", 1), ("user", "owns", "Tonka", -1)],
        ),
        (("user: I like tea", "user: it's urgent, not important"), []),
        (("Olga: I'm 46", "user: it's 47, not 46"), []),
    ],
)
def test_turns_are_read_together_with_those_before(said, lines: tuple[str, ...], expected: list[object]) -> None:
    assert stated(said(*lines)) == expected


def test_a_name_given_to_a_pet_of_a_longer_message_before_lies_in_its_own_turn(said) -> None:
    asked = "assistant: So that I can call your pet by its name in days to come, what is your dog called?"
    (claim,) = said(asked, "user: His name is Bosse")
    assert (claim.relation, claim.object, claim.turn_number) == ("has_pet", "Bosse", 1)
    assert 0 <= claim.start < claim.end <= len("His name is Bosse")


def test_a_correction_is_certain_and_lies_in_its_own_turn(said) -> None:
    (claim,) = said("user: I'm 46", "user: it's 47, not 46")
    assert (claim.confidence, claim.source_mechanism, claim.turn_number) == (1.0, "user_correction", 1)
    assert claim.end <= len("it's 47, not 46")
