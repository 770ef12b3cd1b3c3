"""Labels the items of a sequence by a conditional random field. Packages of training/ train the models.

Lafferty, McCallum, Pereira (2001), Conditional Random Fields.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from threading import Lock

import pycrfsuite

from em_pipelines.errors import PatternError

_TAGGING = Lock()
"""A tagger keeps its last sequence, so one thread at a time uses it."""


def marginals(path: Path, marks: Sequence[Sequence[str]], labels: Sequence[str]) -> list[list[float]]:
    """The probability of each of `labels` for each item of a sequence, given the features of all items; items × labels.
    Raises PatternError if the file is no model, or lacks one of the labels."""
    tagger = _model(path, tuple(labels))
    with _TAGGING:
        tagger.set(marks)
        return [[tagger.marginal(label, n) for label in labels] for n in range(len(marks))]


@cache
def _model(path: Path, labels: tuple[str, ...]) -> pycrfsuite.Tagger:
    tagger = pycrfsuite.Tagger()
    try:
        tagger.open(str(path))
    except (OSError, ValueError) as error:
        raise PatternError(f"reading the model {path.name}: {error}; restore the file") from error
    if not {*labels} <= {*tagger.labels()}:
        raise PatternError(f"reading the model {path.name}: found no label {labels[0]!r}; restore the file")
    return tagger
