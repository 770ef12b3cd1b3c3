"""Noun phrases: where one starts and ends, what its head is, whose it is, and how it is written as a name.

A phrase is read forwards from its determiner to the last word before a closed-class word or a finite verb. Names and
plain nouns are the same thing here; what a phrase denotes is guessed elsewhere.
"""

from em_pipelines.extraction.rules.lexicon import mapping, words
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.word_classes import (
    ADV,
    ALSO_NOUNS,
    AUX,
    BASE,
    DET,
    EVALUATIVE,
    FINITE,
    ING,
    MEASURE_NOUNS,
    NEG,
    NOT_IN_PHRASE,
    NUMBER,
    OBJECT,
    PARTICIPLE,
    PAST,
    POSS,
    PREP,
    PUNCT,
    QUANT,
    S_FORM,
    SUBJECT,
    TITLE,
)

KIN = mapping("people", "relations")
KIN_MODIFIERS = words("people", "modifiers")
PETS = words("people", "pets")
_PLURAL_KIN = words("people", "plural")
_VERB_COMPLEMENTS = DET | POSS | OBJECT | SUBJECT | NUMBER
_TIME_STARTS = frozenset({"last", "next", "coming", "past"})
_TIME_SPANS = words("words", "time_spans")
_TIME_UNITS = words("words", "time_units") | words("words", "weekdays") | words("words", "weekday_short")
_PREPS_AFTER_VERBS = words("words", "prepositions_after_verbs")


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


def parse_noun_phrase(tokens: list[Token], i: int, stop: int) -> NounPhrase | None:
    """Reads the phrase that starts at token i, at most to `stop`; None where none starts."""
    start = i
    phrase = NounPhrase(start, start, start, start)
    while i < stop:
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
        return _moved(parse_noun_phrase(tokens, i + 1, stop), start)
    end = _content_end(tokens, i, stop, has_determiner=i > start)
    if end == i:
        return None
    return _finished(tokens, phrase, i, end, stop)


def _finished(tokens: list[Token], phrase: NounPhrase, first: int, end: int, stop: int) -> NounPhrase | None:
    """Settles possessors, numbers, `of` and empty adjectives once the first run of words is known."""
    while end + 1 < stop and _is_possessive(tokens, end, stop):
        owner = NounPhrase(phrase.start, first, end - 1, end)
        owner.possessor, owner.det, owner.possessor_phrase = phrase.possessor, phrase.det, phrase.possessor_phrase
        phrase.possessor_phrase, phrase.possessor = owner, None
        first = end + 1
        end = _content_end(tokens, first, stop, has_determiner=True)
        if end == first:
            return None
    if end + 1 < stop and tokens[end].low == "of":
        inner = parse_noun_phrase(tokens, end + 1, stop)
        if tokens[end - 1].low in MEASURE_NOUNS and not tokens[end - 1].is_capital:
            return _moved(inner, phrase.start)
        if inner is not None and inner.possessor is None:
            phrase.first, phrase.head, phrase.end = _trimmed(tokens, phrase, first, end), end - 1, inner.end
            return phrase
    phrase.first = _trimmed(tokens, phrase, first, end)
    phrase.head, phrase.end = end - 1, end
    return phrase


def _moved(phrase: NounPhrase | None, start: int) -> NounPhrase | None:
    if phrase is not None:
        phrase.start = start
    return phrase


def _trimmed(tokens: list[Token], phrase: NounPhrase, first: int, end: int) -> int:
    """The first word that carries meaning: numbers, adverbs and words of judgement go."""
    while first < end - 1:
        token = tokens[first]
        if token.bits & NUMBER and not token.is_capital:
            if first + 2 < end and token.low not in {"one", "1"} and not tokens[end - 1].low.endswith(("s", "n")):
                break
            phrase.number = token.low
        elif not (token.bits & (ADV | QUANT) or token.low in EVALUATIVE) or token.is_capital:
            break
        first += 1
    return first


