"""Searches a whole home for what was erased: every file, whatever it is, decoded as far as it can be.

Parquet by rows and footer, Arrow by rows, DuckDB and SQLite by tables, JSON Lines by records, gzip unpacked, all else
as bytes; names of files and folders as well. Knows no place by heart, so that a place that is added later is searched,
too; `Owners` knows of some whose their bytes are. MEMORY.md may lie outside of it, and is searched there.
"""

import gzip
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from em_pipelines.governance.erasure.owners import Owners
from em_pipelines.governance.erasure.rewriting import zip_holds
from em_pipelines.governance.erasure.terms import Terms, Whose
from em_pipelines.landing.erasure_gate import unescaped
from em_pipelines.landing.erasure_requests import PENDING, ScopeKind
from em_pipelines.landing.reasons import RuleError
from em_pipelines.lifecycle.consolidation.documents import memory_files
from em_pipelines.lifecycle.consolidation.documents.blocks import DamagedBlockError, parts
from em_pipelines.lifecycle.consolidation.documents.pages import told_conversations, told_words
from em_pipelines.schema.table import rows_of
from em_pipelines.storage.duckdb_engine import connect

SQLITE_MAGIC = b"SQLite format 3\x00"
DUCKDB_MAGIC = b"DUCK"
PARQUET_MAGIC = b"PAR1"
ARROW_MAGIC = b"ARROW1"
MAGIC_BYTES = 16


@dataclass(frozen=True, slots=True)
class Searched:
    """Files looked at by place (the first folder below the home), and the paths of those that hold it still."""

    n_files: Counter[str] = field(default_factory=Counter)
    found: tuple[Path, ...] = ()


def search(home: Path, terms: Terms, owners: Owners) -> Searched:
    """Looks into every file of a home but pending requests, which have the ids of what is looked for."""
    n_files: Counter[str] = Counter()
    found = []
    for path, where in _files(home, owners.memory.parent):
        if not path.is_file() or path.is_symlink() or where[:2] == ("record", PENDING):
            continue
        n_files[where[0]] += 1
        with suppress(FileNotFoundError):  # somebody else's temporary file
            is_page = any(
                memory_files.is_page(root, path) for root in (owners.memory.parent, home / memory_files.FOLDER)
            )
            look = page_holds if is_page else holds
            if _is_named(where, terms) or look(path, terms, owners.of_file(path)):
                found.append(path)
    return Searched(n_files, tuple(found))


