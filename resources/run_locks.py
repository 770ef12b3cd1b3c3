"""Locks of runs: how others tell a run at work from one whose process was killed and could say nothing.

The lock is the operating system's, on an open file: it is gone with its process, and the file with a run that ended
by itself. Add nothing here that outlives a run.
"""

from pathlib import Path

from filelock import FileLock, Timeout

from em_pipelines.pipeline import Pipeline


def run_lock(home: Pipeline, run_id: str) -> FileLock:
    """The lock that a run holds from its start to its end; entering it raises Timeout at once where it is held."""
    return FileLock(home.path / "locks" / f"run-{run_id}.lock", timeout=0, thread_local=False)


def is_locked_or_left(home: Pipeline, run_id: str) -> bool:
    """Whether there is a lock of the run at all: from when it has its resources to when it gives them back."""
    return Path(run_lock(home, run_id).lock_file).exists()


def was_killed(home: Pipeline, run_id: str) -> bool:
    """Whether the run took its lock on this machine and its process is no more; False where nothing is known of it."""
    lock = run_lock(home, run_id)
    if not Path(lock.lock_file).exists():
        return False
    try:
        with lock:
            return True
    except Timeout:
        return False
