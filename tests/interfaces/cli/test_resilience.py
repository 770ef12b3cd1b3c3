"""kill -9 at any instant, then run again: the memory of an undisturbed run."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import orjson
import pytest

N_KILLS = 10


def hashes(em, home: Path) -> dict[str, str]:
    done = em("state-hash", "--home", home, "--json")
    assert done.returncode == 0, done.stderr
    return orjson.loads(done.stdout)


@pytest.mark.slow
def test_ten_kills_at_random_instants_leave_the_state_of_an_undisturbed_run(em, em_command, root, tmp_path) -> None:
    begun = time.monotonic()
    assert em("run", "examples/logs", "--home", tmp_path / "whole").returncode == 0
    seconds = time.monotonic() - begun
    wanted = hashes(em, tmp_path / "whole")
    instants = random.Random(2026)
    n_interrupted = 0
    for number in range(N_KILLS):
        home = tmp_path / f"killed-{number}"
        process = subprocess.Popen(
            [*em_command, "run", "examples/logs", "--home", str(home)],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            process.wait(timeout=instants.uniform(0.3, seconds))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            n_interrupted += 1
        done = em("run", "examples/logs", "--home", home)
        assert done.returncode == 0, done.stderr
        assert hashes(em, home) == wanted, f"kill {number}"
    assert n_interrupted >= N_KILLS // 2
