"""The kinds of phrase a slot takes. A matter of words is data (`kinds.yaml`), a matter of grammar is a function here.

To add a kind: a line in `kinds.yaml`, or an entry of `GRAMMATICAL`.
"""

from collections.abc import Callable

from em_pipelines.extraction.rules.entity_types import is_profession, listed_type
from em_pipelines.extraction.rules.lexicon import load_lexicon, words
from em_pipelines.extraction.rules.names import NOT_NAMES, Reading, is_given_name, is_name
from em_pipelines.extraction.rules.noun_phrases import KIN, KIN_MODIFIERS, PETS, NounPhrase
from em_pipelines.extraction.rules.word_classes import MONTH, NUMBER, WEEKDAY
from em_pipelines.vocabulary import EntityType

Test = Callable[[Reading, NounPhrase], bool]


def _heads(names: list[str]) -> frozenset[str]:
    return frozenset().union(*(_list(name) for name in names))


def _list(name: str) -> frozenset[str]:
    file, key, *rest = name.split(".")
    return frozenset(str(load_lexicon(file)[key][rest[0]]).split()) if rest else words(file, key)


_LISTED = {
    kind: (_heads(rule["heads"]) if "heads" in rule else None, _heads(rule.get("except", [])))
    for kind, rule in load_lexicon("kinds").items()
}
_PERSON_ROLES = words("people", "person_roles") | KIN.keys()
_SCHOOLS = words("nouns", "schools")
_ATTRIBUTE_KEYS = words("nouns", "attribute_keys")
_PRIVATE_NUMBERS = words("nouns", "private_numbers")
_NEEDS_QUALIFIER = frozenset({"number", "size", "plate", "colour", "color", "code"})


def kin_noun(reading: Reading, phrase: NounPhrase) -> int | None:
    """The token of the kin or pet noun of `my best friend Jonne`; None when the phrase is no kin phrase."""
    tokens = reading.tokens
    i = phrase.first
    while i < phrase.end and tokens[i].low in KIN_MODIFIERS:
        if tokens[i].low in KIN and not (i + 1 < phrase.end and tokens[i + 1].low in KIN):
            break
        i += 1
    return i if i < phrase.end and (tokens[i].low in KIN or tokens[i].low in PETS) else None


def _listed(kind: str) -> Test:
    heads, excluded = _LISTED[kind]

    def test(reading: Reading, phrase: NounPhrase) -> bool:
        low = reading.tokens[phrase.head].low
        return low in heads if heads is not None else low not in excluded

    return test


_is_thing = _listed("thing")
_is_possession = _listed("possession")


def _is_owned(reading: Reading, phrase: NounPhrase) -> bool:
    """Something one has: counted or with an indefinite article, or a name after `the`."""
    if not _is_possession(reading, phrase) or phrase.possessor_phrase is not None:
        return False
    if phrase.det == "the":
        return is_name(reading, phrase)
    return phrase.det is not None or phrase.number is not None


def _is_particular(reading: Reading, phrase: NounPhrase) -> bool:
    """`my barge`, `the barge`: one thing, of which somebody says what became of it."""
    is_own = phrase.possessor in {"my", "our"} or (phrase.det == "the" and phrase.possessor_phrase is None)
    return is_own and _is_possession(reading, phrase) and reading.tokens[phrase.head].low not in KIN


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


def _is_place(reading: Reading, phrase: NounPhrase) -> bool:
    if phrase.det not in {None, "the"} or listed_type(reading.tokens[phrase.head].low) is EntityType.EVENT:
        return False
    return (
        is_name(reading, phrase)
        and phrase.possessor is None
        and reading.tokens[phrase.head].low not in NOT_NAMES | KIN.keys()
    )


def _is_organization(reading: Reading, phrase: NounPhrase) -> bool:
    if not _is_thing(reading, phrase) or (phrase.possessor_phrase is not None and not is_name(reading, phrase)):
        return False
    return phrase.det is not None or is_name(reading, phrase)


def _is_definite(reading: Reading, phrase: NounPhrase) -> bool:
    is_given = phrase.det in {"the", "a", "an"} or phrase.possessor is not None or is_name(reading, phrase)
    return is_given and _is_thing(reading, phrase)


def _is_sight(reading: Reading, phrase: NounPhrase) -> bool:
    if kin_noun(reading, phrase) is not None or phrase.possessor_phrase is not None:
        return False
    return _is_place(reading, phrase) or (phrase.det in {"the", "a", "an"} and _is_thing(reading, phrase))


def _is_school(reading: Reading, phrase: NounPhrase) -> bool:
    parts = reading.tokens[phrase.first : phrase.end]
    return len(parts) > 1 and is_name(reading, phrase) and any(t.low in _SCHOOLS for t in parts)


def _is_attribute(reading: Reading, phrase: NounPhrase) -> bool:
    parts = [t.low for t in reading.tokens[phrase.first : phrase.end]]
    if _PRIVATE_NUMBERS.intersection(parts) or (parts[-1] in _NEEDS_QUALIFIER and len(parts) < 2):
        return False
    return parts[-1] in _ATTRIBUTE_KEYS or parts[-1] in _NEEDS_QUALIFIER


def _is_nationality(reading: Reading, phrase: NounPhrase) -> bool:
    return phrase.end - phrase.first == 1 and _listed("nationality")(reading, phrase)


def _is_profession(reading: Reading, phrase: NounPhrase) -> bool:
    low = reading.tokens[phrase.head].low
    if phrase.det is None and phrase.possessor is None and not low.endswith("s"):
        return False
    return phrase.end == phrase.head + 1 and is_profession(reading.tokens[phrase.head].low)


GRAMMATICAL: dict[str, Test] = {
    "any": lambda _reading, _phrase: True,
    "attribute": _is_attribute,
    "given_name": is_given_name,
    "kin": lambda reading, phrase: kin_noun(reading, phrase) is not None,
    "name": lambda reading, phrase: (
        is_name(reading, phrase) and reading.tokens[phrase.head].low not in KIN.keys() | NOT_NAMES
    ),
    "nationality": _is_nationality,
    "org": _is_organization,
    "owned": _is_owned,
    "part": lambda reading, phrase: phrase.det in {"a", "an"} and _is_owned(reading, phrase),
    "person": _is_person,
    "particular": _is_particular,
    "place": _is_place,
    "profession": _is_profession,
    "role": lambda reading, phrase: _is_thing(reading, phrase) and phrase.possessor is None,
    "school": _is_school,
    "sight": _is_sight,
    "team": _is_definite,
}
TESTS: dict[str, Test] = {kind: _listed(kind) for kind in _LISTED} | GRAMMATICAL


def is_kind(reading: Reading, kinds: frozenset[str], phrase: NounPhrase) -> bool:
    """Whether the phrase is of one of the kinds; days, months and bare numbers are of none."""
    head = reading.tokens[phrase.head]
    if head.bits & (NUMBER | WEEKDAY | MONTH) and phrase.first == phrase.head and "any" not in kinds:
        return False
    if _is_one_word_verb(reading, phrase):
        return False
    return any(TESTS[kind](reading, phrase) for kind in kinds if kind in TESTS)
