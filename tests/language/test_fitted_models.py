"""Logistic regressions over the marks of a sentence: the marks, the score, and files that are none."""

from math import sqrt
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from em_pipelines.errors import PatternError
from em_pipelines.language.fitted_models import SentenceWeights, marks_of


def test_a_sentence_is_told_by_words_pairs_and_runs() -> None:
    words = {"\tat", "\t0", "\t!"}
    pairs = {"\t^ at", "\tat 0", "\t0 !", "\t! $"}
    with_one_between = {"\t^ _ 0", "\tat _ !", "\t0 _ $"}
    runs = {" at ", "at 1", "t 12", " 12!", "12! "}
    assert marks_of("at  12!") == words | pairs | with_one_between | runs | {"\t# 0"}
    assert "\t# 2" in marks_of("it was cold and we stayed at home and played cards")


def test_the_score_is_the_sum_of_weights_over_the_root_of_how_many_marks_there_are() -> None:
    weights = SentenceWeights(bias=-1.0, threshold=0.0, least=-2.0, weights={"\tat": 300, "\t0 !": -50})
    assert weights.score("at 12!") == pytest.approx(-1.0 + 2.5 / sqrt(len(marks_of("at 12!"))))
    assert weights.score("") == -1.0


@pytest.mark.parametrize("columns", [None, {"mark": ["a"]}, {"mark": ["a"], "weight": [1]}])
def test_a_file_that_is_none_is_named(tmp_path: Path, columns: dict[str, list[object]] | None) -> None:
    path = tmp_path / "few.parquet"
    if columns is None:
        path.write_text("few", encoding="utf-8")
    else:
        parquet.write_table(pa.table(columns), path)
    with pytest.raises(PatternError, match=r"reading the weights few\.parquet"):
        SentenceWeights.read(path)
