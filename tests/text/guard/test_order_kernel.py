"""A sentence is told by what it means: kernel ridge regression over vectors, added to what its words say."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from em_pipelines.errors import PatternError
from em_pipelines.text.guard.order_kernel import (
    MEANING_WEIGHT,
    N_DEVIATIONS,
    RIDGE,
    SHARPNESS,
    Floats,
    OrderExamples,
    OrderKernel,
    order_examples,
)
from em_pipelines.text.guard.passages import folded
from em_pipelines.text.guard.sensitive import MIN_WORDS

EXAMPLES = OrderExamples(
    attacks=("a", "b"), ordinary=("c", "d", "e"), measured={"f": -3.0, "g": -2.0, "h": -4.0, "i": -2.5}
)


def around(angles: list[float]) -> Floats:
    return np.array([[np.cos(angle), np.sin(angle)] for angle in angles], np.float32)


VECTORS = around([0.0, 0.1, 1.5, 1.6, 1.4, 1.3, 1.45, 1.7, 1.2])
"""Attacks lie at 0, ordinary sentences at a right angle to them."""


def test_it_is_the_solution_of_kernel_ridge_regression() -> None:
    kernel = OrderKernel.fit(EXAMPLES, VECTORS)
    support = VECTORS[:5].astype(np.float16).astype(float)
    squares = ((support[:, None] - support[None]) ** 2).sum(axis=2)
    gram = np.exp(-SHARPNESS / np.median(squares) * squares)
    expected = np.linalg.inv(gram + RIDGE * np.eye(5)) @ [1, 1, -1, -1, -1]
    assert np.allclose(kernel.coefficients, expected, atol=1e-4)
    assert kernel.sharpness == pytest.approx(SHARPNESS / np.median(squares), rel=1e-4)
    new = around([0.4])
    likeness = np.exp(-kernel.sharpness * ((support - new.astype(float)) ** 2).sum(axis=1))
    assert kernel.log_odds([-1.0], new)[0] == pytest.approx(-1.0 + MEANING_WEIGHT * likeness @ expected, abs=1e-3)


def test_the_threshold_lies_deviations_above_plain_talk() -> None:
    kernel = OrderKernel.fit(EXAMPLES, VECTORS)
    scores = kernel.log_odds(list(EXAMPLES.measured.values()), VECTORS[5:])
    assert kernel.threshold == pytest.approx(scores.mean() + N_DEVIATIONS * scores.std(), abs=1e-5)


def test_what_is_meant_and_what_is_said_are_added() -> None:
    kernel = replace(OrderKernel.fit(EXAMPLES, VECTORS), threshold=0.0)
    assert kernel.tells([-2.0, -2.0, 9.0, -9.0], around([0.05, 1.5, 1.5, 0.05])) == [True, False, True, False]
    assert kernel.tells([], np.zeros((0, 2), np.float32)) == []


def test_many_are_judged_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, angles = OrderKernel.fit(EXAMPLES, VECTORS), [0.1, 0.7, 1.3, 2.0, 2.6]
    whole = kernel.log_odds([0.0] * 5, around(angles))
    monkeypatch.setattr("em_pipelines.text.guard.order_kernel.BATCH", 2)
    assert np.allclose(kernel.log_odds([0.0] * 5, around(angles)), whole)


def test_a_file_gives_back_exactly_what_was_fitted() -> None:
    kernel = OrderKernel.fit(EXAMPLES, VECTORS)
    again = OrderKernel.from_bytes(kernel.to_bytes())
    assert np.array_equal(kernel.log_odds([0.0], around([0.7])), again.log_odds([0.0], around([0.7])))
    assert (again.threshold, again.sharpness, again.n_dimensions) == (kernel.threshold, kernel.sharpness, 2)


@pytest.mark.parametrize(
    "damaged",
    [b"", b"no archive", OrderKernel.fit(EXAMPLES, VECTORS).to_bytes()[:-40]],
    ids=["empty", "other", "cut"],
)
def test_a_damaged_file_is_told(damaged: bytes) -> None:
    with pytest.raises(ValueError, match="reading a classifier"):
        OrderKernel.from_bytes(damaged)


def test_a_flipped_bit_is_told_or_changes_nothing() -> None:
    kernel = OrderKernel.fit(EXAMPLES, VECTORS)
    data = kernel.to_bytes()
    n_told = 0
    for place in range(len(data)):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        try:
            read = OrderKernel.from_bytes(bytes(flipped))
        except ValueError:
            n_told += 1
        else:
            assert read.to_bytes() == data
    assert n_told > len(data) / 2


def test_parts_that_do_not_fit_together_are_told() -> None:
    kernel = OrderKernel.fit(EXAMPLES, VECTORS)
    with pytest.raises(ValueError, match="do not fit together"):
        OrderKernel.from_bytes(replace(kernel, coefficients=kernel.coefficients[1:]).to_bytes())


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        (VECTORS[:-1], "of the shape"),
        (VECTORS[:, 0], "of the shape"),
        (np.where(VECTORS > 0.9, np.nan, VECTORS), "of the shape"),
        (np.ones_like(VECTORS), "the same"),
    ],
    ids=["too few", "no vectors", "not finite", "all the same"],
)
def test_vectors_that_tell_nothing_are_refused(vectors: Floats, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        OrderKernel.fit(EXAMPLES, vectors)


def test_examples_that_ship_are_of_three_kinds_that_do_not_meet() -> None:
    found = order_examples()
    assert len(found.attacks) > 1_900
    assert len(found.ordinary) == 2_500
    assert len(found.measured) == 1_000
    assert len(set(found.texts)) == len(found.texts)
    assert all(folded(text).count(" ") >= MIN_WORDS - 1 for text in found.measured)
    assert np.mean(list(found.measured.values())) < -5.0


@pytest.mark.slow
def test_examples_are_those_that_training_chooses() -> None:
    from training.guard.__main__ import examples, labelled, scores_of_others

    of = labelled()
    chosen, shipped = examples(of, scores_of_others(of)), order_examples()
    assert (chosen.attacks, chosen.ordinary) == (shipped.attacks, shipped.ordinary)
    assert chosen.measured == pytest.approx(shipped.measured, abs=0.05)


@pytest.mark.parametrize("data", ["", "{}", "ordinary\tx\n0\ty\n1\tz\n"])
def test_a_file_of_other_things_is_no_examples(tmp_path: Path, data: str) -> None:
    path = tmp_path / "order_examples.txt"
    path.write_text(data, encoding="utf-8")
    with pytest.raises(PatternError, match="restore the file"):
        OrderExamples.read(path)
    with pytest.raises(PatternError, match="restore the file"):
        OrderExamples.read(tmp_path / "missing.txt")
