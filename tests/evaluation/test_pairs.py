"""Pairs of mentions: hand-made cases, and the scorer beside the labelled corpora."""

import importlib.util
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.evaluation.corpus import SHIPPED, read_corpus
from em_pipelines.evaluation.pairs import score_resolution
from em_pipelines.resolution.labelled_names import clusters

GOLD = Path(__file__).parents[3] / "shared" / "gold"
MIN_F1, MIN_PRECISION = 0.93, 0.97
MIN_F1_OF_NAMESAKES, MIN_PRECISION_OF_NAMESAKES = 0.93, 0.93


def row(*groups: str) -> dict[str, Any]:
    return {
        "id": "u",
        "mentions": [{"mention_id": m} for m in sorted("".join(groups))],
        "clusters": [list(group) for group in groups],
    }


def found(*groups: str) -> list[dict[str, Any]]:
    return [{"id": "u", "clusters": [list(group) for group in groups]}]


def test_each_figure_falls_when_what_it_measures_is_wrong() -> None:
    gold = [row("abc", "de")]
    assert score_resolution(gold, found("abc", "de"))["pairwise"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0}
    assert score_resolution(gold, found("abcde"))["pairwise"]["precision"] == 0.4
    assert score_resolution(gold, found("ab", "c", "de"))["pairwise"]["recall"] == 0.5
    report = score_resolution(gold, [])
    assert (report["pairwise"]["recall"], report["misjudged"]) == (0.0, {"u": {"n_wrong": 0, "n_missed": 4}})
    assert report["b_cubed_f1"] < 0.7


def test_the_projects_own_users_are_told_apart() -> None:
    rows = list(read_corpus(SHIPPED / "resolution.jsonl"))
    report = score_resolution(rows, [{"id": r["id"], "clusters": clusters(r)} for r in rows])
    assert report["pairwise"]["f1"] >= MIN_F1
    assert report["pairwise"]["precision"] >= MIN_PRECISION


def test_users_whose_people_share_names_are_told_apart() -> None:
    """Few clues on purpose: bare names after two of them, nicknames, pets, towns and firms called like people."""
    rows = list(read_corpus(Path(__file__).with_name("namesakes.jsonl")))
    report = score_resolution(rows, [{"id": r["id"], "clusters": clusters(r)} for r in rows])
    assert report["pairwise"]["precision"] >= MIN_PRECISION_OF_NAMESAKES
    assert report["pairwise"]["f1"] >= MIN_F1_OF_NAMESAKES


def test_figures_are_those_of_the_scorer_beside_the_corpora(tmp_path: Path) -> None:
    path = GOLD / "score.py"
    if not path.exists():
        pytest.skip("no labelled corpora beside the project")
    spec = importlib.util.spec_from_file_location("reference_scorer", path)
    assert spec is not None and spec.loader is not None
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    rows = list(read_corpus(GOLD / "resolution.jsonl"))
    lines = [{"id": r["id"], "clusters": clusters(r)} for r in rows]
    predicted = tmp_path / "clusters.jsonl"
    predicted.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    theirs, ours = (
        reference.score_resolution(str(GOLD / "resolution.jsonl"), str(predicted)),
        score_resolution(rows, lines),
    )
    assert ours["pairwise"] == theirs["pairwise"]
    assert ours["b_cubed_f1"] == theirs["b_cubed_f1"]
    assert ours["pairwise"]["f1"] >= MIN_F1
    assert ours["pairwise"]["precision"] >= MIN_PRECISION
