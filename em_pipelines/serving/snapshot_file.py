"""The file of a snapshot: written whole, or from the one before it with what has been added since.

Written beside its final name and renamed, so that a reader sees a whole file or the one before. A file that grew holds
the same rows in the same order as one written whole; whatever is not as expected has it written whole.
"""

import os
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime
from functools import cached_property
from hashlib import file_digest
from itertools import takewhile
from pathlib import Path

import duckdb
import orjson
import pyarrow as pa

from em_pipelines.graph.confidence_decay import published_macro
from em_pipelines.landing.imported_facts import TOLD, undecided, waiting_table
from em_pipelines.lifecycle.proactive.offers import KeptBack
from em_pipelines.schema.ids import digest
from em_pipelines.schema.table import FLAG, INSTANT, INT, TEXT, Table
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.schema.vocabulary import Act
from em_pipelines.serving.column_comments import about, meanings
from em_pipelines.serving.time_rules import TimeRules
from em_pipelines.storage.duckdb_engine import connect, statement
from em_pipelines.storage.files import put_in_place, temporary_beside, write_atomically
from em_pipelines.storage.lake import Lake
from em_pipelines.storage.ledger import Head

HERE = Path(__file__).parent
LAYOUT = 2
"""Raised whenever the tables that `em diff` reads change; it stands in `snapshot_info`."""
VIEWS = ("macros_facts", "views_facts", "views_quality", "views_growth", "views_experience", "views_proactive")
WAITING_IMPORTS = "waiting_imports"
NIGHTS = "nights"
KEPT_BACK = "probe_suppressions"
ABOUT_THE_FILE = ("snapshot_parts", "snapshot_tables", "snapshot_info", "ledger_head", NIGHTS, KEPT_BACK)
KEPT_BACK_COLUMNS = pa.schema(dict.fromkeys(("user_id", "target", "kind", "reason"), TEXT) | {"timestamp": INSTANT})
NIGHT_COLUMNS = pa.schema({"consolidation_id": TEXT, "until": INSTANT, "n_entries": INT, "is_standing": FLAG})
DIGESTS = ".digests.json"
"""Beside the snapshots: what each file was when it was written. May be deleted."""
MAX_GROWN = 50
"""Times that a file grows before it is written whole: what was replaced leaves gaps in it."""


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one day in a table of a snapshot, by the digest of their content."""

    day: date
    content_digest: str
    n_rows: int


@dataclass(frozen=True, slots=True)
class Night:
    """A night that there was: the instant before which it saw everything, how many entries that were, and whether it
    stands or was rolled back."""

    consolidation_id: str
    until: datetime
    n_entries: int
    is_standing: bool


@dataclass(frozen=True)
class Content:
    """What a snapshot of a day holds: the parts of each table by name, in order, and the nights. `made_by` is the
    version of the code and of the rules of time that make the rest of it. The `ledger`'s head and what was `kept_back`
    by then are noted beside it and are no part of the digest: a question that is not asked makes no snapshot stale."""

    as_of: date
    parts: Mapping[str, Sequence[Part]]
    made_by: str
    ledger: Head | None = None
    nights: Sequence[Night] = ()
    kept_back: Sequence[KeptBack] = ()

    @cached_property
    def digest(self) -> str:
        """Equal for equal content."""
        lines = (f"{name} {part.day} {part.content_digest}" for name, parts in self.parts.items() for part in parts)
        return digest([self.made_by, *lines, *(repr(night) for night in self.nights)])

    @property
    def n_rows(self) -> dict[str, int]:
        """Rows by table."""
        return {name: sum(part.n_rows for part in parts) for name, parts in self.parts.items()}


@dataclass(frozen=True, slots=True)
class _Held:
    """What a snapshot that stands says of itself."""

    as_of: date
    made_by: str
    n_grown: int
    parts: Mapping[str, Sequence[Part]]

    @classmethod
    def by(cls, connection: duckdb.DuckDBPyConnection) -> "_Held":
        """Raises duckdb.Error where the file is of an older layout."""
        ((as_of, made_by, n_grown),) = connection.execute(
            "SELECT as_of, made_by, n_grown FROM snapshot_info"
        ).fetchall()
        parts: dict[str, list[Part]] = {}
        query = "SELECT table_name, day, content_digest, n_rows FROM snapshot_parts ORDER BY number"
        for name, day, content_digest, n_rows in connection.execute(query).fetchall():
            parts.setdefault(name, []).append(Part(day, content_digest, n_rows))
        return cls(as_of, made_by, n_grown, parts)


def write(lake: Lake, path: Path, content: Content, rules: TimeRules, base: Path | None) -> None:
    """Writes the snapshot to `path`, from the one at `base` where there is one that it can grow from. Raises
    CorruptTableError."""
    with temporary_beside(path) as temporary:
        if base is None or not base.exists() or not is_as_written(base) or not _grown(lake, base, temporary, content):
            _remove(temporary)
            try:
                _write_whole(lake, temporary, content, rules)
            except BaseException:
                _remove(temporary)
                raise
        with temporary.open("rb") as handle:
            digest = file_digest(handle, "sha256").hexdigest()
            os.fsync(handle.fileno())
        put_in_place(temporary, path)
    _note_digest(path, digest)


def _remove(path: Path) -> None:
    """Removes a file of DuckDB's, and what was noted beside it and not brought into it."""
    for one in (path, path.with_name(f"{path.name}.wal")):
        one.unlink(missing_ok=True)


