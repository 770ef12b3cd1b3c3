"""A real daemon that is killed at random, between ticks, within them and while its runs are at work: every cause is
made, and none twice."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import orjson
import pytest

from em_pipelines.interfaces.cli.dagster_storage import prepare_dagster_home
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.outgoing import PROBES, STARTERS
from em_pipelines.settings import load_settings
from sensors.landing import START_SECONDS
from sensors.proactive import CAUSE_TAG

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
DAEMON = (str(Path(sys.executable).with_name("dagster-daemon")), "run", "--workspace", "workspace.yaml")
LATER = datetime(2026, 4, 1, tzinfo=UTC)
SAID = ("My sister Dana lives in Oslo.", "I like tea.", "I work at a bakery.", "My sister lives in Bergen.")
KILLED_WITHIN = (4.0, 16.0)
"""Seconds: from before the code has loaded to when a run is done."""
MADE_SECONDS = START_SECONDS + 240
"""A run that was killed before its process had started is given up after so long."""


@pytest.fixture
def home() -> Iterator[Pipeline]:
    fast = Path("/dev/shm")  # Dagster's SQLite waits for the disk at every event
    with tempfile.TemporaryDirectory(dir=fast if fast.is_dir() else None) as folder:
        yield Pipeline(load_settings(home=Path(folder) / "home"))


def say(home: Pipeline, day: int, text: str) -> None:
    """Lands a message and makes its tables without Dagster: a cause, and nothing else to do."""
    path = home.path / "said.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    message = {"user_id": "ada", "session_id": f"s{day}", "turn_number": 0, "role": "user", "content": text}
    path.write_bytes(orjson.dumps({**message, "timestamp": f"2026-03-{day:02}T10:00:00Z"}))
    assert land([path], home.store.log, now=LATER, settings=home.settings.landing).n_landed == 1
    path.unlink()
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))
    home.infer()


@contextmanager
def daemon(home: Pipeline, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The daemon with all that it starts, in a process group that is killed at the end."""
    scrubbed = ("EM_", "DAGSTER_", "OPENAI_", "NEO4J_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(scrubbed)}
    environment = kept | {
        "EM_HOME": str(home.path),
        "DAGSTER_HOME": str(prepare_dagster_home(home)),
        "DAGSTER_DISABLE_TELEMETRY": "1",
        "GX_ANALYTICS_ENABLED": "false",
    }
    with log.open("ab") as output:
        process = subprocess.Popen(
            DAEMON, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def runs_of(home: Pipeline) -> list[dg.DagsterRun]:
    """All runs that were asked for, oldest first."""
    with dg.DagsterInstance.from_config(str(home.dagster_home.absolute())) as instance:
        return instance.get_runs()[::-1]


def is_done(home: Pipeline) -> bool:
    return home.is_proactive_current and all(run.is_finished for run in runs_of(home))


@pytest.mark.parametrize("seed", [1, 2])
def test_a_daemon_that_is_killed_makes_every_cause_and_none_twice(seed: int, home: Pipeline, tmp_path: Path) -> None:
    dice, log = random.Random(seed), tmp_path / "daemon.log"
    for n, text in enumerate(SAID):
        say(home, n + 1, text)
        with daemon(home, log):
            time.sleep(dice.uniform(*KILLED_WITHIN))
    with daemon(home, log) as process:
        deadline = time.monotonic() + MADE_SECONDS
        while not is_done(home):
            assert process.poll() is None, log.read_text(errors="replace")[-4000:]
            assert time.monotonic() < deadline, (runs_of(home), log.read_text(errors="replace")[-4000:])
            time.sleep(1)
    runs = [run for run in runs_of(home) if run.job_name == "proactive"]
    made = Counter(run.tags[CAUSE_TAG] for run in runs if run.status is dg.DagsterRunStatus.SUCCESS)
    assert made
    assert max(made.values()) == 1, "a cause was made twice"
    assert len({run.tags["dagster/run_key"] for run in runs}) == len(runs), "a run was asked for twice"
    assert not [run for run in runs if run.status is dg.DagsterRunStatus.FAILURE]
    found = {table.name: home.store.lake.read(table, home.store.lake.days(table)[-1]) for table in (PROBES, STARTERS)}
    home.refresh_proactive(is_forced=True)
    for table in (PROBES, STARTERS):
        (day,) = home.store.lake.days(table)
        assert home.store.lake.read(table, day).equals(found[table.name]), "made again it is the same"
        (key,) = table.key
        assert len({*found[table.name][key].to_pylist()}) == found[table.name].num_rows
