"""The packs of a home: which are out of date, making them again, and taking one away.

A pack's folder is named by a hash of the user that only this home can make: an id that would be a path is none here,
and nobody learns from the folder's name who has one.
"""

import shutil
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.atomic import write_atomically
from em_pipelines.errors import CorruptTableError
from em_pipelines.home import Home
from em_pipelines.lake import digest, rows_of
from em_pipelines.pipeline import source_version
from em_pipelines.retrieval import documents
from em_pipelines.retrieval.pack import Pack
from em_pipelines.retrieval.topics import Floats
from em_pipelines.retrieval.vectors import known_vectors, vectors_of
from em_pipelines.retrieval.writing import files_of, is_whole, write
from em_pipelines.serving.facts import FactQuery, known
from em_pipelines.tables.clean import MESSAGES
from em_pipelines.tables.graph import CONTRADICTIONS, EDGES
from em_pipelines.tables.raw import FEEDBACK

USERS_AT_ONCE = 200
"""Of so many the messages are in memory together; each day is read once for all of them."""
BUILT = "built.json"
"""Which days, as they were, the packs hold, and the folders of all packs."""
_NOTHING: dict[str, Any] = {"days": {}, "packs": []}


def folder_of(home: Home, user_id: str) -> Path:
    """Where a user's pack lies, whether there is one or not."""
    return home.path / "packs" / home.salt.hash("pack", user_id)[:32]


def build(home: Home) -> list[str]:
    """Brings the packs of everybody up to date of whom something has changed; returns whose, in order.

    A new day is put behind what a pack holds; where the code or the settings are others, or something of a pack is
    lost, it is made anew.
    """
    with home.lock("packs"):
        version = _version(home)
        wanted = {str(day): _mark(home, day, version) for day in _days(home)}
        built = _built(home)["days"]
        lost = {folder.name for folder in unfit(home)}
        for name in lost:
            shutil.rmtree(home.path / "packs" / name, ignore_errors=True)
        changed = sorted(day for day in wanted.keys() | built.keys() if wanted.get(day) != built.get(day))
        gone = any(day not in wanted for day in changed)
        users = _users(home, sorted(wanted) if gone else changed)
        if lost:
            everybody = _users(home, sorted(wanted))
            users = sorted({*users, *(user for user in everybody if folder_of(home, user).name in lost)})
        said_on = home.store.lake.days(MESSAGES) if gone else [date.fromisoformat(day) for day in changed]
        has_vectors = True
        for start in range(0, len(users), USERS_AT_ONCE):
            some = users[start : start + USERS_AT_ONCE]
            said = _said(home, said_on, some)
            for user in some:
                own = said.filter(pc.equal(said["user_id"], user))
                has_vectors &= _build_one(
                    home, user, documents.messages(own, user), None if gone else frozenset(said_on)
                )
        if gone:
            _sweep(home, set(users))
        if not has_vectors:  # the next run asks for the vectors that are missing
            wanted = dict.fromkeys(wanted, "")
        _note(home, wanted)
        return users


def is_current(home: Home) -> bool:
    """Whether the packs hold what the lake holds, and are whole."""
    version = _version(home)
    return not unfit(home) and _built(home)["days"] == {str(day): _mark(home, day, version) for day in _days(home)}


def folders(home: Home) -> list[Path]:
    """Those of all packs that were made, whether they are still there or not."""
    return [home.path / "packs" / name for name in _built(home)["packs"]]


def unfit(home: Home) -> list[Path]:
    """Folders of packs that were made and are not there any more, or not as they were written; the next build makes
    them again."""
    return [folder for folder in folders(home) if not is_whole(folder)]


def size_of(home: Home) -> tuple[int, int]:
    """Documents and bytes of all packs."""
    there = [folder for folder in folders(home) if is_whole(folder)]
    n_bytes = sum(path.stat().st_size for folder in there for path in files_of(folder))
    return sum(len(Pack(folder).days) for folder in there), n_bytes


