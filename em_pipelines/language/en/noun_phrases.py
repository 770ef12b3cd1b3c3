"""Noun phrases: where one starts and ends, what its head is, whose it is, and how it is written as a name.

A phrase is read forwards from its determiner to the last word before a closed-class word or a finite verb. It ends at
a time, too, and after the name of a pet or relative. Names and plain nouns are the same thing here; what a phrase
denotes is guessed elsewhere.
"""

from em_pipelines.language.en.lexicon import load_lexicon, mapping, words
from em_pipelines.language.en.tokens import (
    ADV,
    ALSO_NOUNS,
    AUX,
    BASE,
    DET,
    EVALUATIVE,
    FINITE,
    ING,
    MEASURE_NOUNS,
    MONTH,
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
    WEEKDAY,
    Token,
    low_at,
    token_at,
)

KIN = mapping("people", "relations")
PETS = words("people", "pets")
HAD_RELATIONS = frozenset(KIN.values()) | {"has_pet"}
"""Those that a kin, role or pet noun states of its owner."""
FIRST_PERSON = words("words", "first_person")
OWN_WORDS = FIRST_PERSON | {"my", "mine", "myself", "our", "ours", "ourselves"}
_PLURAL_KIN = words("people", "plural")
_VERB_COMPLEMENTS = DET | POSS | OBJECT | SUBJECT | NUMBER
NAMING = frozenset({"called", "named", "nicknamed"})
_TIME_STARTS = frozenset({"last", "next", "coming", "past"})
_TIME_SPANS = words("words", "time_spans")
_BEFORE_MEASURES = _TIME_STARTS | {"size"}
_TIME_UNITS = words("words", "time_units") | words("words", "weekdays") | words("words", "weekday_short")
_PREPS_AFTER_VERBS = words("words", "prepositions_after_verbs")
_JOURNEYS = words("nouns", "journeys")
_OPENING_ADVERBS = words("words", "opening_adverbs")
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
KIN_MODIFIERS = words("people", "modifiers")


def content_end(tokens: list[Token], i: int, stop: int, *, has_determiner: bool) -> int:
    """The token after the words of a phrase, its determiners left out, that may begin at i; i where none does."""
    if i >= stop or not _opens_phrase(tokens, i, stop, has_determiner=has_determiner):
        return i
    j = i + 1
    while j < stop and not _ends_before(tokens, i, j, stop):
        j += 1
    return j


def _opens_phrase(tokens: list[Token], i: int, stop: int, *, has_determiner: bool) -> bool:
    token = tokens[i]
    if token.bits & NOT_IN_PHRASE and not _is_name_part(tokens, i, i, stop):
        return False
    if token.is_capital:
        return True
    if token.bits & (ADV | NEG) and not _has_content_at(tokens, i + 1, stop):
        return False
    return has_determiner or _can_start(token)


def _ends_before(tokens: list[Token], i: int, j: int, stop: int) -> bool:
    """Whether the phrase whose words begin at i ends before the word at j."""
    token = tokens[j]
    if token.bits & NOT_IN_PHRASE and not _is_name_part(tokens, i, j, stop):
        return True
    if _is_time_or_size(tokens, j, stop):
        return True
    if token.is_capital:
        return False
    if token.low in NAMING or _is_after_kin_name(tokens, i, j):
        return True
    if token.bits & (ADV | NEG) and _is_loose_adverb(tokens, j, stop):
        return True
    return bool(token.verbs) and _is_verb_of_phrase(tokens, j, stop)


def _is_time_or_size(tokens: list[Token], j: int, stop: int) -> bool:
    """`two weeks`, `next month`, `Friday`, `size 44`: what says when, or how large, is no part of the phrase before."""
    token = tokens[j]
    if not token.bits & (WEEKDAY | NUMBER) and token.low not in _BEFORE_MEASURES:
        return False
    following = token_at(tokens, j + 1, stop)
    if token.bits & WEEKDAY and not _has_content_at(tokens, j + 1, stop):
        return True
    if following is None:
        return False
    if token.bits & NUMBER:
        return following.low in _TIME_SPANS
    if token.low in _TIME_STARTS:
        return following.low in _TIME_UNITS or bool(following.bits & MONTH)
    return token.low == "size" and bool(following.bits & NUMBER)


def _is_loose_adverb(tokens: list[Token], j: int, stop: int) -> bool:
    """`Ida really`, and adverbs that nothing of the phrase follows; not `a really old mill`."""
    return tokens[j - 1].is_capital or not _has_content_at(tokens, j + 1, stop)


def _is_after_kin_name(tokens: list[Token], i: int, j: int) -> bool:
    """Whether `my cat Pudding` is complete before token j: what follows a name in small letters is no part of it."""
    k = j - 1
    if not tokens[k].is_capital:
        return False
    while k > i and tokens[k].is_capital:
        k -= 1
    return not tokens[k].is_capital and (tokens[k].low in KIN or tokens[k].low in PETS)


