"""Texts as the words they are compared by: lower case, stemmed; of questions without those that say nothing."""

import re
from functools import lru_cache

import Stemmer

_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")
_STEMMER = Stemmer.Stemmer("english", 0)
RUN = 4
STOP_WORDS = frozenset(
    """a an the and or but if of to in on at by for from with up about into over after before is are was were be been
    being am do does did doing done have has had having i you he she it we they me him her us them my your his its our
    their mine yours this that these those what which who whom whose when where why how not no so than too very can
    could will would shall should may might must just as there here some any all each both more most other such own
    same also don once ever get got kind type many much long recently currently""".split()  # noqa: SIM905
)


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    return str(_STEMMER.stemWord(word))


def plain_words(text: str) -> list[str]:
    """The words as written, in lower case, without what follows an apostrophe."""
    return [word.partition("'")[0] for word in _WORD.findall(text.casefold().replace("’", "'"))]


def stems(text: str) -> list[str]:
    """The stems of all words."""
    return [_stem(word) for word in plain_words(text)]


def question_stems(text: str, names: frozenset[str]) -> list[str]:
    """The stems of the words that tell what is asked for: no stop words, and no names of speakers, each once."""
    kept = [word for word in plain_words(text) if word not in STOP_WORDS and word not in names]
    return list(dict.fromkeys(_stem(word) for word in kept))


def letter_runs(words: list[str]) -> list[str]:
    """Runs of four letters within words, their ends marked by a blank."""
    found = []
    for word in words:
        ended = f" {word} "
        found += [ended[n : n + RUN] for n in range(max(1, len(ended) - RUN + 1))]
    return found
