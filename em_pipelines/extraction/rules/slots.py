"""What fills the slots of frames: noun phrases of a kind, lists of them, verb phrases, dates, ages and values.

Every matcher is given a token and a limit and returns what fills the slot and where it ends, or None.
"""

from collections.abc import Callable
from dataclasses import dataclass

from em_pipelines.extraction.rules.date_words import PartialDate, number_of
from em_pipelines.extraction.rules.dates import read_date
from em_pipelines.extraction.rules.kinds import TESTS, is_kind
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.names import Reading, is_name
from em_pipelines.extraction.rules.noun_phrases import NounPhrase, parse_noun_phrase
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.verb_phrases import complement_end, is_ing, verb_phrase_end
from em_pipelines.extraction.rules.word_classes import ADV, CONJ, PREP, PUNCT


@dataclass(frozen=True, slots=True)
class Fill:
    """Something in a slot: tokens `start` to `end`, the phrase it is, the date it means, or a text to use instead."""

    start: int
    end: int
    phrase: NounPhrase | None = None
    when: PartialDate | None = None
    text: str | None = None


Filled = tuple[list[Fill], int]
"""The fills (several for `A, B and C`) and the token after them."""

SUBJECT_KINDS = frozenset({"person", "self", "named", "thing", "event", "any"})
_MAX_LIST = 12
_MAX_VALUE = 5
_LANGUAGES = words("nouns", "languages")
_BETWEEN_LANGUAGES = words("words", "between_languages")
_FEELINGS = words("nouns", "feelings")


def fill_slot(reading: Reading, kinds: frozenset[str], i: int, stop: int, *, either: bool = False) -> Filled | None:
    """What of these kinds starts at token i; `either` lets `A or B` be a list too."""
    if i >= stop:
        return None
    for kind in kinds:
        special = _SPECIAL.get(kind)
        found = special(reading, i, stop) if special is not None else None
        if found is not None:
            return found
    return _phrases(reading, kinds, i, stop, either=either)


def _phrases(reading: Reading, kinds: frozenset[str], i: int, stop: int, *, either: bool) -> Filled | None:
    """One phrase of the kinds, or a list of them joined by commas and `and`."""
    fills: list[Fill] = []
    end = i
    while len(fills) < _MAX_LIST:
        phrase = parse_noun_phrase(reading.tokens, i, stop)
        if phrase is None or not is_kind(reading, kinds, phrase):
            break
        phrase = _by_name(reading, phrase, stop)
        fills.append(Fill(phrase.start, phrase.end, phrase))
        end = phrase.end
        joined = _after_joint(reading.tokens, end, stop, either=either)
        if joined is None:
            break
        i = joined
    return (fills, end) if fills else None


def _by_name(reading: Reading, phrase: NounPhrase, stop: int) -> NounPhrase:
    """`a band called Tin Weasel` is Tin Weasel."""
    if phrase.end < stop and reading.tokens[phrase.end].low in {"called", "named"}:
        named = parse_noun_phrase(reading.tokens, phrase.end + 1, stop)
        if named is not None and is_name(reading, named):
            return named
    return phrase


def _after_joint(tokens: list[Token], i: int, stop: int, *, either: bool) -> int | None:
    """Past `,`, `and` or `, and` between parts of a list; a comma counts only where an `and` comes later."""
    start = i
    joints = {"and", "&", "plus"} | ({"or", "nor"} if either else set())
    if i < stop and tokens[i].low == ",":
        i += 1
        if i < stop and tokens[i].low in joints:
            i += 1
        elif not any(tokens[k].low in joints for k in range(i, min(stop, i + 16))):
            return None
    elif i < stop and tokens[i].low in joints:
        i += 1
    while i < stop and tokens[i].bits & ADV and i > start:
        i += 1
    return i if start < i < stop else None


def _ing_phrases(reading: Reading, i: int, stop: int) -> Filled | None:
    """`hiking and cooking for friends` gives one each."""
    fills: list[Fill] = []
    end = i
    tokens = reading.tokens
    if not is_ing(tokens[i]):
        return None
    while i < stop and len(fills) < _MAX_LIST:
        if is_ing(tokens[i]):
            end = complement_end(tokens, i + 1, stop)
            fills.append(Fill(i, end))
        else:
            phrase = parse_noun_phrase(tokens, i, stop)
            if phrase is None or not is_kind(reading, frozenset({"thing"}), phrase):
                break
            end = phrase.end
            fills.append(Fill(phrase.start, end, phrase))
        joined = _after_joint(tokens, end, stop, either=False)
        if joined is None:
            break
        i = joined
    return fills, end


