"""Whether people said what a model says of them: word by word, by stems, in a turn or those shortly before it.

Stems are those of the language of the turn. Of a script without blanks between words a phrase is compared character by
character, and some of them have to stand together.

A model words things its own way ("went on a hike" becomes "go on a hike", "they motivate me" becomes "motivated by
friends") and puts names where a turn has pronouns. That is no invention. A name, a number or most of the words of a
phrase that stand in no turn are one.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

import Stemmer
from rapidfuzz.distance import Prefix

from em_pipelines.extraction.spans import find_span, is_unspaced
from em_pipelines.language.cleaning import UNSPACED
from em_pipelines.language.document import english
from em_pipelines.language.name_keys import fold
from em_pipelines.schema.readings import ENGLISH
from em_pipelines.schema.vocabulary import USER

N_EARLIER = 4
"""Turns before one in which what it leaves out may have been said. On a model's reading of 419 turns, 97 of 100 phrases
have their words in the turn and the one before it, 99 with four; of phrases that were moved to other turns 6 of 100."""
MIN_SHARE = 0.6
"""Of the words that carry meaning. Names and numbers all have to be there."""
MIN_BEGINNING = 4
"""Letters with which two stems begin alike that are one word: counsel and counselor."""
MIN_COMMON, MAX_ENDING = 4, 3
"""Letters with which two words of another language begin that are one word, and how many may follow in each: of
Казань and Казани, Schwester and Schwestern."""
MIN_RUN = 3
"""Characters of a phrase that need not stand in one piece."""
MIN_RUN_SHARE, MIN_PAIR_SHARE = 0.8, 0.5
"""Of the characters of a phrase without blanks, and of its pairs of neighbours, that have to stand in the text."""
STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "et": "estonian", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "nl": "dutch",
    "no": "norwegian", "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
"""Snowball's stemmer of a language; of others words are compared as they begin."""
COMPOUNDING = frozenset({"da", "de", "et", "fi", "hu", "is", "nl", "no", "sv"})
"""Languages that write compounds as one word, the thing itself at its end: a Ferienhaus is a Haus."""
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0962\u0963\u0981-\u0d4d"
_WORD = re.compile(rf"[^\W_](?:[^\W_]|[{_MARKS}])*(?:['’](?:[^\W_]|[{_MARKS}])+)*")
_RUN = re.compile(rf"[{UNSPACED}]+")
_LITTLE = (
    "determiners", "quantifiers", "possessives", "first_person", "subject_pronouns", "object_pronouns", "relatives",
    "wh_words", "demonstratives", "prepositions", "conjunctions", "subordinators", "be", "have", "do", "modals",
    "negations", "light_heads", "small",
)  # fmt: skip
_LIGHT_VERBS = frozenset(
    ["become", "come", "feel", "get", "give", "go", "help", "keep", "look", "make", "see", "take", "try", "use"]
)


@dataclass(frozen=True, slots=True)
class Said:
    """What a phrase is held against: `near`, a turn's text and those shortly before it, and what was said `anywhere` in
    the conversation, with the names of those in it. `language` is that of the turn; None is taken for English."""

    near: Sequence[str]
    anywhere: Sequence[str] = ()
    language: str | None = None


def is_supported(phrase: str, said: Said, min_share: float = MIN_SHARE, *, is_sentence: bool = False) -> bool:
    """Whether a turn, with those shortly before it, says a phrase. Its names may stand anywhere in the conversation.
    What begins a sentence is no name for its capital alone."""
    if not is_unspaced(phrase):
        return _has_words(phrase, said, min_share, is_sentence=is_sentence)
    rest = _RUN.sub(" ", phrase)  # names and numbers in other letters
    is_rest_said = _WORD.search(rest) is None or _has_words(rest, said, min_share, is_sentence=is_sentence)
    return is_rest_said and _has_signs(phrase, said.near, min_share)


def _has_words(phrase: str, said: Said, min_share: float, *, is_sentence: bool) -> bool:
    """The same of a phrase in words with blanks between them."""
    near, language = said.near, said.language or ENGLISH
    meant = [word for word in _WORD.findall(phrase) if word.casefold() != USER]
    opener = meant[0] if is_sentence and meant and fold(meant[0]) in _little() else None
    exact = [word for word in meant if (_is_name(word) and word is not opener) or word.isdigit()]
    told = [*near, *said.anywhere]
    if not all(_is_said(word, told, language) for word in exact):
        return False
    heavy = [word for word in meant if not _is_light(word, language)]
    counted = heavy or meant
    n_said = sum(_is_said(word, told if word in exact else near, language) for word in counted)
    return bool(counted) and n_said >= min_share * len(counted)


