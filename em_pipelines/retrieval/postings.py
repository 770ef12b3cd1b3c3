"""BM25 postings of counts: bm25s keeps and scores them, its way of counting words one by one is passed over."""

from pathlib import Path

import bm25s
import numpy as np
from scipy.sparse import csc_matrix, csr_matrix

K1 = 1.2
B = 0.75
SESSION_B = 0.5
"""BM25's normalisation by length, for whole conversations: less than the usual 0.75, as long ones are no worse."""


def write_postings(folder: Path, counts: csr_matrix, b: float) -> None:
    """Writes what `bm25s.BM25.load` reads: the score of every word in every text (texts × words).

    As Lucene has it (Kamphuis et al., 2020): ln(1 + (N - n + 0.5) / (n + 0.5)) · tf / (k1 (1 - b + b l / l̄) + tf).
    """
    n_texts = counts.shape[0]
    columns = csc_matrix(counts, dtype=np.float32)
    columns.sort_indices()
    frequency = np.diff(columns.indptr)
    rarity = np.log1p((n_texts - frequency + 0.5) / (frequency + 0.5))
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    damping = K1 * (1 - b + b * lengths / max(float(lengths.mean()) if n_texts else 0.0, 1e-9))
    said = columns.data
    shares = np.repeat(rarity, frequency) * said / (damping[columns.indices] + said)
    index = bm25s.BM25(method="lucene", k1=K1, b=b)
    index.scores = {
        "data": shares.astype(np.float32),
        "indices": columns.indices.astype(np.int32),
        "indptr": columns.indptr.astype(np.int32),
        "num_docs": n_texts,
    }
    index.vocab_dict, index.nonoccurrence_array = {}, None
    index.save(folder)
