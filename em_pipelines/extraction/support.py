"""Whether people said what a model says of them: word by word, by stems, in a turn or those shortly before it.

A model words things its own way ("went on a hike" becomes "go on a hike", "they motivate me" becomes "motivated by
friends") and puts names where a turn has pronouns. That is no invention. A name, a number or most of the words of a
phrase that stand in no turn are one.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

import Stemmer

from em_pipelines.extraction.rules.lexicon import in_order, load_lexicon, words
from em_pipelines.schema.vocabulary import USER
from em_pipelines.text.name_keys import fold

N_EARLIER = 4
"""Turns before one in which what it leaves out may have been said. On a model's reading of 419 turns, 97 of 100 phrases
have their words in the turn and the one before it, 99 with four; of phrases that were moved to other turns 6 of 100."""
MIN_SHARE = 0.6
"""Of the words that carry meaning. Names and numbers all have to be there."""
MIN_BEGINNING = 4
"""Letters with which two stems begin alike that are one word: counsel and counselor."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LITTLE = (
    "determiners", "quantifiers", "possessives", "first_person", "subject_pronouns", "object_pronouns", "relatives",
    "wh_words", "demonstratives", "prepositions", "conjunctions", "subordinators", "be", "have", "do", "modals",
    "negations", "light_heads", "small",
)  # fmt: skip
_LIGHT_VERBS = frozenset(
    ["become", "come", "feel", "get", "give", "go", "help", "keep", "look", "make", "see", "take", "try", "use"]
)


def is_supported(
    phrase: str,
    near: Sequence[str],
    anywhere: Iterable[str],
    min_share: float = MIN_SHARE,
    *,
    is_sentence: bool = False,
) -> bool:
    """Whether `near`, a turn's text and those shortly before it, say a phrase. Its names may stand `anywhere` in the
    conversation or be the name of somebody in it. What begins a sentence is no name for its capital alone."""
    meant = [word for word in _WORD.findall(phrase) if word.casefold() != USER]
    opener = meant[0] if is_sentence and meant and fold(meant[0]) in _little() else None
    exact = [word for word in meant if (_is_name(word) and word is not opener) or word.isdigit()]
    told = [*near, *anywhere]
    if not all(_is_said(word, told) for word in exact):
        return False
    heavy = [word for word in meant if fold(word) not in _little() and _stem(word) not in _LIGHT_VERBS]
    counted = heavy or meant
    n_said = sum(_is_said(word, told if word in exact else near) for word in counted)
    return bool(counted) and n_said >= min_share * len(counted)


def _is_name(word: str) -> bool:
    return word[:1].isupper() and word not in {"I", "I'm", "I've", "I'd", "I'll"}


def _is_said(word: str, texts: Iterable[str]) -> bool:
    stem = _stem(word)
    return any(_stands(stem, _stems(text)) for text in texts)


def _stands(stem: str, stems: frozenset[str]) -> bool:
    if stem in stems:
        return True
    if len(stem) < MIN_BEGINNING or stem.isdigit():
        return False
    return any(len(s) >= MIN_BEGINNING and (s.startswith(stem) or stem.startswith(s)) for s in stems)


@lru_cache(maxsize=1024)
def _stems(text: str) -> frozenset[str]:
    return frozenset(map(_stem, _WORD.findall(text)))


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    """A word without its ending; of irregular verbs the infinitive, and figures for numbers in words."""
    plain = fold(word).replace("’", "'").removesuffix("'s").removesuffix("'")
    base = _bases().get(plain, plain)
    return str(_stemmer().stemWord(base))


@cache
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


@cache
def _bases() -> dict[str, str]:
    verbs = load_lexicon("verbs")["irregular"].items()
    numbers = {name: str(value) for value, name in enumerate(in_order("words", "numbers")) if value <= 20}
    return {form: base for base, forms in verbs for form in str(forms).split()} | numbers


@cache
def _little() -> frozenset[str]:
    return frozenset().union(*(words("words", name) for name in _LITTLE))
