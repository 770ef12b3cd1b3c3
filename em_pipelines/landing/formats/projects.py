"""Which project a coding agent worked on, by the folder that it worked in.

A transcript names its folder and not the repository, so that is told by names (projects.yaml): parts of a repository
and further checkouts of it are of the repository, a folder of checkouts is none. Two projects of one name are one,
wherever they lie: a project has other paths on other machines far more often than its name is given twice.
"""

import ntpath
import posixpath
import re
from functools import cache
from pathlib import Path
from typing import Any

from em_pipelines.language.values import read_yaml

MAX_CHARACTERS = 100
_WINDOWS = re.compile(r"^(?:[A-Za-z]:[\\/]|\\\\)")
_BESIDE = re.compile(r"(?<=\w)[.-]worktrees$", re.IGNORECASE)
"""`korvel.worktrees/fix-login`: checkouts that lie beside a repository."""


def project_of(folder: object) -> str | None:
    """The name of the project in whose folder, or below it, an agent worked; None where that tells none."""
    parts = _own_parts(folder) if isinstance(folder, str) else []
    for n, part in enumerate(parts):
        if _BESIDE.search(part):
            parts = [*parts[:n], _BESIDE.sub("", part)]
            break
        if n and part.lower() in _names("worktrees") | _names("parts"):
            parts = parts[:n]
            break
    name = parts[-1] if parts else ""
    return name if 0 < len(name) <= MAX_CHARACTERS and name.isprintable() else None


def _own_parts(folder: str) -> list[str]:
    """The folders of a path behind those in which projects lie."""
    path = _normal(folder)
    if not path.startswith("/"):
        return []
    parts = [part for part in path.split("/") if part]
    n = 0
    while n < len(parts):
        low = parts[n].lower()
        if low in _names("of_somebody") | _names("forges"):
            n += 2
        elif low in _names("containers") or (len(low) == 1 and n and parts[n - 1].lower() == "mnt"):
            n += 1
        else:
            break
    return parts[n:]


def _normal(folder: str) -> str:
    """A path without detours, and one of Windows without its drive and with slashes."""
    if _WINDOWS.match(folder):
        return ntpath.splitdrive(ntpath.normpath(folder))[1].replace("\\", "/")
    return posixpath.normpath(folder)


@cache
def _names(key: str) -> frozenset[str]:
    found: dict[str, Any] = read_yaml(Path(__file__).with_name("projects.yaml").read_text(encoding="utf-8"))
    return frozenset(found[key].split())
