"""Whether a phrase is a name. Capitals tell, except at the start of a sentence and in messages without any."""

from dataclasses import dataclass, field
from datetime import date

from em_pipelines.extraction.rules.lexicon import load_lexicon, words
from em_pipelines.extraction.rules.noun_phrases import KIN, PETS, NounPhrase
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.word_classes import ADV, MONTH, NOT_IN_PHRASE, NUMBER, PUNCT, TITLE, WEEKDAY

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
    read, by first token and limit: a dozen patterns ask for the same phrase.
    """

    tokens: list[Token]
    text: str
    written_on: date
    has_capitals: bool
    seams: frozenset[int] = frozenset()
    phrases: dict[tuple[int, int], NounPhrase | None] = field(default_factory=dict)


def is_name(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether the phrase is a name: capitalised, or any short bare phrase in a message written without capitals."""
    tokens = reading.tokens
    head = tokens[phrase.head]
    if (head.bits | tokens[phrase.first].bits) & (WEEKDAY | MONTH) or (
        head.bits & NUMBER and head.low.isdigit() and phrase.first == phrase.head
    ):
        return False
    if not reading.has_capitals:
        bare = phrase.det is None and phrase.possessor is None
        return bare and phrase.end - phrase.first <= 3 and head.verbs is None and head.low not in _LISTED_NOUNS
    if phrase.first == phrase.head and starts_sentence(tokens, phrase.first):
        return head.is_capital and _is_unusual(head)
    return head.is_capital or (tokens[phrase.first].is_capital and not starts_sentence(tokens, phrase.first))


def is_given_name(reading: Reading, phrase: NounPhrase) -> bool:
    """Whether the phrase can only be a person's name: one to three capitalised words and nothing else."""
    tokens = reading.tokens
    parts = tokens[phrase.first : phrase.end]
    if phrase.det or phrase.possessor or phrase.possessor_phrase or len(parts) > 3 or not is_name(reading, phrase):
        return False
    after = tokens[phrase.end] if phrase.end < len(tokens) else None
    if after is not None and not after.bits & (NOT_IN_PHRASE | ADV):
        return False
    return (
        all(t.is_capital or t.bits & TITLE for t in parts)
        and parts[-1].low not in NOT_NAMES | KIN.keys()
        and _is_unusual(parts[-1])
    )


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
