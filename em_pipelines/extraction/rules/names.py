"""Whether a phrase of a message is a name, and what the words around it show it to be.

Capitals tell a name, except at the start of a sentence and in messages without any.
"""

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import date

from em_pipelines.extraction.segmentation import ALONE, Talk
from em_pipelines.language.cleaning import MARKS
from em_pipelines.language.en.lexicon import gender_of_name, load_lexicon, words
from em_pipelines.language.en.noun_phrases import KIN, PETS, NounPhrase
from em_pipelines.language.en.tokens import (
    ADV,
    BE,
    DO,
    HAVE,
    MODAL,
    MONTH,
    NEG,
    NOT_IN_PHRASE,
    NUMBER,
    PAST,
    PREP,
    PUNCT,
    S_FORM,
    TITLE,
    WEEKDAY,
    Token,
    token_at,
)
from em_pipelines.schema.vocabulary import EntityType

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
_STARTERS = frozenset(".!?…\n:;\"'(]-–—•*")

ROLES = (words("nouns", "companions") | words("nouns", "professions") | words("people", "person_roles")) - (
    words("nouns", "gadgets") | words("nouns", "products") | frozenset(load_lexicon("nouns")["types"]["tool"].split())
)
_FIRST_PERSON = words("words", "first_person")
_HUMAN_VERBS = words("people", "human_verbs")
_MET_VERBS = words("people", "met_verbs")
_GREETINGS = words("people", "greetings")
_SORTS_OF_PEOPLE = words("people", "sorts_of_people") | ROLES | (KIN.keys() - {"twin", "twins"})
_BELONGINGS = words("people", "persons_things") | KIN.keys()
_TITLES = words("people", "titles")
_PERSONAL = frozenset({"he", "she"})
_CALLING = frozenset({"he", "she", "to", "'ll", "will", "should"})
_CALLED = frozenset({"called", "named"})
_AND = frozenset({"and", "&"})
_BY = frozenset({"by", "with"})
_GOES_ON = frozenset({",", "and"})
_ASKING = frozenset({"does", "did", "do", "has", "is", "was", "will", "would", "can", "could", "should"})
_ARTICLES = frozenset({"a", "an", "the", "my", "our", "his", "her", "their", "your"})
_APPOSED = frozenset({",", "(", "-", "–", "—"})
_QUOTES = frozenset("\"'“”‘’«»„`")
_ENDS = frozenset(".!?…\n:;")
_TO_SOMEBODY = _GREETINGS | words("people", "to_somebody")
_BEFORE_PLACES = frozenset({"in", "at", "near", "into", "on", "around", "across"})
_INSIDE = frozenset({"in", "into", "near", "across", "through", "throughout", "outside", "via"})
_MOTION = words("people", "motion")
_MAX_HELPERS = 4
SHORT_DATES = words("words", "weekday_short") | words("words", "month_short")
_NAME_WORD = re.compile(
    rf"(?:(?:Mc|Mac|De|Di|La|Le|Van|Fitz|O['’]|D['’])?[^\W\d_a-z](?:[^\W\d_A-Z]|[{MARKS}])*[.]?|[a-z]{{1,3}}"
    rf"|(?:[A-Z]\.)+)(?:[-'’](?:[^\W\d_]|[{MARKS}])+)*"
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a matcher works on: the message's tokens and text, its date, and whether it writes capitals at all.

    Before the tokens at `seams` the text holds words that were taken back (`repairs`). `speakers` are the names,
    case-folded, of those who speak, and `talk` is which of them does. `phrases` keeps what slots have read, by first
    token and limit, `owners` the owner of each role noun, by token. `used` are what somebody is known to use by now.
    """

    tokens: list[Token]
    text: str
    written_on: date
    has_capitals: bool
    seams: frozenset[int] = frozenset()
    speakers: frozenset[str] = frozenset()
    phrases: dict[tuple[int, int], NounPhrase | None] = field(default_factory=dict)
    talk: Talk = ALONE
    owners: dict[int, str | None] = field(default_factory=dict)
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
    """Whether token i comes first, so that its capital means nothing: also behind a picture or an emoji."""
    if i == 0:
        return True
    before = tokens[i - 1]
    return bool(before.bits & PUNCT) and (before.low in _STARTERS or unicodedata.category(before.low[0]) == "So")


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


def _low(tokens: list[Token], i: int) -> str:
    return tokens[i].low if 0 <= i < len(tokens) else ""


def _is_other_name(tokens: list[Token], name: str, start: int, end: int, *, is_given: bool) -> bool:
    """Whether the words are quoted, spelt as only things are, or part of a longer name: `Ring of Fire`, `VS Code`."""
    before, after = _low(tokens, start - 1), _low(tokens, end)
    if before in _QUOTES and after in _QUOTES | _ENDS:
        return True
    is_spelt_so = is_given or tokens[start].low in _TITLES or all(map(_NAME_WORD.fullmatch, name.split()))
    if not is_spelt_so or after == "of":
        return True
    if before == "of":
        return start > 1 and tokens[start - 2].is_capital and not is_given
    is_joined = start > 1 and tokens[start - 1].is_capital and tokens[start].start - tokens[start - 1].end == 1
    return is_joined and before not in _GREETINGS and before not in _FIRST_PERSON and tokens[start - 2].low not in _ENDS


def _is_pet(tokens: list[Token], end: int) -> bool:
    """`Tinker, my ferret`."""
    return _low(tokens, end) in _APPOSED and any(
        low in PETS for low in _lows(tokens, end + 1, end + 4) if low not in _ENDS
    )


def _lows(tokens: list[Token], start: int, end: int) -> list[str]:
    return [token.low for token in tokens[max(0, start) : end]]


def _is_titled(tokens: list[Token], start: int, end: int) -> bool:
    """`Frau Behrens`; a school or a hospital may be called after a saint."""
    first = tokens[start]
    return end - start > 1 and first.low != "st" and (bool(first.bits & TITLE) or first.low in _TITLES)


def _acts(tokens: list[Token], start: int, end: int) -> bool:
    """`Wanda would rather walk`, `Wanda, who`: the subject of what only people do."""
    after = _low(tokens, end)
    is_told_of = "who" in (after, _low(tokens, end + 1) if after == "," else "") or (
        after in _GOES_ON
        and not _PERSONAL.isdisjoint(_lows(tokens, end + 1, end + 3))
        and PETS.isdisjoint(_lows(tokens, 0, len(tokens)))  # they are he and she, too
    )
    before = _low(tokens, start - 1)
    if is_told_of and (before in _BY or not (start and tokens[start - 1].bits & (PREP | NEG))):
        return True
    end += after == "," and before == ","
    i, is_helped = end, _low(tokens, start - 1) in _ASKING
    while i < len(tokens) and i < end + _MAX_HELPERS and tokens[i].bits & (ADV | MODAL | HAVE | BE | NEG | DO):
        is_helped |= not tokens[i].bits & ADV
        i += 1
    if i >= len(tokens) or not tokens[i].verbs:
        return False
    is_verb = is_helped or bool(tokens[i].forms & (S_FORM | PAST))
    return is_verb and not _HUMAN_VERBS.isdisjoint(tokens[i].verbs or ())


def _is_met(tokens: list[Token], start: int, _: int) -> bool:
    """`I met Wanda`, `ask Wanda`; `I called Wanda`."""
    verbs = (tokens[start - 1].verbs if start else None) or {}
    is_called = "call" in verbs and _low(tokens, start - 2) in _FIRST_PERSON | _CALLING
    return is_called or not _MET_VERBS.isdisjoint(verbs)


def _is_greeted(tokens: list[Token], start: int, end: int) -> bool:
    """`Hey Wanda!`, `Thanks, Wanda`, `How was it, Wanda?`"""
    at = start - 2 if _low(tokens, start - 1) == "," else start - 1
    if _low(tokens, at) in _GREETINGS and (at == 0 or tokens[at - 1].low in _ENDS):
        return True
    is_last = _low(tokens, start - 1) == "," and _low(tokens, end) in _ENDS | {""}
    if not is_last:
        return False
    first = next((i + 1 for i in range(start - 2, -1, -1) if tokens[i].low in _ENDS), 0)
    lows = _lows(tokens, first, start - 1)
    return "," not in lows and not _TO_SOMEBODY.isdisjoint(lows)


def _is_owner(tokens: list[Token], _: int, end: int) -> bool:
    """`Wanda's birthday`, `Wanda's sister`."""
    if _low(tokens, end) not in {"'s", "'"}:
        return False
    return not _BELONGINGS.isdisjoint(_lows(tokens, end + 1, end + 3))


def _is_said_to_be_one(tokens: list[Token], start: int, end: int) -> bool:
    """`a woman called Wanda`, `the crane man, Wanda`, `Wanda, the nurse`, `my desk neighbour is called Wanda`."""
    before = _low(tokens, start - 1)
    if before in _CALLED:
        at = start - 2
        while at >= 0 and tokens[at].bits & (BE | ADV):
            at -= 1
        if _low(tokens, at) in _SORTS_OF_PEOPLE:
            return True
        return at < start - 2 and not _SORTS_OF_PEOPLE.isdisjoint(_lows(tokens, at - _MAX_HELPERS, at))
    if start and tokens[start - 1].bits & (BE | NEG):
        at = start - 3 if tokens[start - 1].bits & NEG else start - 2
        return _low(tokens, at) in _SORTS_OF_PEOPLE
    if before in _SORTS_OF_PEOPLE or (before == "," and _low(tokens, start - 2) in _SORTS_OF_PEOPLE):
        return True
    is_said = _low(tokens, end) in _APPOSED or (end < len(tokens) and bool(tokens[end].bits & BE))
    if not is_said or _low(tokens, end + 1) not in _ARTICLES:
        return False
    lows = _lows(tokens, end + 2, end + 7)
    role = next((k for k, low in enumerate(lows[:4]) if low in _SORTS_OF_PEOPLE), None)
    return role is not None and lows[role + 1 : role + 2] not in (["'s"], ["'"])


def _is_what_one_is_called(tokens: list[Token], start: int, _: int) -> bool:
    """`Call me Wanda`, `they've called him Wes`, `I'm Wanda`, `my name is Wanda`."""
    before, verb = _low(tokens, start - 1), tokens[start - 2].verbs if start > 1 else None
    if before in {"me", "him", "her"} and verb and not {"call", "name"}.isdisjoint(verb):
        return before == "me" or PETS.isdisjoint(_lows(tokens, 0, len(tokens)))
    if not start or not tokens[start - 1].bits & BE:
        return False
    return _low(tokens, start - 2) == "i" or _lows(tokens, start - 3, start - 1) == ["my", "name"]


def _is_beside_one(tokens: list[Token], start: int, end: int) -> bool:
    """`Wanda and I`, `me and Wanda`, `Wanda and Peter`."""
    after = _low(tokens, end + 1) if _low(tokens, end) in _AND else ""
    before = _low(tokens, start - 2) if _low(tokens, start - 1) in _AND | {","} else ""
    if after in _FIRST_PERSON or before in {"me", "i"}:
        return True
    is_listed = _low(tokens, end) == "," and _low(tokens, end + 2) in _AND
    following = end + 1 if after or is_listed else None
    beside = [at for at in (following, start - 2 if _low(tokens, start - 1) in _AND else None) if at is not None]
    return any(tokens[at].is_capital and gender_of_name(tokens[at].low) for at in beside if 0 <= at < len(tokens))


def _is_reached(tokens: list[Token], start: int) -> bool:
    """`all the way to Wick`, `we drove through Wick`."""
    if _low(tokens, start - 1) not in {"to", "from", "for"}:
        return False
    return any(not _MOTION.isdisjoint(token.verbs or ()) for token in tokens[max(0, start - 5) : start - 1])


_SHOWS_PERSON = (
    _is_titled,
    _acts,
    _is_what_one_is_called,
    _is_met,
    _is_greeted,
    _is_owner,
    _is_said_to_be_one,
    _is_beside_one,
)


def type_by_context(tokens: list[Token], name: str, start: int, end: int, *, is_given: bool) -> EntityType:
    """What the words around a name that could be a person's show it to be; `is_given`: it is one by itself."""
    if _is_other_name(tokens, name, start, end, is_given=is_given):
        return EntityType.CONCEPT
    if _is_pet(tokens, end):
        return EntityType.ANIMAL
    before = _low(tokens, start - 1)
    if before in _INSIDE and not tokens[start].bits & TITLE:
        return EntityType.PLACE
    if is_given or any(test(tokens, start, end) for test in _SHOWS_PERSON):
        return EntityType.PERSON
    return EntityType.PLACE if before in _BEFORE_PLACES or _is_reached(tokens, start) else EntityType.CONCEPT
