"""The files of a home that agents and people read: a MEMORY.md for each user, and a SKILL.md for each of their skills.

    HOME/memory/FOLDER/MEMORY.md
    HOME/memory/FOLDER/skills/SKILL/SKILL.md

A folder is named by a hash of the user that only this home can make, as those of index packs are. What stands in the
tables is the one truth: a file is made again whenever it is not what they come to, and of a file that people write in,
too, only what stands between the markers. A file that cannot be told apart so is left as it is, and said to be.
"""

import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

import pyarrow.compute as pc

from em_pipelines.language.filenames import stems
from em_pipelines.lifecycle.consolidation.consolidating_home import ConsolidatingHome
from em_pipelines.lifecycle.consolidation.documents.blocks import DamagedBlockError, parts, with_block
from em_pipelines.lifecycle.consolidation.documents.pages import (
    FEWEST_LINES,
    MAX_LINES,
    MAX_SESSIONS,
    Known,
    Row,
    memory_page,
    skill_page,
)
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.derived import EXPERIENCE_LINKS, EXPERIENCES, RULES, SKILL_PROFILES
from em_pipelines.storage.files import write_atomically

MEMORY, SKILLS, SKILL = "MEMORY.md", "skills", "SKILL.md"
FOLDER = "memory"
LOCK = "memory-files"
MARKER_LINES = 2
_OURS = re.compile(r"[0-9a-f]{32}")
Page = Callable[[int], str]
"""Lines that people wrote in a file → the generated part of it."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that was left as it is, and why, in a sentence with what to do."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Rendered:
    """What rendering did, or would do: files that are written anew, files that go, and those that are left alone."""

    written: tuple[Path, ...] = ()
    removed: tuple[Path, ...] = ()
    refused: tuple[Refused, ...] = ()

    @property
    def is_current(self) -> bool:
        """Whether every file was what the tables come to."""
        return not (self.written or self.removed or self.refused)


def root_of(home: ConsolidatingHome) -> Path:
    """Where the folders of all users lie: HOME/memory, or what `consolidation.memory_folder` says."""
    return home.settings.consolidation.memory_folder or home.path / FOLDER


def folder_of(home: ConsolidatingHome, user_id: str) -> Path:
    """Where a user's files lie, whether there are any or not."""
    return root_of(home) / home.salt.hash("memory", user_id)[:32]


def roots_of(home: ConsolidatingHome) -> list[Path]:
    """Where files may lie: where they are written, and in the home, where they were before another place was chosen."""
    return list(dict.fromkeys([root_of(home), home.path / FOLDER]))


def render(home: ConsolidatingHome) -> Rendered:
    """Makes every file what the tables come to; files of which nothing is left to say lose their generated part, and go
    where there was nothing else in them."""
    with home.lock(LOCK):
        return _go_through(home, is_dry=False)


def outdated(home: ConsolidatingHome) -> Rendered:
    """What `render` would do. Writes nothing."""
    return _go_through(home, is_dry=True)


def files_of(home: ConsolidatingHome, user_id: str | None = None) -> list[Path]:
    """The files that are there, of one user or of all, in order."""
    folders = [folder for root in roots_of(home) for folder in _folders_in(home, root, user_id)]
    return [path for folder in folders for path in _files_in(folder)]


def _folders_in(home: ConsolidatingHome, root: Path, user_id: str | None) -> list[Path]:
    if user_id is not None:
        return [root / folder_of(home, user_id).name]
    return [folder for folder in sorted(root.glob("*")) if _OURS.fullmatch(folder.name)]


def forget_user(home: ConsolidatingHome, user_id: str) -> int:
    """Deletes a user's folder with whatever anybody wrote there; returns how many files that were."""
    with home.lock(LOCK):
        folders = [folder for root in roots_of(home) for folder in _folders_in(home, root, user_id)]
        n_files = sum(path.is_file() for folder in folders for path in folder.rglob("*"))
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
            _drop_empty(folder.parent, _end_of(folder.parent, home))
    return n_files


def rewrite(home: ConsolidatingHome, user_id: str, change: Callable[[str], str]) -> int:
    """Puts what people wrote in a user's files through `change`, and of a file that cannot be told apart all of it;
    returns how many have changed. The generated parts are for `render` to make."""
    n_files = 0
    with home.lock(LOCK):
        folders = [folder for root in roots_of(home) for folder in _folders_in(home, root, user_id)]
        for path in (path for folder in folders for path in sorted(folder.rglob("*"))):
            if not path.is_file() or path.is_symlink():
                continue
            before = path.read_bytes()
            after = _changed(before, change)
            if after != before:
                write_atomically(path, after)
                n_files += 1
    return n_files


