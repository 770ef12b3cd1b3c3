"""Small models that ship as files, and that packages of training/ fit.

Logistic regressions over the marks of a sentence, and conditional random fields that label the items of a sequence
(Lafferty, McCallum, Pereira, 2001).
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from math import sqrt
from pathlib import Path
from threading import Lock

import pyarrow as pa
import pycrfsuite
from pyarrow import parquet
from pydantic import BaseModel, ConfigDict, Field

from em_pipelines.errors import PatternError

_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+|[^\w\s]")
_RUN, _FEW, _MOST = 4, 5, 8


def marks_of(sentence: str) -> set[str]:
    """What a folded sentence is told by: its words, words side by side and with one between (ends included), runs of
    four characters, and how many words it has, in fives up to forty.

    All but runs begin with a tab, so that none is taken for one; every number is the word 0.
    """
    words = ["0" if token[0].isdigit() else token for token in _TOKEN.findall(sentence)]
    run, ended = f" {' '.join(sentence.split())} ", ("^", *words, "$")
    return {
        *(f"\t{word}" for word in words),
        *(f"\t{first} {second}" for first, second in pairwise(ended)),
        *(f"\t{first} _ {third}" for first, third in zip(ended, ended[2:], strict=False)),
        *(run[start : start + _RUN] for start in range(len(run) - _RUN + 1)),
        f"\t# {min(len(words) // _FEW, _MOST)}",
    }


class SentenceWeights(BaseModel):
    """A logistic regression over `marks_of`.

    The log-odds are `bias` + the weights of a sentence's marks, of hundredths, over the square root of how many marks
    it has. From `least` on a sentence may be what was looked for. Marks without a weight count as 0.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    bias: float
    threshold: float
    least: float
    weights: dict[str, int] = Field(min_length=1)

    def score(self, sentence: str) -> float:
        """The log-odds of a folded sentence."""
        marks, weights = marks_of(sentence), self.weights
        return self.bias + sum([weights.get(mark, 0) for mark in marks]) / 100 / sqrt(max(len(marks), 1))

    @classmethod
    def read(cls, path: Path) -> "SentenceWeights":
        """The weights of a Parquet file: columns mark and weight, and numbers in its metadata. PatternError where it
        is none."""
        try:
            table = parquet.read_table(path)
            marks, weights = (table[name].to_pylist() for name in ("mark", "weight"))
            numbers = {name.decode(): value.decode() for name, value in (table.schema.metadata or {}).items()}
            return cls.model_validate({**numbers, "weights": dict(zip(marks, weights, strict=True))})
        except (OSError, ValueError, KeyError, pa.ArrowException) as error:
            raise PatternError(f"reading the weights {path.name}: {error}; restore the file") from error


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
