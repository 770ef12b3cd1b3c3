"""Kinds of phrase that name something: places, firms, schools, software, things made by somebody.

Capitals tell a name; lists of given names, towns and head nouns tell what it names where they can.
"""

from em_pipelines.extraction.rules.entity_types import PLACES, listed_type, type_of_name
from em_pipelines.extraction.rules.kinds_listed import is_thing, kin_noun
from em_pipelines.extraction.rules.lexicon import load_lexicon, words
from em_pipelines.extraction.rules.names import NOT_NAMES, Reading, is_given_name, is_name
from em_pipelines.extraction.rules.noun_phrases import KIN, NounPhrase
from em_pipelines.vocabulary import EntityType

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


def _name(reading: Reading, phrase: NounPhrase) -> str:
    return " ".join(reading.text[t.start : t.end] for t in reading.tokens[phrase.first : phrase.end])


def is_listed_name(reading: Reading, phrase: NounPhrase) -> bool:
    return is_given_name(reading, phrase) and type_of_name(_name(reading, phrase)) is EntityType.PERSON


def is_place(reading: Reading, phrase: NounPhrase) -> bool:
    if phrase.det not in {None, "the"} or listed_type(reading.tokens[phrase.head].low) is EntityType.EVENT:
        return False
    is_listed = phrase.det is None and _name(reading, phrase).casefold() in PLACES - _ALSO_THINGS
    return (
        (is_listed or is_name(reading, phrase))
        and phrase.possessor is None
        and reading.tokens[phrase.head].low not in NOT_NAMES | KIN.keys()
    )


def is_sight(reading: Reading, phrase: NounPhrase) -> bool:
    if kin_noun(reading, phrase) is not None or phrase.possessor_phrase is not None:
        return False
    return is_place(reading, phrase) or (phrase.det in {"the", "a", "an"} and is_thing(reading, phrase))


def is_spot(reading: Reading, phrase: NounPhrase) -> bool:
    return (phrase.det == "the" or phrase.possessor is not None) and reading.tokens[phrase.head].low in _ROOMS


def is_numbered_place(reading: Reading, phrase: NounPhrase) -> bool:
    """`hall 3`, `bay B12`."""
    first, last = reading.tokens[phrase.first], reading.tokens[phrase.end - 1]
    is_coded = any(c.isdigit() for c in last.low) or len(last.low) == 1
    return phrase.end == phrase.first + 2 and first.low in _NUMBERED_PLACES and is_coded


def is_venue(reading: Reading, phrase: NounPhrase) -> bool:
    low = reading.tokens[phrase.head].low
    if is_place(reading, phrase):
        return not is_listed_name(reading, phrase)
    is_kind_of_place = listed_type(low) is EntityType.PLACE or low in _WORKPLACES
    return phrase.det in {"the", "a", "an"} and phrase.possessor_phrase is None and is_kind_of_place


def is_organization(reading: Reading, phrase: NounPhrase) -> bool:
    if not is_thing(reading, phrase) or (phrase.possessor_phrase is not None and not is_name(reading, phrase)):
        return False
    return phrase.det is not None or (is_name(reading, phrase) and not is_listed_name(reading, phrase))


def is_school(reading: Reading, phrase: NounPhrase) -> bool:
    parts = reading.tokens[phrase.first : phrase.end]
    return len(parts) > 1 and is_name(reading, phrase) and any(t.low in _SCHOOLS for t in parts)


def is_firm(reading: Reading, phrase: NounPhrase) -> bool:
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


def is_workplace(reading: Reading, phrase: NounPhrase) -> bool:
    return phrase.det in {"a", "an", "the"} and reading.tokens[phrase.head].low in _WORKPLACES


def is_house(reading: Reading, phrase: NounPhrase) -> bool:
    """A firm whose name says what it is: `Moorhen House`, `Thornbury Bakery`; no school, no club."""
    is_long = phrase.end - phrase.first > 1 and reading.tokens[phrase.end - 1].is_capital
    return is_long and reading.tokens[phrase.end - 1].low in _HOUSES and is_firm(reading, phrase)


def is_software(reading: Reading, phrase: NounPhrase) -> bool:
    low = reading.tokens[phrase.first].low
    if phrase.det is not None or phrase.possessor is not None or phrase.possessor_phrase is not None:
        return False
    if low in NOT_NAMES:
        return False
    is_named = reading.tokens[phrase.first].is_capital and type_of_name(_name(reading, phrase)) is None
    return low in _SOFTWARE or (is_named and listed_type(reading.tokens[phrase.head].low) is None)


def is_model(reading: Reading, phrase: NounPhrase) -> bool:
    """Something made, by its name: `a Wacom tablet`, `Confluence`; no person, place or event."""
    low = reading.tokens[phrase.head].low
    if phrase.possessor_phrase is not None or type_of_name(_name(reading, phrase)) is not None:
        return False
    is_other = listed_type(low) in {EntityType.PLACE, EntityType.EVENT, EntityType.ORGANIZATION, EntityType.PERSON}
    return reading.tokens[phrase.first].low in _SOFTWARE or (
        is_name(reading, phrase) and reading.has_capitals and not is_other and low not in NOT_NAMES | KIN.keys()
    )
