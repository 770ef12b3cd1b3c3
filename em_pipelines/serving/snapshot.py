"""Snapshots: the memory of a day as one DuckDB file that needs nothing else to be read.

Written beside its final name and renamed, so that a reader sees a whole file or the one before. Tables of events
hold all days up to the snapshot's; tables of state hold its day. The views stand in sql/views.sql and are documented
in docs/snapshot.md.
"""

import os
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import duckdb
import pyarrow as pa

from em_pipelines.errors import UsageError
from em_pipelines.graph.confidence_decay import published_macro
from em_pipelines.schema.ids import digest
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.schema.tables.derived import CURRENT_EDGES, INFERRED_EDGES
from em_pipelines.serving.time_rules import TimeRules
from em_pipelines.storage.code_version import code_digest
from em_pipelines.storage.duckdb_engine import connect, scalar, statement
from em_pipelines.storage.store import Store

HERE = Path(__file__).parent
LATEST = "latest.duckdb"
LAYOUT = 2
"""Raised whenever the tables that `em diff` reads change; it stands in `snapshot_info`."""
VIEWS = ("macros_facts", "views_facts", "views_quality", "views_growth")
PUBLISHED = (
    "messages", "sessions", "segments", "mentions", "claims", "extraction_issues", "entity_mentions", "entity_ops",
    "graph_ops", "skill_invocations", "feedback", "world_events", "dead_letters", "entities", "edges", "current_edges",
    "contradictions", "inferred_edges", "audit_trail", "llm_calls", "experiences", "rules", "skill_profiles", "probes",
    "starters", "metrics",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SnapshotReport:
    """Where the snapshot lies, its day, and its rows by table; `is_new` is False where it already stood."""

    path: Path
    as_of: date
    is_new: bool
    n_rows: dict[str, int] = field(default_factory=dict)


def publish(store: Store, folder: Path, rules: TimeRules, as_of: date | None = None) -> SnapshotReport:
    """Writes FOLDER/AS_OF.duckdb and points latest.duckdb at the newest snapshot.

    `as_of` is the last day with facts unless given. Raises UsageError where nothing has been learned by then.
    """
    as_of = store.lake.latest(CURRENT_EDGES, as_of or date.max)
    if as_of is None:
        raise UsageError("publishing a snapshot: no facts up to that day; land logs with `em run PATH` first")
    path = folder / f"{as_of.isoformat()}.duckdb"
    content = _Content.of(store, rules, as_of)
    standing = _rows_if_current(path, content.digest)
    rows = _write(store, path, content, rules) if standing is None else standing
    _point_latest(folder)
    return SnapshotReport(path, as_of, standing is None, rows)


def is_current(store: Store, folder: Path, rules: TimeRules) -> bool:
    """Whether the newest snapshot stands and holds what the lake holds; reads footers, not rows."""
    as_of = store.lake.latest(CURRENT_EDGES, date.max)
    if as_of is None:
        return False
    content = _Content.of(store, rules, as_of)
    return _rows_if_current(folder / f"{as_of.isoformat()}.duckdb", content.digest) is not None


@dataclass(frozen=True, slots=True)
class _Content:
    """What a snapshot of a day holds: of each table these days, by name; `digest` is of what they are made of."""

    as_of: date
    partitions: dict[str, list[date]]
    digest: str

    @classmethod
    def of(cls, store: Store, rules: TimeRules, as_of: date) -> "_Content":
        """As the lake has it; reads footers, not rows."""
        partitions = {name: _days(store, CATALOG[name], as_of) for name in PUBLISHED}
        return cls(as_of, partitions, _digest(store, rules, partitions))


def _days(store: Store, table: Table, as_of: date) -> list[date]:
    if table is INFERRED_EDGES:  # made for single days: those of another day would follow from other facts
        return [as_of] if as_of in store.lake.days(table) else []
    if table.is_state:
        latest = store.lake.latest(table, as_of)
        return [latest] if latest else []
    return [day for day in store.lake.days(table) if day <= as_of]


def _digest(store: Store, rules: TimeRules, partitions: dict[str, list[date]]) -> str:
    parts = [code_digest(__name__), rules.version]
    for name, days in partitions.items():
        for day in days:
            info = store.lake.info(CATALOG[name], day)
            parts.append(f"{name} {day} {info.content_digest if info else None}")
    return digest(parts)


def _rows_if_current(path: Path, wanted: str) -> dict[str, int] | None:
    """Rows by table of the snapshot that stands at `path`, if it was made from the same content."""
    if not path.exists():
        return None
    try:
        with connect(str(path), is_read_only=True) as connection:
            if scalar(connection, "SELECT content_digest FROM snapshot_info") != wanted:
                return None
            counts = connection.execute("SELECT table_name, n_rows FROM snapshot_tables").fetchall()
    except duckdb.Error:  # half a file of an older layout, or none of ours: written anew
        return None
    return {str(name): int(n) for name, n in counts}


def _write(store: Store, path: Path, content: _Content, rules: TimeRules) -> dict[str, int]:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)
    n_rows: dict[str, int] = {}
    with connect(str(temporary)) as connection:
        connection.execute("BEGIN")  # else each table and each comment is brought to the disk by itself
        for name, days in content.partitions.items():
            rows = store.lake.read_days(CATALOG[name], days)
            n_rows[name] = rows.num_rows
            connection.register("incoming", rows)
            connection.execute(f"CREATE TABLE {name} AS FROM incoming")
            connection.unregister("incoming")
            _comment(connection, CATALOG[name])
        counts = pa.table({"table_name": list(n_rows), "n_rows": pa.array(n_rows.values(), pa.int64())})
        connection.register("counts", counts)
        connection.execute("CREATE TABLE snapshot_tables AS FROM counts")
        connection.execute(
            "CREATE TABLE snapshot_info AS SELECT ?::DATE AS as_of, ?::VARCHAR AS content_digest, ?::INTEGER AS layout",
            [content.as_of, content.digest, LAYOUT],
        )
        _add_views(connection, rules)
        connection.execute("COMMIT")
    with temporary.open("rb") as handle:
        os.fsync(handle.fileno())
    temporary.replace(path)
    return n_rows


def _add_views(connection: duckdb.DuckDBPyConnection, rules: TimeRules) -> None:
    for name, rows in rules.tables().items():
        connection.register("incoming", rows)
        connection.execute(f"CREATE TABLE {name} AS FROM incoming")
        connection.unregister("incoming")
    connection.execute(published_macro(rules.decay.curve))
    for name in VIEWS:
        connection.execute(statement(HERE, name))


def _comment(connection: duckdb.DuckDBPyConnection, table: Table) -> None:
    comments = [f"COMMENT ON TABLE {table.name} IS '{_quoted(table.about)}';"]
    comments += [f"COMMENT ON COLUMN {table.name}.\"{c.name}\" IS '{_quoted(c.about)}';" for c in table.columns]
    connection.execute("".join(comments))


def _quoted(text: str) -> str:
    return text.replace("'", "''")


def _point_latest(folder: Path) -> None:
    newest = max(p.name for p in folder.glob("????-??-??.duckdb"))
    link = folder / f".{LATEST}.{os.getpid()}.tmp"
    link.unlink(missing_ok=True)
    link.symlink_to(newest)
    link.replace(folder / LATEST)
