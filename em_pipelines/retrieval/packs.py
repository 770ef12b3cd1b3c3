"""The packs of a home: which are out of date, making them again, and taking one away.

A pack's folder is named by a hash of the user that only this home can make: an id that would be a path is none here,
and nobody learns from the folder's name who has one.
"""

import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, cast

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.errors import CorruptTableError
from em_pipelines.retrieval import documents
from em_pipelines.retrieval.experiences import documents_of, standing_rows
from em_pipelines.retrieval.pack import EXPERIENCES, Pack
from em_pipelines.retrieval.scoring import Vectors, known_vectors, vectors_of
from em_pipelines.retrieval.searchable_home import SearchableHome
from em_pipelines.retrieval.terms import Floats
from em_pipelines.retrieval.writing import PackOptions, Part, files_of, is_unchanged, is_whole, write
from em_pipelines.schema.ids import digest
from em_pipelines.schema.rows import ContradictionRow
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables import derived
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.graph import CONTRADICTIONS, EDGES
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.schema.tables.record import QUARANTINE
from em_pipelines.serving.facts import FactRow, rows_of_users
from em_pipelines.storage.files import make_folder, write_atomically
from em_pipelines.storage.isolation import is_of_rows, said_of
from em_pipelines.storage.quarantine import RAISED, SetAside
from em_pipelines.storage.step import code_digest

USERS_AT_ONCE = 200
"""Of so many the messages are in memory together; each day is read once for all of them."""
STEP = "index_packs"
BUILT = "built.json"
"""Which days, as they were, the packs hold, the experiences of each as they were, and the folders of all packs."""
_NOTHING: dict[str, Any] = {"days": {}, "packs": [], "experiences": {}}


def folder_of(home: SearchableHome, user_id: str) -> Path:
    """Where a user's pack lies, whether there is one or not."""
    return home.path / "packs" / home.salt.hash("pack", user_id)[:32]


def build(home: SearchableHome, *, is_checked: bool = False) -> list[str]:
    """Brings the packs of everybody up to date of whom something has changed; returns whose, in order.

    A new day is put behind what a pack holds; where the code or the settings are others, or something of a pack is
    lost or damaged, it is made anew. Damage of one that nothing changes is looked for where it `is_checked`. Who has
    rows that no pack can be made of keeps the one they had, and is set aside.
    """
    with home.lock("packs"):
        marks, noted = _marks(home), _experience_marks(home)
        update = _update_to(home, marks, noted, is_checked=is_checked)
        made = _build_all(home, update)
        if update.days is None:
            _sweep(home, set(update.users))
        _set_aside(home, made)
        is_whole = made.has_vectors and not made.failed
        marks = marks if is_whole else dict.fromkeys(marks, "")  # else the next run asks for those missing
        _note(home, marks, noted)
        return [user for user in update.users if user not in made.failed]


def is_current(home: SearchableHome) -> bool:
    """Whether the packs hold what the lake holds, and are whole."""
    built = _built(home)
    is_of_now = built["days"] == _marks(home) and built["experiences"] == _experience_marks(home)
    return is_of_now and not unfit(home)


def is_to_come(home: SearchableHome, user_id: str) -> bool:
    """Whether a run has read messages of a user that no pack holds yet."""
    built, marks = _built(home)["days"], _marks(home)
    changed = (date.fromisoformat(day) for day, mark in marks.items() if built.get(day) != mark)
    return any(home.store.lake.find(MESSAGES, day, "user_id", [user_id]).num_rows for day in changed)


def folders(home: SearchableHome) -> list[Path]:
    """Those of all packs that were made, whether they are still there or not."""
    return [home.path / "packs" / name for name in _built(home)["packs"]]


def unfit(home: SearchableHome, *, is_checked: bool = False) -> list[Path]:
    """Folders of packs that were made and are not there any more, or not as they were written: by the sizes of their
    files, or, `is_checked`, by every byte. The next build, checked alike, makes them again."""
    return [folder for folder in folders(home) if not (is_unchanged if is_checked else is_whole)(folder)]


