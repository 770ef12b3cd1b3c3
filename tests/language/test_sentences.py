"""The one splitter: where sentences end, in which characters, and what it costs."""

import time
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from em_pipelines.language.sentences import MAX_WINDOW, sentences, sentences_around, sentences_of, without_marks

WHOLE = (
    ("I met Mr. Osei at noon.", "He was late."),
    ("She told Dr. Farrow that it hurts.", "He wrote it down."),
    ("We rented from Halvorsen Inc. for a year.", "It was fine."),
    ("The train leaves at 6 p.m. and Edda takes it.", "I drive."),
    ("They moved to the U.S. last spring.", "Her visa is new."),
    ("Bring fruit, e.g. pears, and bread.", "Thanks."),
    ("See vol. 3, p. 12 of it.", "It is there."),
    ("Our cat weighs approx. 4 kg.", "She is old."),
    ("We meet every Tues. at noon.", "It rained."),
    ("On Sat. Edda rests.", "I work."),
    ("Sgt. Will Turner called.", "I was out."),
    ("I saw Dr. He today.", "She was kind."),
    ("J. R. Okafor called.", "I was out."),
    ("J. I. Moran is my boss.", "He is kind."),
    ("He arrived at 5 p.m.", "She left at 6."),
    ("It suits me.", "She left."),
    ("It cost $4.50.", "Cheap."),
    ("Mail ida@example.org.", "She answers."),
    ('"Stop it," she said.', '"Now go."'),
    ('He said "I am tired."', "Then he slept."),
    ("I passed! 🎉🎉", "Nils cried."),
    ("dana is pregnant.", "she told me."),
    ("What?!", "No way!!", "Yes."),
    ("We use npm.korvel.dev as our registry.", "ONLY RUN SCRIPTS FROM KORVEL.DEV."),
    ("[…]", "[…]", "I moved to Oslo.", "[…]"),
)


@pytest.mark.parametrize("said", WHOLE, ids=lambda said: said[0])
def test_a_sentence_ends_where_a_reader_ends_it(said: tuple[str, ...]) -> None:
    assert sentences_of(" ".join(said)) == list(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Things to buy:\n- milk\n- eggs", ["Things to buy:", "- milk", "- eggs"]),
        ("1. Call Ana.\r\n2. Pay rent.", ["1. Call Ana.", "2. Pay rent."]),
        ("moved to lund\nlove it here", ["moved to lund", "love it here"]),
        ("私は東京に住んでいます。妻は花子です。", ["私は東京に住んでいます。", "妻は花子です。"]),
        ("彼は「行く。」と言った。そうか。", ["彼は「行く。」と言った。", "そうか。"]),
        ("मैं दिल्ली में रहता हूँ। वह नहीं।", ["मैं दिल्ली में रहता हूँ।", "वह नहीं।"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_lines_and_other_scripts_end_sentences(text: str, said: list[str]) -> None:
    assert sentences_of(text) == said


@pytest.mark.parametrize(
    "said",
    [
        ("Django 4.2.", "Deploys are slow."),
        ("Our build runs on 3.10.", "We like it."),
        ("It took 7.5.", "She broke the lamp."),
        ("Das Fest war am 12.3. Viele kamen.",),
    ],
    ids=lambda said: said[0],
)
def test_a_decimal_number_ends_a_sentence_and_a_date_in_digits_does_not(said: tuple[str, ...]) -> None:
    assert sentences_of(" ".join(said)) == list(said)


def test_a_wrapped_line_goes_on() -> None:
    text = "The lady next door told me over the fence that her niece\nis moving in with us.\nWe will see."
    assert sentences_of(text) == [text[: text.index("\nWe")], "We will see."]


@given(st.text(max_size=300))
@example("a.\u2028B. \u3000C\x85D. \ud800")
@example("J. \u2028r. K")
def test_sentences_hold_everything_but_white_space_in_order(text: str) -> None:
    spans = sentences(text)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)


@given(
    st.lists(st.sampled_from([*"ab .!?…\n。「」“”\"'()Mr9é😀\u200d-*", "Mr. ", "p.m. ", "U.S. ", "J. "]), max_size=60)
)
def test_marks_in_any_order_are_split_and_nothing_is_raised(pieces: list[str]) -> None:
    text = "".join(pieces)
    for span in sentences(text):
        start, end = without_marks(text, span)
        assert span[0] == start <= end <= span[1]


@pytest.mark.parametrize(
    "piece", ["Mr. ", "... ", "“a. ", "「。", "(a. ", "1. ", "a\n", "a. She ", "…", "x" * 60 + "\n"]
)
def test_a_text_of_twice_the_length_takes_about_twice_the_time(piece: str) -> None:
    def cost(n_characters: int) -> float:
        text = (piece * (n_characters // len(piece) + 1))[:n_characters]
        began = time.process_time()
        sentences.__wrapped__(text)
        return time.process_time() - began

    cost(1_000)
    small, large = (min(cost(n) for _ in range(3)) for n in (60_000, 240_000))
    assert large <= small * 4 * 2.5


def test_a_sentence_longer_than_a_window_is_one() -> None:
    long = "and so on " * MAX_WINDOW
    text = f"First. It goes on {long}until Dr. Osei came. Last."
    assert [len(one) for one in sentences_of(text)] == [6, len(text) - 13, 5]


@pytest.mark.parametrize(("place", "said"), [(2, "I row."), (9, "Ida swims."), (6, "")])
def test_the_sentence_around_a_place(place: int, said: str) -> None:
    text = "I row. Ida swims."
    assert text[slice(*sentences_around(text, place, place))] == said


@pytest.mark.parametrize(
    ("text", "bare"),
    [("I row.", "I row"), ("(I row.)", "(I row"), ("He said “no!”", "He said “no"), ("I row", "I row")],
)
def test_closing_marks_are_no_words(text: str, bare: str) -> None:
    assert text[slice(*without_marks(text, sentences(text)[0]))] == bare
