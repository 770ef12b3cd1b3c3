"""Whose the files of a home are that do not say so row by row: index packs, files of the inbox, exports.

What another user said in their own words is no trace of the one who is erased, however alike the words are.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from xml.sax.saxutils import unescape

import orjson

from em_pipelines.governance.erasure.terms import Whose
from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.landing.erasure_gate import named_users
from em_pipelines.lifecycle.consolidation.documents import memory_files
from em_pipelines.retrieval.packs import folder_of
from em_pipelines.serving.export.vault import MARKER

HEAD_BYTES = 20_000
"""An export says on its first lines whose it is."""
LANDED_FOLDER = ".landed"
"""What was landed from the inbox, by the time of landing: `.landed/TIME/USER/FILE`."""
_JSON_EXPORT = re.compile(rb'\{"format": "em_pipelines\.[^}]*?"user_id": ("(?:[^"\\]|\\.)*")')
_GRAPHML_EXPORT = re.compile(rb'<data key="graph_user_id">([^<]*)</data>')


@dataclass(frozen=True, slots=True)
class Owners:
    """What is known of the files of one home, seen from one user; `pack` is the folder of their index pack, `memory`
    that of their MEMORY.md."""

    home: Path
    inbox: Path
    pack: Path
    memory: Path
    user_id: str

    @classmethod
    def of(cls, home: RebuildableHome, user_id: str) -> "Owners":
        """Those of a home."""
        return cls(home.path, home.inbox, folder_of(home, user_id), memory_files.folder_of(home, user_id), user_id)

    def of_file(self, path: Path) -> Whose:
        """Whose a file is, by its place or by what it says of itself."""
        for own in (self.pack, self.memory, self.home / memory_files.FOLDER / self.memory.name):
            if own.parent in path.parents and path.parent != own.parent:
                return self._whose(path.relative_to(own.parent).parts[0], own.name)
        if self.inbox in path.parents:
            return self.of_inbox(path)
        owner = _exported(path, self.home)
        return Whose.UNKNOWN if owner is None else self._whose(owner, self.user_id)

    def of_inbox(self, path: Path) -> Whose:
        """Whose a file of the inbox is: that of the user of its folder, unless it names the one of a record itself."""
        folders = path.relative_to(self.inbox).parts[:-1]
        folders = folders[2:] if folders[:1] == (LANDED_FOLDER,) else folders
        if self.user_id in folders:
            return Whose.THEIRS
        if not folders or self.user_id in named_users(path.read_bytes()):
            return Whose.UNKNOWN
        return Whose.ANOTHERS

    @staticmethod
    def _whose(found: str, theirs: str) -> Whose:
        return Whose.THEIRS if found == theirs else Whose.ANOTHERS


def _exported(path: Path, home: Path) -> str | None:
    """Who an export is of, a note of a vault too; None for any other file."""
    with path.open("rb") as handle:
        head = handle.read(HEAD_BYTES)
    if found := _JSON_EXPORT.match(head):
        return str(orjson.loads(found.group(1)))
    if head.startswith(b"<?xml") and (found := _GRAPHML_EXPORT.search(head)):
        return unescape(found.group(1).decode("utf-8", "replace"))
    folders = [folder for folder in path.parents if home in folder.parents]
    return next((owner for folder in folders if (owner := _owner_of_vault(folder / MARKER))), None)


@lru_cache(maxsize=10_000)
def _owner_of_vault(marker: Path) -> str | None:
    try:
        owner = orjson.loads(marker.read_bytes())["user_id"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return owner if isinstance(owner, str) else None
