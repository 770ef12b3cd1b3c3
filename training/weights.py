"""Logistic regressions over marks: how they are fitted, and how they are written to a file that ships."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

Vector = Mapping[str, float]
"""How much of each mark there is."""
STRENGTH = 30.0
"""Inverse of the penalty on large weights: C of scikit-learn. 10 tells as much of a hand that was left out."""
MIN_EXAMPLES = 2
"""A mark of one example alone is left out: two thirds of them are such, and as much is told without."""
MIN_WEIGHT = 6
"""Smaller weights, of hundredths, are left out: most of the file, and no score that matters moves by them."""


def fitted(
    vectors: Sequence[Vector], is_wanted: Sequence[bool], *, strength: float = STRENGTH, is_balanced: bool = True
) -> dict[str, float]:
    """The weight of each mark, and the bias under the empty one. `is_balanced`: what is wanted weighs as much as what
    is not, else scores are log-odds as they are in the examples."""
    counts = Counter(mark for vector in vectors for mark in vector)
    places = {mark: n for n, mark in enumerate(mark for mark, count in counts.items() if count >= MIN_EXAMPLES)}
    balance = "balanced" if is_balanced else None
    model = LogisticRegression(C=strength, class_weight=balance, solver="liblinear", max_iter=500, random_state=0)
    model.fit(_matrix(vectors, places), list(is_wanted))
    weights = dict(zip(places, map(float, model.coef_[0]), strict=True))
    return {**weights, "": float(model.intercept_[0])}


def _matrix(vectors: Sequence[Vector], places: Mapping[str, int]) -> csr_matrix:
    known = [
        (row, places[mark], much)
        for row, vector in enumerate(vectors)
        for mark, much in vector.items()
        if mark in places
    ]
    rows, columns, values = zip(*known, strict=True)
    return csr_matrix((values, (rows, columns)), shape=(len(vectors), len(places)))


def score(vector: Vector, weights: Mapping[str, float]) -> float:
    """The log-odds of an example."""
    return weights[""] + sum(weights.get(mark, 0.0) * much for mark, much in vector.items())


def unseen(
    vectors: Sequence[Vector],
    is_wanted: Sequence[bool],
    groups: Sequence[str],
    *,
    strength: float = STRENGTH,
    is_balanced: bool = True,
) -> np.ndarray:
    """The score of each example by weights that were fitted without its group."""
    scores = np.zeros(len(vectors))
    for group in sorted(set(groups)):
        kept = [n for n, its in enumerate(groups) if its != group]
        weights = fitted(
            [vectors[n] for n in kept], [is_wanted[n] for n in kept], strength=strength, is_balanced=is_balanced
        )
        for n in (n for n, its in enumerate(groups) if its == group):
            scores[n] = score(vectors[n], weights)
    return scores


def kept(weights: Mapping[str, float]) -> dict[str, int]:
    """What of the weights goes into a file, in hundredths and in the order of the marks; the bias is no mark."""
    return {mark: round(one * 100) for mark, one in sorted(weights.items()) if mark and abs(one * 100) >= MIN_WEIGHT}


def write(path: Path, weights: Mapping[str, float], *, threshold: float, least: float) -> int:
    """Writes a file of `SentenceWeights`; returns how many marks are in it."""
    written = {"bias": round(weights[""], 4), "threshold": round(threshold, 4), "least": round(least, 4)}
    marks = kept(weights)
    columns = {"mark": pa.array(marks.keys(), pa.string()), "weight": pa.array(marks.values(), pa.int16())}
    table = pa.table(columns).replace_schema_metadata({name: str(value) for name, value in written.items()})
    parquet.write_table(table, path, compression="zstd", store_schema=True)
    return len(marks)