def _files(home: Path, memory: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Everything in a home, and in the folder of MEMORY.md files where that lies elsewhere, with its path there."""
    yield from ((path, path.relative_to(home).parts) for path in sorted(home.rglob("*")))
    if home not in memory.parents:
        for folder in sorted(memory.glob("*")):
            pages = (path for path in sorted(folder.rglob("*")) if memory_files.is_page(memory, path))
            yield from ((path, (memory_files.FOLDER, *path.relative_to(memory).parts)) for path in pages)


def page_holds(path: Path, terms: Terms, whose: Whose) -> bool:
    """Whether a MEMORY.md or SKILL.md holds what may not be there: in what people wrote, or in what was taken from what
    happened. A conversation is known by its id alone."""
    data = path.read_bytes()
    try:
        first, last, _ = parts(data)
    except DamagedBlockError:
        return terms.is_in_text(data.decode("utf-8", "replace"), whose)
    page = data[len(first) : len(data) - len(last)].decode()
    if whose is Whose.THEIRS and terms.kind is ScopeKind.SESSION and f'"{terms.target}"' in told_conversations(page):
        return True
    return terms.is_in_text("\n".join([first.decode(), told_words(page), last.decode()]), whose)


def holds(path: Path, terms: Terms, whose: Whose) -> bool:
    """Whether one file holds what may not be there."""
    with path.open("rb") as handle:
        head = handle.read(MAGIC_BYTES)
    for matches, look in _FORMATS:
        if matches(head):
            try:
                return look(path, terms, whose)
            except (pa.ArrowException, duckdb.Error, sqlite3.DatabaseError, OSError, EOFError) as error:
                if isinstance(error, FileNotFoundError):
                    raise
                break  # damaged, or half written: its bytes are searched
    data = path.read_bytes()
    if path.suffix == ".jsonl":
        return any(_is_in_line(line, terms, whose) for line in data.splitlines())
    return terms.is_in_text(unescaped(data), whose)


def _is_named(parts: tuple[str, ...], terms: Terms) -> bool:
    """Whether a path itself tells: a folder or file named by the user who is erased, or by an erased id."""
    is_sought = terms.kind is ScopeKind.USER and not terms.is_own_word
    if is_sought and any(part == terms.user_id or Path(part).stem == terms.user_id for part in parts):
        return True
    return any(term in "/".join(parts) for term in terms.ids)


def _is_in_line(line: bytes, terms: Terms, whose: Whose) -> bool:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        row = None
    return terms.is_in_row(row, whose) if isinstance(row, dict) else terms.is_in_text(unescaped(line), whose)


def _in_zip(path: Path, terms: Terms, whose: Whose) -> bool:
    """A ZIP that was dropped into the inbox; what of it cannot be unpacked is of whose folder it lies in."""
    try:
        return zip_holds(path, terms, whose)
    except RuleError:
        return whose is Whose.THEIRS


def _in_parquet(path: Path, terms: Terms, whose: Whose) -> bool:
    table = pq.read_table(path, partitioning=None)
    footer = b"\n".join((pq.read_metadata(path).metadata or {}).values())
    return terms.is_in_text(unescaped(footer), whose) or _in_table(table, terms, whose)


def _in_arrow(path: Path, terms: Terms, whose: Whose) -> bool:
    with pa.memory_map(str(path)) as source:
        return _in_table(pa.ipc.open_file(source).read_all(), terms, whose)


def _in_table(table: pa.Table, terms: Terms, whose: Whose) -> bool:
    if "user_id" in table.column_names:
        owner = table["user_id"]
        table = table.filter(pc.or_(pc.is_null(owner), pc.fill_null(pc.equal(owner, terms.user_id), False)))
    return any(terms.is_in_row(row, whose) for row in rows_of(table))


def _in_duckdb(path: Path, terms: Terms, whose: Whose) -> bool:
    with connect(str(path), is_read_only=True) as connection:
        names = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        return any(
            _in_table(connection.sql(f'FROM "{name}"').to_arrow_table(), terms, whose) for (name,) in names
        )  # fmt: skip


def _in_sqlite(path: Path, terms: Terms, whose: Whose) -> bool:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30)) as connection:
        if any(terms.is_in_row(row, whose) for row in sqlite_rows(connection)):
            return True
    raw = b"".join(p.read_bytes() for p in (path, path.with_name(f"{path.name}-wal")) if p.exists())
    return any(term.encode() in raw for term in terms.ids)


def sqlite_rows(connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    """Every row of every table."""
    connection.row_factory = sqlite3.Row
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (name,) in names:
        for row in connection.execute(f'SELECT * FROM "{name}"'):
            yield dict(row)


def _in_gzip(path: Path, terms: Terms, whose: Whose) -> bool:
    return terms.is_in_text(unescaped(gzip.decompress(path.read_bytes())), whose)


_FORMATS: tuple[tuple[Callable[[bytes], bool], Callable[[Path, Terms, Whose], bool]], ...] = (
    (lambda head: head.startswith(PARQUET_MAGIC), _in_parquet),
    (lambda head: head.startswith(SQLITE_MAGIC), _in_sqlite),
    (lambda head: head.startswith(ARROW_MAGIC), _in_arrow),
    (lambda head: head[8:12] == DUCKDB_MAGIC, _in_duckdb),
    (lambda head: head.startswith(b"\x1f\x8b"), _in_gzip),
    (lambda head: head.startswith(b"PK\x03\x04"), _in_zip),
)
