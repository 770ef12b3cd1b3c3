"""The locks of runs: held as long as the run lasts, free once its process is gone, however that ended."""

import signal
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import Settings
from resources.home import HomeResource
from resources.run_locks import run_lock, was_killed

ROOT = Path(__file__).parents[2]


@pytest.fixture
def home(settings: Settings) -> Pipeline:
    return Pipeline(settings)


@pytest.mark.parametrize("is_failing", [False, True])
def test_a_run_holds_its_lock_until_it_ends_well_or_not(is_failing: bool, home: Pipeline, tmp_path: Path) -> None:
    held: list[bool] = []

    @dg.asset
    def probe(context: dg.AssetExecutionContext, home: HomeResource) -> None:
        held.append(Path(run_lock(home.home, context.run.run_id).lock_file).exists())
        held.append(not was_killed(home.home, context.run.run_id))
        if is_failing:
            raise ValueError

    with dg.DagsterInstance.ephemeral(str(tmp_path), settings={"telemetry": {"enabled": False}}) as instance:
        resources = {"home": HomeResource.of(home.settings)}
        result = dg.materialize([probe], instance=instance, resources=resources, raise_on_error=False)
    assert result.success is not is_failing
    assert held == [True, True]
    assert not Path(run_lock(home, result.run_id).lock_file).exists()
    assert not was_killed(home, result.run_id)


def test_a_run_of_which_nothing_is_known_was_not_killed(home: Pipeline) -> None:
    assert not was_killed(home, "elsewhere")
    assert not home.path.exists()


def test_a_killed_process_leaves_its_lock_free(home: Pipeline) -> None:
    program = (
        "import os, signal\n"
        "from filelock import FileLock\n"
        f"lock = FileLock({run_lock(home, 'killed').lock_file!r})\n"
        "lock.acquire()\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    (home.path / "locks").mkdir(parents=True)
    ended = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert was_killed(home, "killed")
