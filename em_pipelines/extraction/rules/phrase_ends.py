"""Where a noun phrase ends: at a closed-class word, at its verb, at a time, or after the name of a pet or relative."""

from em_pipelines.extraction.rules.lexicon import mapping, words
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.word_classes import (
    ADV,
    ALSO_NOUNS,
    AUX,
    BASE,
    DET,
    FINITE,
    ING,
    NEG,
    NOT_IN_PHRASE,
    NUMBER,
    OBJECT,
    PARTICIPLE,
    PAST,
    POSS,
    PREP,
    PUNCT,
    S_FORM,
    SUBJECT,
    TITLE,
    WEEKDAY,
)

KIN = mapping("people", "relations")
PETS = words("people", "pets")
_PLURAL_KIN = words("people", "plural")
_VERB_COMPLEMENTS = DET | POSS | OBJECT | SUBJECT | NUMBER
NAMING = frozenset({"called", "named", "nicknamed"})
_TIME_STARTS = frozenset({"last", "next", "coming", "past"})
_TIME_SPANS = words("words", "time_spans")
_TIME_UNITS = words("words", "time_units") | words("words", "weekdays") | words("words", "weekday_short")
_PREPS_AFTER_VERBS = words("words", "prepositions_after_verbs")


def content_end(tokens: list[Token], i: int, stop: int, *, has_determiner: bool) -> int:
    j = i
    while j < stop:
        token = tokens[j]
        bits = token.bits
        if bits & NOT_IN_PHRASE and not _is_name_part(tokens, i, j, stop):
            break
        if (
            j > i
            and not token.is_capital
            and (token.low in NAMING or (tokens[j - 1].is_capital and _is_after_kin_name(tokens, i, j)))
        ):
            break
        if j > i and bits & NUMBER and j + 1 < stop and tokens[j + 1].low in _TIME_SPANS:
            break
        if j > i and bits & WEEKDAY and not _has_content_at(tokens, j + 1, stop):
            break
        if j > i and token.low == "size" and j + 1 < stop and tokens[j + 1].bits & NUMBER:
            break
        if j > i and token.low in _TIME_STARTS and j + 1 < stop and tokens[j + 1].low in _TIME_UNITS:
            break
        if bits & (ADV | NEG) and not token.is_capital and _ends_before_adverb(tokens, i, j, stop):
            break
        if token.verbs and not token.is_capital:
            if j == i and not has_determiner:
                if not _can_start(token):
                    break
            elif j > i and _ends_phrase(tokens, j, stop):
                break
        j += 1
    return j


def _ends_before_adverb(tokens: list[Token], i: int, j: int, stop: int) -> bool:
    """`Ida really`, and adverbs that nothing of the phrase follows; not `a really old mill`."""
    return (j > i and tokens[j - 1].is_capital) or not _has_content_at(tokens, j + 1, stop)


def _is_after_kin_name(tokens: list[Token], i: int, j: int) -> bool:
    """Whether `my cat Pudding` is complete before token j: what follows a name in small letters is no part of it.

    The token before j has a capital.
    """
    k = j - 1
    while k > i and tokens[k].is_capital:
        k -= 1
    return not tokens[k].is_capital and (tokens[k].low in KIN or tokens[k].low in PETS)


def _is_name_part(tokens: list[Token], i: int, j: int, stop: int) -> bool:
    """`&`, `de` or a capitalised closed word between two capitalised words of one name; `Mrs.` and its kin."""
    token = tokens[j]
    if not (token.is_capital or token.bits & TITLE or token.low == "&"):
        return False
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
    kinds = token.forms
    return bool(kinds & (ING | PARTICIPLE)) and not kinds & (BASE | S_FORM)


def _ends_phrase(tokens: list[Token], j: int, stop: int) -> bool:  # noqa: PLR0911, one return a rule of grammar
    """Whether the word at j, which may be a verb, is the verb of the phrase before it rather than part of it."""
    token, before = tokens[j], tokens[j - 1]
    following = tokens[j + 1] if j + 1 < stop else None
    kinds = token.forms
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
    is_plural = before.low in _PLURAL_KIN or (
        before.low.endswith("s") and not before.low.endswith("ss") and not before.is_capital
    )
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


def is_possessive(tokens: list[Token], end: int, stop: int) -> bool:
    """Whether the mark at `end` is a possessive 's, not a shortened `is`."""
    mark, following = tokens[end], tokens[end + 1]
    if mark.low == "'":
        return (
            tokens[end - 1].low.endswith("s")
            and mark.start == tokens[end - 1].end
            and _has_content_at(tokens, end + 1, stop)
        )
    if mark.low != "'s" or following.low == "got" or following.bits & (NOT_IN_PHRASE | ADV | NUMBER):
        return False
    kinds = following.forms
    return not (kinds & (ING | PARTICIPLE) and following.low not in ALSO_NOUNS)
