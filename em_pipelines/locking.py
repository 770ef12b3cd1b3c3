"""The locks of a home: what only one process may do at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from em_pipelines.errors import LockedError


@contextmanager
def held(home: Path, name: str, timeout_seconds: float) -> Iterator[None]:
    """Holds one lock of a home; raises LockedError where another process keeps it for too long.

    The lock is the operating system's, on an open file: it is gone with its process, however that ends.
    """
    folder = home / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / f"{name}.lock", timeout=timeout_seconds):
            yield
    except Timeout as error:
        raise LockedError(
            f"taking the {name} lock of {home}: another process has held it for {timeout_seconds:g} s; "
            "wait for it to end and try again"
        ) from error
