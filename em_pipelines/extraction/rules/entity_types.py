"""Guesses the entity type of a phrase: its head noun where that is listed, else what the relation expects."""

from functools import lru_cache

from em_pipelines.extraction.rules.lexicon import load_lexicon, words
from em_pipelines.extraction.rules.noun_phrases import KIN
from em_pipelines.vocabulary import EntityType

_BY_NOUN = {noun: EntityType(name) for name, nouns in load_lexicon("nouns")["types"].items() for noun in nouns.split()}
_PROFESSIONS = words("nouns", "professions")
_PROFESSION_ENDINGS = tuple(words("nouns", "profession_suffixes"))
_ORIGINS = words("nouns", "nationalities") | words("nouns", "diets_and_faiths")
_NOT_PROFESSIONS = words("nouns", "not_professions")
PLACES = words("names", "countries") | words("names", "cities")
FEMALE_NAMES = words("names", "female")
MALE_NAMES = words("names", "male")

EXPECTED_OBJECT: dict[str, EntityType] = {
    "owns": EntityType.PRODUCT,
    "uses": EntityType.TOOL,
    "has_pet": EntityType.ANIMAL,
    "works_at": EntityType.ORGANIZATION,
    "studies_at": EntityType.ORGANIZATION,
    "graduated_from": EntityType.ORGANIZATION,
    "member_of": EntityType.ORGANIZATION,
    "works_on": EntityType.PROJECT,
    "lives_in": EntityType.PLACE,
    "located_in": EntityType.PLACE,
    "born_in": EntityType.PLACE,
    "visited": EntityType.PLACE,
    "attended": EntityType.EVENT,
    "did": EntityType.ACTIVITY,
    "plans": EntityType.ACTIVITY,
    "decided": EntityType.ACTIVITY,
    "made_of": EntityType.MATERIAL,
    "created": EntityType.WORK,
    "part_of": EntityType.PRODUCT,
    "has_part": EntityType.PRODUCT,
    "spouse_of": EntityType.PERSON,
    "partner_of": EntityType.PERSON,
    "parent_of": EntityType.PERSON,
    "child_of": EntityType.PERSON,
    "sibling_of": EntityType.PERSON,
    "friend_of": EntityType.PERSON,
    "colleague_of": EntityType.PERSON,
    "manages": EntityType.PERSON,
    "reports_to": EntityType.PERSON,
    "knows": EntityType.PERSON,
}


def listed_type(head: str) -> EntityType | None:
    """The type that the noun lists give a head noun, case-folded."""
    return _BY_NOUN.get(head)


def type_of_name(name: str) -> EntityType | None:
    """Place or person, where the name is a listed one; None where it could name anything."""
    low = name.casefold()
    if low in PLACES:
        return EntityType.PLACE
    first = low.split(" ", 1)[0]
    is_given = name[:1].isupper() and (first in FEMALE_NAMES or first in MALE_NAMES)
    return EntityType.PERSON if is_given else None


def gender_of_name(name: str) -> str:
    """`f` or `m` for a listed given name, else an empty string."""
    first = name.casefold().split(" ", 1)[0]
    return "f" if first in FEMALE_NAMES else "m" if first in MALE_NAMES else ""


@lru_cache(maxsize=16384)
def guess_type(name: str, expected: EntityType | None = None) -> EntityType:
    """The type of a thing called `name`."""
    head = name.casefold().rsplit(" ", 1)[-1]
    found = _BY_NOUN.get(head)
    if found is not None:
        return found
    if expected is not None:
        return expected
    first = name.casefold().split(" ", 1)[0]
    named = type_of_name(name)
    if named is not None:
        return named
    if (head.endswith("ing") and len(head) > 5) or (first.endswith("ing") and len(first) > 5):
        return EntityType.ACTIVITY
    return EntityType.CONCEPT


def is_listed_profession(head: str) -> bool:
    """Whether a noun, case-folded, is in the list: no guess by its ending, as `cheaper` ends like `baker`."""
    return head in _PROFESSIONS


@lru_cache(maxsize=16384)
def is_profession(head: str) -> bool:
    """Whether a noun, case-folded, names what somebody does for a living."""
    if head in _PROFESSIONS:
        return True
    if head in _ORIGINS or head in KIN:
        return False
    return len(head) > 4 and head.endswith(_PROFESSION_ENDINGS) and head not in _NOT_PROFESSIONS
