import pytest

from em_pipelines.extraction.rules.acceptance import in_own_words

LIST = "Three places:\n1. **Moorhen Inn** – quiet\n2. Harbour House: by the water\n3. The Mill"


@pytest.mark.parametrize(
    ("asked", "answered", "meant"),
    [
        ("Do you have any pets?", "Yes, two cats", ["I have two cats."]),
        ("Do you have a raft?", "yes!", ["I have a raft."]),
        ("Do you eat eels?", "No, I'm vegan.", ["I do not eat eels."]),
        ("And do you still live in Delft?", "Not anymore", ["I no longer live in Delft."]),
        ("Nice. Where do you live?", "Delft", ["I live in Delft."]),
        ("What do you do for a living?", "a welder", ["I work as a welder."]),
        ("What's your favourite colour?", "green", ["My favourite colour is green."]),
        ("How old are you?", "41", ["I am 41."]),
        ("So you live in Delft, right?", "yes, exactly", ["I live in Delft."]),
        ("It sounds like you prefer rye.", "exactly", ["I prefer rye."]),
        (LIST, "I'll take the second one", ["I decided on Harbour House."]),
        ("Are you a vegetarian?", "I am!", ["I am a vegetarian."]),
    ],
)
def test_an_answer_is_put_into_the_speakers_words(asked: str, answered: str, meant: list[str]) -> None:
    assert in_own_words(asked, answered) == meant


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("You might like pottery.", "sounds good"),
        ("Do you want me to book it?", "yes"),
        ("Shall I go on?", "yes"),
        ("Are you ready?", "yes"),
        ("Do you have any pets?", "yes"),
        ("Do you like tea or coffee?", "yes"),
        ("Do you build mills or barns?", "no"),
        ("Do you build mills?", "no new builds this year"),
        ("Where do you live?", "why do you ask?"),
        ("Where do you live?", "no"),
        ("You live in Delft.", "yes"),
        ("Would you take the first?", "maybe"),
        (LIST, "I'll take the fourth one"),
        ("", "yes"),
    ],
)
def test_what_is_no_answer_to_a_question_of_fact_says_nothing(asked: str, answered: str) -> None:
    assert in_own_words(asked, answered) == []
