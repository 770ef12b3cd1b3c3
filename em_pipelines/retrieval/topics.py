"""A space of topics fitted on the user's own words: latent semantic analysis (Deerwester et al., 1990).

Texts are near in it that share no word, but words that stand beside the same others.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix
from scipy.sparse.linalg import svds

Floats = npt.NDArray[np.float32]
DENSE = 200
"""Texts or words up to which the space is fitted exactly: the iterative way fails on few of them."""
MIN_DOCUMENTS = 2
"""A word that stands in one text alone is beside no others."""


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
        found: Floats = np.maximum(0, self.documents @ (asked / length).astype(np.float32))
        return found


def fit(texts: Sequence[Sequence[int]], n_words: int, dimensions: int) -> Topics:
    """Fits the space on texts given as numbers of words; of few texts it has fewer dimensions, or none."""
    counts = [Counter(text) for text in texts]
    frequency = np.bincount([word for text in counts for word in text], minlength=n_words)
    weight = np.where(frequency >= MIN_DOCUMENTS, np.log(max(1, len(texts)) / np.maximum(1, frequency)), 0.0)
    rows = np.repeat(np.arange(len(counts)), [len(text) for text in counts])
    columns = np.fromiter((word for text in counts for word in text), dtype=np.int64)
    said = np.fromiter((1 + math.log(n) for text in counts for n in text.values()), dtype=np.float64)
    matrix = csr_matrix((said * weight[columns], (rows, columns)), shape=(len(counts), n_words))
    lengths = np.sqrt(matrix.multiply(matrix).sum(axis=1)).A1
    matrix = csr_matrix(matrix.multiply((1 / np.where(lengths == 0, 1, lengths))[:, None]))
    matrix.eliminate_zeros()
    size = min(dimensions, min(matrix.shape) - 1)
    if size < 1 or matrix.nnz == 0:
        return Topics(np.zeros((n_words, 1), np.float32), np.zeros((len(texts), 1), np.float32))
    if min(matrix.shape) <= DENSE:
        right = np.linalg.svd(matrix.toarray(), full_matrices=False)[2][:size]
    else:
        right = svds(matrix, k=size, random_state=0)[2]
    placed = matrix @ right.T
    length = np.linalg.norm(placed, axis=1, keepdims=True)
    terms = right.T * weight[:, None]
    return Topics(terms.astype(np.float32), (placed / np.where(length == 0, 1, length)).astype(np.float32))
