"""Dagster's own databases: whether they can be read to their end, and setting those aside that cannot.

They hold the history of runs and events and nothing of memory, so what is damaged is never mended: it is set aside
under another name, and Dagster starts a new one. SQLite alone is asked here; what Dagster makes of its rows is not
known.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import yaml

from em_pipelines.home import DAGSTER_YAML

RUNS, INDEX = Path("history", "runs.db"), Path("history", "runs", "index.db")
MAIN = (RUNS, INDEX, Path("schedules", "schedules.db"))
"""What every run opens; beside these there is a file of events a run, which its own page in the UI reads."""
ASIDE = ".damaged-"
"""Stands in the names of files that were set aside, before the time."""
HEADER_BYTES = 100
MAGIC = b"SQLite format 3\x00"
PACKED_COLUMNS = frozenset({"snapshot_body"})
"""What Dagster packs with zlib, whose checksum tells of a single bit."""
JSON_COLUMNS = frozenset(
    {"event", "run_body", "evaluation_event", "instigator_body", "job_body", "tick_body", "asset_evaluation_body"}
)
"""What Dagster reads as JSON."""
MAX_FLIPPED = 8
"""Characters in which a file of that length may differ from it and is rather damaged than edited."""
BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
OF_THE_DISK = frozenset(
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_IOERR}
)
"""Primary codes of what a full or closed disk answers: whoever looks cannot, which says nothing of the database."""
OF_THE_FILE = frozenset({sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ})
"""What of these is the file's own."""
LOCK_SECONDS = 1.0
"""How long whoever looks waits for a database that another process writes to, which takes it a fraction of this."""
UNBEGUN = ("QUEUED", "NOT_STARTED", "MANAGED")
"""Runs in these states may have no events yet."""


@dataclass(frozen=True, slots=True)
class Flaw:
    """A database that cannot be read, and what was found."""

    path: Path
    found: str


def flaws(folder: Path, *, is_deep: bool = True) -> list[Flaw]:
    """The damaged databases of Dagster's home. Without `is_deep` those that every run opens are looked at alone, and
    not to their end: whether they are there, whole in length, and can be opened."""
    paths = [folder / name for name in MAIN]
    if is_deep:
        paths += [path for path in sorted((folder / INDEX).parent.glob("*.db")) if path != folder / INDEX]
    looked = ((path, _flaw(path, is_deep=is_deep)) for path in paths)
    return [Flaw(path, found) for path, found in looked if found]


def database_flaw(path: Path) -> str | None:
    """What is wrong with one database, read to its end; None where nothing shows."""
    return _flaw(path, is_deep=True)


def configuration_flaw(path: Path) -> str | None:
    """What is wrong with dagster.yaml; None where nothing shows. One that people have edited is parsed and no more."""
    text = path.read_bytes().decode(errors="replace")
    if text == DAGSTER_YAML:
        return None
    try:
        is_mapping = isinstance(yaml.safe_load(text), dict)
    except yaml.YAMLError:
        is_mapping = False
    if not is_mapping:
        return "it is no configuration"
    n_other = sum(one != other for one, other in zip(text, DAGSTER_YAML, strict=False))
    if DAGSTER_YAML.startswith(text) or (len(text) == len(DAGSTER_YAML) and n_other <= MAX_FLIPPED):
        return "it was cut off, or is not what was written"
    return None


def lost_events(folder: Path) -> list[str]:
    """The ids of runs that have begun and whose file of events is gone. None can be named where the list of runs or the
    index of all events cannot be read: these are flaws of their own."""
    if not (folder / INDEX).exists():
        return []
    try:
        with closing(_opened(folder / RUNS)) as connection:
            marks = ", ".join("?" * len(UNBEGUN))
            rows = connection.execute(f"SELECT run_id FROM runs WHERE status NOT IN ({marks})", UNBEGUN).fetchall()
    except sqlite3.Error:
        return []
    return [run_id for (run_id,) in rows if not ((folder / INDEX).parent / f"{run_id}.db").exists()]


def locked(folder: Path, seconds: float) -> list[Path]:
    """The databases that every run writes to and that another process keeps from being written to for so long."""
    return [path for path in (folder / name for name in MAIN) if path.is_file() and _is_locked(path, seconds)]


