"""Finds the files to land below the paths that were given. Opens none of them."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from em_pipelines.errors import UsageError

_UNFINISHED = (".tmp", ".part")
_PROSE = (".md", ".txt")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to land. `folder_user` is the first sub-folder below the directory it was found in."""

    path: Path
    folder_user: str | None = None


def find_files(paths: Sequence[Path]) -> tuple[list[FoundFile], list[str]]:
    """The files below the paths, each once, directories in sorted order; and notes on what was passed over.

    In directories hidden and unfinished files (*.tmp, *.part) are left out silently, prose (*.md, *.txt) with a
    note. Raises UsageError where a path does not exist, before anything has been read.
    """
    for path in paths:
        if not path.exists():
            raise UsageError(f"landing {path}: no such file or directory; check the path")
    found: dict[Path, FoundFile] = {}
    notes = []
    for path in paths:
        for file in _below(path) if path.is_dir() else [FoundFile(path)]:
            if path.is_dir() and file.path.suffix.lower() in _PROSE:
                notes.append(f"{file.path} was skipped: {file.path.suffix} files in a directory are taken for notes")
            else:
                found.setdefault(file.path.resolve(), file)
    return list(found.values()), notes


def _below(root: Path) -> Iterator[FoundFile]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        inner = Path(folder).relative_to(root).parts
        for name in sorted(names):
            if not name.startswith(".") and not name.endswith(_UNFINISHED):
                yield FoundFile(Path(folder) / name, inner[0] if inner else None)