def _commit(connection: duckdb.DuckDBPyConnection) -> None:
    """Ends the transaction and brings all of it into the file: what closing cannot write for want of room it leaves
    beside the file, and says nothing."""
    connection.execute("COMMIT")
    connection.execute("CHECKPOINT")


def is_as_written(path: Path) -> bool:
    """Whether a snapshot is, byte for byte, the file that was written; so is one of which nobody noted what it was.

    What DuckDB does not read it does not check, and a file that grows takes that along.
    """
    noted = _digests_in(path.parent).get(path.resolve().name)
    if noted is None:
        return True
    with path.open("rb") as handle:
        return file_digest(handle, "sha256").hexdigest() == noted


def digest_flaws(folder: Path) -> list[tuple[str, str]]:
    """The files of a folder of snapshots that are damaged, by name, and what was found: the list of digests, and every
    snapshot that is not as it notes. Either of the two may be the damaged one."""
    if not (folder / DIGESTS).exists():
        return []
    noted = _digests_in(folder)
    if {type(one) for one in noted.values()} != {str}:
        return [(DIGESTS, "it holds no digests")]
    files = {one.name: one for one in sorted(folder.glob("*.duckdb")) if not one.is_symlink()}
    found = [(name, f"it is not what {DIGESTS} notes") for name, one in files.items() if not is_as_written(one)]
    if noted.keys() - files.keys() and files.keys() - noted.keys():
        found.append((DIGESTS, "it notes a snapshot that is not there, and not one that is"))
    return found


def _note_digest(path: Path, digest: str) -> None:
    known = {name: one for name, one in _digests_in(path.parent).items() if (path.parent / name).exists()}
    write_atomically(path.parent / DIGESTS, orjson.dumps({**known, path.name: digest}, option=orjson.OPT_SORT_KEYS))


