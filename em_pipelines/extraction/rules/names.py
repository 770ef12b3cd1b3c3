"""Whether a phrase is a name, and which type of thing it names.

Capitals tell a name, except at the start of a sentence and in messages without any. The type is guessed by the head
noun where that is listed, else by what the relation expects.
"""

from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache

from em_pipelines.extraction.rules.lexicon import load_lexicon, words
from em_pipelines.extraction.rules.noun_phrases import KIN, PETS, NounPhrase
from em_pipelines.extraction.rules.tokens import (
    ADV,
    MONTH,
    NOT_IN_PHRASE,
    NUMBER,
    PUNCT,
    TITLE,
    WEEKDAY,
    Token,
    token_at,
)
from em_pipelines.schema.vocabulary import EntityType

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


_LISTED_NOUNS = frozenset(
    word
    for key, entries in load_lexicon("nouns").items()
    if key not in {"profession_suffixes", "types"}
    for word in (entries if isinstance(entries, list) else entries.split())
).union(*(nouns.split() for nouns in load_lexicon("nouns")["types"].values()))
NOT_NAMES = (
    words("nouns", "languages")
    | words("nouns", "nationalities")
    | words("nouns", "diets_and_faiths")
    | words("nouns", "not_given_names")
)
_STARTERS = frozenset(".!?…\n:;\"'(-–—•*")


@dataclass(frozen=True, slots=True)
class Reading:
    """What a matcher works on: the message's tokens and text, its date, and whether it writes capitals at all.

    Before the tokens at `seams` the text holds words that were taken back (`repairs`). `phrases` keeps what slots have
    read, by first token and limit: a dozen patterns ask for the same phrase. `used` are names, case-folded, of what
    somebody uses by what the conversation has said so far.
    """

    tokens: list[Token]
    text: str
    written_on: date
    has_capitals: bool
    seams: frozenset[int] = frozenset()
    phrases: dict[tuple[int, int], NounPhrase | None] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)


def is_name(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether the phrase is a name: capitalised, or any short bare phrase in a message written without capitals."""
    tokens = reading.tokens
    head = tokens[phrase.head]
    if _is_date_or_number(tokens, phrase):
        return False
    if not reading.has_capitals:
        return _may_be_name(tokens, phrase)
    if phrase.first == phrase.head and starts_sentence(tokens, phrase.first):
        return head.is_capital and _is_unusual(head)
    return head.is_capital or (tokens[phrase.first].is_capital and not starts_sentence(tokens, phrase.first))


def _is_date_or_number(tokens: list[Token], phrase: NounPhrase) -> bool:
    head = tokens[phrase.head]
    if (head.bits | tokens[phrase.first].bits) & (WEEKDAY | MONTH):
        return True
    return bool(head.bits & NUMBER) and head.low.isdigit() and phrase.first == phrase.head


def _may_be_name(tokens: list[Token], phrase: NounPhrase) -> bool:
    """Whether a phrase without capitals is short and bare, and its head no listed noun or verb."""
    head = tokens[phrase.head]
    is_bare = phrase.det is None and phrase.possessor is None
    return is_bare and phrase.end - phrase.first <= 3 and head.verbs is None and head.low not in _LISTED_NOUNS


def is_given_name(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether the phrase can only be a person's name: one to three capitalised words and nothing else."""
    parts = reading.tokens[phrase.first : phrase.end]
    if _is_determined(phrase) or len(parts) > 3 or not is_name(reading, phrase):
        return False
    after = token_at(reading.tokens, phrase.end, len(reading.tokens))
    if after is not None and not after.bits & (NOT_IN_PHRASE | ADV):
        return False
    is_capitalised = all(token.is_capital or token.bits & TITLE for token in parts)
    return is_capitalised and parts[-1].low not in NOT_NAMES and _is_unusual(parts[-1])


def _is_determined(phrase: NounPhrase) -> bool:
    return phrase.det is not None or phrase.possessor is not None or phrase.possessor_phrase is not None


def starts_sentence(tokens: list[Token], i: int) -> bool:
    """Whether token i comes first, so that its capital means nothing."""
    return i == 0 or (bool(tokens[i - 1].bits & PUNCT) and tokens[i - 1].low in _STARTERS)


def _is_unusual(token: Token) -> bool:
    """No listed noun, verb or closed word: at the start of a sentence only such a word is taken for a name."""
    low = token.low
    if (
        token.verbs is not None
        or token.bits & (NOT_IN_PHRASE | ADV)
        or low in _LISTED_NOUNS
        or low in PETS
        or low in KIN
    ):
        return False
    return not low.endswith("ing")