def _infinitive(reading: Reading, i: int, stop: int) -> Filled | None:
    if reading.tokens[i].low != "to":
        return None
    i += 1
    while (
        i < stop and reading.tokens[i].bits & ADV and not reading.tokens[i].verbs and reading.tokens[i].low != "never"
    ):
        i += 1
    end = verb_phrase_end(reading.tokens, i, stop)
    return ([Fill(i, _untimed(reading.tokens, i, end))], end) if end else None


def _predicate(reading: Reading, i: int, stop: int) -> Filled | None:
    """The clause's own verb, which ends before token i, with what follows it."""
    end = complement_end(reading.tokens, i, stop)
    return [Fill(i - 1, _untimed(reading.tokens, i, end))], end


def _untimed(tokens: list[Token], i: int, end: int) -> int:
    """`fix the gate first` without the `first`."""
    return end - 1 if end - 1 > i and tokens[end - 1].low == "first" else end


def _predicate_to(reading: Reading, i: int, stop: int) -> Filled | None:
    """As the predicate, where `to` or `for` and a place follow: `moving to Bergen`."""
    if reading.tokens[i].low not in {"to", "for"}:
        return None
    place = _phrases(reading, frozenset({"place"}), i + 1, stop, either=False)
    return ([Fill(i - 1, place[1])], place[1]) if place else None


def _date(reading: Reading, i: int, stop: int) -> Filled | None:
    found = read_date(reading.tokens, i, stop, reading.written_on)
    return ([Fill(i, found[1], when=found[0])], found[1]) if found else None


def _age(reading: Reading, i: int, stop: int) -> Filled | None:
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


def _languages(reading: Reading, i: int, stop: int) -> Filled | None:
    """Languages in a row, however joined: `english dutch and a bit of welsh`."""
    fills: list[Fill] = []
    end = i
    while i < stop and len(fills) < _MAX_LIST:
        low = reading.tokens[i].low
        if low in _LANGUAGES:
            fills.append(Fill(i, i + 1))
            end = i + 1
        elif low not in _BETWEEN_LANGUAGES and not reading.tokens[i].bits & ADV:
            break
        i += 1
    return (fills, end) if fills else None


def _value(reading: Reading, i: int, stop: int) -> Filled | None:
    """The few words after `is`, up to the next mark or joint."""
    tokens = reading.tokens
    end = i
    while end < stop and end - i < _MAX_VALUE and not tokens[end].bits & (PUNCT | CONJ | ADV | PREP):
        end += 1
    return ([Fill(i, end)], end) if end > i else None


def _feeling(reading: Reading, i: int, stop: int) -> Filled | None:
    tokens = reading.tokens
    if tokens[i].low in _FEELINGS:
        return [Fill(i, i + 1)], i + 1
    if i + 1 < stop and f"{tokens[i].low}-{tokens[i + 1].low}" in _FEELINGS:
        return [Fill(i, i + 2)], i + 2
    return None


def _owner(reading: Reading, i: int, stop: int) -> Filled | None:
    """`Lena's`, `my husband's`."""
    for k in range(i + 1, min(stop, i + 6)):
        if reading.tokens[k].low == "'s":
            phrase = parse_noun_phrase(reading.tokens, i, k)
            if phrase is not None and phrase.end == k and is_kind(reading, frozenset({"person"}), phrase):
                return [Fill(i, k + 1, phrase)], k + 1
    return None


_SPECIAL: dict[str, Callable[[Reading, int, int], Filled | None]] = {
    "age": _age,
    "date": _date,
    "feeling": _feeling,
    "language": _languages,
    "infinitive": _infinitive,
    "ing": _ing_phrases,
    "owner": _owner,
    "predicate": _predicate,
    "predicate_to": _predicate_to,
    "value": _value,
}
KINDS = frozenset(TESTS) | frozenset(_SPECIAL) | SUBJECT_KINDS
