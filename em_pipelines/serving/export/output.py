"""Where an export goes: a file that appears whole or not at all, or a stream that gets it when it is complete.

What leaves holds somebody's life: files are for their owner's eyes, and none lies in the home, where what is forgotten
later could not be taken out of it.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from em_pipelines.errors import UsageError
from em_pipelines.storage.files import is_alive, make_folder, put_in_place, temporary_beside

OWNER_ONLY = 0o600


def check_place(path: Path, home: Path) -> None:
    """Raises UsageError where an export may not lie."""
    chosen, own = path.resolve(), home.resolve()
    if chosen == own or own in chosen.parents or chosen in own.parents:
        raise UsageError(
            f"exporting to {path}: it belongs to the home, whose files are searched when something is forgotten; "
            "choose a place outside of it"
        )
    if not path.absolute().parent.is_dir():
        raise UsageError(f"exporting to {path}: its folder does not exist; make it first")


@contextmanager
def to_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the name `path` when the block ends without an error.

    Raises UsageError for a folder.
    """
    if path.is_dir():
        raise UsageError(f"exporting to {path}: it is a folder; name a file")
    sweep_beside(path)
    with temporary_beside(path) as temporary:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_ONLY)
        with os.fdopen(descriptor, "wb") as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        put_in_place(temporary, path)


@contextmanager
def to_stream(stream: BinaryIO, folder: Path) -> Iterator[BinaryIO]:
    """A file without a name in `folder`, copied to the stream when the block ends without an error; nothing of it
    stays."""
    make_folder(folder)
    with tempfile.TemporaryFile(dir=folder) as handle:
        yield handle
        handle.seek(0)
        shutil.copyfileobj(handle, stream)
        stream.flush()


def sweep_beside(path: Path) -> None:
    """Deletes what exports to the same place left that were killed."""
    start, end = f".{path.name}.", ".tmp"
    for left in path.absolute().parent.iterdir():
        process = left.name.removeprefix(start).removesuffix(end)
        is_left = left.name == f"{start}{process}{end}" and process.isdecimal() and not is_alive(process)
        if is_left and left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
        elif is_left:
            left.unlink(missing_ok=True)
