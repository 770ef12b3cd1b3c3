"""What fills the slots of frames: noun phrases of a kind, lists of them, verb phrases, dates, ages and values.

Every matcher is given a token and a limit and returns what fills the slot and where it ends, or None.
"""

from collections.abc import Callable
from copy import copy
from functools import lru_cache

from em_pipelines.extraction.rules.fillers import (
    MAX_LIST,
    Fill,
    Filled,
    read_age,
    read_feeling,
    read_height,
    read_languages,
    read_measure_of,
    read_owner,
    read_thing_owner,
    read_value,
    read_when,
)
from em_pipelines.extraction.rules.kinds import TESTS, is_kind
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.names import Reading, is_name
from em_pipelines.extraction.rules.noun_phrases import NounPhrase, parse_noun_phrase
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.verb_phrases import complement_end, is_ing, verb_phrase_end
from em_pipelines.extraction.rules.word_classes import ADV

BARE = frozenset({"predicate"})
"""A verb alone is a predicate: `I don't smoke`."""
_BINOMIALS = words("nouns", "binomials")
SUBJECT_KINDS = frozenset({"person", "self", "named", "thing", "event", "matter", "occasion", "pet", "any"})


def fill_slot(reading: Reading, kinds: frozenset[str], i: int, stop: int, *, either: bool = False) -> Filled | None:
    """What of these kinds starts at token i; `either` lets `A or B` be a list too."""
    if i >= stop:
        return _predicate(reading, i, stop) if kinds == BARE and reading.tokens[i - 1].verbs else None
    for special in _specials(kinds):
        found = special(reading, i, stop)
        if found is not None:
            return found
    first = _phrase_at(reading, i, stop)
    if first is None or ("owned" not in kinds and not is_kind(reading, kinds, first)):
        return None
    return _phrases(reading, kinds, i, stop, either=either)


@lru_cache(maxsize=4096)
def _specials(kinds: frozenset[str]) -> tuple[Callable[[Reading, int, int], Filled | None], ...]:
    return tuple(special for kind, special in _SPECIAL.items() if kind in kinds)


def _phrase_at(reading: Reading, i: int, stop: int) -> NounPhrase | None:
    key = i, stop
    if key not in reading.phrases:
        reading.phrases[key] = parse_noun_phrase(reading.tokens, i, stop)
    return reading.phrases[key]


def _phrases(reading: Reading, kinds: frozenset[str], i: int, stop: int, *, either: bool) -> Filled | None:
    """One phrase of the kinds, or a list of them joined by commas and `and`."""
    fills: list[Fill] = []
    end = i
    for _ in range(MAX_LIST):
        phrase = _phrase_at(reading, i, stop)
        if phrase is None:
            break
        if not is_kind(reading, kinds, phrase):
            skipped = _after_joint(reading.tokens, phrase.end, stop, either=either) if "owned" in kinds else None
            if skipped is None or phrase.det is None:
                break
            i = skipped
            continue
        phrase = _whole(reading, _by_name(reading, phrase, stop), stop)
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


def _whole(reading: Reading, phrase: NounPhrase, stop: int) -> NounPhrase:
    """`peace and quiet` is one thing."""
    tokens, end = reading.tokens, phrase.end
    is_joined = end + 1 < stop and tokens[end].low in {"and", "&", "n"}
    if is_joined and f"{tokens[end - 1].low}-{tokens[end + 1].low}" in _BINOMIALS:
        phrase = copy(phrase)  # other patterns may want its first half
        phrase.end = end + 2
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
    while i < stop and len(fills) < MAX_LIST:
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


def _predicate_place(reading: Reading, i: int, stop: int) -> Filled | None:
    """As the predicate, where a place follows: `visiting Bergen`."""
    place = _phrases(reading, frozenset({"place"}), i, stop, either=False)
    return ([Fill(i - 1, place[1])], place[1]) if place else None


def _wedding(reading: Reading, i: int, stop: int) -> Filled | None:
    is_wedding = i < stop and reading.tokens[i].low in {"married", "engaged", "divorced"}
    return ([Fill(i - 1, i + 1)], i + 1) if is_wedding else None


def _predicate_to(reading: Reading, i: int, stop: int) -> Filled | None:
    """As the predicate, where `to` or `for` and a place follow: `moving to Bergen`."""
    if reading.tokens[i].low not in {"to", "for"}:
        return None
    place = _phrases(reading, frozenset({"place"}), i + 1, stop, either=False)
    return ([Fill(i - 1, place[1])], place[1]) if place else None


_SPECIAL: dict[str, Callable[[Reading, int, int], Filled | None]] = {
    "age": read_age,
    "date": read_when,
    "feeling": read_feeling,
    "language": read_languages,
    "height": read_height,
    "infinitive": _infinitive,
    "ing": _ing_phrases,
    "measure_of": read_measure_of,
    "owner": read_owner,
    "predicate": _predicate,
    "predicate_place": _predicate_place,
    "predicate_to": _predicate_to,
    "wedding": _wedding,
    "thing_owner": read_thing_owner,
    "value": read_value,
}
KINDS = frozenset(TESTS) | frozenset(_SPECIAL) | SUBJECT_KINDS
