"""The kinds of phrase a slot takes: a matter of words is data (`lexicon/kinds.yaml`), of grammar a predicate.

Capitals tell a name; lists of given names, towns and head nouns tell what it names where they can. To add a kind: a
line in `kinds.yaml`, or a predicate here and its entry in `GRAMMATICAL`.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from em_pipelines.extraction.rules.names import NOT_NAMES, Reading, is_given_name, is_name
from em_pipelines.language.en.lexicon import (
    PLACES,
    is_listed_profession,
    is_profession,
    listed_type,
    load_lexicon,
    type_of_name,
    words,
)
from em_pipelines.language.en.noun_phrases import KIN, NounPhrase, is_one_word_verb, kin_noun
from em_pipelines.language.en.tokens import MONTH, NUMBER, WEEKDAY
from em_pipelines.schema.vocabulary import EntityType

Test = Callable[[Reading, NounPhrase], bool]
_INNER_CAPITAL = re.compile(r"(?!Mc|Mac|De[A-Z]|La[A-Z]|Le[A-Z]).*[a-z][A-Z]")
"""`DeskHub`, and no `McAllen`."""
_ALSO_THINGS = frozenset({"china", "panama", "cologne", "bordeaux", "champagne", "jersey", "limerick"})
"""Towns and countries whose names in small letters are things."""
_SCHOOLS = words("nouns", "schools")
_WORKPLACES = words("nouns", "workplaces") | words("nouns", "businesses")
_FIRM_NOUNS = _WORKPLACES | words("nouns", "services")
_HOUSES = (
    _WORKPLACES | words("nouns", "houses") | frozenset(load_lexicon("nouns")["types"]["organization"].split())
) - (_SCHOOLS | words("nouns", "clubs"))
_ROOMS = words("nouns", "rooms")
_NUMBERED_PLACES = words("nouns", "numbered_places")
_SOFTWARE = words("nouns", "software")
_NOT_FIRMS = words("nouns", "not_firms")
_PERSON_ROLES = words("people", "person_roles") | KIN.keys()
_ATTRIBUTE_KEYS = words("nouns", "attribute_keys")
_PRIVATE_NUMBERS = words("nouns", "private_numbers")
_COMPANIONS = words("nouns", "companions")
_RIDES = frozenset({"train", "flight", "bus", "ferry", "drive"})
_JOURNEYS = words("nouns", "journeys")
_PRODUCTS = words("nouns", "products") | words("nouns", "gadgets") | words("nouns", "instruments")
_PROVIDERS = words("nouns", "providers")
_TOOLS = _PROVIDERS | words("nouns", "gadgets")
_POSTS = words("nouns", "posts")
_NOT_OCCASIONS = words("nouns", "not_occasions")
_NEEDS_QUALIFIER = frozenset({"number", "size", "plate", "colour", "color", "code"})


def _heads(names: list[str]) -> frozenset[str]:
    return frozenset().union(*(_list(name) for name in names))


def _list(name: str) -> frozenset[str]:
    file, key, *rest = name.split(".")
    return frozenset(str(load_lexicon(file)[key][rest[0]]).split()) if rest else words(file, key)


LISTED = {
    kind: (_heads(rule["heads"]) if "heads" in rule else None, _heads(rule.get("except", [])))
    for kind, rule in load_lexicon("kinds").items()
}


def listed(kind: str) -> Test:
    heads, excluded = LISTED[kind]

    def test(reading: Reading, phrase: NounPhrase) -> bool:
        low = reading.tokens[phrase.head].low
        return low in heads if heads is not None else low not in excluded

    return test


_is_thing = listed("thing")
_is_possession = listed("possession")


def _has_owner(phrase: NounPhrase) -> bool:
    return phrase.possessor is not None or phrase.possessor_phrase is not None


def _name(reading: Reading, phrase: NounPhrase) -> str:
    return " ".join(reading.text[t.start : t.end] for t in reading.tokens[phrase.first : phrase.end])


def _is_listed_name(reading: Reading, phrase: NounPhrase) -> bool:
    return is_given_name(reading, phrase) and type_of_name(_name(reading, phrase)) is EntityType.PERSON


def _is_place(reading: Reading, phrase: NounPhrase) -> bool:
    if phrase.det not in {None, "the"} or listed_type(reading.tokens[phrase.head].low) is EntityType.EVENT:
        return False
    is_listed = phrase.det is None and _name(reading, phrase).casefold() in PLACES - _ALSO_THINGS
    return (
        (is_listed or (is_name(reading, phrase) and not names_program(_name(reading, phrase))))
        and phrase.possessor is None
        and reading.tokens[phrase.head].low not in NOT_NAMES | KIN.keys()
    )


def _is_sight(reading: Reading, phrase: NounPhrase) -> bool:
    if kin_noun(reading.tokens, phrase) is not None or phrase.possessor_phrase is not None:
        return False
    return _is_place(reading, phrase) or (phrase.det in {"the", "a", "an"} and _is_thing(reading, phrase))


def _is_spot(reading: Reading, phrase: NounPhrase) -> bool:
    """`the cellar`, `my shed`, `hall 3`: where something stands."""
    is_definite = phrase.det == "the" or phrase.possessor is not None
    is_room = is_definite and reading.tokens[phrase.head].low in _ROOMS
    return is_room or _is_numbered_place(reading, phrase)


def _is_numbered_place(reading: Reading, phrase: NounPhrase) -> bool:
    """`hall 3`, `bay B12`."""
    first, last = reading.tokens[phrase.first], reading.tokens[phrase.end - 1]
    is_coded = any(c.isdigit() for c in last.low) or len(last.low) == 1
    return phrase.end == phrase.first + 2 and first.low in _NUMBERED_PLACES and is_coded


def _is_venue(reading: Reading, phrase: NounPhrase) -> bool:
    low = reading.tokens[phrase.head].low
    if _is_place(reading, phrase):
        return not _is_listed_name(reading, phrase)
    is_kind_of_place = listed_type(low) is EntityType.PLACE or low in _WORKPLACES
    return phrase.det in {"the", "a", "an"} and phrase.possessor_phrase is None and is_kind_of_place


def _is_organization(reading: Reading, phrase: NounPhrase) -> bool:
    if not _is_thing(reading, phrase) or (phrase.possessor_phrase is not None and not is_name(reading, phrase)):
        return False
    return phrase.det is not None or (is_name(reading, phrase) and not _is_listed_name(reading, phrase))


def _is_school(reading: Reading, phrase: NounPhrase) -> bool:
    parts = reading.tokens[phrase.first : phrase.end]
    return len(parts) > 1 and is_name(reading, phrase) and any(t.low in _SCHOOLS for t in parts)


def _is_firm(reading: Reading, phrase: NounPhrase) -> bool:
    """A company by its name, or a kind of organization with an article: no town, no person, no `at Anna's`."""
    tokens = reading.tokens
    if phrase.end < len(tokens) and tokens[phrase.end].low in {"'s", "'"}:
        return False
    if _has_owner(phrase):
        return False
    head = tokens[phrase.head].low
    if phrase.det in {"the", "a", "an"}:
        return head in _FIRM_NOUNS
    is_taken = head in KIN.keys() | NOT_NAMES | _NOT_FIRMS
    return is_name(reading, phrase) and type_of_name(_name(reading, phrase)) is None and not is_taken


def _is_workplace(reading: Reading, phrase: NounPhrase) -> bool:
    return phrase.det in {"a", "an", "the"} and reading.tokens[phrase.head].low in _WORKPLACES


def _is_house(reading: Reading, phrase: NounPhrase) -> bool:
    """A firm whose name says what it is: `Moorhen House`, `Thornbury Bakery`; no school, no club."""
    is_long = phrase.end - phrase.first > 1 and reading.tokens[phrase.end - 1].is_capital
    return is_long and reading.tokens[phrase.end - 1].low in _HOUSES and _is_firm(reading, phrase)


def _is_software(reading: Reading, phrase: NounPhrase) -> bool:
    low = reading.tokens[phrase.first].low
    if phrase.det is not None or _has_owner(phrase) or low in NOT_NAMES:
        return False
    is_named = reading.tokens[phrase.first].is_capital and type_of_name(_name(reading, phrase)) is None
    return low in _SOFTWARE or (is_named and listed_type(reading.tokens[phrase.head].low) is None)


def names_program(name: str) -> bool:
    """Whether a name is a listed program, or spelt as programs and services are: `DeskHub`."""
    is_spelt_so = _INNER_CAPITAL.match(name) is not None and name.casefold() not in PLACES
    return is_spelt_so or name.casefold().split(" ", 1)[0] in _SOFTWARE


def _is_model(reading: Reading, phrase: NounPhrase) -> bool:
    """Something made, by its name: `a Wacom tablet`, `Confluence`; no person, place or event."""
    low = reading.tokens[phrase.head].low
    if phrase.possessor_phrase is not None or type_of_name(_name(reading, phrase)) is not None:
        return False
    is_other = listed_type(low) in {EntityType.PLACE, EntityType.EVENT, EntityType.ORGANIZATION, EntityType.PERSON}
    first = reading.tokens[phrase.first]
    return (first.low in _SOFTWARE and (phrase.det is None or first.is_capital)) or (  # "a fish farm" is no shell
        is_name(reading, phrase) and reading.has_capitals and not is_other and low not in NOT_NAMES | KIN.keys()
    )


def _is_owned(reading: Reading, phrase: NounPhrase) -> bool:
    """Something one has: counted or with an indefinite article, or a name after `the`."""
    if not _is_possession(reading, phrase) or phrase.possessor_phrase is not None:
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


def _is_particular(reading: Reading, phrase: NounPhrase) -> bool:
    """`my barge`, `the barge`: one thing, of which somebody says what became of it."""
    is_own = phrase.possessor in {"my", "our"} or (phrase.det == "the" and phrase.possessor_phrase is None)
    return is_own and _is_possession(reading, phrase) and reading.tokens[phrase.head].low not in KIN


def _is_belonging(reading: Reading, phrase: NounPhrase) -> bool:
    """`my barge`, `his phone`: a product or vehicle of somebody's own, no `my way`."""
    low = reading.tokens[phrase.head].low
    is_own = phrase.possessor in {"my", "our", "his", "her", "their"} and phrase.possessor_phrase is None
    return is_own and (low in _PRODUCTS or listed_type(low) is EntityType.VEHICLE)


