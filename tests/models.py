"""How alike two fitted models are: of whoever tests that the one that ships is the one of its training."""

from collections.abc import Sequence
from pathlib import Path

from em_pipelines.language.fitted_models import marginals


def share_alike(sequences: Sequence[Sequence[Sequence[str]]], labels: Sequence[str], one: Path, other: Path) -> float:
    """Of all items of some sequences, for how many both models take the same of the labels for likely."""
    n_items = n_alike = 0
    for marks in sequences:
        for some, others in zip(*(marginals(path, marks, labels) for path in (one, other)), strict=True):
            n_items += 1
            n_alike += [chance > 0.5 for chance in some] == [chance > 0.5 for chance in others]
    return n_alike / n_items
