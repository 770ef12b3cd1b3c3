"""The kinds of phrase a slot takes. A matter of words is data (`kinds.yaml`), a matter of grammar is a function here.

To add a kind: a line in `kinds.yaml`, or an entry of `GRAMMATICAL`.
"""

from functools import lru_cache

from em_pipelines.extraction.rules.entity_types import is_listed_profession, is_profession, listed_type
from em_pipelines.extraction.rules.kinds_listed import LISTED, Test, is_possession, is_thing, kin_noun, listed
from em_pipelines.extraction.rules.kinds_named import (
    is_firm,
    is_house,
    is_listed_name,
    is_model,
    is_numbered_place,
    is_organization,
    is_place,
    is_school,
    is_sight,
    is_software,
    is_spot,
    is_venue,
    is_workplace,
)
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.names import NOT_NAMES, Reading, is_given_name, is_name
from em_pipelines.extraction.rules.noun_phrases import KIN, NounPhrase
from em_pipelines.extraction.rules.word_classes import MONTH, NUMBER, WEEKDAY
from em_pipelines.vocabulary import EntityType

_PERSON_ROLES = words("people", "person_roles") | KIN.keys()
_ATTRIBUTE_KEYS = words("nouns", "attribute_keys")
_PRIVATE_NUMBERS = words("nouns", "private_numbers")
_COMPANIONS = words("nouns", "companions")
_RIDES = frozenset({"train", "flight", "bus", "ferry", "drive"})
_JOURNEYS = words("nouns", "journeys")
_PRODUCTS = words("nouns", "products") | words("nouns", "gadgets") | words("nouns", "instruments")
_PROVIDERS = words("nouns", "providers")
_TOOLS = _PROVIDERS | words("nouns", "gadgets")
_MEASURES = words("nouns", "measures")
_POSTS = words("nouns", "posts")
_NOT_OCCASIONS = words("nouns", "not_occasions")
_NEEDS_QUALIFIER = frozenset({"number", "size", "plate", "colour", "color", "code"})


def _is_owned(reading: Reading, phrase: NounPhrase) -> bool:
    """Something one has: counted or with an indefinite article, or a name after `the`."""
    if not is_possession(reading, phrase) or phrase.possessor_phrase is not None:
        return False
    if phrase.det == "the":
        return is_name(reading, phrase)
    return phrase.det is not None or phrase.number is not None


def _is_gotten(reading: Reading, phrase: NounPhrase) -> bool:
    """What one keeps after getting it: `a lathe`, `a Tacoma`; not `a cold`."""
    if not _is_owned(reading, phrase):
        return False
    low = reading.tokens[phrase.head].low
    return low in _PRODUCTS or listed_type(low) is EntityType.VEHICLE or reading.tokens[phrase.head].is_capital


def _is_part(reading: Reading, phrase: NounPhrase) -> bool:
    is_measure = any(token.low in _MEASURES for token in reading.tokens[phrase.first : phrase.head + 1])
    return phrase.det in {"a", "an"} and not is_measure and _is_owned(reading, phrase)


def _is_particular(reading: Reading, phrase: NounPhrase) -> bool:
    """`my barge`, `the barge`: one thing, of which somebody says what became of it."""
    is_own = phrase.possessor in {"my", "our"} or (phrase.det == "the" and phrase.possessor_phrase is None)
    return is_own and is_possession(reading, phrase) and reading.tokens[phrase.head].low not in KIN


def _is_person(reading: Reading, phrase: NounPhrase) -> bool:
    low = reading.tokens[phrase.head].low
    return (
        low in _PERSON_ROLES
        or reading.tokens[phrase.first].low in KIN
        or (is_name(reading, phrase) and low not in NOT_NAMES)
    )


def _is_one_word_verb(reading: Reading, phrase: NounPhrase) -> bool:
    """`teamed`, after `and`: a verb that no list knows, not a noun."""
    head = reading.tokens[phrase.head]
    is_bare = phrase.first == phrase.head and phrase.start == phrase.head
    return is_bare and not head.is_capital and head.low.endswith("ed") and len(head.low) > 4


def _is_definite(reading: Reading, phrase: NounPhrase) -> bool:
    is_given = phrase.det in {"the", "a", "an"} or phrase.possessor is not None or is_name(reading, phrase)
    return is_given and is_thing(reading, phrase)


def _is_attribute(reading: Reading, phrase: NounPhrase) -> bool:
    parts = [t.low for t in reading.tokens[phrase.first : phrase.end]]
    if (
        phrase.possessor_phrase is not None
        or _PRIVATE_NUMBERS.intersection(parts)
        or (parts[-1] in _NEEDS_QUALIFIER and len(parts) < 2)
    ):
        return False
    return parts[-1] in _ATTRIBUTE_KEYS or parts[-1] in _NEEDS_QUALIFIER


def _is_nationality(reading: Reading, phrase: NounPhrase) -> bool:
    return phrase.end - phrase.first == 1 and listed("nationality")(reading, phrase)