def _is_servable(reading: Reading, phrase: NounPhrase) -> bool:
    """What may be a service or a tool by its name alone: `Hetzner`, `fly.io`; no place, no person, no listed noun."""
    return _is_bare_thing(reading, phrase) and (is_name(reading, phrase) or _is_in_use(reading, phrase))


def _is_bare_thing(reading: Reading, phrase: NounPhrase) -> bool:
    """The same in small letters, where what stands beside it tells: `from fly.io to hetzner`."""
    low = reading.tokens[phrase.head].low
    is_bare = phrase.det is None and phrase.possessor is None and phrase.possessor_phrase is None
    if not is_bare or phrase.end != phrase.head + 1 or low in NOT_NAMES:
        return False
    if listed_type(low) is not None or type_of_name(_name(reading, phrase)) is not None:
        return low in _SOFTWARE
    return phrase.first == phrase.head or is_name(reading, phrase)


def _is_in_use(reading: Reading, phrase: NounPhrase) -> bool:
    """A service or tool for sure: by its address, as a listed one, or since somebody was said to use it."""
    if not _is_bare_thing(reading, phrase):
        return False
    name = _name(reading, phrase).casefold()
    return "." in name or name in _SOFTWARE or name in reading.used


def _is_person(reading: Reading, phrase: NounPhrase) -> bool:
    low = reading.tokens[phrase.head].low
    return (
        low in _PERSON_ROLES
        or reading.tokens[phrase.first].low in KIN
        or (is_name(reading, phrase) and low not in NOT_NAMES)
    )