def size_of(home: SearchableHome) -> tuple[int, int]:
    """Documents and bytes of all packs."""
    there = [folder for folder in folders(home) if is_whole(folder)]
    n_bytes = sum(path.stat().st_size for folder in there for path in files_of(folder))
    return sum(len(Pack(folder).days) for folder in there), n_bytes


def remake(home: SearchableHome, user_id: str) -> None:
    """Makes a user's pack of what is left of them; nothing of the old one stays. Where no packs are, none is made."""
    if (home.path / "packs").exists():
        with home.lock("packs"):
            known = _known(home, user_id)
            shutil.rmtree(folder_of(home, user_id), ignore_errors=True)
            _build_one(home, _facts(home, [user_id])[user_id], _said_by(home, user_id), None, known)
            built, own = _built(home), folder_of(home, user_id).name
            others = {name: mark for name, mark in built["experiences"].items() if name != own}
            now = {name: mark for name, mark in _experience_marks(home).items() if name == own}
            _note(home, built["days"], others | now)


def _said(home: SearchableHome, days: Iterable[date], users: Sequence[str]) -> pa.Table:
    return pa.concat_tables(
        [MESSAGES.empty(), *(home.store.lake.find(MESSAGES, day, "user_id", users) for day in days)]
    )


@dataclass(frozen=True, slots=True)
class _Update:
    """Whose packs are made, in order, and of which days what they hold is read again: of all where `days` is None."""

    users: list[str]
    days: frozenset[date] | None


def _update_to(home: SearchableHome, marks: dict[str, str], noted: dict[str, str], *, is_checked: bool) -> _Update:
    """What brings the packs to these marks. Packs of which something is lost are deleted, and so are those of whom
    nothing is left."""
    built, before = _built(home)["days"], _built(home)["experiences"]
    lost = _clear_lost(home, is_checked=is_checked) | _different(noted, before)
    changed = sorted(_different(marks, built))
    is_all = not built or any(day not in marks for day in changed)  # a day is gone, or nothing was there yet
    users = _users(home, sorted(marks) if is_all else changed)
    if lost:
        folders_of = {user: folder_of(home, user).name for user in _users(home, sorted(marks))}
        users = sorted({*users, *(user for user, name in folders_of.items() if name in lost)})
        for name in lost.difference(folders_of.values()):
            shutil.rmtree(home.path / "packs" / name, ignore_errors=True)
    return _Update(users, None if is_all else frozenset(map(date.fromisoformat, changed)))


def _different(one: Mapping[str, str], other: Mapping[str, str]) -> set[str]:
    """The names that do not stand for the same in both."""
    return {name for name in one.keys() | other.keys() if one.get(name) != other.get(name)}


def _clear_lost(home: SearchableHome, *, is_checked: bool) -> set[str]:
    """Deletes what is left of packs that are not whole; returns the names of their folders."""
    lost = unfit(home, is_checked=is_checked)
    for folder in lost:
        shutil.rmtree(folder, ignore_errors=True)
    return {folder.name for folder in lost}


@dataclass(slots=True)
class _Made:
    """Whether all packs have all of their vectors, and of whom none could be made, with what was raised."""

    has_vectors: bool = True
    failed: dict[str, str] = field(default_factory=dict)


def _build_all(home: SearchableHome, update: _Update) -> _Made:
    said_on = home.store.lake.days(MESSAGES) if update.days is None else sorted(update.days)
    made = _Made()
    for start in range(0, len(update.users), USERS_AT_ONCE):
        some = update.users[start : start + USERS_AT_ONCE]
        said = _said(home, said_on, some)
        facts = _facts(home, some)
        for user in some:
            own = said.filter(pc.equal(said["user_id"], user))
            try:
                made.has_vectors &= _build_one(home, facts[user], documents.messages(own, user), update.days)
            except Exception as error:
                if not is_of_rows(error):
                    raise
                made.failed[user] = said_of(error)
    return made


