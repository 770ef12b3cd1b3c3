"""Tells files that hold no messages by their names: what exports bring beside them, and media.

The names are data (data/passed_over.yaml). Asked about what was found in a folder or ZIP, never about a file that was
named itself.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from pathlib import Path, PurePosixPath

import orjson
from pydantic import BaseModel, ConfigDict

from em_pipelines.landing.reader import FoundFile, shown
from em_pipelines.language.values import read_yaml

PROSE = (".md", ".txt")
MAX_NAMES_IN_A_NOTE = 12
MAX_EMPTY_BYTES = 512
_BESIDE = "brings them beside the messages"


class _SideFiles(BaseModel):
    """What one export brings beside its messages: patterns of names (with a slash: of paths), and of one of the files
    beside which they are known for what they are. `is_of_one`: a folder with both is what one person has exported."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    of: str
    beside: tuple[str, ...]
    names: tuple[str, ...]
    is_of_one: bool = False


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    side_files: tuple[_SideFiles, ...]
    media: dict[str, tuple[str, ...]]
    no_users: tuple[str, ...]
    exports: tuple[str, ...]


@cache
def _table() -> _Table:
    path = Path(__file__).parent / "data/passed_over.yaml"
    return _Table.model_validate(read_yaml(path.read_text(encoding="utf-8")))


def media_kind(name: str) -> str | None:
    """images, videos, recordings, …: what a file is by the end of its name; None where it may be a log."""
    suffix = PurePosixPath(name).suffix.lower().removeprefix(".")
    return next((kind for kind, suffixes in _table().media.items() if suffix in suffixes), None)


def export_of_side_file(found: FoundFile, *, is_unknown: bool = False) -> str | None:
    """Of which export a file is a known side file: where its messages lie beside it or above, or no format reads it."""
    name = found.path.name
    for export in _table().side_files:
        if any(fnmatchcase(found.inside if "/" in p else name, f"*{p}" if "/" in p else p) for p in export.names) and (
            is_unknown or _any_matches(chain.from_iterable(found.siblings), export.beside)
        ):
            return export.of
    return None


def is_prose(found: FoundFile) -> bool:
    """Whether a file is one of notes by its name."""
    return found.path.suffix.lower() in PROSE


def is_empty_json(beginning: bytes) -> bool:
    """Whether a file, of which this is the beginning, is JSON without any value: `[]`, `{"chats": []}`."""
    if len(beginning) > MAX_EMPTY_BYTES:
        return False
    try:
        found = orjson.loads(beginning)
    except orjson.JSONDecodeError:
        return False
    return _has_no_value(found)


def _has_no_value(found: object) -> bool:
    if isinstance(found, dict):
        return all(map(_has_no_value, found.values()))
    return found is None or (isinstance(found, list) and all(map(_has_no_value, found)))


def user_of_folder(found: FoundFile, *, has_folders_of_users: bool) -> str | None:
    """The user whom the folder of a file names: not one that an export brings along. In a ZIP a folder is a user's, and
    one that holds an export is not an export's, only where the format `has_folders_of_users`."""
    table, folders = _table(), [found.folder_user]
    if has_folders_of_users:
        folders, nobody = [*folders, found.inner_user], table.no_users
    elif not found.container and any(map(is_export, found.siblings[-2:])):
        return None
    else:
        nobody = (*table.no_users, *table.exports)
    return next((name for name in folders if name and not _any_matches([name], nobody)), None)


def is_export(names: Collection[str]) -> bool:
    """Whether a folder with files of these names is the unpacked export of one person: its messages and what comes
    beside them."""
    return any(
        export.is_of_one and _any_matches(names, export.beside) and _any_matches(names, export.names)
        for export in _table().side_files
    )


def _any_matches(names: Iterable[str], patterns: Iterable[str]) -> bool:
    wanted = tuple(patterns)
    return any(fnmatchcase(name, pattern) for name in names for pattern in wanted)


class PassedOver:
    """What was passed over, by the folder or ZIP that it lay in."""

    def __init__(self) -> None:
        self._media: dict[str, Counter[str]] = defaultdict(Counter)
        self._names: dict[tuple[str, str], list[str]] = defaultdict(list)

    def take(self, found: FoundFile, unread: bytes | None = None) -> bool:
        """Whether a file holds no messages by its name; notes it then. Hidden ones of a ZIP do not, media do not, nor
        do side files. `unread` is the beginning of one that no format reads: then prose and JSON that holds nothing do
        not, either."""
        name = found.path.name
        if kind := "hidden files" if found.container and name.startswith(".") else media_kind(name):
            self._media[_root(found)][kind] += 1
        elif export := export_of_side_file(found, is_unknown=unread is not None):
            self._names[_root(found), f"{export} {_BESIDE}"].append(found.inside)
        elif unread is not None and is_prose(found):
            self._names[_root(found), "taken for notes; `--format markdown` lands them"].append(found.inside)
        elif unread and is_empty_json(unread):
            self._names[_root(found), "they hold nothing"].append(found.inside)
        else:
            return False
        return True

    def take_archive(self, found: FoundFile) -> bool:
        """Whether a ZIP, of which every member was skipped, holds nothing but side files of an export; notes it then
        in place of its members. Large exports come as a ZIP for each kind of thing."""
        root = shown(found.path)
        whys = [why for where, why in self._names if where == root]
        if root in self._media or not whys or not all(why.endswith(_BESIDE) for why in whys):
            return False
        for why in whys:
            del self._names[root, why]
        self._names[_root(found), whys[0]].append(found.inside or found.path.name)
        return True

    def counts(self) -> dict[str, int]:
        """How many files were passed over, by kind."""
        counts: Counter[str] = Counter()
        for kinds in self._media.values():
            counts.update(kinds)
        counts["side files"] = sum(map(len, self._names.values()))
        return {kind: n for kind, n in sorted(counts.items()) if n}

    def notes(self) -> Iterator[str]:
        """A sentence for each folder or ZIP and what is said of it."""
        for (root, why), names in sorted(self._names.items()):
            listed = ", ".join(sorted(names)[:MAX_NAMES_IN_A_NOTE])
            more = f" and {len(names) - MAX_NAMES_IN_A_NOTE} more" if len(names) > MAX_NAMES_IN_A_NOTE else ""
            yield f"{root}: skipped {listed}{more} ({why})"
        for root, kinds in sorted(self._media.items()):
            counted = ", ".join(f"{n} {kind if n > 1 else _one(kind)}" for kind, n in sorted(kinds.items()))
            yield f"{root}: {counted} noted, not read"


def _root(found: FoundFile) -> str:
    return shown(found.root or found.path.parent)


def _one(kind: str) -> str:
    return kind.removesuffix("s")
