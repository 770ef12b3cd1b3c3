"""What fills slots that take no noun phrase: dates, ages, languages, values, feelings, measures and owners.

Every reader is given a token and a limit and returns what fills the slot and where it ends, or None.
"""

import re
from copy import copy
from dataclasses import dataclass, replace

from em_pipelines.extraction.rules.date_words import PartialDate, number_of
from em_pipelines.extraction.rules.dates import read_date
from em_pipelines.extraction.rules.kinds import is_kind
from em_pipelines.extraction.rules.kinds_listed import kin_noun
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.names import Reading
from em_pipelines.extraction.rules.noun_phrases import NounPhrase, parse_noun_phrase
from em_pipelines.extraction.rules.word_classes import ADV, CONJ, PREP, PUNCT


@dataclass(frozen=True, slots=True)
class Fill:
    """Something in a slot: tokens `start` to `end`, the phrase it is, the date it means, or a text to use instead."""

    start: int
    end: int
    phrase: NounPhrase | None = None
    when: PartialDate | None = None
    text: str | None = None


def anew(reading: Reading, fill: Fill) -> Fill:
    """The fill with the word `new` before its noun, which phrases leave out like all words of judgement."""
    phrase = fill.phrase
    if phrase is None or phrase.possessor_phrase is not None or phrase.first <= phrase.start:
        return fill
    if reading.tokens[phrase.first - 1].low != "new":
        return fill
    whole = copy(phrase)  # other patterns read the phrase without
    whole.first -= 1
    return replace(fill, phrase=whole)


Filled = tuple[list[Fill], int]
"""The fills (several for `A, B and C`) and the token after them."""

MAX_LIST = 12
"""Parts of one list that are read."""
_MAX_VALUE = 5
_LANGUAGES = words("nouns", "languages")
_BETWEEN_LANGUAGES = words("words", "between_languages")
_MEASURES = words("nouns", "measures")
_HEIGHT = re.compile(r"[12][.,]\d\d")
_FEELINGS = words("nouns", "feelings")


def read_when(reading: Reading, i: int, stop: int) -> Filled | None:
    found = read_date(reading.tokens, i, stop, reading.written_on)
    return ([Fill(i, found[1], when=found[0])], found[1]) if found else None


def read_age(reading: Reading, i: int, stop: int) -> Filled | None:
    """`41`, `41 years old`, `seven`: not `10 minutes late`."""
    tokens = reading.tokens
    number = number_of(tokens, i, stop)
    if number is None or not 1 < number[0] < 120:
        return None
    end = number[1]
    if end < stop and tokens[end].low in {"years", "yrs", "yo", "y/o"}:
        end += 2 if end + 1 < stop and tokens[end + 1].low in {"old", "young"} else 1
        if tokens[end - 1].low in {"years", "yrs"}:
            return None
    elif (
        end < stop
        and not tokens[end].bits & (PUNCT | CONJ | ADV)
        and tokens[end].low not in {"last", "this", "on", "in", "next"}
    ):
        return None
    return [Fill(i, end, text=str(number[0]))], end


def read_languages(reading: Reading, i: int, stop: int) -> Filled | None:
    """Languages in a row, however joined: `english dutch and a bit of welsh`."""
    fills: list[Fill] = []
    end = i
    while i < stop and len(fills) < MAX_LIST:
        low = reading.tokens[i].low
        if low in _LANGUAGES:
            fills.append(Fill(i, i + 1))
            end = i + 1
        elif low not in _BETWEEN_LANGUAGES and not reading.tokens[i].bits & ADV:
            break
        i += 1
    return (fills, end) if fills else None


def read_value(reading: Reading, i: int, stop: int) -> Filled | None:
    """The few words after `is`, up to the next mark or joint."""
    tokens = reading.tokens
    end = i
    while end < stop and end - i < _MAX_VALUE and not tokens[end].bits & (PUNCT | CONJ | ADV | PREP):
        end += 1
    return ([Fill(i, end)], end) if end > i else None


def read_feeling(reading: Reading, i: int, stop: int) -> Filled | None:
    tokens = reading.tokens
    if tokens[i].low in _FEELINGS:
        return [Fill(i, i + 1)], i + 1
    if i + 1 < stop and f"{tokens[i].low}-{tokens[i + 1].low}" in _FEELINGS:
        return [Fill(i, i + 2)], i + 2
    return None


def read_height(reading: Reading, i: int, stop: int) -> Filled | None:
    """`1.87`, `1.87 m`."""
    match = _HEIGHT.fullmatch(reading.tokens[i].low)
    if match is None:
        return None
    end = i + 1
    while end < stop and end < i + 2 and reading.tokens[end].low in {"m", "metres", "meters"}:
        end += 1
    return [Fill(i, end)], end


def read_measure_of(reading: Reading, i: int, stop: int) -> Filled | None:
    """`a limit of`: the measure, before its amount."""
    at = i + (reading.tokens[i].low in {"a", "an", "the"})
    is_measure = at + 2 < stop and reading.tokens[at].low in _MEASURES and reading.tokens[at + 1].low == "of"
    return ([Fill(at, at + 1)], at + 2) if is_measure else None


def read_thing_owner(reading: Reading, i: int, stop: int) -> Filled | None:
    """`printer's`."""
    phrase = parse_noun_phrase(reading.tokens, i, stop)
    owner = phrase.possessor_phrase if phrase is not None else None
    if owner is None or is_kind(reading, frozenset({"person"}), owner):
        return None
    return [Fill(owner.start, owner.end, owner)], owner.end + 1


def read_owner(reading: Reading, i: int, stop: int) -> Filled | None:
    """`Lena's`, `my husband's`."""
    for k in range(i + 1, min(stop, i + 6)):
        if reading.tokens[k].low == "'s":
            phrase = parse_noun_phrase(reading.tokens, i, k)
            if (
                phrase is not None
                and phrase.end == k
                and (is_kind(reading, frozenset({"person"}), phrase) or kin_noun(reading, phrase) is not None)
            ):
                return [Fill(i, k + 1, phrase)], k + 1
    return None