def _set_aside(home: SearchableHome, made: _Made) -> None:
    """Notes of whom no pack could be made, on the newest day, in place of what was noted before."""
    if not (made.failed or home.store.lake.days(QUARANTINE)):
        return
    quarantine = home.store.quarantine
    quarantine.take_out([entry for entry in quarantine.entries() if entry.step == STEP])
    newest = max(_days(home), default=None)
    if newest:
        quarantine.add(SetAside(user, newest, STEP, RAISED, said, "") for user, said in made.failed.items())


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of a user: facts in every status, which of them are in conflict, and the experiences that count."""

    user_id: str
    rows: list[FactRow]
    conflicts: list[ContradictionRow]
    experiences: list[dict[str, Any]] = field(default_factory=list)


def _build_one(
    home: SearchableHome,
    facts: _Facts,
    said: pa.Table,
    days: frozenset[date] | None,
    known: dict[str, Floats] | None = None,
) -> bool:
    """Whether it is whole. `said` is what was said on these days, of which the old pack may know another version; on
    all, without days. `known` are vectors by text, where the pack that has them is gone."""
    user_id = facts.user_id
    folder = folder_of(home, user_id)
    old = None
    if days is not None:
        old = _old(home, folder)
        said = _with_withdrawn(home, old, _said_since(old, said, days), facts) if old else _said_by(home, user_id)
    stated = documents.facts(facts.rows, facts.conflicts, said)
    rows = pa.concat_tables([documents.without_withdrawn(said, stated), stated])
    if not len(rows) and not facts.experiences:
        shutil.rmtree(folder, ignore_errors=True)
        return True
    make_folder(folder.parent)
    known = _known(home, user_id) if known is None else known
    vectors = _vectors(home, rows, known)
    within = {}
    if facts.experiences:
        recurring = documents_of(facts.experiences)
        within = {EXPERIENCES: Part(recurring, _vectors(home, recurring, known))}
    write(folder, rows, PackOptions(home.settings.retrieval.topics, _version(home)), old, vectors, within)
    return all(made is None or made.is_whole for made in (vectors, *(part.vectors for part in within.values())))


def _vectors(home: SearchableHome, rows: pa.Table, known: dict[str, Floats]) -> Vectors | None:
    """The vectors of documents; None without an embedder."""
    if not home.embedder:
        return None
    return vectors_of(home.embedder, [text or "" for text in rows["text"].to_pylist()], known)


def _said_by(home: SearchableHome, user_id: str) -> pa.Table:
    """All messages of a user, as documents."""
    return documents.messages(_said(home, home.store.lake.days(MESSAGES), [user_id]), user_id)


def _said_since(old: Pack, said: pa.Table, days: frozenset[date]) -> pa.Table:
    """The messages of a pack, those of these days as they are now."""
    messages = old.documents.filter(pc.equal(old.documents["kind"], documents.MESSAGE))
    return _renewed(messages, said, days)


def _with_withdrawn(home: SearchableHome, old: Pack, said: pa.Table, facts: _Facts) -> pa.Table:
    """Messages, those of conversations with what is or was withdrawn as they were said: in the old pack a part of them
    is blank, and may be another part now."""
    sessions = {source["session_id"] for row in old.withdrawn for source in row["sources"] or ()}
    sessions |= documents.sessions_of_withdrawn(facts.rows, said)
    if not sessions:
        return said
    of_them = said.filter(pc.is_in(said["session_id"], pa.array(sorted(sessions), pa.string())))
    days = frozenset(pc.unique(pc.cast(of_them["said_at"], pa.date32())).to_pylist())
    return _renewed(said, documents.messages(_said(home, sorted(days), [facts.user_id]), facts.user_id), days)


def _renewed(messages: pa.Table, said: pa.Table, days: frozenset[date]) -> pa.Table:
    """Messages, in place of those of these days what was said on them."""
    is_of_days = pc.is_in(pc.cast(messages["said_at"], pa.date32()), pa.array(sorted(days), pa.date32()))
    return documents.ordered(pa.concat_tables([messages.filter(pc.invert(is_of_days)), said]))


def _known(home: SearchableHome, user_id: str) -> dict[str, Floats]:
    if not home.embedder:
        return {}
    folder, name = folder_of(home, user_id), home.embedder.name
    return known_vectors(folder / EXPERIENCES, name) | known_vectors(folder, name)


def _old(home: SearchableHome, folder: Path) -> Pack | None:
    """The pack that is there, if this very code and these settings made it and it is as it was written."""
    pack = Pack(folder)
    try:
        if pack.meta.get("made_by") != _version(home):
            return None
        pack.check()
    except CorruptTableError:
        return None
    return pack


def _facts(home: SearchableHome, users: Sequence[str]) -> dict[str, _Facts]:
    """What is known of each of some users."""
    known_on = home.store.lake.latest(EDGES, date.max)
    rows = rows_of_users(home.store, users, known_on, home.settings.decay) if known_on else {}
    found = {user: _Facts(user, rows.get(user, []), []) for user in users}
    for conflict in rows_of(home.store.lake.find(CONTRADICTIONS, known_on, "user_id", users)) if known_on else ():
        found[conflict["user_id"]].conflicts.append(cast("ContradictionRow", conflict))
    for row in _standing(home, users):
        found[row["user_id"]].experiences.append(row)
    return found


def _standing(home: SearchableHome, users: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """The experiences that count, of some users or of all; most homes have had no night yet."""
    return standing_rows(home, users) if home.store.lake.days(derived.EXPERIENCES) else []


def _version(home: SearchableHome) -> str:
    return f"{code_digest(__name__)} {home.settings.retrieval.topics} {home.embedder and home.embedder.name}"


def _marks(home: SearchableHome) -> dict[str, str]:
    """The mark of each day that documents are of."""
    version = _version(home)
    return {str(day): _mark(home, day, version) for day in _days(home)}


def _mark(home: SearchableHome, day: date, version: str) -> str:
    """What a day's documents hang on: its messages, and its facts as they stood at its end."""
    infos = [home.store.lake.info(table, day) for table in (MESSAGES, EDGES)]
    return digest([version, *(info.content_digest if info else "" for info in infos)])[:16]


