"""The weights that tell lessons from answers are those of the patterns that they are said to be fitted to."""

from pathlib import Path

import pytest

from em_pipelines.lifecycle.consolidation.doubts import SLOW_WEIGHTS, WEIGHTS
from em_pipelines.text.guard.sensitive import SentenceWeights

MOST_ASTRAY = 0.3
"""Log-odds by which a pattern may score otherwise: small weights are left out, and others are rounded."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "name", "weights"), [("failures", "category", WEIGHTS), ("slow", "skill", SLOW_WEIGHTS)], ids=str
)
def test_the_weights_are_those_of_the_patterns(file: str, name: str, weights: Path) -> None:
    from training.lessons.__main__ import patterns_of, vectors_of
    from training.weights import fitted, score

    patterns = patterns_of(file)
    vectors = vectors_of(patterns, name)
    anew = fitted(vectors, [one["kind"] == "lesson" for one in patterns])
    shipped = SentenceWeights.read(weights)
    kept = {"": shipped.bias, **{mark: weight / 100 for mark, weight in shipped.weights.items()}}
    gaps = [abs(score(vector, kept) - score(vector, anew)) for vector in vectors]
    assert max(gaps) <= MOST_ASTRAY
