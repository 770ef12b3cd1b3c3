"""Twelve weeks of the telemetry of one agent, invented by somebody who had not seen the gates: thirty lessons and
thirty coincidences among 7,648 calls. What is found and what is taken for a lesson may get better, not worse."""

import lzma
import shutil
from pathlib import Path

import pytest

from em_pipelines.evaluation.consolidation import Lessons, measure
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings

pytestmark = pytest.mark.slow
TELEMETRY = Path(__file__).parent / "telemetry"


@pytest.fixture(scope="module")
def lessons(tmp_path_factory: pytest.TempPathFactory) -> Lessons:
    """What is told of the sixty."""
    folder = tmp_path_factory.mktemp("telemetry")
    with lzma.open(TELEMETRY / "selma.jsonl.xz") as packed, (folder / "selma.jsonl").open("wb") as plain:
        shutil.copyfileobj(packed, plain)
    shutil.copy(TELEMETRY / "selma.labels.json", folder)
    return measure([folder / "selma.jsonl"], ConsolidationSettings())


def test_lessons_are_found(lessons: Lessons) -> None:
    assert lessons.n_entries == 7648
    assert lessons.found_share >= 0.90


def test_coincidences_are_seldom_taken_for_lessons(lessons: Lessons) -> None:
    assert lessons.false_share <= 0.20
    assert lessons.n_unlabelled <= 2