def _is_name_part(tokens: list[Token], i: int, j: int, stop: int) -> bool:
    """`&`, `de` or a capitalised closed word between two capitalised words of one name; `Mrs.` and its kin."""
    token = tokens[j]
    if token.bits & TITLE:
        return j + 1 < stop and tokens[j + 1].is_capital
    if i == j or not (token.is_capital or token.low == "&"):
        return False
    following = token_at(tokens, j + 1, stop)
    if tokens[j - 1].is_capital and following is not None and following.is_capital:
        return not token.bits & (PUNCT | SUBJECT) or token.low == "&"
    return _may_end_name(token, following)


def _may_end_name(token: Token, following: Token | None) -> bool:
    """Whether a closed word is taken for the end of a name for its capital: not `I`, nor what a pronoun follows."""
    if not token.is_capital or token.low in {"i", "i'"} or token.bits & (PUNCT | SUBJECT | DET | POSS):
        return False
    return following is None or not following.bits & SUBJECT


def _has_content_at(tokens: list[Token], j: int, stop: int) -> bool:
    return j < stop and not tokens[j].bits & (NOT_IN_PHRASE | ADV) and _can_start(tokens[j])


def _can_start(token: Token) -> bool:
    """Whether a word that may be a verb can open a phrase: -ing forms and words that are nouns too."""
    if not token.verbs or token.is_capital or token.low in ALSO_NOUNS:
        return True
    kinds = token.forms
    return bool(kinds & (ING | PARTICIPLE)) and not kinds & (BASE | S_FORM)


def _is_verb_of_phrase(tokens: list[Token], j: int, stop: int) -> bool:
    """Whether the word at j, which may be a verb, is the verb of the phrase before it rather than part of it."""
    token, before, following = tokens[j], tokens[j - 1], token_at(tokens, j + 1, stop)
    if (before.low.endswith("ly") or before.bits & NUMBER) and not token.forms & (S_FORM | BASE):
        return False
    if not token.forms & FINITE:
        return _is_verb_if_nonfinite(token, before, following)
    if not (token.forms & (S_FORM | PAST) or before.is_capital or _is_plural(before)):
        return False
    if token.low not in ALSO_NOUNS:
        return True
    return following is not None and _is_verb_if_also_noun(token, before, following)


def _is_verb_if_nonfinite(token: Token, before: Token, following: Token | None) -> bool:
    if before.is_capital or not token.forms & ING:
        return True
    if following is None or following.bits & (SUBJECT | PUNCT):
        return False
    return bool(following.bits & (_VERB_COMPLEMENTS | PREP))


def _is_verb_if_also_noun(token: Token, before: Token, following: Token) -> bool:
    """Whether a word that is a noun as well is a verb here: by its agreement with the word before and what follows."""
    if following.bits & (AUX | PUNCT):
        return False
    if following.bits & _VERB_COMPLEMENTS:
        return True
    takes_complement = following.low in _PREPS_AFTER_VERBS or not following.bits & NOT_IN_PHRASE
    if token.forms & (BASE if _is_plural(before) else S_FORM):
        return takes_complement or _is_person(before)
    if token.forms & BASE and before.is_capital:
        return takes_complement
    return bool(token.forms & PAST) and _is_person(before)


def _is_plural(noun: Token) -> bool:
    has_ending = noun.low.endswith("s") and not noun.low.endswith("ss") and not noun.is_capital
    return has_ending or noun.low in _PLURAL_KIN


def _is_person(noun: Token) -> bool:
    return noun.is_capital or noun.low in KIN


def is_possessive(tokens: list[Token], end: int, stop: int) -> bool:
    """Whether the mark at `end` is a possessive 's, not a shortened `is`."""
    mark, following = tokens[end], tokens[end + 1]
    if mark.low == "'":
        return (
            tokens[end - 1].low.endswith("s")
            and mark.start == tokens[end - 1].end
            and _has_content_at(tokens, end + 1, stop)
        )
    if mark.low != "'s" or following.low == "got" or following.bits & (NOT_IN_PHRASE | ADV | NUMBER | POSS | DET):
        return False
    kinds = following.forms
    return not (kinds & (ING | PARTICIPLE) and following.low not in ALSO_NOUNS)


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
    phrase = NounPhrase(i, i, i, i)
    first = _past_determiners(tokens, phrase, stop)
    if first is None:
        return None
    if phrase.det and low_at(tokens, first, stop) == "of" and tokens[first - 1].bits & QUANT:
        return _moved(parse_noun_phrase(tokens, first + 1, stop, depth + 1), i)
    phrase.first = first
    phrase.end = content_end(tokens, first, stop, has_determiner=first > i)
    return _finished(tokens, phrase, stop, depth) if phrase.end > first else None


def _past_determiners(tokens: list[Token], phrase: NounPhrase, stop: int) -> int | None:
    """Notes the determiners and possessive pronouns that open a phrase; None before a clause, as in `that Ida …`."""
    i = phrase.start
    while i < stop and i - phrase.start < _MAX_DETERMINERS:
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
    return i


