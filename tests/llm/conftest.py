"""A store on disk and a clock that stands still."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AnswerStore]:
    with AnswerStore(tmp_path / "llm" / "answers.sqlite") as store:
        yield store
