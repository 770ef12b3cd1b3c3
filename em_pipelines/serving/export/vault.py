"""A vault on disk: a new folder that appears whole, or an older vault of the same user that is brought up to date.

A marker lists the files that were written, with digests. Nothing else in the folder is touched: a file that nobody
here wrote, or that somebody has changed since, is neither replaced nor deleted.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.language.counting import WAS, counted
from em_pipelines.serving.export.notes import FOLDER, INDEX, PERSON
from em_pipelines.serving.export.output import sweep_beside
from em_pipelines.storage.files import sync_folder, write_atomically

MARKER = ".em-vault.json"
FORMAT = "em_pipelines.vault"
VERSION = 1
SHOWN_FILES = 3
_NOTE = re.compile(rf"{re.escape(INDEX)}|{re.escape(PERSON)}|{FOLDER}/[^/\\]+\.md")
Files = dict[str, list[str]]
"""Path in the vault → digests that a file there may have; two while an update is at work."""


@contextmanager
def to_vault(path: Path, user_id: str) -> Iterator[dict[str, str]]:
    """Gives a dict for notes by path, and writes them to the folder `path` when the block ends without an error.

    Raises UsageError for a folder that holds anything and is no vault of this user, and for notes that were changed.
    """
    standing = _standing(path, user_id)
    notes: dict[str, str] = {}
    yield notes
    sweep_beside(path)
    stage = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        files = _write(stage, notes)
        if standing is None:
            (stage / MARKER).write_bytes(_marker(user_id, files))
            if path.is_dir():
                path.rmdir()
            stage.rename(path)
            sync_folder(path.parent)
        else:
            _update(path, stage, user_id, standing, files)
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _standing(path: Path, user_id: str) -> Files | None:
    """The files of the vault that is there; None where there is nothing, or an empty folder."""
    if not path.exists() and not path.is_symlink():
        return None
    if path.is_symlink() or not path.is_dir():
        raise UsageError(f"exporting to {path}: a vault is a folder, and this is none")
    marker = path / MARKER
    if marker.is_file() and not marker.is_symlink():
        files = _files_in(marker, path, user_id)
        _check_unchanged(path, files)
        return files
    if any(path.iterdir()):
        raise UsageError(f"exporting to {path}: the folder is not empty and no vault of ours; name a new one")
    return None


def _check_unchanged(path: Path, files: Files) -> None:
    """Raises UsageError for notes that are not as they were written; one that is gone may come back."""
    changed = [name for name, digests in sorted(files.items()) if _digest(path / name) not in (None, *digests)]
    if changed:
        shown = ", ".join(changed[:SHOWN_FILES])
        raise UsageError(
            f"exporting to {path}: {counted(len(changed), 'note', WAS)} changed since they were written ({shown}); "
            "move them away, or name a new folder"
        )


def _files_in(marker: Path, path: Path, user_id: str) -> Files:
    try:
        document = orjson.loads(marker.read_bytes())
        is_ours = document["format"] == FORMAT and isinstance(document["version"], int)
        owner, version, files = document["user_id"], document["version"], document["files"]
        is_ours &= all(
            _NOTE.fullmatch(name) and all(isinstance(digest, str) for digest in digests)
            for name, digests in files.items()
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        is_ours = False
    if not is_ours or (path / FOLDER).is_symlink():
        raise UsageError(f"exporting to {path}: its {MARKER} is none of ours; name a new folder")
    if version > VERSION:
        raise UsageError(f"exporting to {path}: the vault was written by a newer `em`; take that, or name a new folder")
    if owner != user_id:
        raise UsageError(f"exporting to {path}: it is the vault of somebody else; name a new folder")
    return dict(files)


def _write(stage: Path, notes: Mapping[str, str]) -> Files:
    stage.mkdir(mode=0o700)
    (stage / FOLDER).mkdir()
    files: Files = {}
    for name, text in notes.items():
        data = text.encode()
        with (stage / name).open("xb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        files[name] = [sha256(data).hexdigest()]
    return files


def _update(path: Path, stage: Path, user_id: str, standing: Files, files: Files) -> None:
    """Takes away notes of what is known no more, and puts the others in place. Killed half way and repeated it ends
    the same: until the end the marker owns up to old and new files alike."""
    if foreign := [name for name in sorted(files.keys() - standing.keys()) if (path / name).exists()]:
        shown = ", ".join(foreign[:SHOWN_FILES])
        raise UsageError(f"exporting to {path}: {shown} would be replaced, and was not written here; move it away")
    both = {name: sorted({*standing.get(name, ()), *files.get(name, ())}) for name in standing.keys() | files.keys()}
    write_atomically(path / MARKER, _marker(user_id, both))
    # First what goes: where case does not count, a note may come back under a name that differs in nothing else.
    for name in sorted(standing.keys() - files.keys()):
        if _digest(path / name) in standing[name]:
            (path / name).unlink()
    (path / FOLDER).mkdir(exist_ok=True)
    for name in files:
        (stage / name).replace(path / name)
    sync_folder(path / FOLDER)
    write_atomically(path / MARKER, _marker(user_id, files))


def _marker(user_id: str, files: Files) -> bytes:
    document = {"format": FORMAT, "version": VERSION, "user_id": user_id, "files": files}
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _digest(path: Path) -> str | None:
    """The digest of a file; of a link or folder in its place one that fits nothing; None where there is nothing."""
    if path.is_symlink() or path.is_dir():
        return ""
    return sha256(path.read_bytes()).hexdigest() if path.exists() else None