def _finished(tokens: list[Token], phrase: NounPhrase, stop: int, depth: int) -> NounPhrase | None:
    """Settles possessors, numbers, `of` and empty adjectives; `first` and `end` hold the first run of words."""
    if not _take_owners(tokens, phrase, stop):
        return None
    if phrase.end + 1 < stop and tokens[phrase.end].low == "of":
        inner = parse_noun_phrase(tokens, phrase.end + 1, stop, depth + 1)
        if _is_common(tokens[phrase.end - 1], MEASURE_NOUNS):
            return _moved(inner, phrase.start)
        if inner is not None and _is_part_of_whole(tokens, inner):
            _set_head(tokens, phrase)
            phrase.end = inner.end
            return phrase
    if phrase.end - phrase.first > 1 and _is_common(tokens[phrase.end - 1], _POSTPOSED):
        phrase.end -= 1
    _set_head(tokens, phrase)
    if _is_journey_to(tokens, phrase, stop):
        phrase.end = content_end(tokens, phrase.end + 1, stop, has_determiner=False)
    return phrase


def _is_common(noun: Token, listed: frozenset[str]) -> bool:
    """Whether a word is one of the listed, and no name."""
    return noun.low in listed and not noun.is_capital


def _take_owners(tokens: list[Token], phrase: NounPhrase, stop: int) -> bool:
    """`Ida's brother's boat`: makes a phrase of each owner; False where nothing is owned."""
    while phrase.end + 1 < stop and is_possessive(tokens, phrase.end, stop):
        owner = NounPhrase(phrase.start, phrase.first, phrase.end - 1, phrase.end)
        owner.possessor, owner.det, owner.possessor_phrase = phrase.possessor, phrase.det, phrase.possessor_phrase
        phrase.possessor_phrase, phrase.possessor = owner, None
        phrase.first = phrase.end + 1
        phrase.end = content_end(tokens, phrase.first, stop, has_determiner=True)
        if phrase.end == phrase.first:
            return False
    return True


def _is_part_of_whole(tokens: list[Token], inner: NounPhrase) -> bool:
    """Whether the phrase after `of` belongs to the one before: not `of mine`, nor `a trip of two weeks`."""
    is_span = inner.number is not None and tokens[inner.head].low in _TIME_SPANS
    return inner.possessor is None and not is_span


def _is_journey_to(tokens: list[Token], phrase: NounPhrase, stop: int) -> bool:
    """`trip` before `to Graz`."""
    end = phrase.end
    is_followed = end + 1 < stop and tokens[end].low == "to" and tokens[end + 1].is_capital
    return is_followed and tokens[end - 1].low in _JOURNEYS


def _moved(phrase: NounPhrase | None, start: int) -> NounPhrase | None:
    if phrase is not None:
        phrase.start = start
    return phrase


def _set_head(tokens: list[Token], phrase: NounPhrase) -> None:
    """Sets the head and the first word that carries meaning: numbers, adverbs and words of judgement go."""
    phrase.head = phrase.end - 1
    is_bare_pair = phrase.first == phrase.start and phrase.end - phrase.first == _PAIR
    if is_bare_pair and _is_sized_matter(tokens[phrase.first], tokens[phrase.head]):
        return
    while phrase.first < phrase.head and _is_empty_first(tokens, phrase):
        phrase.first += 1


def _is_empty_first(tokens: list[Token], phrase: NounPhrase) -> bool:
    """Whether the first word of several only counts, grades or judges; a count is noted as the phrase's number."""
    token, following = tokens[phrase.first], tokens[phrase.first + 1]
    if token.bits & NUMBER and not (token.is_capital and following.is_capital):
        may_be_plural = tokens[phrase.head].low.endswith(("s", "n"))
        if phrase.first + 1 < phrase.head and token.low not in {"one", "1"} and not may_be_plural:
            return False
        phrase.number = token.low
        return True
    if token.is_capital:
        return following.is_capital and token.low in _OPENING_ADVERBS
    return bool(token.bits & (ADV | QUANT)) or token.low in EVALUATIVE


def _is_sized_matter(size: Token, head: Token) -> bool:
    """`small talk`, `big data`: what cannot be counted has no size, so that the word belongs to its name."""
    is_plural = head.low.endswith("s") and not head.low.endswith("ss")
    return size.low in _SIZES and not (is_plural or head.is_capital or head.low in _COUNTED)


def kin_noun(tokens: list[Token], phrase: NounPhrase) -> int | None:
    """The token of the kin or pet noun of `my best friend Jonne`; None when the phrase is no kin phrase."""
    i = phrase.first
    while i < phrase.end and tokens[i].low in KIN_MODIFIERS:
        if tokens[i].low in KIN and not (i + 1 < phrase.end and tokens[i + 1].low in KIN):
            break
        i += 1
    if [token.low for token in tokens[i + 1 : i + 3]] == ["in", "law"]:
        return None
    return i if i < phrase.end and (tokens[i].low in KIN or tokens[i].low in PETS) else None


def is_one_word_verb(tokens: list[Token], phrase: NounPhrase) -> bool:
    """`teamed`, after `and`: a verb that no list knows, not a noun."""
    head = tokens[phrase.head]
    is_bare = phrase.first == phrase.head and phrase.start == phrase.head
    return is_bare and not head.is_capital and head.low.endswith("ed") and len(head.low) > 4