def _is_definite(reading: Reading, phrase: NounPhrase) -> bool:
    is_given = phrase.det in {"the", "a", "an"} or phrase.possessor is not None or is_name(reading, phrase)
    return is_given and _is_thing(reading, phrase)


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
    low = reading.tokens[phrase.head].low
    if _has_owner(phrase) or low in _PROVIDERS or reading.tokens[phrase.start].low.startswith("fav"):
        return False
    ends_at_head = phrase.end == phrase.head + 1
    if ends_at_head and low in KIN:
        return False
    if phrase.end == phrase.start + 1:
        return is_listed_profession(low)
    is_qualified = not ends_at_head or phrase.first < phrase.head
    return is_profession(low) or (is_qualified and low in _POSTS)


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
    "house": _is_house,
    "given_name": is_given_name,
    "kin": lambda reading, phrase: kin_noun(reading.tokens, phrase) is not None,
    "model": _is_model,
    "name": lambda reading, phrase: (
        is_name(reading, phrase) and reading.tokens[phrase.head].low not in KIN.keys() | NOT_NAMES
    ),
    "digital": lambda reading, phrase: is_name(reading, phrase) and names_program(_name(reading, phrase)),
    "own_thing": lambda reading, phrase: phrase.possessor in {"my", "our"} and _is_possession(reading, phrase),
    "theirs": lambda reading, phrase: (
        phrase.possessor in {"his", "her", "their"}
        and phrase.possessor_phrase is None
        and _is_possession(reading, phrase)
        and reading.tokens[phrase.head].low not in KIN
    ),
    "choice": lambda reading, phrase: _is_thing(reading, phrase) and not _is_person(reading, phrase),
    "companion": lambda reading, phrase: (
        reading.tokens[phrase.head].low in _COMPANIONS and kin_noun(reading.tokens, phrase) is None
    ),
    "duty": lambda reading, phrase: _is_post(reading, phrase) and reading.tokens[phrase.head].low not in _TOOLS,
    "belonging": _is_belonging,
    "gotten": _is_gotten,
    "journey": lambda reading, phrase: (
        phrase.end > phrase.head + 1 and reading.tokens[phrase.head].low in _JOURNEYS - _RIDES
    ),
    "occasion": _is_occasion,
    "org": _is_organization,
    "owned": _is_owned,
    "person": _is_person,
    "particular": _is_particular,
    "place": _is_place,
    "post": _is_post,
    "profession": _is_profession,
    "role": lambda reading, phrase: _is_thing(reading, phrase) and phrase.possessor is None,
    "nationality": _is_nationality,
    "servable": _is_servable,
    "school": _is_school,
    "sight": _is_sight,
    "software": _is_software,
    "spot": _is_spot,
    "team": _is_definite,
    "town": lambda reading, phrase: _is_place(reading, phrase) and not _is_listed_name(reading, phrase),
    "venue": _is_venue,
    "workplace": _is_workplace,
}
TESTS: dict[str, Test] = {kind: listed(kind) for kind in LISTED} | GRAMMATICAL


def is_kind(reading: Reading, kinds: frozenset[str], phrase: NounPhrase) -> bool:
    """Whether the phrase is of one of the kinds; days, months and bare numbers are of none."""
    head = reading.tokens[phrase.head]
    if head.bits & (NUMBER | WEEKDAY | MONTH) and phrase.first == phrase.head and "any" not in kinds:
        return False
    heads, tests = _tests_of(kinds)
    if head.low in heads:
        return not is_one_word_verb(reading.tokens, phrase)
    for test in tests:  # a generator costs more than most tests
        if test(reading, phrase):
            return not is_one_word_verb(reading.tokens, phrase)
    return False


@lru_cache(maxsize=4096)
def _tests_of(kinds: frozenset[str]) -> tuple[frozenset[str], tuple[Test, ...]]:
    """The heads any of the kinds lists, and the tests of the kinds that list none."""
    by_heads = {kind: LISTED[kind][0] for kind in kinds if kind in LISTED and kind not in GRAMMATICAL}
    heads = frozenset[str]().union(*(listed_heads for listed_heads in by_heads.values() if listed_heads is not None))
    return heads, tuple(test for kind, test in TESTS.items() if kind in kinds and by_heads.get(kind) is None)
