"""Sentences that mean what orders mean, whatever their words: a second look at a sentence, by an embedder's vectors.

A classifier for vectors cannot ship, for each embedder makes its own. So examples ship (order_examples.txt), invented
ones, and whoever has an embedder fits a classifier to their vectors, once: kernel ridge regression to +1 for sentences
of attacks and -1 for ordinary ones (Saunders, Gammerman and Vovk, 1998). What it gives is added to the log-odds of the
words (`SentenceWeights`), so that neither decides alone.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from em_pipelines.errors import PatternError

Floats = npt.NDArray[np.float32]
SHARPNESS = 3.6
"""Of the kernel exp(-SHARPNESS · d² / m), d the distance of two vectors and m the median of d² among the examples: by
the median, embedders whose vectors lie close together are treated like others."""
RIDGE = 1.0
"""What great coefficients cost: without it every example is learned by heart."""
MEANING_WEIGHT = 6.0
"""Log-odds of a sentence whose meaning is in the middle of attacks (+1)."""
N_DEVIATIONS = 3.6
"""How far above the mean of plain talk the sum of both has to lie, in standard deviations. Lower, more of what people
and assistants say in talk about work is taken for orders (docs/decisions/2026-11-24-learned-not-to-quote.md)."""
PARTS = ("examples", "coefficients", "limits")
"""Of a file."""
BATCH = 2_000
"""Vectors that are compared with all examples at once: 30 MB."""


class OrderExamples(BaseModel):
    """Sentences of attacks, ordinary ones, and plain talk that is `measured`: with the log-odds that weights give it
    which were fitted without it. Training chooses them (training/guard)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    attacks: tuple[str, ...] = Field(min_length=1)
    ordinary: tuple[str, ...] = Field(min_length=1)
    measured: dict[str, float] = Field(min_length=2)

    @property
    def texts(self) -> tuple[str, ...]:
        """Every sentence, in the order in which `OrderKernel.fit` takes their vectors."""
        return (*self.attacks, *self.ordinary, *self.measured)

    def lines(self) -> str:
        """The examples as a file has them: a line a sentence, before it `attack`, `ordinary` or its log-odds."""
        told = [("attack", self.attacks), ("ordinary", self.ordinary)]
        own = [f"{kind}\t{text}\n" for kind, texts in told for text in texts]
        return "".join([*own, *(f"{score!r}\t{text}\n" for text, score in self.measured.items())])

    @classmethod
    def read(cls, path: Path) -> "OrderExamples":
        """The examples of a file. Raises PatternError where it is none."""
        found: dict[str, list[str]] = {"attack": [], "ordinary": []}
        measured: dict[str, float] = {}
        try:
            for line in path.read_text(encoding="utf-8").splitlines():
                kind, text = line.split("\t", 1)
                if kind in found:
                    found[kind].append(text)
                else:
                    measured[text] = float(kind)
            return cls(attacks=tuple(found["attack"]), ordinary=tuple(found["ordinary"]), measured=measured)
        except (OSError, ValueError) as error:
            raise PatternError(f"reading the examples {path.name}: {error}; restore the file") from error


@cache
def order_examples() -> OrderExamples:
    """Those of order_examples.txt of this package."""
    return OrderExamples.read(Path(__file__).with_name("order_examples.txt"))


@dataclass(frozen=True)
class OrderKernel:
    """A fitted classifier. `examples` is n × dimensions, each of length 1; `coefficients` n numbers; a sentence is an
    order's from `threshold` on; `sharpness` is that of the kernel for distances as they are."""

    examples: Floats
    coefficients: Floats
    sharpness: float
    threshold: float

    @classmethod
    def fit(cls, examples: OrderExamples, vectors: Floats) -> "OrderKernel":
        """Fits to the vectors of `examples.texts`, texts × dimensions, each of length 1.

        Raises ValueError where they tell nothing: not one a text, not finite, or all the same.
        """
        from scipy.linalg import solve  # noqa: PLC0415  (0.1 s that only the first run of a home waits for)

        vectors = np.asarray(vectors, np.float32)
        n_attacks, n_ordinary = len(examples.attacks), len(examples.ordinary)
        if vectors.ndim != 2 or len(vectors) != len(examples.texts) or not np.isfinite(vectors).all():
            raise ValueError(f"fitting to vectors of the shape {vectors.shape}, of {len(examples.texts)} sentences")
        # As they are read back from a file, so that the first process gives what later ones do.
        support = vectors[: n_attacks + n_ordinary].astype(np.float16).astype(np.float32)
        distances = _squared_distances(support, support)
        middle = float(np.median(distances))
        if middle <= 0:
            raise ValueError("fitting to vectors: most of them are the same")
        sharpness = SHARPNESS / middle
        kernel = np.exp(-sharpness * distances).astype(np.float64)
        kernel[np.diag_indices_from(kernel)] += RIDGE
        wanted = np.r_[np.ones(n_attacks), -np.ones(n_ordinary)]
        coefficients = solve(kernel, wanted, assume_a="pos", overwrite_a=True).astype(np.float32)
        unlimited = cls(support, coefficients, sharpness, 0.0)
        scores = unlimited.log_odds(list(examples.measured.values()), vectors[n_attacks + n_ordinary :])
        return cls(support, coefficients, sharpness, float(scores.mean() + N_DEVIATIONS * scores.std()))

    @property
    def n_dimensions(self) -> int:
        """How long vectors are."""
        return int(self.examples.shape[1])

    def log_odds(self, of_words: Sequence[float], vectors: Floats) -> Floats:
        """The log-odds of sentences: those by their words, plus what their vectors (n × dimensions) add."""
        vectors = np.asarray(vectors, np.float32).reshape(len(of_words), self.n_dimensions)
        total: Floats = np.array(of_words, np.float32)
        for n in range(0, len(vectors), BATCH):
            likeness = np.exp(-self.sharpness * _squared_distances(vectors[n : n + BATCH], self.examples))
            total[n : n + BATCH] += MEANING_WEIGHT * (likeness @ self.coefficients)
        return total

    def tells(self, of_words: Sequence[float], vectors: Floats) -> list[bool]:
        """Whether each sentence means what orders do."""
        found: list[bool] = (self.log_odds(of_words, vectors) >= self.threshold).tolist()
        return found

    def to_bytes(self) -> bytes:
        """The classifier as a file."""
        file = io.BytesIO()
        np.savez(
            file,
            examples=self.examples.astype(np.float16),
            coefficients=self.coefficients,
            limits=np.array([self.sharpness, self.threshold]),
        )
        return file.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> "OrderKernel":
        """Reads `to_bytes`; raises ValueError for anything else."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as file:
                parts = {name: file[name] for name in PARTS}
            sharpness, threshold = map(float, parts["limits"])
        except Exception as error:  # zipfile, numpy and struct each have their own for a damaged file
            raise ValueError(f"reading a classifier: {type(error).__name__}") from error
        examples, coefficients = parts["examples"].astype(np.float32), parts["coefficients"].astype(np.float32)
        if examples.ndim != 2 or coefficients.shape != examples.shape[:1]:
            raise ValueError("reading a classifier: its parts do not fit together")
        return cls(examples, coefficients, sharpness, threshold)


def _squared_distances(some: Floats, others: Floats) -> Floats:
    """some × others."""
    lengths = np.einsum("ij,ij->i", some, some)[:, None] + np.einsum("ij,ij->i", others, others)[None, :]
    found: Floats = np.maximum(lengths - 2 * (some @ others.T), 0.0)
    return found
