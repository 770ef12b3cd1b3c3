"""Twelve weeks of the telemetry of six agents, each invented by somebody who had not seen the gates, with thirty
lessons and thirty coincidences among some 7,900 calls. What is found and what is taken for a lesson may get better, not
worse."""

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
    """What is told of the three hundred and sixty."""
    folder = tmp_path_factory.mktemp("telemetry")
    for path in TELEMETRY.glob("*.jsonl.xz"):
        with lzma.open(path) as packed, (folder / path.stem).open("wb") as plain:
            shutil.copyfileobj(packed, plain)
    for path in TELEMETRY.glob("*.labels.json"):
        shutil.copy(path, folder)
    return measure(sorted(folder.glob("*.jsonl")), ConsolidationSettings())


def test_lessons_are_found(lessons: Lessons) -> None:
    assert lessons.n_entries == 46383
    assert lessons.found_share >= 0.93


def test_coincidences_are_seldom_taken_for_lessons(lessons: Lessons) -> None:
    assert lessons.false_share <= 0.09
    assert lessons.n_unlabelled <= 1