def _digests_in(folder: Path) -> dict[str, str]:
    try:
        found = orjson.loads((folder / DIGESTS).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def make_empty(connection: duckdb.DuckDBPyConnection, names: Iterable[str], rules: TimeRules) -> None:
    """Makes a snapshot of nothing: tables without rows, views and macros, with a comment on every column."""
    for name in names:
        _create(connection, name, CATALOG[name].empty())
        _comment(connection, CATALOG[name])
    for name, rows in rules.tables().items():
        _create(connection, name, rows)
    connection.execute(published_macro(rules.decay.curve))
    _create(connection, NIGHTS, NIGHT_COLUMNS.empty_table())
    _create(connection, KEPT_BACK, KEPT_BACK_COLUMNS.empty_table())
    for name in VIEWS:
        connection.execute(statement(HERE, name))
    _comment_by_words(connection, [*rules.tables(), *_views(connection)])
    _list_imports(connection)
    _note(connection, Content(date.min, {}, ""), n_grown=0)


def _write_whole(lake: Lake, path: Path, content: Content, rules: TimeRules) -> None:
    with connect(str(path)) as connection:
        connection.execute("BEGIN")  # else each table and each comment is brought to the disk by itself
        make_empty(connection, content.parts, rules)
        for name, parts in content.parts.items():
            _insert(connection, lake, CATALOG[name], parts)
        _list_imports(connection)
        _note(connection, content, n_grown=0)
        _commit(connection)


def _grown(lake: Lake, base: Path, path: Path, content: Content) -> bool:
    """Whether what `base` lacks could be added to a copy of it."""
    try:
        shutil.copyfile(base, path)
        with connect(str(path)) as connection:
            held = _Held.by(connection)
            if held.as_of > content.as_of or held.made_by != content.made_by or held.n_grown >= MAX_GROWN:
                return False
            connection.execute("BEGIN")
            for name, parts in content.parts.items():
                _bring_up_to_date(connection, lake, CATALOG[name], held.parts.get(name, ()), parts)
            _list_imports(connection)
            _note(connection, content, held.n_grown + 1)
            _commit(connection)
    except duckdb.Error:  # a file of an older layout, or none of ours, or damaged
        return False
    return True


def _bring_up_to_date(
    connection: duckdb.DuckDBPyConnection, lake: Lake, table: Table, held: Sequence[Part], wanted: Sequence[Part]
) -> None:
    """Takes away the rows from the first part on that is another, and adds those that are wanted in their place."""
    pairs = zip(held, wanted, strict=False)
    n_same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    if n_same < len(held):
        n_kept = sum(part.n_rows for part in held[:n_same])
        connection.execute(f"CREATE TABLE kept AS FROM {table.name} LIMIT {n_kept}")
        connection.execute(f"DROP TABLE {table.name}")
        connection.execute(f"ALTER TABLE kept RENAME TO {table.name}")
        _comment(connection, table)
    _insert(connection, lake, table, wanted[n_same:])


def _create(connection: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> None:
    connection.register("incoming", rows)
    connection.execute(f"CREATE TABLE {name} AS FROM incoming")
    connection.unregister("incoming")


def _insert(connection: duckdb.DuckDBPyConnection, lake: Lake, table: Table, parts: Sequence[Part]) -> None:
    """Adds the rows of these parts in their order: read by DuckDB where the files are local and are as declared."""
    days = [part.day for part in parts if part.n_rows]
    if not days:
        return
    files = [lake.local_file(table, day) for day in days]
    if None in files or len({lake.schema(table, day) for day in days} | {table.schema}) > 1:
        connection.register("incoming", lake.read_days(table, days))
        connection.execute(f"INSERT INTO {table.name} FROM incoming")
        connection.unregister("incoming")
        return
    columns = ", ".join(f'"{column}"' for column in table.schema.names)
    connection.execute(f"INSERT INTO {table.name} SELECT {columns} FROM read_parquet($files)", {"files": files})


def _note(connection: duckdb.DuckDBPyConnection, content: Content, n_grown: int) -> None:
    """Writes down what the snapshot is of, in the place of what stands there."""
    listed = [(name, part) for name, parts in content.parts.items() for part in parts]
    rows = {
        "table_name": pa.array([name for name, _ in listed], pa.string()),
        "number": pa.array(range(len(listed)), pa.int64()),
        "day": pa.array([part.day for _, part in listed], pa.date32()),
        "content_digest": pa.array([part.content_digest for _, part in listed], pa.string()),
        "n_rows": pa.array([part.n_rows for _, part in listed], pa.int64()),
    }
    counts = {
        "table_name": pa.array(list(content.n_rows), pa.string()),
        "n_rows": pa.array(content.n_rows.values(), pa.int64()),
    }
    for name in ABOUT_THE_FILE:
        connection.execute(f"DROP TABLE IF EXISTS {name}")
    _create(connection, "snapshot_parts", pa.table(rows))
    _create(connection, "snapshot_tables", pa.table(counts))
    connection.execute(
        "CREATE TABLE snapshot_info AS SELECT ?::DATE AS as_of, ?::VARCHAR AS content_digest, ?::INTEGER AS layout, "
        "?::VARCHAR AS made_by, ?::INTEGER AS n_grown",
        [content.as_of, content.digest, LAYOUT, content.made_by, n_grown],
    )
    connection.execute("CREATE TABLE ledger_head (n_entries BIGINT, hash VARCHAR)")
    if content.ledger is not None:
        connection.execute("INSERT INTO ledger_head VALUES (?, ?)", [content.ledger.count, content.ledger.hash])
    for name, beside, columns in (
        (NIGHTS, content.nights, NIGHT_COLUMNS),
        (KEPT_BACK, content.kept_back, KEPT_BACK_COLUMNS),
    ):
        _create(connection, name, _rows(beside, columns))
    _comment_by_words(connection, ABOUT_THE_FILE)


def _rows(told: Iterable[Night | KeptBack], columns: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist([asdict(one) for one in told], columns)


def _list_imports(connection: duckdb.DuckDBPyConnection) -> None:
    """Lists which imported facts wait, in the place of those that stand there: of what the file holds, so at the end of
    its day. Whether two of them say the same is decided by names as they are compared, which no view can do."""
    connection.execute(f"DROP TABLE IF EXISTS {WAITING_IMPORTS}")
    feedback = connection.sql("FROM feedback WHERE list_contains($1, type)", params=[list(TOLD)])
    proposed = connection.sql("FROM claims WHERE act = $1", params=[Act.PROPOSE.value])
    waiting = undecided(feedback.to_arrow_table().to_pylist(), proposed.to_arrow_table().to_pylist())
    _create(connection, WAITING_IMPORTS, waiting_table(waiting))
    _comment_by_words(connection, [WAITING_IMPORTS])


def _views(connection: duckdb.DuckDBPyConnection) -> list[str]:
    return [
        name for (name,) in connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    ]


def _comment_by_words(connection: duckdb.DuckDBPyConnection, relations: Collection[str]) -> None:
    """Comments on views and tables that are not declared; a view says in its SQL what it is as a whole."""
    columns: dict[str, list[str]] = {}
    for relation, column in connection.execute("SELECT table_name, column_name FROM duckdb_columns()").fetchall():
        columns.setdefault(relation, []).append(column)
    views = frozenset(_views(connection))
    comments = [f"COMMENT ON TABLE {name} IS '{_quoted(about(name))}';" for name in relations if name not in views]
    for name in relations:
        for column, meaning in meanings(name, columns[name]).items():
            comments.append(f"COMMENT ON COLUMN {name}.\"{column}\" IS '{_quoted(meaning)}';")
    connection.execute("".join(comments))


def _comment(connection: duckdb.DuckDBPyConnection, table: Table) -> None:
    comments = [f"COMMENT ON TABLE {table.name} IS '{_quoted(table.about)}';"]
    comments += [f"COMMENT ON COLUMN {table.name}.\"{c.name}\" IS '{_quoted(c.about)}';" for c in table.columns]
    connection.execute("".join(comments))


def _quoted(text: str) -> str:
    return text.replace("'", "''")
