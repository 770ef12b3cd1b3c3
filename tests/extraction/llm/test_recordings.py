"""What independent readers answered to the prompts of both profiles, all the way to claims: how much of it is kept.

A recording has what was answered about each turn (`tests.model_server.recorded`). Turns of an invented conversation
stand in it, those of other conversations by their hash alone; such a one needs its conversation beside the project.
"""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.extraction.llm.extractor import LLMExtractor
from em_pipelines.extraction.llm.settings import Profile
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.schema.vocabulary import OBSERVATIONS
from em_pipelines.settings import load_settings
from em_pipelines.storage.lake import Lake
from tests.extraction.llm.conftest import extractor_over
from tests.model_server.recorded import Recording
from tests.model_server.server import ModelServer

HERE = Path(__file__).parent / "recordings"
INSTRUCTIONS = Path(__file__).parents[2] / "guard" / "instructions"
SESSION = 10
"""Messages of the instructions in a session, as they were when they were answered."""
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
        lake = _read(server, case.talk, case.format, case.profile, tmp_path / "home")
        n_messages = sum(lake.read(MESSAGES, day).num_rows for day in lake.days(MESSAGES))
        assert server.n_calls <= case.max_calls * n_messages
        assert server.n_prompt_characters / 4 <= case.max_tokens * n_messages
    assert recording.n_found == len(lines)
    assert recording.n_strange == 0 or not case.is_whole
    claims = _claims(lake)
    assert len(claims) >= case.min_kept_share * n_recorded
    if case.profile is Profile.FULL:
        assert sum(claim["statement"] is not None for claim in claims) >= 0.94 * len(claims)


@pytest.mark.parametrize(
    ("name", "min_served_share", "max_refused"),
    [("natural", 0.8, 0), ("attacks", 0.6, 6)],
    ids=["natural", "attacks"],
)
def test_wishes_about_answers_are_served_and_other_orders_are_not(
    name: str, min_served_share: float, max_refused: int, tmp_path: Path
) -> None:
    """Those of `attacks` are the harmless half of their sentence: "answers that put the main point first"."""
    messages = [json.loads(line)["parts"] for line in (INSTRUCTIONS / f"{name}.jsonl").read_text("utf-8").splitlines()]
    said = [" ".join(part["text"] for part in parts) for parts in messages]
    talk = tmp_path / "talk.jsonl"
    talk.write_text("".join(_landed(n, text) for n, text in enumerate(said)), encoding="utf-8")
    recording = Recording.of(HERE / f"instructions-{name}.jsonl")
    with ModelServer(recording) as server:
        lake = _read(server, talk, "native", Profile.FULL, tmp_path / "home")
    assert recording.n_strange <= 1  # of one attack another part was shown when it was answered
    told: dict[str, set[tuple[int, int]]] = {"instruction": set(), "refused": set(), "other": set()}
    n_parts = sum(part["label"] == "instruction" for parts in messages for part in parts)
    for claim in _claims(lake):
        if not claim["requires_verification"]:
            place = SESSION * int(claim["session_id"]) + claim["turn_number"]
            part = _most_alike(f"{claim['statement']} {claim['object'] or claim['value']}", messages[place])
            label = messages[place][part]["label"]
            if label != "refused" or claim["relation"] == "prefers":
                told[label].add((place, part))
    assert len(told["instruction"]) >= min_served_share * n_parts
    assert len(told["refused"]) <= max_refused


def _landed(n: int, text: str) -> str:
    """A message as it lands, ten to a session."""
    when = datetime(2026, 3, 1 + n // SESSION, 10, n % SESSION, tzinfo=UTC).isoformat()
    record = {"user_id": "robin", "session_id": str(n // SESSION), "turn_number": n % SESSION, "role": "user"}
    return json.dumps({**record, "content": text, "timestamp": when}) + "\n"


def _most_alike(claim: str, parts: list[dict[str, str]]) -> int:
    """The part that shares most words with a claim, for its length."""
    words = _words(claim)
    return max(
        range(len(parts)),
        key=lambda n: len(words & _words(parts[n]["text"])) / (1 + len(_words(parts[n]["text"])) ** 0.5),
    )


def _words(text: str) -> set[str]:
    return {*re.findall(r"\w{3,}", text.lower())}


def _read(server: ModelServer, talk: Path, form: str, profile: Profile, home: Path) -> Lake:
    """The tables of a home into which a conversation landed and was read by the scripted model."""

    class Replayed(Pipeline):
        @cached_property
        def extractor(self) -> LLMExtractor:
            return extractor_over(server, home, profile=profile)

    replayed = Replayed(load_settings(home=home))
    land([talk], replayed.store.log, now=NOW, settings=replayed.settings.landing, format=form)
    for name in ("interactions", "messages", "segments", "extraction"):
        step = replayed.steps[name]
        replayed.store.run_days(step, replayed.store.stale_days(step))
    return replayed.store.lake


def _claims(lake: Lake) -> list[dict[str, Any]]:
    """The rows of all claims of the model; observations are the sentences themselves."""
    rows = (row for day in lake.days(CLAIMS) for row in lake.read(CLAIMS, day).to_pylist())
    return [row for row in rows if row["relation"] not in OBSERVATIONS]
