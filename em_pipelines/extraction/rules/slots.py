"""What fills the slots of frames: noun phrases of a kind and lists of them, verb phrases, dates, ages, values, owners.

Every reader is given a token and a limit and returns what fills the slot and where it ends, or None.
"""

import re
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache

from em_pipelines.extraction.rules.kinds import TESTS, is_kind
from em_pipelines.extraction.rules.names import Reading, is_name
from em_pipelines.language.dates.partial_dates import PartialDate
from em_pipelines.language.en.clauses import complement_end, verb_phrase_end
from em_pipelines.language.en.dates import number_of, read_date
from em_pipelines.language.en.lexicon import words
from em_pipelines.language.en.noun_phrases import NounPhrase, kin_noun, parse_noun_phrase
from em_pipelines.language.en.tokens import ADV, CONJ, NUMBER, PREP, PUNCT, Token
from em_pipelines.language.en.verb_groups import is_ing

BARE = frozenset({"predicate"})
"""A verb alone is a predicate: `I don't smoke`."""
FORMER = frozenset({"former", "ex", "erstwhile", "retired"})
_BINOMIALS = words("nouns", "binomials")
SUBJECT_KINDS = frozenset({"person", "self", "named", "thing", "event", "matter", "occasion", "pet", "any"})
_ABOUT_HOW_MANY = frozenset({"a", "an", "few", "couple", "of", "some", "about"})
_MAX_LIST = 12
"""Parts of one list that are read."""
_MAX_VALUE = 5
_LANGUAGES = words("nouns", "languages")
_BETWEEN_LANGUAGES = words("words", "between_languages")

_HEIGHT = re.compile(r"[12][.,]\d\d")
_FEELINGS = words("nouns", "feelings")
_YEARS_OLD = frozenset({"yo", "y/o"})
_YEARS = _YEARS_OLD | {"years", "yrs"}
_AFTER_AGE = frozenset({"last", "this", "on", "in", "next"})
_JOINTS = frozenset({"and", "&", "plus"})
_EITHER_JOINTS = _JOINTS | {"or", "nor"}
_FAR_AHEAD = 16
"""Tokens in which the last joint of a list may come."""


@dataclass(frozen=True, slots=True)
class Fill:
    """Something in a slot: tokens `start` to `end`, the phrase it is, the date it means, or a text to use instead."""

    start: int
    end: int
    phrase: NounPhrase | None = None
    when: PartialDate | None = None
    text: str | None = None


def with_judgement(reading: Reading, fill: Fill, kept: frozenset[str]) -> Fill:
    """The fill with such words before its noun, `new`, which phrases leave out like all words of judgement."""
    phrase = fill.phrase
    if phrase is None or phrase.possessor_phrase is not None:
        return fill
    whole = copy(phrase)  # other patterns read the phrase without
    while whole.first > whole.start and reading.tokens[whole.first - 1].low in kept:
        whole.first -= 1
    return replace(fill, phrase=whole)


def held_before(reading: Reading, fill: Fill) -> Fill | None:
    """`a former nurse` without its `former`; None where no such word comes first."""
    if fill.phrase is None or reading.tokens[fill.phrase.first].low not in FORMER:
        return None
    held = copy(fill.phrase)  # other patterns read the phrase whole
    held.first = min(held.first + 1, held.head)
    return replace(fill, phrase=held)


Filled = tuple[list[Fill], int]
"""The fills (several for `A, B and C`) and the token after them."""


def _read_when(reading: Reading, i: int, stop: int) -> Filled | None:
    dated = read_date(reading.tokens, i, stop, reading.written_on)
    return ([Fill(i, dated[1], when=dated[0])], dated[1]) if dated else None


def _read_age(reading: Reading, i: int, stop: int) -> Filled | None:
    """`41`, `41 years old`, `seven`: not `10 minutes late`, nor `100 %`."""
    tokens = reading.tokens
    number = number_of(tokens, i, stop)
    if number is None or not 1 < number[0] < 120:
        return None
    end = _age_end(tokens, number[1], stop)
    return ([Fill(i, end, text=str(number[0]))], end) if end is not None else None


def _age_end(tokens: list[Token], i: int, stop: int) -> int | None:
    """Where the age ends whose number ends before token i; None where the number counts something else."""
    if i >= stop:
        return i
    token = tokens[i]
    if token.low == "%":  # "I'm 100% behind you"
        return None
    if token.low in _YEARS:
        is_old = i + 1 < stop and tokens[i + 1].low in {"old", "young"}
        if is_old:
            return i + 2
        return i + 1 if token.low in _YEARS_OLD else None
    return i if token.bits & (PUNCT | CONJ | ADV) or token.low in _AFTER_AGE else None


def _read_languages(reading: Reading, i: int, stop: int) -> Filled | None:
    """Languages in a row, however joined: `english dutch and a bit of welsh`."""
    fills: list[Fill] = []
    end = i
    while i < stop and len(fills) < _MAX_LIST:
        low = reading.tokens[i].low
        if low in _LANGUAGES:
            fills.append(Fill(i, i + 1))
            end = i + 1
        elif low not in _BETWEEN_LANGUAGES | _EITHER_JOINTS and not reading.tokens[i].bits & ADV:
            break
        i += 1
    return (fills, end) if fills else None


