"""How far confidence can be believed, of what people have judged: the curve, its error, and intervals of shares."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

N_BINS = 10
"""Of equal width, as Guo et al., On Calibration of Modern Neural Networks (2017), have them."""
NORMAL_95 = 1.959963984540054
"""Quantile of the normal distribution for an interval that holds the true share 19 times of 20."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Claims of one width of confidence: from `low` up to `high`."""

    low: float
    high: float
    n: int
    confidence: float
    right_share: float


@dataclass(frozen=True, slots=True)
class Share:
    """How many of some are so: a share of 0 to 1, and the interval that it lies in 19 times of 20."""

    n: int
    n_so: int

    @property
    def share(self) -> float:
        """The share itself; 0.0 of none."""
        return self.n_so / self.n if self.n else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's score interval (Probable inference, 1927), which holds for few as well; all of 0 to 1 of none."""
        if not self.n:
            return 0.0, 1.0
        square = NORMAL_95**2
        middle = (self.share + square / (2 * self.n)) / (1 + square / self.n)
        spread = math.sqrt(self.share * (1 - self.share) / self.n + square / (4 * self.n**2))
        half = NORMAL_95 * spread / (1 + square / self.n)
        return max(0.0, middle - half), min(1.0, middle + half)


def curve(outcomes: Iterable[tuple[float, bool]]) -> list[Bin]:
    """The bins that hold anything, of (confidence, whether right)."""
    held: dict[int, list[tuple[float, bool]]] = {}
    for confidence, is_right in outcomes:
        held.setdefault(min(int(confidence * N_BINS + 1e-9), N_BINS - 1), []).append((confidence, is_right))
    return [
        Bin(
            n / N_BINS,
            (n + 1) / N_BINS,
            len(held[n]),
            sum(confidence for confidence, _ in held[n]) / len(held[n]),
            sum(is_right for _, is_right in held[n]) / len(held[n]),
        )
        for n in sorted(held)
    ]


def expected_error(bins: Iterable[Bin]) -> float:
    """The expected calibration error, 0 to 1: 0 where every bin is as often right as it says."""
    bins = list(bins)
    n = sum(one.n for one in bins)
    return sum(one.n * abs(one.confidence - one.right_share) for one in bins) / n if n else 0.0
