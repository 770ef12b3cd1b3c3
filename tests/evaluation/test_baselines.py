"""Baselines are kept, found again and compared; only what moved the wrong way is a regression."""

from pathlib import Path

import pytest

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.baselines import baseline_path, compare, corpus_digest, figures_of, load, save

REPORT = {
    "relations": {"precision": 0.95, "recall": 0.6, "f1": 0.73},
    "entities": {"f1": 0.8},
    "noise_rate": 0.0,
    "n_forbidden": 1,
    "flag_accuracy": None,
}


def test_figures_that_are_not_known_are_left_out() -> None:
    assert "flag_accuracy" not in figures_of(REPORT)
    assert figures_of(REPORT)["relations.recall"] == 0.6


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    path = baseline_path(tmp_path / "evaluations", "extraction", "rules", "abc")
    assert load(path) is None
    save(path, REPORT, "v1")
    assert load(path) == figures_of(REPORT)


def test_a_broken_baseline_is_a_clear_error(tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    path.write_text('{"figures": 3}')
    with pytest.raises(UsageError, match="--save"):
        load(path)


@pytest.mark.parametrize(
    ("figure", "was", "is_regression"),
    [
        ("relations.recall", 0.64, True),
        ("relations.recall", 0.604, False),
        ("relations.recall", 0.5, False),
        ("noise_rate", 0.02, False),
        ("n_forbidden", 0.0, True),
        ("n_forbidden", 2.0, False),
    ],
)
def test_only_what_moved_the_wrong_way_is_a_regression(figure: str, was: float, is_regression: bool) -> None:
    (change,) = compare({figure: was}, REPORT)
    assert (change.figure, change.before, change.is_regression) == (figure, was, is_regression)


def test_figures_of_another_corpus_are_no_baseline(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("a")
    other.write_text("b")
    assert corpus_digest([one]) != corpus_digest([other])
    with pytest.raises(UsageError, match="labelled corpus"):
        corpus_digest([tmp_path / "nothing"])