def set_aside(path: Path, now: datetime) -> Path:
    """Gives a database, with the files that SQLite keeps beside it, a name that nobody opens, and returns that."""
    name = f"{path.name}{ASIDE}{now:%Y%m%dT%H%M%S}"
    target = next(t for n in range(1000) if not (t := path.with_name(f"{name}{f'-{n}' * (n > 0)}")).exists())
    for suffix in ("-wal", "-shm", "-journal"):
        beside = path.with_name(f"{path.name}{suffix}")
        if beside.exists():
            beside.replace(target.with_name(f"{target.name}{suffix}"))
    path.replace(target)
    return target


def _flaw(path: Path, *, is_deep: bool) -> str | None:
    if not path.exists():
        return None
    try:
        if found := _in_header(path):
            return found
        with closing(_opened(path)) as connection:
            return next(_in_rows(connection) if is_deep else _in_tables(connection), None)
    except sqlite3.Error as error:
        return None if _is_of_others(error) else str(error)
    except OSError as error:
        return error.strerror or type(error).__name__
    except UnicodeDecodeError:
        return "a name in it is no text"


def _is_of_others(error: sqlite3.Error) -> bool:
    """Whether it was another process or the disk that kept a database from being looked at."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code not in OF_THE_FILE and (code & 0xFF) in BUSY | OF_THE_DISK


def _in_header(path: Path) -> str | None:
    """What its first bytes and its length tell. A log beside it may hold what the length lacks: where the disk was
    full, SQLite gets no further than the first pages when it takes that log over."""
    with path.open("rb") as handle:
        header = handle.read(HEADER_BYTES)
    if not header:
        return "it is empty"
    if len(header) < HEADER_BYTES or not header.startswith(MAGIC):
        return "it is no database"
    page_bytes = int.from_bytes(header[16:18], "big")
    n_bytes = int.from_bytes(header[28:32], "big") * (65_536 if page_bytes == 1 else page_bytes)
    size = path.stat().st_size
    is_cut = size < n_bytes and not _log_bytes(path)
    return f"it was cut off: {size} bytes of {n_bytes}" if is_cut else None


def _log_bytes(path: Path) -> int:
    """The length of the log that SQLite writes ahead of a database; 0 where there is none."""
    log = path.with_name(f"{path.name}-wal")
    return log.stat().st_size if log.exists() else 0


def _in_tables(connection: sqlite3.Connection) -> Iterator[str]:
    """Whether the tables can be named; raises sqlite3.Error."""
    for table in _tables(connection):
        connection.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone()
    yield from ()


def _in_rows(connection: sqlite3.Connection) -> Iterator[str]:
    """Whether every page and every row can be read; raises sqlite3.Error."""
    for (found,) in connection.execute("PRAGMA integrity_check(1)"):
        if found != "ok":
            yield found
    for table in _tables(connection):
        rows = connection.execute(f'SELECT * FROM "{table}"')
        names = [column[0] for column in rows.description]
        for row in rows:
            for name, value in zip(names, row, strict=True):
                if name in JSON_COLUMNS and isinstance(value, str) and not _is_json(value):
                    yield f"a row of {table} is no JSON in {name}"
                elif name in PACKED_COLUMNS and isinstance(value, bytes) and not _is_packed(value):
                    yield f"a row of {table} cannot be unpacked in {name}"


def _tables(connection: sqlite3.Connection) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()]


def _is_json(value: str) -> bool:
    try:
        json.loads(value)
    except ValueError:
        return False
    return True


def _is_packed(value: bytes) -> bool:
    try:
        zlib.decompress(value)
    except zlib.error:
        return False
    return True


def _opened(path: Path) -> sqlite3.Connection:
    """A database to read from. Without a log beside it nobody writes, and nothing is written to have it open."""
    is_still = not path.with_name(f"{path.name}-wal").exists()
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_still else ''}", uri=True)


def _is_locked(path: Path, seconds: float) -> bool:
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=seconds)) as connection:
            connection.isolation_level = None
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    except sqlite3.Error as error:
        return getattr(error, "sqlite_errorcode", None) in BUSY
    return False
