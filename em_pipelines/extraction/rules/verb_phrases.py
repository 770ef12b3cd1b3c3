"""Where verb phrases end: `learn how to make X`, `resign from Y`, `moving to Z`. A base or -ing verb and its object."""

from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.noun_phrases import NounPhrase, parse_noun_phrase
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.word_classes import (
    ADV,
    AUX,
    BASE,
    ING,
    MONTH,
    NOT_IN_PHRASE,
    OBJECT,
    PREP,
    WEEKDAY,
    WH,
)

_TIME_HEADS = words("words", "time_heads")
_LINKING = frozenset({"like", "until", "till", "since", "before", "after", "except", "because", "than"})
_PARTICLES = words("words", "particles")


def is_ing(token: Token) -> bool:
    """Whether the word is the -ing form of a verb, listed or not."""
    if token.verbs is not None:
        return any(kind & ING for kind in token.verbs.values())
    return token.low.endswith("ing") and len(token.low) > 5 and token.bits == 0 and not token.is_capital


def verb_phrase_end(tokens: list[Token], i: int, stop: int) -> int | None:
    """The token after the phrase of the base verb at i and what it cannot do without; None where there is no verb."""
    while i < stop and tokens[i].bits & ADV and not tokens[i].verbs:
        i += 1
    if i >= stop or tokens[i].bits & (NOT_IN_PHRASE & ~AUX) or tokens[i].is_capital:
        return None
    token = tokens[i]
    if token.verbs is not None and not any(kind & BASE for kind in token.verbs.values()):
        return None
    return complement_end(tokens, i + 1, stop)


def complement_end(tokens: list[Token], i: int, stop: int) -> int:  # noqa: PLR0911, one return a kind of complement
    """Past the object after a verb, or its particle and preposition phrase when it has no object."""
    start = i
    if i < stop and tokens[i].bits & WH and i + 1 < stop and tokens[i + 1].low == "to":
        return verb_phrase_end(tokens, i + 2, stop) or start
    if i < stop and tokens[i].low == "to":
        return verb_phrase_end(tokens, i + 1, stop) or _after_preposition(tokens, i, stop)
    if i < stop and tokens[i].low in _PARTICLES and tokens[i].bits & (ADV | PREP):
        after = parse_noun_phrase(tokens, i + 1, stop)
        if after is None or tokens[i].bits & ADV:
            i += 1
        elif not _is_time(tokens, after):
            return after.end
        else:
            return i + 1 if tokens[i].low in {"up", "out", "back", "away"} else i
    if i < stop and tokens[i].bits & OBJECT and not tokens[i].bits & NOT_IN_PHRASE & ~OBJECT:
        return i + 1
    phrase = parse_noun_phrase(tokens, i, stop) if i < stop else None
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
    return bool(head.bits & (WEEKDAY | MONTH)) or head.low in _TIME_HEADS or head.low.isdigit()
