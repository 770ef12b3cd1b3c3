"""Which names are none: a sentence about a thing, or what is done with it, by the tags of the rules' own words."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from em_pipelines.extraction.rules.tokens import (
    ALSO_NOUNS,
    BASE,
    BE,
    DET,
    DO,
    HAVE,
    MODAL,
    NOT_IN_PHRASE,
    OBJECT,
    PAST,
    POSS,
    PREP,
    S_FORM,
    SUBJECT,
    VERB_FORMS,
    Token,
    tokenise,
)
from em_pipelines.schema.vocabulary import MAY_BE_PHRASE, PHRASE_OBJECT


@lru_cache(maxsize=65_536)
def is_statement(text: str) -> bool:
    """Whether a name is a sentence about something, by a finite verb behind a noun: `Susan keeps me grounded`."""
    return bool(_subjects(text)) or _has_purpose(text)


def _has_purpose(text: str) -> bool:
    """Whether a proper name is followed by what its bearer is to do: `Ines to rest and recover`."""
    tokens = tokenise(text)
    return any(
        name.is_capital and to.low == "to" and not verb.is_capital and _is_plain_verb(verb)
        for name, to, verb in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )


@lru_cache(maxsize=65_536)
def is_beside(part: str, text: str) -> bool:
    """Whether a name stands in a longer one only behind a preposition: the beach in `camping at the beach` is where,
    and not what. What is `of` a thing is named after it."""
    tokens = tokenise(text)
    places = [n for n, token in enumerate(tokens) if n and token.bits & PREP and not token.is_capital]
    end = next((n for n in places if tokens[n].low != "of"), len(tokens))
    head = {token.low for token in tokens[:end]}
    return end < len(tokens) and head.isdisjoint(token.low for token in tokenise(part) if not token.bits & (DET | POSS))


def _subjects(text: str) -> list[tuple[int, Token]]:
    """The words before finite verbs, with their places."""
    tokens = tokenise(text)
    return [
        (n, before)
        for n, (before, token) in enumerate(pairwise(tokens))
        if not token.is_capital and not before.bits & (NOT_IN_PHRASE & ~SUBJECT) and _is_finite(token, tokens[n + 2 :])
    ]


def _is_finite(token: Token, behind: Sequence[Token]) -> bool:
    """Whether a word can only be a verb with its subject: `is`, `should`, `keeps me`, `kept the`; not `races`."""
    if token.bits & (BE | HAVE | MODAL | DO):
        return token.low != "'s"  # of a name it is a possessive: St Anne's
    is_verb = bool(token.verbs) and bool(token.forms & (S_FORM | PAST))
    return is_verb and bool(behind) and bool(behind[0].bits & (OBJECT | DET | POSS))


@lru_cache(maxsize=65_536)
def is_verb_phrase(text: str) -> bool:
    """Whether a name says what is done, by a verb in its plain form before what it is done to: `watch a film`."""
    tokens = tokenise(text)
    words_of_it = tokens[1:] if tokens and tokens[0].low == "to" else tokens
    if len(words_of_it) < 2:
        return False
    verb, behind = words_of_it[:2]
    if verb.is_capital or not _is_plain_verb(verb):  # of a title: Call of Duty
        return False
    return bool(behind.bits & (DET | POSS)) or (bool(behind.bits & PREP) and verb.low not in ALSO_NOUNS)


def is_led_by_verb(text: str) -> bool:
    """Whether a text begins with a word that is a verb in its plain form and no noun: `go hiking`; but `live music`,
    too, so it tells what is done only where somebody does it."""
    tokens = tokenise(text)
    is_lone = len(tokens) < 2 or tokens[0].is_capital
    return not is_lone and _is_plain_verb(tokens[0]) and tokens[0].low not in ALSO_NOUNS


def _is_plain_verb(token: Token) -> bool:
    """Whether a word may be the plain form of a verb, or of one with `re-` before it."""
    again = VERB_FORMS.get(token.low.removeprefix("re"), {}) if token.low.startswith("re") else {}
    return bool(token.verbs and token.forms & BASE) or any(kinds & BASE for kinds in again.values())


def is_sentence(text: str) -> bool:
    """Whether a text is a sentence, and names nothing. `The house I was born in` is a noun with a clause about it, by
    the pronoun behind the noun."""
    return any(n == 0 or not before.bits & SUBJECT for n, before in _subjects(text)) or _has_purpose(text)


def is_clause(text: str) -> bool:
    """Whether a text is a sentence, or says what is done."""
    return is_sentence(text) or is_verb_phrase(text)


def is_phrase_of(relation: str, words: str) -> bool:
    """Whether the object of a relation says something in a phrase, which is stored as a value, and names no thing.

    What is liked may be what is done, `to go for a jog`: that is jogging in other words, and so an activity.
    """
    if relation == "did":
        return is_led_by_verb(words) or is_clause(words)
    return relation in PHRASE_OBJECT or (relation in MAY_BE_PHRASE and is_sentence(words))