def remake(home: Home, user_id: str) -> None:
    """Makes a user's pack of what is left of them; nothing of the old one stays. Where no packs are, none is made."""
    if (home.path / "packs").exists():
        with home.lock("packs"):
            known = _known(home, user_id)
            shutil.rmtree(folder_of(home, user_id), ignore_errors=True)
            said = _said(home, home.store.lake.days(MESSAGES), [user_id])
            _build_one(home, user_id, documents.messages(said, user_id), None, known)
            _note(home, _built(home)["days"])


def _said(home: Home, days: Iterable[date], users: Sequence[str]) -> pa.Table:
    return pa.concat_tables(
        [MESSAGES.empty(), *(home.store.lake.find(MESSAGES, day, "user_id", users) for day in days)]
    )


def _build_one(
    home: Home, user_id: str, said: pa.Table, days: frozenset[date] | None, known: dict[str, Floats] | None = None
) -> bool:
    """Whether it is whole. `said` is what was said on these days, of which the old pack may know another version; on
    all, without days. `known` are vectors by text, where the pack that has them is gone."""
    folder = folder_of(home, user_id)
    old = _old(home, folder) if days is not None else None
    if old is not None and days is not None:
        kept = old.documents.filter(pc.equal(old.documents["kind"], documents.MESSAGE))
        is_kept = pc.invert(pc.is_in(pc.cast(kept["said_at"], pa.date32()), pa.array(sorted(days), pa.date32())))
        said = documents.ordered(pa.concat_tables([kept.filter(is_kept), said]))
    elif days is not None:
        said = documents.messages(_said(home, home.store.lake.days(MESSAGES), [user_id]), user_id)
    rows = pa.concat_tables([said, _facts(home, user_id, said)])
    if not len(rows):
        shutil.rmtree(folder, ignore_errors=True)
        return True
    folder.parent.mkdir(parents=True, exist_ok=True)
    vectors = None
    if home.embedder:
        texts = [text or "" for text in rows["text"].to_pylist()]
        vectors = vectors_of(home.embedder, texts, _known(home, user_id) if known is None else known)
    write(folder, rows, home.settings.retrieval.topics, old, _version(home), vectors)
    return vectors is None or vectors.is_whole


def _known(home: Home, user_id: str) -> dict[str, Floats]:
    return known_vectors(folder_of(home, user_id), home.embedder.name) if home.embedder else {}


def _old(home: Home, folder: Path) -> Pack | None:
    """The pack that is there, if this very code and these settings made it."""
    pack = Pack(folder)
    try:
        return pack if pack.meta.get("made_by") == _version(home) else None
    except CorruptTableError:
        return None


def _facts(home: Home, user_id: str, said: pa.Table) -> pa.Table:
    known_on = home.store.lake.latest(EDGES, date.max)
    if known_on is None:
        return documents.SCHEMA.empty_table()
    rows = known(home.store, FactQuery(user_id, known_on), home.settings.decay).rows
    conflicts = home.store.lake.find(CONTRADICTIONS, known_on, "user_id", [user_id])
    return documents.facts(rows, list(rows_of(conflicts)), said)


def _version(home: Home) -> str:
    return f"{source_version('retrieval')} {home.settings.retrieval.topics} {home.settings.embedder}"


def _mark(home: Home, day: date, version: str) -> str:
    """What a day's documents hang on: its messages, and its facts as they stood at its end."""
    infos = [home.store.lake.info(table, day) for table in (MESSAGES, EDGES)]
    return digest([version, *(info.content_digest if info else "" for info in infos)])[:16]


def _built(home: Home) -> dict[str, Any]:
    try:
        found = orjson.loads((home.path / "packs" / BUILT).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return _NOTHING
    return found if isinstance(found, dict) and found.keys() == _NOTHING.keys() else _NOTHING


def _note(home: Home, days: dict[str, str]) -> None:
    made = sorted(path.name for path in (home.path / "packs").glob("[!.]*") if path.is_dir())
    noted = orjson.dumps({"days": days, "packs": made}, option=orjson.OPT_SORT_KEYS)
    write_atomically(home.path / "packs" / BUILT, noted)


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
