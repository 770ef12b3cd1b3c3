"""Where verb phrases end: `learn how to make X`, `resign from Y`, `moving to Z`. A base or -ing verb and its object."""

from em_pipelines.language.en.lexicon import words
from em_pipelines.language.en.noun_phrases import NounPhrase, parse_noun_phrase
from em_pipelines.language.en.tokens import (
    ADV,
    AUX,
    BASE,
    MONTH,
    NOT_IN_PHRASE,
    OBJECT,
    PREP,
    WEEKDAY,
    WH,
    Token,
    low_at,
)

_TIME_HEADS = words("words", "time_heads")
_LINKING = frozenset({"like", "until", "till", "since", "before", "after", "except", "because", "than"})
_PARTICLES = words("words", "particles")


def verb_phrase_end(tokens: list[Token], i: int, stop: int) -> int | None:
    """The token after the phrase of the base verb at i and what it cannot do without; None where there is no verb."""
    while i < stop and tokens[i].bits & ADV and not tokens[i].verbs:
        i += 1
    if i >= stop or tokens[i].bits & (NOT_IN_PHRASE & ~AUX) or tokens[i].is_capital:
        return None
    token = tokens[i]
    if token.verbs is not None and not token.forms & BASE:
        return None
    return complement_end(tokens, i + 1, stop)


def complement_end(tokens: list[Token], i: int, stop: int) -> int:
    """Past the object after a verb, or its particle and preposition phrase when it has no object."""
    if i >= stop:
        return i
    token = tokens[i]
    if token.bits & WH and low_at(tokens, i + 1, stop) == "to":
        return verb_phrase_end(tokens, i + 2, stop) or i
    if token.low == "to":
        return verb_phrase_end(tokens, i + 1, stop) or _after_preposition(tokens, i, stop)
    if token.low in _PARTICLES and token.bits & (ADV | PREP):
        return _after_particle(tokens, i, stop)
    return _object_end(tokens, i, stop)


def _after_particle(tokens: list[Token], i: int, stop: int) -> int:
    """Past the particle at i and its object (`give up the harp`), or past the phrase it governs (`move to Graz`)."""
    phrase = parse_noun_phrase(tokens, i + 1, stop)
    if phrase is None or tokens[i].bits & ADV:
        return _object_end(tokens, i + 1, stop)
    if not _is_time(tokens, phrase):
        return phrase.end
    return i + 1 if tokens[i].low in {"up", "out", "back", "away"} else i


def _object_end(tokens: list[Token], i: int, stop: int) -> int:
    if i < stop and tokens[i].bits & OBJECT and not tokens[i].bits & NOT_IN_PHRASE & ~OBJECT:
        return i + 1
    phrase = parse_noun_phrase(tokens, i, stop)
    if phrase is not None and not _is_time(tokens, phrase):
        return phrase.end
    return _after_preposition(tokens, i, stop)


def _after_preposition(tokens: list[Token], i: int, stop: int) -> int:
    if i < stop and tokens[i].bits & PREP and tokens[i].low not in _LINKING:
        phrase = parse_noun_phrase(tokens, i + 1, stop)
        if phrase is not None and not _is_time(tokens, phrase):
            return phrase.end
    return i


def _is_time(tokens: list[Token], phrase: NounPhrase) -> bool:
    head = tokens[phrase.head]
    return bool(head.bits & (WEEKDAY | MONTH)) or head.low.removesuffix("s") in _TIME_HEADS or head.low.isdigit()
