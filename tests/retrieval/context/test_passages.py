"""What is quoted of messages: whole sentences, the best first, within their room."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.retrieval.context.passages import Asked, quotes
from em_pipelines.retrieval.context.sections import count_tokens
from em_pipelines.retrieval.documents import MESSAGE, Hit

SAID_AT = datetime(2026, 3, 2, 10, tzinfo=UTC)
PLAIN = Hit(MESSAGE, "s1", 0, None, "", 1.0, date(2026, 3, 2), "user", {}, is_own=True, said_at=SAID_AT)
FILLER = "The ferry over the sound was late again, as on every trip to the yard in this long and windy spring."


def hit(turn: int, text: str, **more) -> tuple[Hit, float]:
    share = more.pop("share", 1.0)
    return replace(PLAIN, turn_number=turn, text=text, said_at=SAID_AT + timedelta(minutes=turn), **more), share


def told(found: list[tuple[Hit, float]], question: str, room: int = 400) -> list[str]:
    lines = quotes(found, Asked(question, (), 40), room)
    return [ElementTree.fromstring(line.text).text or "" for line in lines]


def test_a_short_message_is_quoted_whole_and_of_a_long_one_the_sentence_that_answers() -> None:
    long = f"{FILLER} We painted the boat in linseed oil. {FILLER}"
    found = told([hit(0, "The boat? Ask Piet."), hit(1, long)], "What did I paint the boat with?", 75)
    assert found == ["We painted the boat in linseed oil.", "The boat? Ask Piet."]


def test_what_was_left_out_between_two_sentences_shows() -> None:
    text = f"The kiln is new. {FILLER} The kiln cost 900 euros, says Ilse."
    (quote,) = told([hit(0, text)], "What did the kiln cost?", 60)
    assert quote == "The kiln is new. … The kiln cost 900 euros, says Ilse."


def test_of_an_assistant_nothing_is_quoted_that_was_blanked_nor_code() -> None:
    text = (
        "Use linseed oil for the boat.\n```sh\nmix boat oil\n```\n1. Sand the boat […] first.\n2. Oil the boat twice."
    )
    reply = hit(0, text, is_own=False, is_of_assistant=True, speaker="assistant")
    (quote,) = told([reply], "Which oil did you recommend for the boat?")
    assert quote == "Use linseed oil for the boat. … 2. Oil the boat twice."


def test_the_same_sentence_is_quoted_once() -> None:
    same = [hit(n, f"Ilse loves the old wooden boat{mark}") for n, mark in enumerate("!.?")]
    assert len(told(same, "What does Ilse love?")) == 1


def test_a_question_over_time_gets_a_sentence_of_each_message_in_their_order() -> None:
    said = [hit(n, f"Today the boat got its {n}th plank. {FILLER}", share=1 - n / 10) for n in range(5)]
    said.append(hit(9, "The boat is a fine project.", is_own=False, is_of_assistant=True, speaker="assistant"))
    (quote,) = told(said[::-1], "How has the boat come along? Give me a summary.")
    assert [quote.find(f"{n}th") for n in range(5)] == sorted(quote.find(f"{n}th") for n in range(5))
    assert "fine project" not in quote


def test_a_sentence_worth_keeping_comes_before_another() -> None:
    text = f"{FILLER} {FILLER} My boat, well, what a boat. My boat is called Heron."
    start = text.find("My boat is")
    labelled = hit(0, text, labels=((start, start + 24, 0.95),))
    assert told([hit(0, text)], "Which boat?", 34) == ["My boat, well, what a boat."]
    assert told([labelled], "Which boat?", 34) == ["My boat is called Heron."]


@given(
    texts=st.lists(st.text(max_size=300), max_size=6),
    question=st.sampled_from(["What about the boat?", "Give me a summary of the boat."]),
    room=st.integers(0, 300),
)
def test_whatever_was_said_the_lines_fit_their_room_and_parse(texts: list[str], question: str, room: int) -> None:
    lines = quotes([hit(n, text) for n, text in enumerate(texts)], Asked(question, (), 40), room)
    assert sum(count_tokens(line.text) for line in lines) <= room
    for line in lines:
        assert ElementTree.fromstring(line.text).tag == "quote"


@pytest.mark.parametrize("room", [0, 5, 11])
def test_without_room_nothing_is_quoted(room: int) -> None:
    assert told([hit(0, "The boat is blue.")], "Which colour has the boat?", room) == []


def test_a_sentence_with_another_number_is_another() -> None:
    said = [hit(n, f"The response time of the dashboard is {n}00 ms now.") for n in (3, 2)]
    assert len(told(said, "What is the response time of the dashboard?")) == 2


def test_of_a_value_that_changed_the_newest_is_quoted_and_the_older_one_says_so() -> None:
    older = hit(0, "The response time of the dashboard is 300 ms.")
    newer = hit(5, "The response time of our dashboard improved to 250 ms.", said_on=date(2026, 4, 1), share=0.2)
    others = [hit(n, f"The dashboard has a {thing} with many colours.") for n, thing in enumerate(("map", "list"), 1)]
    found = told([older, newer, *others], "What is the response time of the dashboard?", 200)
    assert found[0] == "The response time of the dashboard is 300 ms. (before 2026-04-01)"
    assert "The response time of our dashboard improved to 250 ms." in found
