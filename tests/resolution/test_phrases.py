"""A thing and a sentence about it are two, and a thing is not called after what is done with it."""

from collections.abc import Callable
from typing import Any

import pytest

from em_pipelines.language.en.clause_parser import is_beside, is_clause, is_statement, is_verb_phrase

Run, Said, ReadBy = Callable[..., Any], Callable[..., dict[str, Any]], Callable[..., dict[str, str]]


@pytest.mark.parametrize(
    "text", ["Ines keeps me sane", "public transport should be free", "bread is better warm", "the choir gave us hope"]
)
def test_a_finite_verb_makes_a_sentence(text: str) -> None:
    assert is_statement(text)


@pytest.mark.parametrize(
    "text",
    ["Ines Falk", "horror films", "boat races", "bird watching", "The World Is Enough", "watch a film", "smoked trout",
     "people who care", "St Odile's Hall", "Journal of Applied Things", "learn Danish"],
)  # fmt: skip
def test_a_noun_phrase_is_no_sentence(text: str) -> None:
    assert not is_statement(text)


def test_a_verb_with_what_it_is_done_to_is_a_verb_phrase() -> None:
    assert is_verb_phrase("watch a film")
    assert is_verb_phrase("to go for a walk")
    assert not is_verb_phrase("watch strap")


def test_a_person_and_a_sentence_about_them_are_two(run: Run, said: Said, read_by: ReadBy) -> None:
    text = "Ines keeps me sane when the ferry is late."
    rows = [said("Ines", "person", "Ines sings.", 0), said("Ines keeps me sane", "person", text, 1)]
    assert read_by(run(rows).entities) == {"ines": "Ines", "ines keeps me sane": "Ines keeps me sane"}


def test_an_opinion_is_not_the_thing_that_it_is_about(run: Run, said: Said, read_by: ReadBy) -> None:
    rows = [
        said("public transport", "concept", "I like public transport.", 0),
        said("public transport should be free", "concept", "I think public transport should be free.", 1),
    ]
    assert read_by(run(rows).entities)["public transport"] == "public transport"
    assert read_by(run(rows).entities)["public transport should be free"] == "public transport should be free"


def test_a_thing_keeps_its_name_beside_what_is_done_with_it(run: Run, said: Said, read_by: ReadBy) -> None:
    rows = [
        said("watch a horror film", "activity", "I want to watch a horror film.", 0),
        said("horror films", "work", "I like horror films.", 1),
    ]
    assert read_by(run(rows).entities)["horror films"] == "horror films"


def test_a_person_with_what_they_are_to_do_is_a_sentence() -> None:
    assert is_clause("Ines to rest and repaint")
    assert not is_clause("road to Ulm")


def test_what_is_named_behind_a_preposition_is_not_what_a_phrase_is_about() -> None:
    assert is_beside("harbour", "knitting at the harbour")
    assert not is_beside("knitting", "knitting at the harbour")
    assert not is_beside("Lakes", "Festival of Lakes")


def test_a_place_is_not_what_is_done_there(run: Run, said: Said, read_by: ReadBy) -> None:
    rows = [
        said("swimming at the quay", "place", "I love swimming at the quay.", 0),
        said("quay", "place", "We sat on the quay.", 1),
    ]
    assert read_by(run(rows).entities)["quay"] == "quay"


def test_two_occasions_of_one_society_are_two(run: Run, said: Said, read_by: ReadBy) -> None:
    rows = [
        said("IEEE conference", "event", "I went to the IEEE conference.", 0),
        said("IEEE book fair", "event", "The IEEE book fair is in May.", 1),
    ]
    assert read_by(run(rows).entities)["ieee book fair"] == "IEEE book fair"