def _experience_marks(home: SearchableHome) -> dict[str, str]:
    """What the experiences of each user hang on, by the folder of their pack: a night puts no other out of date."""
    version, rows = _version(home), defaultdict[str, list[dict[str, Any]]](list)
    for row in _standing(home):
        rows[row["user_id"]].append(row)
    return {
        folder_of(home, user_id).name: digest([version, *(repr(sorted(row.items())) for row in own)])[:16]
        for user_id, own in rows.items()
    }


def _built(home: SearchableHome) -> dict[str, Any]:
    try:
        built = orjson.loads((home.path / "packs" / BUILT).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return _NOTHING
    return built if isinstance(built, dict) and built.keys() == _NOTHING.keys() else _NOTHING


def _note(home: SearchableHome, days: dict[str, str], experiences: dict[str, str]) -> None:
    made = sorted(path.name for path in (home.path / "packs").glob("[!.]*") if path.is_dir())
    noted = orjson.dumps({"days": days, "packs": made, "experiences": experiences}, option=orjson.OPT_SORT_KEYS)
    write_atomically(home.path / "packs" / BUILT, noted)


def _days(home: SearchableHome) -> list[date]:
    return sorted({*home.store.lake.days(MESSAGES), *home.store.lake.days(EDGES)})


def _users(home: SearchableHome, days: list[str]) -> list[str]:
    """Whose the rows of days are; of all days also who has experiences, of skills perhaps alone."""
    found = {row["user_id"] for row in _standing(home)} if len(days) == len(_days(home)) else set[str]()
    for day in days:
        for table in (MESSAGES, FEEDBACK):
            rows = home.store.lake.read(table, date.fromisoformat(day))
            found.update(pc.unique(rows["user_id"]).to_pylist())
    return sorted(found)


def _sweep(home: SearchableHome, users: set[str]) -> None:
    kept = {folder_of(home, user).name for user in users}
    for path in (home.path / "packs").glob("*"):
        if path.is_dir() and path.name not in kept:
            shutil.rmtree(path, ignore_errors=True)
