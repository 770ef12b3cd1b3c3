"""The weights that tell lessons from answers are those of the patterns that they are said to be fitted to."""

from pathlib import Path

import pytest

from em_pipelines.language.fitted_models import SentenceWeights
from em_pipelines.lifecycle.consolidation.doubts import SLOW_WEIGHTS, WEIGHTS

MOST_ASTRAY = 6
"""Hundredths by which a weight may be another where a library rounds otherwise: what is smaller is in no file."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "name", "weights"), [("failures", "category", WEIGHTS), ("slow", "skill", SLOW_WEIGHTS)], ids=str
)
def test_the_weights_are_those_of_the_patterns(file: str, name: str, weights: Path) -> None:
    from training.lessons.__main__ import patterns_of, vectors_of
    from training.weights import fitted, kept

    patterns = patterns_of(file)
    anew = fitted(vectors_of(patterns, name), [one["kind"] == "lesson" for one in patterns])
    shipped = SentenceWeights.read(weights)
    now = kept(anew)
    marks = now.keys() | shipped.weights.keys()
    assert {mark for mark in marks if abs(now.get(mark, 0) - shipped.weights.get(mark, 0)) > MOST_ASTRAY} == set()
    assert shipped.bias == pytest.approx(anew[""], abs=0.05)
