"""What independent readers answered to the prompts of both profiles, all the way to claims: how much of it is kept.

A recording has what was answered about each turn (`tests.model_server.recorded`). Turns of an invented conversation
stand in it, those of other conversations by their hash alone; such a one needs its conversation beside the project.
"""

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from pathlib import Path

import pytest

from em_pipelines.extraction.llm.extractor import LLMExtractor
from em_pipelines.extraction.llm.settings import Profile
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.settings import load_settings
from em_pipelines.storage.lake import Lake
from tests.extraction.llm.conftest import extractor_over
from tests.model_server.recorded import Recording
from tests.model_server.server import ModelServer

HERE = Path(__file__).parent / "recordings"
SHARED = Path(__file__).parents[4] / "shared" / "data"
NOW = datetime(2026, 6, 1, tzinfo=UTC)
pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Case:
    """A recording, the conversation that it is of, and the least share of its relations that become claims."""

    name: str
    profile: Profile
    talk: Path
    format: str
    min_kept_share: float
    max_calls: float = 0.08
    max_tokens: float = 350
    """A message."""
    is_whole: bool = True
    """Whether every turn that is asked about is in the recording."""


LOCOMO = SHARED / "locomo" / "30.json"
CASES = [
    Case("invented-full", Profile.FULL, HERE / "invented.talk.jsonl", "native", 0.95, max_calls=0.1),
    Case("invented-lean", Profile.LEAN, HERE / "invented.talk.jsonl", "native", 0.96, max_calls=0.1, max_tokens=180),
    Case("locomo-30-full", Profile.FULL, LOCOMO, "locomo", 0.93),
    Case("locomo-30-lean", Profile.LEAN, LOCOMO, "locomo", 0.93, max_calls=0.06, max_tokens=125),
    Case("beam-1-full", Profile.FULL, SHARED / "beam" / "1.jsonl", "native", 0.97, 0.42, 1150, is_whole=False),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_readers_answered_is_kept(case: Case, tmp_path: Path) -> None:
    if not case.talk.exists():
        pytest.skip("the conversation lies beside the project, not in it")
    lines = (HERE / f"{case.name}.jsonl").read_text(encoding="utf-8").splitlines()
    n_recorded = sum(len(json.loads(line)["relations"]) for line in lines)
    recording = Recording.of(HERE / f"{case.name}.jsonl")
    with ModelServer(recording) as server:

        class Replayed(Pipeline):
            @cached_property
            def extractor(self) -> LLMExtractor:
                return extractor_over(server, tmp_path / "home", profile=case.profile)

        home = Replayed(load_settings(home=tmp_path / "home"))
        land(
            [case.talk],
            home.store.log,
            now=datetime(2026, 6, 1, tzinfo=UTC),
            settings=home.settings.landing,
            format=case.format,
        )
        for name in ("interactions", "messages", "segments", "extraction"):
            step = home.steps[name]
            home.store.run_days(step, home.store.stale_days(step))
        n_messages = sum(home.store.lake.read(MESSAGES, day).num_rows for day in home.store.lake.days(MESSAGES))
        assert server.n_calls <= case.max_calls * n_messages
        assert server.n_prompt_characters / 4 <= case.max_tokens * n_messages
    assert recording.n_found == len(lines)
    assert recording.n_strange == 0 or not case.is_whole
    claims = _claims(home.store.lake)
    assert len(claims) >= case.min_kept_share * n_recorded
    if case.profile is Profile.FULL:
        assert sum(statement is not None for statement in claims) >= 0.94 * len(claims)


def _claims(lake: Lake) -> list[str | None]:
    """The statements of all claims, None of one without."""
    found: list[str | None] = []
    for day in lake.days(CLAIMS):
        assert isinstance(day, date)
        found += lake.read(CLAIMS, day)["statement"].to_pylist()
    return found
