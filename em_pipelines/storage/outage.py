"""What was found to be down just now, told from one process to the next: each `em search` is one, and none should wait
for the same silent endpoint as the one before.

A note is an empty file whose time of change counts. Whoever cannot write one does without: no reader needs to write.
"""

import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path


class OutageNote:
    """That a service was down, for `open_seconds` from when it was noted last."""

    def __init__(self, path: Path, open_seconds: float) -> None:
        self._path = path
        self._open_seconds = open_seconds

    @property
    def left_seconds(self) -> float:
        """How long it is still to be left alone; 0 where nothing is noted, or the note is older, or of the future."""
        try:
            age = time.time() - self._path.stat().st_mtime
        except OSError:
            return 0.0
        return self._open_seconds - age if 0 <= age < self._open_seconds else 0.0

    @property
    def is_there(self) -> bool:
        """Whether it is down, or nobody has reached it since it was."""
        return self._path.exists()

    @property
    def noted_at(self) -> datetime | None:
        """When it was noted last; None where nothing is. The note of an outage that is over stands until somebody has
        reached the service."""
        try:
            return datetime.fromtimestamp(self._path.stat().st_mtime, UTC)
        except OSError:
            return None

    def put(self) -> None:
        """Notes that it is down, in a home that is there and can be written to; else nothing."""
        with suppress(OSError):
            if self._path.parent.parent.is_dir():
                self._path.parent.mkdir(exist_ok=True)
                self._path.touch()

    def clear(self) -> None:
        """Notes that it is there again."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
