"""The packs of a home: which are out of date, making them again, and taking one away.

A pack's folder is named by a hash of the user that only this home can make: an id that would be a path is none here,
and nobody learns from the folder's name who has one.
"""

import shutil
from datetime import date
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.atomic import write_atomically
from em_pipelines.home import Home
from em_pipelines.lake import digest
from em_pipelines.pipeline import source_version
from em_pipelines.retrieval import documents
from em_pipelines.retrieval.writing import write
from em_pipelines.serving.facts import FactQuery, facts
from em_pipelines.tables.clean import MESSAGES
from em_pipelines.tables.graph import EDGES
from em_pipelines.tables.raw import FEEDBACK

BUILT = "built.json"
"""Which days, as they were, the packs hold."""


def folder_of(home: Home, user_id: str) -> Path:
    """Where a user's pack lies, whether there is one or not."""
    return home.path / "packs" / home.salt.hash("pack", user_id)[:32]


def build(home: Home) -> list[str]:
    """Makes the packs anew of everybody of whom something has changed; returns whose, in order."""
    with home.lock("packs"):
        version = _version(home)
        wanted = {str(day): _mark(home, day, version) for day in _days(home)}
        built = _built(home)
        changed = [date.fromisoformat(day) for day in wanted.keys() | built.keys() if wanted.get(day) != built.get(day)]
        gone = any(str(day) not in wanted for day in changed)
        users = _users(home, sorted(wanted) if gone else [str(day) for day in sorted(changed)])
        for user in users:
            _build_one(home, user)
        if gone:
            _sweep(home, set(users))
        write_atomically(home.path / "packs" / BUILT, orjson.dumps(wanted, option=orjson.OPT_SORT_KEYS))
        return users


def is_current(home: Home) -> bool:
    """Whether the packs hold what the lake holds."""
    version = _version(home)
    return _built(home) == {str(day): _mark(home, day, version) for day in _days(home)}


def remake(home: Home, user_id: str) -> None:
    """Makes a user's pack of what is left of them; nothing of the old one stays. Where no packs are, none is made."""
    if (home.path / "packs").exists():
        with home.lock("packs"):
            shutil.rmtree(folder_of(home, user_id), ignore_errors=True)
            _build_one(home, user_id)


def _build_one(home: Home, user_id: str) -> None:
    lake = home.store.lake
    parts = [documents.messages(lake.read(MESSAGES, day), user_id) for day in lake.days(MESSAGES)]
    known_on = lake.latest(EDGES, date.max)
    if known_on:
        parts.append(documents.facts(facts(home.store, FactQuery(user_id, known_on), home.settings.decay)))
    rows = pa.concat_tables(parts)
    folder = folder_of(home, user_id)
    if not len(rows):
        shutil.rmtree(folder, ignore_errors=True)
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    write(folder, rows, home.settings.retrieval.topics)


def _version(home: Home) -> str:
    return f"{source_version('retrieval')} {home.settings.retrieval.topics}"


def _mark(home: Home, day: date, version: str) -> str:
    """What a day's documents hang on: its messages, and its facts as they stood at its end."""
    infos = [home.store.lake.info(table, day) for table in (MESSAGES, EDGES)]
    return digest([version, *(info.content_digest if info else "" for info in infos)])[:16]


def _built(home: Home) -> dict[str, str]:
    try:
        found: dict[str, str] = orjson.loads((home.path / "packs" / BUILT).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return found


def _days(home: Home) -> list[date]:
    return sorted({*home.store.lake.days(MESSAGES), *home.store.lake.days(EDGES)})


def _users(home: Home, days: list[str]) -> list[str]:
    found: set[str] = set()
    for day in days:
        for table in (MESSAGES, FEEDBACK):
            rows = home.store.lake.read(table, date.fromisoformat(day))
            found.update(pc.unique(rows["user_id"]).to_pylist())
    return sorted(found)


def _sweep(home: Home, users: set[str]) -> None:
    kept = {folder_of(home, user).name for user in users}
    for path in (home.path / "packs").iterdir():
        if path.is_dir() and path.name not in kept:
            shutil.rmtree(path, ignore_errors=True)
