"""Texts as the words they are compared by: lower case, stemmed; of questions without those that say nothing."""

import re
from functools import lru_cache

import Stemmer

_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
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
def stem(word: str) -> str:
    """The stem of a word in lower case."""
    return str(_STEMMER.stemWord(word))


def plain_words(text: str) -> list[str]:
    """The words as written, in lower case, without what follows an apostrophe."""
    found = _WORD.findall(text.casefold().replace("’", "'"))
    return [word.partition("'")[0] for word in found] if "'" in text or "’" in text else found


def stems(text: str) -> list[str]:
    """The stems of all words."""
    return [stem(word) for word in plain_words(text)]


def question_stems(text: str, names: frozenset[str]) -> list[str]:
    """The stems of the words that tell what is asked for: no stop words, and no names of speakers, each once."""
    kept = [word for word in plain_words(text) if word not in STOP_WORDS and word not in names]
    return list(dict.fromkeys(stem(word) for word in kept))


def letter_runs(word: str) -> list[str]:
    """Runs of four letters within a word, its ends marked by a blank."""
    ended = f" {word} "
    return [ended[n : n + RUN] for n in range(max(1, len(ended) - RUN + 1))]
