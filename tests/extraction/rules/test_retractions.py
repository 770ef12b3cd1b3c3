from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.extraction.assemble import extract
from em_pipelines.extraction.rules.retraction_wording import affirmed, finite, in_present, passages, without
from em_pipelines.schema.readings import Claim, Segment, Turn
from em_pipelines.schema.vocabulary import Act

WHEN = datetime(2026, 3, 5, 18, 20, tzinfo=UTC)
Fact = tuple[str, str, str | None]


def segment(*lines: str) -> Segment:
    turns = []
    for n, line in enumerate(lines):
        who, text = line.split(": ", 1)
        is_assistant = who == "assistant"
        turns.append(Turn(f"m{n}", n, who if is_assistant else "user", None if is_assistant else who, text, WHEN))
    return Segment("seg", "u1", "s1", "text", (turns[-1],), tuple(turns[:-1]))


@pytest.fixture
def said(extractor) -> Callable[..., list[Claim]]:
    """The claims of the last of some turns, each `who: what`; the others are context."""
    return lambda *lines: extractor.extract(segment(*lines)).claims


def facts(claims: list[Claim], act: Act) -> list[Fact]:
    return [(c.subject, c.relation, c.object or c.value) for c in claims if c.act is act]


def test_a_retracted_liking_is_restated_from_its_own_words(said) -> None:
    (claim,) = said("user: forget what I said about Berit liking oak stools, I mixed her up with her husband")
    assert (claim.act, claim.subject, claim.relation, claim.object) == (Act.RETRACT, "Berit", "likes", "oak stools")
    assert (claim.polarity, claim.confidence, claim.source_mechanism) == (1, 1.0, "user_correction")


@pytest.mark.parametrize(
    ("lines", "retracted", "asserted"),
    [
        (
            ("user: I said I work at Ostra Varv, that was wrong. I work at Vestra Varv.",),
            [("user", "works_at", "Ostra Varv")],
            [("user", "works_at", "Vestra Varv")],
        ),
        (("user: I told you I own a raft but that was a lie",), [("user", "owns", "raft")], []),
        (("user: I never said I liked herring",), [("user", "likes", "herring")], []),
        (("user: it's not true that I own a raft, as I said",), [("user", "owns", "raft")], []),
        (("user: I don't actually have a sister, I made that up",), [("user", "sibling_of", "sister")], []),
        (("user: Please forget that I own a raft.",), [("user", "owns", "raft")], []),
        (("user: forget what I said about me owning a raft",), [("user", "owns", "raft")], []),
        (("user: Could you forget what I said about Piet liking eels?",), [("Piet", "likes", "eels")], []),
        (("user: I take back what I said about Piet liking eels",), [("Piet", "likes", "eels")], []),
        (("user: Can you remove the fact that I live in Delft",), [("user", "lives_in", "Delft")], []),
        (("user: So I never actually said I wanted a goat!",), [("user", "wants", "goat")], []),
        (("user: I own a raft. Scratch that.",), [("user", "owns", "raft")], []),
        (("user: I own a mill. Just kidding.",), [("user", "owns", "mill")], []),
        (
            ("user: I own a mill. I love eels. Forget I said that",),
            [("user", "likes", "eels")],
            [("user", "owns", "mill")],
        ),
    ],
)
def test_a_message_takes_back_what_it_says_itself(
    said, lines: tuple[str, ...], retracted: list[Fact], asserted: list[Fact]
) -> None:
    claims = said(*lines)
    assert facts(claims, Act.RETRACT) == retracted
    assert facts(claims, Act.ASSERT) == asserted


@pytest.mark.parametrize(
    ("lines", "retracted"),
    [
        (("user: I own a raft", "assistant: ok", "user: I take that back"), [("user", "owns", "raft")]),
        (("user: I own a raft", "user: Oops, wrong chat. Scratch that."), [("user", "owns", "raft")]),
        (("user: I live in Delft", "user: delete that please"), [("user", "lives_in", "Delft")]),
        (
            ("user: My brother Piet likes eels", "user: Forget what I said about Piet liking eels."),
            [("Piet", "likes", "eels")],
        ),
        (("Olga: I own a raft", "user: scratch that"), []),
        (("user: I own a raft", "user: thanks", "user: I take that back"), [("user", "owns", "raft")]),
        (("user: I own a raft. Will it float?", "user: scratch that, is it heavy?"), []),
        (("user: I own a raft", "user: Which wood is light?", "user: I take that back"), []),
        (("user: Forget what I just told you.",), [("user", "relates_to", "that")]),
        (("user: hi", "assistant: You own a raft.", "user: please forget that"), [("user", "relates_to", "that")]),
        (("user: Which wood is light?", "user: forget that"), []),
        (("user: just kidding",), []),
        (("Olga: I own a raft", "user: forget that"), []),
    ],
)
def test_what_was_said_before_is_taken_back(said, lines: tuple[str, ...], retracted: list[Fact]) -> None:
    assert facts(said(*lines), Act.RETRACT) == retracted


