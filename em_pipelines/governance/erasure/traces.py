"""Traces in places that hold no memory by design, and mostly do not: Dagster's storage, left-over files; and in what
people wrote in their MEMORY.md.

Dagster's event log is told counts and columns without personal data. What an error message or a folder's name brought
into it all the same is replaced there, in texts for people alone, so that nothing that Dagster lives by changes.
"""

import re
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.governance.audit.dagster_files import ASIDE, flaws, set_aside
from em_pipelines.governance.erasure.rewriting import files_below
from em_pipelines.governance.erasure.search import SQLITE_MAGIC
from em_pipelines.governance.erasure.terms import Terms
from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.landing.erasure_requests import ScopeKind
from em_pipelines.language.name_matching import MARKER, Span
from em_pipelines.lifecycle.consolidation.documents import memory_files

PROSE = frozenset({"message", "user_message", "md_str", "text", "stack", "description", "path", "value", "stdout"})
"""Keys of Dagster's JSON under which texts for people stand; all other strings are names that it lives by."""
BUSY_SECONDS = 30


def scrub_dagster(folder: Path, terms: Terms) -> int:
    """Replaces what was erased in Dagster's databases and captured outputs; returns how many files that were.

    What is damaged, or was set aside for that, is deleted: nobody can tell what it holds, and it is history alone.
    Raises sqlite3.OperationalError where a database stays locked.
    """
    for flaw in flaws(folder):
        set_aside(flaw.path, datetime.now(UTC))
    n_files = 0
    for path in files_below(folder):
        if ASIDE in path.name:
            path.unlink(missing_ok=True)
            n_files += 1
            continue
        try:
            with path.open("rb") as handle:
                is_sqlite = handle.read(len(SQLITE_MAGIC)) == SQLITE_MAGIC
        except FileNotFoundError:  # SQLite takes the files beside a database away with its last connection
            continue
        if is_sqlite:
            n_files += _scrub_sqlite(path, terms)
        elif path.suffix in {".out", ".err", ".log"}:
            n_files += _scrub_text(path, terms)
    return n_files


def scrub_memory_files(home: RebuildableHome, terms: Terms) -> int:
    """Replaces what was erased in what people wrote in a user's MEMORY.md and SKILL.md, and of a whole user deletes the
    folder; returns how many files that were. What is generated there is for whoever makes the tables again."""
    if terms.kind is ScopeKind.USER:
        return memory_files.forget_user(home, terms.user_id)
    return memory_files.rewrite(home, terms.user_id, lambda text: without_words(_without_terms(text, terms), terms))


def scrubbed(text: str, terms: Terms) -> str:
    """A text without the terms; a JSON text keeps its form, and loses names in its prose alone."""
    text = _without_terms(text, terms)
    try:
        document = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    changed = _walk(document, terms, is_prose=False)
    return text if changed == document else orjson.dumps(changed).decode()


def without_words(text: str, terms: Terms) -> str:
    """Prose without the names, and without the id of the user or session that is erased."""
    text = _with_marks(text, terms.names.spans(text))
    for word in _identifiers(terms):
        text = re.sub(rf"(?<![\w-]){re.escape(word)}(?![\w-])", MARKER, text)
    return text


def _without_terms(text: str, terms: Terms) -> str:
    """A text without ids and sentences."""
    for term in terms.ids:
        text = text.replace(term, MARKER)
    return _with_marks(text, terms.sentences.spans(text))


def _with_marks(text: str, spans: Iterable[Span]) -> str:
    parts, at = [], 0
    for span in spans:
        parts += [text[at : span.start], MARKER]
        at = span.end
    return "".join([*parts, text[at:]])


def _identifiers(terms: Terms) -> tuple[str, ...]:
    if terms.kind is ScopeKind.USER:
        return (terms.user_id,)
    return (terms.target,) if terms.kind is ScopeKind.SESSION else ()


def _walk(value: Any, terms: Terms, *, is_prose: bool) -> Any:
    if isinstance(value, str):
        value = _without_terms(value, terms)
        return without_words(value, terms) if is_prose else value
    if isinstance(value, dict):
        return {k: _walk(v, terms, is_prose=k in PROSE) for k, v in value.items()}
    if isinstance(value, list):
        return [_walk(v, terms, is_prose=is_prose) for v in value]
    return value


def _scrub_text(path: Path, terms: Terms) -> int:
    before = path.read_text(encoding="utf-8", errors="surrogateescape")
    after = without_words(_without_terms(before, terms), terms)
    if after != before:
        path.write_text(after, encoding="utf-8", errors="surrogateescape")
    return int(after != before)


def _scrub_sqlite(path: Path, terms: Terms) -> int:
    """Pages that are let go are overwritten (secure_delete), so that nothing stays between the rows."""
    with closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
        changes = []
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        for (table,) in tables:
            columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
            for row in connection.execute(f'SELECT rowid, * FROM "{table}"'):
                for column, value in zip(columns, row[1:], strict=True):
                    if isinstance(value, str) and (after := scrubbed(value, terms)) != value:
                        changes.append((table, column, after, row[0]))
        if not changes:
            return 0
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("BEGIN IMMEDIATE")
        for table, column, after, rowid in changes:
            connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', (after, rowid))
        connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return 1
