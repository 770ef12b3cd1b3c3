"""What the figures were when they were last kept, and which of them got worse. One small JSON file a corpus, kind and
extractor, in HOME/evaluations."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.schema.ids import digest
from em_pipelines.storage.files import write_atomically

FALLING_IS_WORSE = (
    "relations.precision", "relations.recall", "relations.f1", "entities.f1", "flag_accuracy", "temporal_accuracy",
    "confidence_in_band", "may_store_recall", "pairwise.precision", "pairwise.recall", "pairwise.f1", "b_cubed_f1",
)  # fmt: skip
RISING_IS_WORSE = ("noise_rate", "hallucination_rate", "n_forbidden", "n_leaked", "n_quoted", "n_stored")
TOLERANCE = 0.005
"""A figure may move by half a point before it counts: one fact in two hundred."""


@dataclass(frozen=True, slots=True)
class Change:
    """A figure, what it was and what it is."""

    figure: str
    before: float
    now: float
    is_regression: bool


def corpus_digest(paths: Iterable[Path]) -> str:
    """Twelve hex digits over the bytes of a corpus: figures of another corpus are no baseline. Raises UsageError."""
    parts = []
    for path in paths:
        try:
            parts.append(path.read_bytes().hex())
        except OSError as error:
            raise UsageError(f"reading {path}: {error.strerror}; give a labelled corpus in JSON Lines") from error
    return digest(parts)[:12]


def baseline_path(folder: Path, kind: str, extractor: str, corpus: str) -> Path:
    """Where the baseline of a corpus lies."""
    return folder / f"{kind}-{extractor}-{corpus}.json"


def load(path: Path) -> dict[str, float] | None:
    """The figures kept, or None where none are. Raises UsageError on a file that holds no figures."""
    if not path.exists():
        return None
    try:
        figures = orjson.loads(path.read_bytes())["figures"]
        return {str(name): float(value) for name, value in figures.items()}
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"reading the baseline {path}: {error}; delete it or keep a new one with --save") from error


def save(path: Path, report: Mapping[str, Any], extractor_version: str) -> None:
    """Keeps the figures of a report."""
    kept = {"extractor_version": extractor_version, "figures": figures_of(report)}
    write_atomically(path, orjson.dumps(kept, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS))


def figures_of(report: Mapping[str, Any]) -> dict[str, float]:
    """The figures of a report that are compared, by dotted name; what is not known is left out."""
    found: dict[str, float] = {}
    for name in (*FALLING_IS_WORSE, *RISING_IS_WORSE):
        value: Any = report
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if isinstance(value, int | float):
            found[name] = float(value)
    return found


def compare(before: Mapping[str, float], report: Mapping[str, Any], tolerance: float = TOLERANCE) -> list[Change]:
    """Every figure that stands in both and moved; regressions are those that moved the wrong way by more than the
    tolerance, counts by any amount."""
    changes = []
    for name, now in figures_of(report).items():
        was = before.get(name)
        if was is None or was == now:
            continue
        allowed = 0.0 if name.startswith("n_") else tolerance
        worse = was - now if name in FALLING_IS_WORSE else now - was
        changes.append(Change(name, was, now, worse > allowed + 1e-9))
    return changes
