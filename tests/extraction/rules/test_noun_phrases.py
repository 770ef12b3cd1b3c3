from datetime import date

import pytest

from em_pipelines.extraction.rules.names import Reading, is_name
from em_pipelines.extraction.rules.people import phrase_text
from em_pipelines.extraction.rules.slots import fill_slot
from em_pipelines.language.en.noun_phrases import parse_noun_phrase
from em_pipelines.language.en.tokens import tokenise


def reading(text: str) -> Reading:
    tokens = tokenise(text)
    return Reading(tokens, text, date(2026, 3, 5), any(t.is_capital and t.low != "i" for t in tokens))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Someday Joris wants a boat", "Joris"),
        ("the University of Aberystwyth in autumn", "University of Aberystwyth"),
        ("a really good loaf of rye bread", "loaf of rye bread"),
        ("a lot of old maps", "maps"),
        ("two wooden boats", "wooden boats"),
        ("my brother's red kayak", "brother's red kayak"),
        ("Hobbs & Daughters called", "Hobbs & Daughters"),
        ("my sister lives here", "sister"),
        ("Dr. Moss likes eels", "Dr. Moss"),
        ("freshly baked rolls", "baked rolls"),
        ("some mother-of-pearl buttons, please", "mother-of-pearl buttons"),
        ("samba band last month", "samba band"),
        ("big data, always", "big data"),
        ("big business and", "big business"),
        ("small eels", "eels"),
        ("a big business", "business"),
        ("big tent", "tent"),
        ("big Signe", "Signe"),
    ],
)
def test_phrase_is_named_without_determiners_and_ends_before_the_verb(text: str, name: str) -> None:
    here = reading(text)
    phrase = parse_noun_phrase(here.tokens, 0, len(here.tokens))
    assert phrase is not None
    assert phrase_text(here, phrase) == name


@pytest.mark.parametrize("text", ["and so on", "to sail", "it", "the", "", "of mice"])
def test_no_phrase_starts_where_none_does(text: str) -> None:
    here = reading(text)
    assert parse_noun_phrase(here.tokens, 0, len(here.tokens)) is None


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("plums, pears and green figs today", ["plums", "pears", "green figs"]),
        ("plums and pears", ["plums", "pears"]),
        ("plums, which rot", ["plums"]),
        ("plums & pears & figs", ["plums", "pears", "figs"]),
    ],
)
def test_lists_give_each_part(text: str, names: list[str]) -> None:
    here = reading(text)
    found = fill_slot(here, frozenset({"thing"}), 0, len(here.tokens))
    assert found is not None
    assert [phrase_text(here, fill.phrase) for fill in found[0] if fill.phrase] == names


@pytest.mark.parametrize(
    ("text", "start", "expected"),
    [
        ("I met Signe", 2, True),
        ("Zorp is late", 0, True),
        ("Trains are late", 0, False),
        ("Coffee is late", 0, False),
        ("i met signe", 2, True),
    ],
)
def test_names_are_capitalised_unless_nothing_is(text: str, start: int, expected: bool) -> None:
    here = reading(text)
    phrase = parse_noun_phrase(here.tokens, start, len(here.tokens))
    assert phrase is not None
    assert is_name(here, phrase) is expected


def test_spans_stay_those_of_the_text() -> None:
    text = "dont   tell Anna's aunt it’s 3.5 km"
    for token in tokenise(text.replace("’", "'")):
        assert 0 <= token.start < token.end <= len(text)
