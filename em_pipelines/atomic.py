"""Writing local files so that nobody ever sees half of one."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_atomically(path: Path, data: bytes | memoryview) -> None:
    """Writes a local file so that readers and crashes see the old or the new content, never a part."""
    with temporary_beside(path) as temporary:
        with temporary.open("wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        temporary.replace(path)


@contextmanager
def temporary_beside(path: Path) -> Iterator[Path]:
    """A name beside a local file, to write to and rename from; gone afterwards, and swept up after a crash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def is_alive(process_id: str) -> bool:
    """Whether a process of this machine has the id; what is no id may be anybody's."""
    try:
        os.kill(int(process_id), 0)
    except ProcessLookupError:
        return False
    except (ValueError, PermissionError):
        return True
    return True
