"""The hooks of the examples: two recorded weeks of a coding agent, and what the second has of the first's failures."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from em_pipelines.interfaces.agents.opening import open_home
from em_pipelines.interfaces.memory import Memory
from em_pipelines.landing.land import land
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.lifecycle.consolidation.night import experiences, run_night
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.raw import SKILL_INVOCATIONS

HOOKS = Path(__file__).parents[2] / "examples/hooks"
NOW = datetime(2026, 11, 15, tzinfo=UTC)
LEARNED = {("Edit", "not read yet"), ("git push", "exit 1"), ("pytest", "connection refused error")}


def taken_in(home: Pipeline, week: str) -> None:
    """Lands a week with its calls and makes what hangs on it."""
    path = HOOKS / "transcripts" / f"{week}.jsonl"
    land([path], home.store.log, now=NOW, settings=LandingSettings(keeps_tool_calls=True), user_id="runa")
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    """A home that has slept on the first week."""
    opened = open_home(tmp_path_factory.mktemp("hooks") / "home")
    taken_in(opened, "week-1")
    run_night(opened, NOW)
    return opened


def test_the_first_week_teaches_what_recurred_and_not_the_outage(home: Pipeline) -> None:
    found = experiences(home, "runa")

    failures = [row for row in found if row["kind"] == "failure"]
    assert {(row["component"], row["category"]) for row in failures if row["status"] == "active"} == LEARNED
    assert {row["mitigation"] for row in failures} == {"Read", "git pull", "docker compose"}
    assert [row["category"] for row in found if row not in failures] == ["Edit > pytest > git commit > git push"]


def test_a_session_starts_with_what_was_learned(home: Pipeline) -> None:
    told = Memory(home.path, "runa").bootstrap(as_of=datetime(2026, 11, 9, tzinfo=UTC).date())

    assert "git push" in told
    assert "git pull" in told
    assert "curl" not in told.split("## Rules")[-1]


def test_the_second_week_has_fewer_of_the_first_ones_failures(home: Pipeline) -> None:
    taken_in(home, "week-2")
    lake = home.store.lake
    failed = [
        row
        for row in lake.read_days(SKILL_INVOCATIONS, lake.days(SKILL_INVOCATIONS)).to_pylist()
        if row["error_category"]
    ]
    monday = datetime(2026, 11, 9, tzinfo=UTC)

    assert sum(row["timestamp"] < monday for row in failed) == 18
    assert [row["skill_name"] for row in failed if row["timestamp"] >= monday] == ["git push"]


def hook(name: str, home: Path, said: str) -> subprocess.CompletedProcess[str]:
    """Runs a hook as a coding agent does."""
    own = {"EM": str(Path(sys.executable).with_name("em")), "EM_HOME": str(home), "EM_USER": "runa"}
    return subprocess.run(
        [sys.executable, str(HOOKS / name)],
        input=said,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | own,
    )


def test_a_session_that_ends_lands_with_its_calls(tmp_path: Path) -> None:
    said = json.dumps({"transcript_path": str(HOOKS / "transcripts/week-1.jsonl"), "hook_event_name": "SessionEnd"})

    done = hook("session_end.py", tmp_path / "home", said)

    assert done.returncode == 0, done.stderr
    assert open_home(tmp_path / "home").store.log.days("skill_invocations")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("session_end.py", "nothing"),
        ("session_end.py", "[]"),
        pytest.param("session_start.py", "", marks=pytest.mark.slow),
    ],
)
def test_a_session_goes_on_whatever_a_hook_meets(tmp_path: Path, name: str, said: str) -> None:
    done = hook(name, tmp_path / "no-home", said)

    assert done.returncode == 0
    assert not done.stdout