@pytest.mark.parametrize(
    ("line", "topic"),
    [
        ("that thing about the raft was a joke", "the raft"),
        ("please disregard the thing about Oddo and newts", "Oddo and newts"),
        ("forget what I said about Gerda", "Gerda"),
        ("I was wrong about the raft", "the raft"),
        ("I lied about the raft!", "the raft"),
    ],
)
def test_a_retraction_that_names_a_thing_states_no_fact_of_it(said, line: str, topic: str) -> None:
    """Which known fact is meant is for the fold to say, which sees every conversation."""
    (claim,) = said("user: My sister Gerda likes the raft", f"user: {line}")
    assert (claim.act, claim.relation, claim.object, claim.value) == (Act.RETRACT, "relates_to", None, topic)


@pytest.mark.parametrize("line", ["Forget I mentioned my sister, ok?", "forget everything I said about my sister"])
def test_everything_about_somebody_is_retracted(said, line: str) -> None:
    (claim,) = said(f"user: {line}")
    assert (claim.act, claim.relation, claim.value) == (Act.RETRACT_ALL, "relates_to", "my sister")


def test_what_is_said_of_the_thing_by_a_pronoun_is_read(said) -> None:
    claims = said("user: I was wrong about the herring, I can't stand it.")
    assert facts(claims, Act.RETRACT) == [("user", "relates_to", "the herring")]
    assert facts(claims, Act.ASSERT) == [("user", "dislikes", "herring")]


def test_what_follows_a_thing_is_read(said) -> None:
    claims = said("user: please ignore the thing about Oddo and newts. Oddo loves trains.")
    assert facts(claims, Act.ASSERT) == [("Oddo", "likes", "trains")]


@pytest.mark.parametrize(
    "line",
    [
        "user: don't forget my appointment",
        "user: I keep forgetting names",
        "user: forget about Delft, let's talk Lisbon",
        "user: I forgot my keys",
        "user: did you forget what I said about Delft?",
        "user: I forgot what I said about living in Delft",
        "user: I forget what I said about living in Delft",
        "user: the thing about my post at Delft is tricky",
        "user: Gerd told me to forget what I said about living in Delft",
        "user: delete that file",
        "user: Ignore the error, the test fails in line 3",
        "user: forget it",
        "assistant: Forget what I said about Delft.",
        'user: the sign says "forget that I live in Delft, it is a lie"',
    ],
)
def test_words_of_forgetting_that_take_nothing_back(said, line: str) -> None:
    assert facts(said("user: I live in Delft", line), Act.RETRACT) == []


def test_a_plan_struck_in_speech_stays_a_plan_given_up(said) -> None:
    claims = said("user: I'm planning to rent a raft. Scratch that.")
    assert [(c.act, c.relation, c.flags) for c in claims] == [(Act.ASSERT, "plans", ("abandoned_intent",))]


def test_a_new_thing_is_wanted_as_new(claims_of) -> None:
    assert claims_of("I want a new job.") == ["user | wants | new job"]
    assert claims_of("I own a new raft.") == ["user | owns | raft"]


def test_what_follows_an_errand_that_is_dropped_is_read(claims_of) -> None:
    assert claims_of("forget the permit thing, we no longer plan to buy a raft") == ["user | plans | buy a raft | -"]


def test_a_retraction_and_an_assertion_of_one_message_are_two_claims(extractor) -> None:
    """The retracted fact is told again right after it, so only the act differs."""
    text = "user: I said I own a raft, that was wrong. I own a raft."
    tables = extract([segment(text)], extractor)
    rows = tables["claims"].to_pylist()
    assert sorted(row["act"] for row in rows) == ["assert", "retract"]
    assert len({row["claim_id"] for row in rows}) == 2
    assert tables["extraction_issues"].to_pylist() == []


@pytest.mark.parametrize(
    ("topic", "statement"),
    [
        ("Lena liking eels", "Lena likes eels."),
        ("me being a nurse", "I am a nurse."),
        ("my sister having a raft", "my sister has a raft."),
        ("owning a raft", "I own a raft."),
        ("the raft", None),
    ],
)
def test_a_doing_becomes_a_statement(topic: str, statement: str | None) -> None:
    assert finite(topic) == statement


def test_reported_speech_is_put_back_in_the_present() -> None:
    assert in_present("I liked eels") == "I like eels"
    assert in_present("Lena was a nurse") == "Lena is a nurse"
    assert in_present("I like eels") is None


def test_a_denial_is_affirmed() -> None:
    assert affirmed("I don't actually have a sister") == "I have a sister"
    assert affirmed("I have a sister") is None


@given(st.text(alphabet="forget what I said about that. ,?!\n'scratch", max_size=80))
def test_taking_out_retractions_keeps_the_length_of_a_text(text: str) -> None:
    parts = passages(text)
    assert len(without(text, parts)) == len(text)
    assert all(0 <= part.start < part.end <= len(text) for part in parts)
