"""Measuring whether lessons are told from coincidences: the files, and the figures."""

import json
from pathlib import Path

import pytest

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.consolidation import measure
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from tests.lifecycle.consolidation.calls import call

SETTINGS = ConsolidationSettings()
LESSON = {"id": "R1", "is_real": True, "skill_name": "deploy", "error_category": ["Time Out", "timeout"]}
BURST = {"id": "C1", "is_real": False, "skill_name": "fetch", "error_category": "dns"}


def written(folder: Path, labels: object, lines: list[str] | None = None) -> Path:
    """A telemetry with a failure that recurs for days and a burst of another, and its labels."""
    rows = [
        call("deploy", "timeout", hours=30 * n, session=f"s{n}", said="the flag --region has to be given")
        for n in range(4)
    ]
    rows += [call("fetch", "dns", hours=0.1 * n, session="one") for n in range(9)]
    told = [json.dumps({**row, "timestamp": row["timestamp"].isoformat(), "invocation_id": None}) for row in rows]
    path = folder / "log.jsonl"
    path.write_text("\n".join(told if lines is None else lines) + "\n")
    path.with_suffix(".labels.json").write_text(json.dumps(labels))
    return path


def test_figures_are_shares_of_what_was_planted(tmp_path: Path) -> None:
    found = measure([written(tmp_path, [LESSON, BURST])], SETTINGS)

    document = found.as_document()
    assert (document["found_share"], document["false_share"], document["n_unlabelled_promoted"]) == (1.0, 0.0, 0)
    assert document["missed"] == document["false"] == []


def test_what_is_missed_and_what_is_false_is_named_with_its_gate(tmp_path: Path) -> None:
    swapped = [{**LESSON, "is_real": False}, {**BURST, "is_real": True}]

    document = measure([written(tmp_path, swapped)], SETTINGS).as_document()

    assert document["missed"] == [{"id": "C1", "skill_name": "fetch", "stopped_by": ["sources"]}]
    assert document["false"] == [{"id": "R1", "skill_name": "deploy", "stopped_by": []}]


@pytest.mark.parametrize(
    ("labels", "lines", "said"),
    [
        ([{"id": "R1"}], None, "Field required"),
        ({}, None, "array"),
        ([LESSON], ["nothing"], "line 1"),
        ([LESSON], ['{"skill_name": "x"}'], "line 1"),
        ([LESSON], ["[]"], "line 1"),
    ],
)
def test_files_that_are_none_are_named(tmp_path: Path, labels: object, lines: list[str] | None, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        measure([written(tmp_path, labels, lines)], SETTINGS)


def test_a_file_without_labels_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, [])
    path.with_suffix(".labels.json").unlink()

    with pytest.raises(UsageError, match=r"log\.labels\.json"):
        measure([path], SETTINGS)
