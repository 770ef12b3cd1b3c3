"""A file as the list of a backup names it, and which names a list may hold.

A list comes from a folder that others may write to, so it is checked before any of it is used: a path stays inside of
the data directory, names only what a backup takes, and content is addressed by a SHA-256 in hex.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

NOT_BACKED_UP = frozenset(
    {"alerts", "lake", "packs", "snapshots", "quality", "dagster", "locks", "tmp", "unchecked.json", "restoring.json"}
)
"""What depends on the log alone, on the running processes, or on where the data directory is; all else is copied."""
SEGMENT_MARK = 16
"""Digits of its digest in the name of a segment."""
_SHA256 = re.compile(r"[0-9a-f]{64}")
PERMISSIONS = 0o777


@dataclass(frozen=True, slots=True)
class Kept:
    """A file of a backup: its path in the data directory, SHA-256 (hex) and bytes of its content, and permissions."""

    path: str
    sha256: str
    size: int
    mode: int


def is_backed_up(path: str) -> bool:
    """Whether a backup takes the file of this path, which is relative to the data directory."""
    top, _, _ = path.partition("/")
    name = path.rpartition("/")[2]
    is_working_file = name.startswith(".") or name.endswith((".lock", ".tmp", "-wal", "-shm"))
    return top not in NOT_BACKED_UP and not is_working_file


def is_segment(path: str) -> bool:
    """Whether a path in the data directory is that of a segment of the landed log."""
    return path.startswith("log/") and path.count("/") == 3  # log/KIND/DAY/NAME


def path_problem(path: str) -> str | None:
    """Why a path may not be written below a data directory, on any system; None where it may."""
    as_windows = PureWindowsPath(path)
    if PurePosixPath(path).is_absolute() or as_windows.root:
        return "is absolute"
    if as_windows.drive:
        return "names a drive"
    if ".." in as_windows.parts:
        return "leaves the data directory"
    if "\0" in path:
        return "holds a NUL"
    if not path or PurePosixPath(path).as_posix() != path:
        return "is no plain relative path"
    return None if is_backed_up(path) else "is nothing that a backup holds"


def listed_files(rows: Sequence[dict[str, Any]]) -> list[Kept]:
    """The files that a list names. Raises ValueError, which says which one may not be restored and why."""
    files = [Kept(**row) for row in rows]
    for kept in files:
        if problem := path_problem(kept.path) or _content_problem(kept):
            raise ValueError(f"{kept.path!r:.200} {problem}")
    paths = {kept.path for kept in files}
    folders = {parent.as_posix() for path in paths for parent in PurePosixPath(path).parents}
    if len(paths) < len(files) or paths & folders:
        raise ValueError("one path is listed twice, or as a file and as a folder")
    return files


def _content_problem(kept: Kept) -> str | None:
    if not _SHA256.fullmatch(kept.sha256):
        return "has no SHA-256"
    if kept.size < 0 or kept.mode & ~PERMISSIONS:
        return "has a size or permissions that no file has"
    if is_segment(kept.path) and not is_named_by_its_content(kept):
        return "is not named by its content"
    return None


def is_named_by_its_content(segment: Kept) -> bool:
    """Whether the name of a segment ends in the first digits of its digest, as landing names it."""
    return segment.path.endswith(f"-{segment.sha256[:SEGMENT_MARK]}.jsonl")
