"""A space of topics fitted on the user's own words: latent semantic analysis (Deerwester et al., 1990).

Texts are near in it that share no word, but words that stand beside the same others.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix, diags
from scipy.sparse.linalg import svds

Floats = npt.NDArray[np.float32]
DENSE = 200
"""Texts or words up to which the space is fitted exactly: the iterative way fails on few of them."""
MIN_DOCUMENTS = 2
"""A word that stands in one text alone is beside no others."""
REFITTED = 5_000
GROWTH = 1.1
"""Up to so many texts the space is fitted anew with each, from there on whenever there are a tenth more: those behind
are placed in the space that is there. What it is fitted on hangs on the number of texts alone, never on how they came.
"""
MOST_FITTED = 20_000
"""Of more texts so many are taken at even distances: neighbours in a conversation say much the same."""


@dataclass(frozen=True, slots=True)
class Topics:
    """`terms` (words × dimensions) weighs each word, `documents` (texts × dimensions) are of length 1 or 0."""

    terms: Floats
    documents: Floats

    def likeness(self, words: Sequence[int]) -> Floats:
        """Cosine (0 to 1, less is 0) of every text to the words of a question, given by number."""
        known = [word for word in words if word < len(self.terms)]
        asked = self.terms[known].sum(axis=0) if known else np.zeros(self.terms.shape[1], np.float32)
        length = float(np.linalg.norm(asked))
        if length == 0:
            return np.zeros(len(self.documents), np.float32)
        return likeness(self.documents, (asked / length).astype(np.float32))


def likeness(documents: Floats, asked: Floats) -> Floats:
    """Cosine (0 to 1, less is 0) of rows of length 1 to a vector of length 1.

    Not `@`: threads of BLAS wait for each other, on a busy machine for ten times as long as one of them works.
    """
    found: Floats = np.maximum(0, np.einsum("ij,j->i", documents, asked))
    return found


def n_fitted(n_texts: int) -> int:
    """How many of the first texts the space is fitted on."""
    if n_texts <= REFITTED:
        return n_texts
    size = float(REFITTED)
    while size * GROWTH <= n_texts:
        size *= GROWTH
    return int(size)


def fit(counts: csr_matrix, dimensions: int, silent: Sequence[int] = ()) -> Floats:
    """What each word weighs (words × dimensions), fitted on texts × words; of few texts there are fewer dimensions.

    Words whose numbers are `silent` weigh nothing.
    """
    n_words = int(counts.indices.max(initial=-1)) + 1  # what is said later must not change a bit of it
    n_behind = counts.shape[1] - n_words
    counts = counts[:: -(-counts.shape[0] // MOST_FITTED) or 1, :n_words]
    n_texts = counts.shape[0]
    frequency = np.bincount(counts.indices, minlength=n_words)
    weight = np.where(frequency >= MIN_DOCUMENTS, np.log(max(1, n_texts) / np.maximum(1, frequency)), 0.0)
    weight[[word for word in silent if word < n_words]] = 0
    matrix = _weighed(counts, weight)
    size = min(dimensions, min(matrix.shape) - 1)
    if size < 1 or matrix.nnz == 0:
        return np.zeros((n_words + n_behind, 1), np.float32)
    if min(matrix.shape) <= DENSE:
        right = np.linalg.svd(matrix.toarray(), full_matrices=False)[2][:size]
    else:
        right = svds(matrix, k=size, random_state=0)[2]
    terms = np.ascontiguousarray(right.T * weight[:, None], dtype=np.float32)
    found: Floats = np.pad(terms, ((0, n_behind), (0, 0)))
    return found


def place(counts: csr_matrix, terms: Floats) -> Floats:
    """Where texts stand in the space: texts × dimensions, of length 1 or 0."""
    said = counts.astype(np.float32)
    said.data = 1 + np.log(said.data)
    placed = said @ terms
    length = np.linalg.norm(placed, axis=1, keepdims=True)
    found: Floats = (placed / np.where(length == 0, 1, length)).astype(np.float32)
    return found


def _weighed(counts: csr_matrix, weight: npt.NDArray[np.float64]) -> csr_matrix:
    said = counts.astype(np.float64)
    said.data = 1 + np.log(said.data)
    matrix = csr_matrix(said @ diags(weight))
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    matrix = csr_matrix(diags(1 / np.where(lengths == 0, 1, lengths)) @ matrix)
    matrix.eliminate_zeros()
    return matrix