def _is_name(word: str) -> bool:
    return word[:1].isupper() and word not in {"I", "I'm", "I've", "I'd", "I'll"}


def _has_signs(phrase: str, texts: Sequence[str], min_share: float) -> bool:
    """Whether texts say so much of a phrase without blanks, by its characters."""
    runs = _RUN.findall(phrase)
    return sum(len(run) * _is_run_said(run, texts) for run in runs) >= min_share * sum(map(len, runs))


def _is_light(word: str, language: str) -> bool:
    """Whether a word carries no meaning of its own. Lists are of English; elsewhere every word counts, and stands."""
    return language == ENGLISH and (fold(word) in _little() or _stem(word, ENGLISH) in _LIGHT_VERBS)


def _is_run_said(run: str, texts: Iterable[str]) -> bool:
    """Whether one text says a phrase without blanks: in one piece, or nearly all its characters, many side by side."""
    return any(_has_run(run, text) for text in texts)


def _has_run(run: str, text: str) -> bool:
    if run in text:
        return True
    if len(run) < MIN_RUN:
        return False
    pairs = list(pairwise(run))
    n_together = sum(f"{one}{other}" in text for one, other in pairs)
    n_there = sum(character in text for character in run)
    return n_there >= MIN_RUN_SHARE * len(run) and n_together >= MIN_PAIR_SHARE * len(pairs)


def _is_said(word: str, texts: Iterable[str], language: str) -> bool:
    stem = _stem(word, language)
    if any(_stands(stem, _stems(text, language), language) for text in texts):
        return True
    return not word.isascii() and any(find_span(word, text) is not None for text in texts)


def _stands(stem: str, stems: frozenset[str], language: str) -> bool:
    if stem in stems:
        return True
    if len(stem) < MIN_BEGINNING or stem.isdigit():
        return False
    if any(len(s) >= MIN_BEGINNING and (s.startswith(stem) or stem.startswith(s)) for s in stems):
        return True
    if language == ENGLISH:
        return False
    if language in COMPOUNDING and any(s.endswith(stem) for s in stems):
        return True
    return any(_is_inflected(stem, other) for other in stems)


def _is_inflected(one: str, other: str) -> bool:
    """Whether two words begin alike and differ in a short ending."""
    n_common = Prefix.similarity(one, other)
    return n_common >= MIN_COMMON and max(len(one), len(other)) - n_common <= min(MAX_ENDING, n_common // 2)


@lru_cache(maxsize=8192)
def content_stems(text: str, language: str = ENGLISH) -> frozenset[str]:
    """The stems of the words of a text that carry meaning; `language` is its own."""
    return frozenset(_stem(word, language) for word in _WORD.findall(text) if not _is_light(word, language))


@lru_cache(maxsize=1024)
def _stems(text: str, language: str) -> frozenset[str]:
    return frozenset(_stem(word, language) for word in _WORD.findall(text))


@lru_cache(maxsize=65_536)
def _stem(word: str, language: str) -> str:
    """A word without its ending; of irregular verbs of English the infinitive, and figures for numbers in words."""
    plain = fold(word).replace("’", "'").removesuffix("'s").removesuffix("'")
    if language == ENGLISH:
        return str(_stemmer("english").stemWord(_bases().get(plain, plain)))
    if language in STEMMERS:  # which know words with their accents
        return fold(str(_stemmer(STEMMERS[language]).stemWord(word.casefold())))
    return plain


@cache
def _stemmer(name: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(name)


@cache
def _bases() -> dict[str, str]:
    verbs = english.listed("verbs")["irregular"].items()
    numbers = {name: str(value) for value, name in enumerate(english.listed("words")["numbers"].split()) if value <= 20}
    return {form: base for base, forms in verbs for form in str(forms).split()} | numbers


@cache
def _little() -> frozenset[str]:
    return frozenset().union(*(english.words("words", name) for name in _LITTLE))
