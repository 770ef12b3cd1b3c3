"""Noun phrases: where one starts and ends, what its head is, whose it is, and how it is written as a name.

A phrase is read forwards from its determiner to the last word before a closed-class word or a finite verb. Names and
plain nouns are the same thing here; what a phrase denotes is guessed elsewhere.
"""

from em_pipelines.extraction.rules.lexicon import load_lexicon, words
from em_pipelines.extraction.rules.phrase_ends import KIN, NAMING, PETS, content_end, is_possessive
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.word_classes import (
    ADV,
    DET,
    EVALUATIVE,
    MEASURE_NOUNS,
    NUMBER,
    POSS,
    QUANT,
)

__all__ = ["KIN", "KIN_MODIFIERS", "NAMING", "PETS", "NounPhrase", "parse_noun_phrase"]

_JOURNEYS = words("nouns", "journeys")
_MAX_DEPTH = 4
"""Of phrases within phrases, `the lid of the box of the key`."""
_MAX_DETERMINERS = 5
"""Words such as `all the many` before a phrase; a longer run, `my my my …`, begins none."""
_PAIR = 2
_SIZES = frozenset({"small", "big", "tiny", "huge"})
_COUNTED = (KIN.keys() | PETS | words("nouns", "gadgets") | words("nouns", "products")).union(
    *(load_lexicon("nouns")["types"][kind].split() for kind in ("vehicle", "place", "event", "work"))
)
"""Nouns that may lack an article in notes, `bought big tent`."""
_POSTPOSED = words("words", "postposed")
_TIME_SPANS = words("words", "time_spans")
KIN_MODIFIERS = words("people", "modifiers")


class NounPhrase:
    """Tokens `start` to `end`; `first` is its first word without determiners, `head` its main word."""

    __slots__ = ("det", "end", "first", "head", "number", "possessor", "possessor_phrase", "start")

    def __init__(self, start: int, first: int, head: int, end: int) -> None:
        self.start = start
        self.first = first
        self.head = head
        self.end = end
        self.det: str | None = None
        self.possessor: str | None = None
        """A possessive pronoun: my, her, …"""
        self.possessor_phrase: NounPhrase | None = None
        self.number: str | None = None

    def __repr__(self) -> str:
        return f"NP({self.start}, {self.first}..{self.head}, {self.end})"


def parse_noun_phrase(tokens: list[Token], i: int, stop: int, depth: int = 0) -> NounPhrase | None:
    """Reads the phrase that starts at token i, at most to `stop`; None where none starts, or too deep in others."""
    if depth > _MAX_DEPTH:
        return None
    start = i
    phrase = NounPhrase(start, start, start, start)
    while i < stop and i - start < _MAX_DETERMINERS:
        token = tokens[i]
        if token.bits & POSS:
            phrase.possessor = token.low
        elif token.low == "that" and i + 1 < stop and tokens[i + 1].is_capital:
            return None
        elif token.bits & (DET | QUANT):
            phrase.det = token.low
        else:
            break
        i += 1
    if i < stop and i > start and tokens[i].low == "of" and phrase.det and tokens[i - 1].bits & QUANT:
        return _moved(parse_noun_phrase(tokens, i + 1, stop, depth + 1), start)
    end = content_end(tokens, i, stop, has_determiner=i > start)
    if end == i:
        return None
    return _finished(tokens, phrase, i, end, stop, depth)


def _finished(
    tokens: list[Token], phrase: NounPhrase, first: int, end: int, stop: int, depth: int
) -> NounPhrase | None:
    """Settles possessors, numbers, `of` and empty adjectives once the first run of words is known."""
    while end + 1 < stop and is_possessive(tokens, end, stop):
        owner = NounPhrase(phrase.start, first, end - 1, end)
        owner.possessor, owner.det, owner.possessor_phrase = phrase.possessor, phrase.det, phrase.possessor_phrase
        phrase.possessor_phrase, phrase.possessor = owner, None
        first = end + 1
        end = content_end(tokens, first, stop, has_determiner=True)
        if end == first:
            return None
    if end + 1 < stop and tokens[end].low == "of":
        inner = parse_noun_phrase(tokens, end + 1, stop, depth + 1)
        if tokens[end - 1].low in MEASURE_NOUNS and not tokens[end - 1].is_capital:
            return _moved(inner, phrase.start)
        is_span = inner is not None and inner.number is not None and tokens[inner.head].low in _TIME_SPANS
        if inner is not None and inner.possessor is None and not is_span:
            phrase.first, phrase.head, phrase.end = _trimmed(tokens, phrase, first, end), end - 1, inner.end
            return phrase
    if end - first > 1 and tokens[end - 1].low in _POSTPOSED and not tokens[end - 1].is_capital:
        end -= 1
    phrase.first = _trimmed(tokens, phrase, first, end)
    phrase.head, phrase.end = end - 1, end
    if end + 1 < stop and tokens[end].low == "to" and tokens[end - 1].low in _JOURNEYS and tokens[end + 1].is_capital:
        phrase.end = content_end(tokens, end + 1, stop, has_determiner=False)
    return phrase


def _moved(phrase: NounPhrase | None, start: int) -> NounPhrase | None:
    if phrase is not None:
        phrase.start = start
    return phrase


def _trimmed(tokens: list[Token], phrase: NounPhrase, first: int, end: int) -> int:
    """The first word that carries meaning: numbers, adverbs and words of judgement go."""
    while first < end - 1:
        token = tokens[first]
        if first == phrase.start and end - first == _PAIR and _is_sized_matter(token, tokens[end - 1]):
            break
        if token.bits & NUMBER and not (token.is_capital and tokens[first + 1].is_capital):
            if first + 2 < end and token.low not in {"one", "1"} and not tokens[end - 1].low.endswith(("s", "n")):
                break
            phrase.number = token.low
        elif not (token.bits & (ADV | QUANT) or token.low in EVALUATIVE) or token.is_capital:
            break
        first += 1
    return first


def _is_sized_matter(size: Token, head: Token) -> bool:
    """`small talk`, `big data`: what cannot be counted has no size, so that the word belongs to its name."""
    is_plural = head.low.endswith("s") and not head.low.endswith("ss")
    return size.low in _SIZES and not (is_plural or head.is_capital or head.low in _COUNTED)
