"""The kinds of phrase a slot takes. A matter of words is data (`kinds.yaml`), a matter of grammar is a function here.

To add a kind: a line in `kinds.yaml`, or an entry of `GRAMMATICAL`.
"""

from collections.abc import Callable

from em_pipelines.extraction.rules.entity_types import is_profession, listed_type, type_of_name
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
_WORKPLACES = words("nouns", "workplaces") | words("nouns", "businesses")
_FIRM_NOUNS = _WORKPLACES | words("nouns", "services")
_POSTS = words("nouns", "posts")
_NOT_FIRMS = words("nouns", "not_firms")
_NOT_OCCASIONS = words("nouns", "not_occasions")
_NEEDS_QUALIFIER = frozenset({"number", "size", "plate", "colour", "color", "code"})


def kin_noun(reading: Reading, phrase: NounPhrase) -> int | None:
    """The token of the kin or pet noun of `my best friend Jonne`; None when the phrase is no kin phrase."""
    tokens = reading.tokens
    i = phrase.first
    while i < phrase.end and tokens[i].low in KIN_MODIFIERS and tokens[i].low not in KIN:
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
    return phrase.det is not None or (is_name(reading, phrase) and not _is_listed_name(reading, phrase))


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
    is_bare = phrase.det is None and phrase.possessor is None
    if (is_bare and not low.endswith("s")) or (phrase.possessor is not None and low in KIN):
        return False
    return phrase.end == phrase.head + 1 and is_profession(reading.tokens[phrase.head].low)


def _is_firm(reading: Reading, phrase: NounPhrase) -> bool:
    """A company by its name, or a kind of organization with an article: no town, no person, no `at Anna's`."""
    tokens = reading.tokens
    if phrase.end < len(tokens) and tokens[phrase.end].low in {"'s", "'"}:
        return False
    if phrase.possessor is not None or phrase.possessor_phrase is not None:
        return False
    head = tokens[phrase.head].low
    if phrase.det in {"the", "a", "an"}:
        return head in _FIRM_NOUNS
    is_taken = head in KIN.keys() | NOT_NAMES | _NOT_FIRMS
    return is_name(reading, phrase) and type_of_name(_name(reading, phrase)) is None and not is_taken


def _name(reading: Reading, phrase: NounPhrase) -> str:
    return " ".join(reading.text[t.start : t.end] for t in reading.tokens[phrase.first : phrase.end])


def _is_listed_name(reading: Reading, phrase: NounPhrase) -> bool:
    return is_given_name(reading, phrase) and type_of_name(_name(reading, phrase)) is EntityType.PERSON


def _is_post(reading: Reading, phrase: NounPhrase) -> bool:
    """`the head of design`, `assistant coach`: what somebody does, with or without an article."""
    if phrase.possessor is not None or phrase.possessor_phrase is not None:
        return False
    low = reading.tokens[phrase.head].low
    if reading.tokens[phrase.start].low.startswith("fav"):
        return False
    return is_profession(low) or (low in _POSTS and (phrase.end > phrase.head + 1 or phrase.first < phrase.head))


def _is_workplace(reading: Reading, phrase: NounPhrase) -> bool:
    return phrase.det in {"a", "an", "the"} and reading.tokens[phrase.head].low in _WORKPLACES


def _is_occasion(reading: Reading, phrase: NounPhrase) -> bool:
    """Anything that a date may be said of: no person, no stretch of time, no word of judgement."""
    low = reading.tokens[phrase.head].low
    if phrase.end > phrase.head + 1 and reading.tokens[phrase.head + 1].low == "of":
        return False
    return low not in _NOT_OCCASIONS and _is_thing(reading, phrase) and not is_profession(low)


GRAMMATICAL: dict[str, Test] = {
    "any": lambda _reading, _phrase: True,
    "attribute": _is_attribute,
    "firm": _is_firm,
    "given_name": is_given_name,
    "kin": lambda reading, phrase: kin_noun(reading, phrase) is not None,
    "listed_name": _is_listed_name,
    "name": lambda reading, phrase: (
        is_name(reading, phrase) and reading.tokens[phrase.head].low not in KIN.keys() | NOT_NAMES
    ),
    "nationality": _is_nationality,
    "effect": lambda reading, phrase: phrase.det not in {"the", "this", "that"} and _is_thing(reading, phrase),
    "occasion": _is_occasion,
    "org": _is_organization,
    "owned": _is_owned,
    "part": lambda reading, phrase: phrase.det in {"a", "an"} and _is_owned(reading, phrase),
    "person": _is_person,
    "place": _is_place,
    "post": _is_post,
    "profession": _is_profession,
    "role": lambda reading, phrase: _is_thing(reading, phrase) and phrase.possessor is None,
    "school": _is_school,
    "sight": _is_sight,
    "team": _is_definite,
    "workplace": _is_workplace,
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