def _is_profession(reading: Reading, phrase: NounPhrase) -> bool:
    low = reading.tokens[phrase.head].low
    is_bare = phrase.det is None and phrase.possessor is None
    if (is_bare and not low.endswith("s")) or (phrase.possessor is not None and (low in KIN or low in _TOOLS)):
        return False
    return phrase.end == phrase.head + 1 and is_profession(reading.tokens[phrase.head].low)


def _is_post(reading: Reading, phrase: NounPhrase) -> bool:
    """`the head of design`, `assistant coach`: what somebody does, with or without an article."""
    if phrase.possessor is not None or phrase.possessor_phrase is not None:
        return False
    low = reading.tokens[phrase.head].low
    if reading.tokens[phrase.start].low.startswith("fav") or low in _PROVIDERS:
        return False
    if low in KIN and phrase.end == phrase.head + 1:
        return False
    if phrase.start == phrase.head and phrase.end == phrase.head + 1:
        return is_listed_profession(low)
    return is_profession(low) or (low in _POSTS and (phrase.end > phrase.head + 1 or phrase.first < phrase.head))


def _is_occasion(reading: Reading, phrase: NounPhrase) -> bool:
    """Anything that a date may be said of: no person, no stretch of time, no word of judgement."""
    low = reading.tokens[phrase.head].low
    if phrase.end > phrase.head + 1 and reading.tokens[phrase.head + 1].low == "of":
        return False
    return low not in _NOT_OCCASIONS and is_thing(reading, phrase) and not is_profession(low)


GRAMMATICAL: dict[str, Test] = {
    "any": lambda _reading, _phrase: True,
    "attribute": _is_attribute,
    "firm": is_firm,
    "house": is_house,
    "given_name": is_given_name,
    "kin": lambda reading, phrase: kin_noun(reading, phrase) is not None,
    "model": is_model,
    "listed_name": is_listed_name,
    "name": lambda reading, phrase: (
        is_name(reading, phrase) and reading.tokens[phrase.head].low not in KIN.keys() | NOT_NAMES
    ),
    "nationality": _is_nationality,
    "effect": lambda reading, phrase: phrase.det not in {"the", "this", "that"} and is_thing(reading, phrase),
    "numbered": is_numbered_place,
    "own_thing": lambda reading, phrase: phrase.possessor in {"my", "our"} and is_possession(reading, phrase),
    "choice": lambda reading, phrase: is_thing(reading, phrase) and not _is_person(reading, phrase),
    "companion": lambda reading, phrase: (
        reading.tokens[phrase.head].low in _COMPANIONS and kin_noun(reading, phrase) is None
    ),
    "duty": lambda reading, phrase: _is_post(reading, phrase) and reading.tokens[phrase.head].low not in _TOOLS,
    "gotten": _is_gotten,
    "journey": lambda reading, phrase: (
        phrase.end > phrase.head + 1 and reading.tokens[phrase.head].low in _JOURNEYS - _RIDES
    ),
    "occasion": _is_occasion,
    "org": is_organization,
    "owned": _is_owned,
    "part": _is_part,
    "person": _is_person,
    "particular": _is_particular,
    "place": is_place,
    "post": _is_post,
    "profession": _is_profession,
    "role": lambda reading, phrase: is_thing(reading, phrase) and phrase.possessor is None,
    "school": is_school,
    "sight": is_sight,
    "software": is_software,
    "spot": is_spot,
    "team": _is_definite,
    "town": lambda reading, phrase: is_place(reading, phrase) and not is_listed_name(reading, phrase),
    "venue": is_venue,
    "workplace": is_workplace,
}
TESTS: dict[str, Test] = {kind: listed(kind) for kind in LISTED} | GRAMMATICAL


def is_kind(reading: Reading, kinds: frozenset[str], phrase: NounPhrase) -> bool:
    """Whether the phrase is of one of the kinds; days, months and bare numbers are of none."""
    head = reading.tokens[phrase.head]
    if head.bits & (NUMBER | WEEKDAY | MONTH) and phrase.first == phrase.head and "any" not in kinds:
        return False
    heads, tests = _tests_of(kinds)
    if head.low in heads:
        return not _is_one_word_verb(reading, phrase)
    for test in tests:  # a generator costs more than most tests
        if test(reading, phrase):
            return not _is_one_word_verb(reading, phrase)
    return False


@lru_cache(maxsize=4096)
def _tests_of(kinds: frozenset[str]) -> tuple[frozenset[str], tuple[Test, ...]]:
    """The heads any of the kinds lists, and the tests of the kinds that list none."""
    by_heads = {kind: LISTED[kind][0] for kind in kinds if kind in LISTED and kind not in GRAMMATICAL}
    heads = frozenset[str]().union(*(listed_heads for listed_heads in by_heads.values() if listed_heads is not None))
    return heads, tuple(test for kind, test in TESTS.items() if kind in kinds and by_heads.get(kind) is None)