def _content_end(tokens: list[Token], i: int, stop: int, *, has_determiner: bool) -> int:
    j = i
    while j < stop:
        token = tokens[j]
        bits = token.bits
        if bits & NOT_IN_PHRASE and not _is_name_part(tokens, i, j, stop):
            break
        if j > i and bits & NUMBER and j + 1 < stop and tokens[j + 1].low in _TIME_SPANS:
            break
        if j > i and token.low in _TIME_STARTS and j + 1 < stop and tokens[j + 1].low in _TIME_UNITS:
            break
        if bits & (ADV | NEG) and not token.is_capital:
            after_name = j > i and tokens[j - 1].is_capital
            if after_name or not _has_content_at(tokens, j + 1, stop):
                break
        if token.verbs and not token.is_capital:
            if j == i and not has_determiner:
                if not _can_start(token):
                    break
            elif j > i and _ends_phrase(tokens, j, stop):
                break
        j += 1
    return j


def _is_name_part(tokens: list[Token], i: int, j: int, stop: int) -> bool:
    """`&`, `de` or a capitalised closed word between two capitalised words of one name; `Mrs.` and its kin."""
    token = tokens[j]
    if token.bits & TITLE:
        return j + 1 < stop and tokens[j + 1].is_capital
    if not (i < j < stop - 1 and tokens[j - 1].is_capital and tokens[j + 1].is_capital):
        return (
            token.is_capital
            and j > 0
            and token.low not in {"i", "i'"}
            and not token.bits & (PUNCT | SUBJECT | DET | POSS)
            and (j + 1 >= stop or not tokens[j + 1].bits & SUBJECT)
            and i < j
        )
    return token.low == "&" or (token.is_capital and not token.bits & (PUNCT | SUBJECT))


def _has_content_at(tokens: list[Token], j: int, stop: int) -> bool:
    return j < stop and not tokens[j].bits & (NOT_IN_PHRASE | ADV) and _can_start(tokens[j])


def _can_start(token: Token) -> bool:
    """Whether a word that may be a verb can open a phrase: -ing forms and words that are nouns too."""
    if not token.verbs or token.is_capital or token.low in ALSO_NOUNS:
        return True
    kinds = _kinds(token)
    return bool(kinds & (ING | PARTICIPLE)) and not kinds & (BASE | S_FORM)


def _kinds(token: Token) -> int:
    kinds = 0
    for kind in (token.verbs or {}).values():
        kinds |= kind
    return kinds


def _ends_phrase(tokens: list[Token], j: int, stop: int) -> bool:  # noqa: PLR0911, one return a rule of grammar
    """Whether the word at j, which may be a verb, is the verb of the phrase before it rather than part of it."""
    token, before = tokens[j], tokens[j - 1]
    following = tokens[j + 1] if j + 1 < stop else None
    kinds = _kinds(token)
    if (before.low.endswith("ly") or before.bits & NUMBER) and not kinds & (S_FORM | BASE):
        return False
    if not kinds & FINITE:
        if kinds & ING and before.is_capital:
            return True
        if kinds & ING and following is not None and following.bits & SUBJECT:
            return False
        takes_object = (
            following is not None and following.bits & (_VERB_COMPLEMENTS | PREP) and not following.bits & PUNCT
        )
        return bool(takes_object) or not kinds & ING
    is_plural = before.low in _PLURAL_KIN or (before.low.endswith("s") and not before.low.endswith("ss"))
    if not kinds & (S_FORM | PAST) and not is_plural and not before.is_capital:
        return False
    if token.low not in ALSO_NOUNS:
        return True
    if following is None or following.bits & (AUX | PUNCT):
        return False
    if following.bits & _VERB_COMPLEMENTS:
        return True
    is_person = before.is_capital or before.low in KIN
    if kinds & S_FORM and not is_plural:
        return is_person or following.low in _PREPS_AFTER_VERBS or not following.bits & NOT_IN_PHRASE
    if kinds & BASE and (is_plural or before.is_capital):
        return (is_plural and is_person) or following.low in _PREPS_AFTER_VERBS or not following.bits & NOT_IN_PHRASE
    return bool(kinds & PAST) and is_person


def _is_possessive(tokens: list[Token], end: int, stop: int) -> bool:
    """Whether the mark at `end` is a possessive 's, not a shortened `is`."""
    mark, following = tokens[end], tokens[end + 1]
    if mark.low == "'":
        return (
            tokens[end - 1].low.endswith("s")
            and mark.start == tokens[end - 1].end
            and _has_content_at(tokens, end + 1, stop)
        )
    if mark.low != "'s" or following.bits & (NOT_IN_PHRASE | ADV | NUMBER):
        return False
    kinds = _kinds(following)
    return not (kinds & (ING | PARTICIPLE) and following.low not in ALSO_NOUNS)
