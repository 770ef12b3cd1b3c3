"""Forms of questions: what an answer states by them, and where nothing is made of it."""

import pytest

from em_pipelines.extraction.rules.acceptance import in_own_words
from em_pipelines.language.en.lexicon import load_lexicon
from em_pipelines.language.en.question_forms import FILLS, question_forms


@pytest.mark.parametrize(
    ("asked", "answered", "meant"),
    [
        ("When is Dana's birthday? I can then remind you.", "12 May", ["Dana's birthday is on 12 May."]),
        ("When is your trip to Lisbon?", "march", ["My trip to Lisbon is in march."]),
        ("When is your trip to Lisbon?", "In two weeks!", ["My trip to Lisbon is in two weeks."]),
        ("So that tips are near you, which town do you live in?", "It's Graz, haha", ["I live in Graz."]),
        ("Which town are you based in?", "Graz, we moved here in May", ["I live in Graz."]),
        ("Are you still living in Bremen?", "No, Oslo now", ["I no longer live in Bremen.", "I live in Oslo."]),
        ("Are you still living in Bremen these days?", "yep!", ["I still live in Bremen."]),
        ("Do you live in Delft or in Porto?", "porto", ["I live in Porto.", "I no longer live in Delft."]),
        ("Is there any food you would rather skip?", "Vegan here", ["I am vegan."]),
        ("Is there any food you would rather skip?", "No mushrooms please", ["I do not like mushrooms."]),
        ("Is there any food you would rather skip?", "Vegan", ["I am vegan."]),
        ("Who is Egon to you?", "An old friend from school", ["Egon is my friend from school."]),
        ("What is your brother's name?", "His name is Tomasz", ["My brother is called Tomasz."]),
        ("How do you get around in Graz?", "by bike and tram", ["I use my bike and my tram to get around."]),
        ("What do you do for work?", "Nursing", ["I work as nursing."]),
        ("Which programs do you use most?", "Excel, Figma and Zed", ["I use Excel, Figma and Zed for work."]),
        ("Are you into chess often, or only now and then?", "quite often", ["I like chess."]),
    ],
)
def test_an_answer_of_a_few_words_becomes_a_sentence(asked: str, answered: str, meant: list[str]) -> None:
    assert in_own_words(asked, answered) == meant


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("When is your trip to Lisbon?", "not sure yet"),
        ("When is your trip to Lisbon?", "why do you ask?"),
        ("Which town do you live in?", "here and there"),
        ("Which town do you live in?", "I don't know what you mean by that"),
        ("Do you live in Delft or in Porto?", "both"),
        ("Do you live in Delft or in Porto?", "yes"),
        ("Do you live in Delft or in Porto?", "Oslo"),
        ("What do you do for work?", "kids"),
        ("What kind of animal is Bosse?", "a menace"),
        ("How do you get around in Graz?", "on foot"),
        ("Is Anna the same person as Anna Bos?", "yes"),
        ("Which town do you live in? " + "It rained, and I carried the chairs " * 4 + "home.", "Graz"),
        ("Which town do you live in? I once lived in Oslo. It was cold.", "Graz"),
        ("Which town do you live in?", ""),
        ("Which town do you live in?", "..."),
        ("", "Graz"),
        ("When is " + "a" * 700 + "?", "in March"),
    ],
)  # fmt: skip
def test_what_is_no_answer_becomes_none(asked: str, answered: str) -> None:
    assert in_own_words(asked, answered) == []


def test_every_form_can_be_filled() -> None:
    for form, given in zip(question_forms(), load_lexicon("questions")["forms"], strict=True):
        assert set(given) <= {"asked", "affirmed", "denied", "often", "says", "picks"}
        slots = {name for pattern in form.asked for name in pattern.groupindex}
        everywhere = set.intersection(*(set(pattern.groupindex) for pattern in form.asked))
        wanted = "".join((form.affirmed, form.denied, form.often, *form.says, form.picks))
        assert slots <= {"thing", "other"}
        for name in ("thing", "other"):
            assert f"{{{name}}}" not in wanted or name in everywhere
        named = {word.split("}")[0] for word in "".join(form.says).split("{")[1:]}
        assert named <= FILLS.keys() | {"thing"}