def _changed(data: bytes, change: Callable[[str], str]) -> bytes:
    try:
        first, last, _ = parts(data)
    except DamagedBlockError:
        first, last = data, b""
    own = [change(some.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape") for some in (first, last)]
    return own[0] + data[len(first) : len(data) - len(last)] + own[1]


def is_page(root: Path, path: Path) -> bool:
    """Whether a file is a MEMORY.md or SKILL.md of ours, by its place below the folder of all users."""
    where = path.relative_to(root).parts if root in path.parents else ()
    return len(where) > 1 and _OURS.fullmatch(where[0]) is not None and path.name in (MEMORY, SKILL)


def _go_through(home: ConsolidatingHome, *, is_dry: bool) -> Rendered:
    pages: dict[Path, Page] = {}
    for user_id, known in _known(home).items():
        pages |= _pages(folder_of(home, user_id), known)
    written: list[Path] = []
    removed: list[Path] = []
    refused: list[Refused] = []
    for path in sorted({*pages, *files_of(home)}):
        try:
            after = _made(home, path, pages.get(path), is_dry=is_dry)
            if after is not None:
                (written if after else removed).append(path)
        except (DamagedBlockError, PermissionError, NotADirectoryError) as error:
            refused.append(Refused(path, f"writing {path}: {_said(error)}"))
    return Rendered(tuple(written), tuple(removed), tuple(refused))


def _made(home: ConsolidatingHome, path: Path, page: Page | None, *, is_dry: bool) -> bytes | None:
    """The bytes that a file gets, put in place unless it `is_dry`; None where it has them."""
    root = next(root for root in roots_of(home) if root in path.parents)
    before = _read(root, path) or b""
    after = _after(before, page)
    if after == before:
        return None
    if not is_dry:
        _put(path, after, _end_of(root, home))
    return after


def _said(error: Exception) -> str:
    if isinstance(error, DamagedBlockError):
        return f"{error}; it is left as it is"
    return f"it cannot be reached ({error.__class__.__name__}); let who runs this write there"


def _read(root: Path, path: Path) -> bytes | None:
    """The bytes of a file; None where there is none. Raises DamagedBlockError for what is no file of its own."""
    if any(one.is_symlink() for one in (path, *path.parents) if root in one.parents):
        raise DamagedBlockError("it is a link, or lies behind one; put a file or folder of its own there")
    if path.is_dir():
        raise DamagedBlockError("it is a folder; move it away")
    return path.read_bytes() if path.exists() else None


def _after(before: bytes, page: Page | None) -> bytes:
    own = b"".join(parts(before)[:2])
    return with_block(before, page(len(own.splitlines())) if page else "")


def _put(path: Path, data: bytes, end: Path) -> None:
    if data:
        write_atomically(path, data)
        return
    path.unlink()
    _drop_empty(path.parent, end)


def _end_of(root: Path, home: ConsolidatingHome) -> Path:
    """The folder that stays when nothing is left: a place that somebody chose, or the home."""
    return home.path if root == home.path / FOLDER else root


def _drop_empty(folder: Path, end: Path) -> None:
    """Removes folders that nothing is left in, up to one that stays."""
    while folder != end and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _files_in(folder: Path) -> Iterator[Path]:
    if (folder / MEMORY).exists():
        yield folder / MEMORY
    yield from sorted((folder / SKILLS).glob(f"*/{SKILL}"))


def _pages(folder: Path, known: Known) -> dict[Path, Page]:
    def memory(n_own: int) -> str:
        return memory_page(known, max(FEWEST_LINES, MAX_LINES - MARKER_LINES - n_own))

    def skill(profile: Row, _: int) -> str:
        return skill_page(profile, known)

    names = {content_id("skill", row["skill_name"]): row["skill_name"] for row in known.profiles}
    found = stems(names, also="_")
    by_name = {name: found[key] for key, name in names.items()}
    pages = {folder / SKILLS / by_name[row["skill_name"]] / SKILL: partial(skill, row) for row in known.profiles}
    return {folder / MEMORY: memory, **pages}


def _known(home: ConsolidatingHome) -> dict[str, Known]:
    """What is known of each user, as the tables stand."""
    experiences, profiles = _by_user(home, EXPERIENCES), _by_user(home, SKILL_PROFILES)
    rules = {row["experience_id"]: row["text"] for rows in _by_user(home, RULES).values() for row in rows}
    sessions = _sessions(home) if experiences else {}
    return {
        user_id: Known(experiences.get(user_id, []), rules, sessions, profiles.get(user_id, []))
        for user_id in sorted({*experiences, *profiles})
    }


def _by_user(home: ConsolidatingHome, table: Table) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    day = home.store.lake.latest(table, date.max)
    for row in home.store.lake.read(table, day).to_pylist() if day else ():
        found[row["user_id"]].append(row)
    return dict(found)


def _sessions(home: ConsolidatingHome) -> dict[str, list[str]]:
    """The conversations of each experience, the newest first."""
    day = home.store.lake.latest(EXPERIENCE_LINKS, date.max)
    if day is None:
        return {}
    links = home.store.lake.read(EXPERIENCE_LINKS, day).select(["experience_id", "session_id", "timestamp"])
    order = [("timestamp", "descending"), ("session_id", "ascending")]
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for row in links.take(pc.sort_indices(links, sort_keys=order)).to_pylist():
        if len(found[row["experience_id"]]) < 4 * MAX_SESSIONS:  # some are not to be told
            found[row["experience_id"]][row["session_id"]] = None
    return {experience_id: list(of_it) for experience_id, of_it in found.items()}
