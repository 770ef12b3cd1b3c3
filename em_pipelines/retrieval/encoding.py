"""Texts as counts of words, stems and runs of letters: sparse matrices, one row a text.

Words are numbered as they first appear, so that the numbers of what is known stay when texts are added behind.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from em_pipelines.retrieval.words import letter_runs, plain_words, stem

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Encoded:
    """Texts by the numbers of their words: those of text n are `tokens[starts[n]:starts[n + 1]]`."""

    words: list[str]
    tokens: Integers
    starts: npt.NDArray[np.int64]

    @property
    def n_texts(self) -> int:
        """How many texts there are."""
        return len(self.starts) - 1

    def counts(self) -> csr_matrix:
        """Texts × words: how often each is said."""
        return counted(self.tokens, self.starts, len(self.words))

    def first(self, n_texts: int) -> "Encoded":
        """The first texts alone, with the words that they brought along."""
        starts = self.starts[: n_texts + 1]
        tokens = self.tokens[: starts[-1]]
        return Encoded(self.words[: int(tokens.max(initial=-1)) + 1], tokens, starts)


def encode(texts: Sequence[str], known: Encoded | None = None) -> Encoded:
    """The texts; `known` are the first of them where they were encoded before."""
    old = known or Encoded([], np.empty(0, np.int32), np.zeros(1, np.int64))
    numbers = {word: n for n, word in enumerate(old.words)}
    tokens: list[int] = []
    ends: list[int] = []
    for text in texts[old.n_texts :]:
        tokens += [numbers.setdefault(word, len(numbers)) for word in plain_words(text)]
        ends.append(len(tokens))
    starts = np.concatenate([old.starts, len(old.tokens) + np.array(ends, np.int64)])
    return Encoded(list(numbers), np.concatenate([old.tokens, np.array(tokens, np.int32)]), starts)


def counted(tokens: Integers, starts: npt.NDArray[np.int64], n_words: int) -> csr_matrix:
    """Rows of numbers as a matrix of counts."""
    found = csr_matrix(
        (np.ones(len(tokens), np.float32), tokens, starts), shape=(len(starts) - 1, max(1, n_words)), copy=True
    )
    found.sum_duplicates()
    return found


def parts(words: Sequence[str], of: Callable[[str], list[str]]) -> tuple[csr_matrix, list[str]]:
    """Words × parts, how often a word has each, and the parts in order of their numbers."""
    numbers: dict[str, int] = {}
    each = [[numbers.setdefault(part, len(numbers)) for part in of(word)] for word in words or [""]]
    starts = np.cumsum([0, *map(len, each)], dtype=np.int64)
    tokens = np.array([number for own in each for number in own], np.int32)
    return counted(tokens, starts, len(numbers)), list(numbers)


def stems_of(words: Sequence[str]) -> tuple[csr_matrix, list[str]]:
    """Words × stems: 1 for the one stem of each."""
    return parts(words, lambda word: [stem(word)])


def runs_of(words: Sequence[str]) -> tuple[csr_matrix, list[str]]:
    """Words × runs of letters."""
    return parts(words, letter_runs)


def joined(counts: csr_matrix, sessions: Integers, before: int, after: int) -> csr_matrix:
    """The counts of each text with those of its neighbours in the same conversation."""
    n_texts = len(sessions)
    rows, columns = [], []
    for offset in range(-before, after + 1):
        own = np.arange(max(0, -offset), min(n_texts, n_texts - offset), dtype=np.int64)
        own = own[sessions[own] == sessions[own + offset]]
        rows.append(own)
        columns.append(own + offset)
    places = (np.concatenate(rows), np.concatenate(columns))
    near = csr_matrix((np.ones(len(places[0]), np.float32), places), shape=(n_texts, n_texts))
    return csr_matrix(near @ counts)


def summed(counts: csr_matrix, groups: Integers) -> csr_matrix:
    """The counts of each group of texts, in order of the numbers of groups."""
    n_groups = int(groups.max(initial=-1)) + 1
    places = (groups, np.arange(len(groups)))
    belongs = csr_matrix((np.ones(len(groups), np.float32), places), shape=(n_groups, len(groups)))
    return csr_matrix(belongs @ counts)