def _read_value(reading: Reading, i: int, stop: int) -> Filled | None:
    """The few words after `is`, up to the next mark or joint."""
    tokens = reading.tokens
    end = i
    while end < stop and end - i < _MAX_VALUE and not tokens[end].bits & (PUNCT | CONJ | ADV | PREP):
        end += 1
    return ([Fill(i, end)], end) if end > i else None


def _read_feeling(reading: Reading, i: int, stop: int) -> Filled | None:
    tokens = reading.tokens
    if tokens[i].low in _FEELINGS:
        return [Fill(i, i + 1)], i + 1
    if i + 1 < stop and f"{tokens[i].low}-{tokens[i + 1].low}" in _FEELINGS:
        return [Fill(i, i + 2)], i + 2
    return None


def _read_height(reading: Reading, i: int, stop: int) -> Filled | None:
    """`1.87`, `1.87 m`."""
    match = _HEIGHT.fullmatch(reading.tokens[i].low)
    if match is None:
        return None
    end = i + 1
    while end < stop and end < i + 2 and reading.tokens[end].low in {"m", "metres", "meters"}:
        end += 1
    return [Fill(i, end)], end


def _read_owner(reading: Reading, i: int, stop: int) -> Filled | None:
    """`Lena's`, `my husband's`, `her`."""
    if reading.tokens[i].low in {"his", "her"}:
        return [Fill(i, i + 1)], i + 1
    for k in range(i + 1, min(stop, i + 6)):
        if reading.tokens[k].low == "'s":
            phrase = parse_noun_phrase(reading.tokens, i, k)
            if (
                phrase is not None
                and phrase.end == k
                and (is_kind(reading, frozenset({"person"}), phrase) or kin_noun(reading.tokens, phrase) is not None)
            ):
                return [Fill(i, k + 1, phrase)], k + 1
    return None


def fill_slot(reading: Reading, kinds: frozenset[str], i: int, stop: int, *, either: bool = False) -> Filled | None:
    """What of these kinds starts at token i; `either` lets `A or B` be a list too."""
    if i >= stop:
        return _predicate(reading, i, stop) if kinds == BARE and reading.tokens[i - 1].verbs else None
    for special in _specials(kinds):
        filled = special(reading, i, stop)
        if filled is not None:
            return filled
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
    for _ in range(_MAX_LIST):
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
    after = _past_joint(tokens, i, stop, _EITHER_JOINTS if either else _JOINTS)
    if after is None:
        return None
    while after < stop and tokens[after].bits & ADV and tokens[after].low != "no":
        after += 1
    return after if after < stop else None


def _past_joint(tokens: list[Token], i: int, stop: int, joints: frozenset[str]) -> int | None:
    low = tokens[i].low if i < stop else ""
    if low in joints:
        return i + 1
    if low != ",":
        return None
    if i + 1 < stop and tokens[i + 1].low in joints:
        return i + 2
    is_list = any(tokens[k].low in joints for k in range(i + 1, min(stop, i + 1 + _FAR_AHEAD)))
    return i + 1 if is_list else None


def _ing_phrases(reading: Reading, i: int, stop: int) -> Filled | None:
    """`hiking and cooking for friends` gives one each, `improving schools and roads` one."""
    fills: list[Fill] = []
    end = i
    tokens = reading.tokens
    if not is_ing(tokens[i]):
        return None
    while i < stop and len(fills) < _MAX_LIST:
        if is_ing(tokens[i]):
            end = complement_end(tokens, i + 1, stop)
            fills.append(Fill(i, _without_ago(tokens, i + 1, end)))
        else:
            phrase = parse_noun_phrase(tokens, i, stop)
            if phrase is None or not is_kind(reading, frozenset({"thing"}), phrase):
                break
            end = phrase.end
            if fills and fills[-1].end - fills[-1].start > 1 and is_ing(tokens[fills[-1].start]):
                fills[-1] = Fill(fills[-1].start, end)  # of what the verb has for an object
            else:
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


def _without_ago(tokens: list[Token], i: int, end: int) -> int:
    """`smoking two weeks ago` without the `two weeks ago`."""
    if end <= i or tokens[end - 1].low != "ago":
        return end
    end -= 2
    while end > i and (tokens[end - 1].bits & NUMBER or tokens[end - 1].low in _ABOUT_HOW_MANY):
        end -= 1
    return max(end, i)


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
    "age": _read_age,
    "date": _read_when,
    "feeling": _read_feeling,
    "language": _read_languages,
    "height": _read_height,
    "infinitive": _infinitive,
    "ing": _ing_phrases,
    "owner": _read_owner,
    "predicate": _predicate,
    "predicate_place": _predicate_place,
    "predicate_to": _predicate_to,
    "wedding": _wedding,
    "value": _read_value,
}
KINDS = frozenset(TESTS) | frozenset(_SPECIAL) | SUBJECT_KINDS
