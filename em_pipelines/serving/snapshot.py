"""Snapshots: the memory of a day as one DuckDB file that needs nothing else to be read.

Tables of events hold all days up to the snapshot's; tables of state hold its day. How the file is written is in
`em_pipelines.serving.snapshot_file`; its views are documented in docs/snapshot.md.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Protocol

import duckdb
import pyarrow.compute as pc

from em_pipelines.errors import UsageError
from em_pipelines.lifecycle.consolidation.nights import History, NightBook
from em_pipelines.lifecycle.proactive.offers import KeptBack, OfferBook
from em_pipelines.schema.ids import digest
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.derived import CONSOLIDATED, CURRENT_EDGES, INFERRED_EDGES, PROMOTIONS
from em_pipelines.schema.tables.raw import SKILL_INVOCATIONS
from em_pipelines.serving.snapshot_file import Content, Night, Part, is_as_written, write
from em_pipelines.serving.time_rules import TimeRules
from em_pipelines.storage.duckdb_engine import connect, scalar
from em_pipelines.storage.files import sync_folder
from em_pipelines.storage.ledger import Head, Ledger
from em_pipelines.storage.step import code_digest
from em_pipelines.storage.store import Store

LATEST = "latest.duckdb"
PUBLISHED = (
    "messages", "sessions", "segments", "mentions", "claims", "extraction_issues", "entity_mentions", "entity_ops",
    "graph_ops", "skill_invocations", "feedback", "world_events", "dead_letters", "entities", "edges", "current_edges",
    "contradictions", "inferred_edges", "audit_trail", "llm_calls", *(table.name for table in CONSOLIDATED), "probes",
    "starters", "metrics", "quarantine",
)  # fmt: skip
WITHOUT_FACTS = (PROMOTIONS, SKILL_INVOCATIONS, MESSAGES)
"""What a snapshot is worth having for where nothing was ever said of which a fact could come."""
NO_NIGHTS = History()


class PublishingHome(Protocol):
    """A home of which snapshots are made."""

    @property
    def store(self) -> Store: ...
    @property
    def snapshots(self) -> Path: ...
    @property
    def time_rules(self) -> TimeRules: ...
    @property
    def ledger(self) -> Ledger: ...
    @property
    def nights(self) -> NightBook: ...
    @property
    def offers(self) -> OfferBook: ...


@dataclass(frozen=True, slots=True)
class SnapshotReport:
    """Where the snapshot lies, its day, and its rows by table; `is_new` is False where it already stood."""

    path: Path
    as_of: date
    is_new: bool
    n_rows: dict[str, int] = field(default_factory=dict)


def publish(  # noqa: PLR0913  (what a snapshot is made of, and the ledger that it bears witness of)
    store: Store,
    folder: Path,
    rules: TimeRules,
    as_of: date | None = None,
    *,
    is_anew: bool = False,
    ledger: Ledger | None = None,
    nights: History = NO_NIGHTS,
    kept_back: Callable[[], Iterable[KeptBack]] = tuple,
) -> SnapshotReport:
    """Writes FOLDER/AS_OF.duckdb and points latest.duckdb at the newest snapshot.

    `as_of` is the `newest_day` unless given, and `nights` are those that there were. What the newest snapshot holds
    already is taken from there, unless it is made `is_anew`: after an erasure, for bytes that no table holds any more
    may still be in a file that grew.
    The head of the `ledger` and what was not said to users (`kept_back`) are noted in it.
    Raises UsageError where nothing has been learned by then.
    """
    as_of = newest_day(store, as_of or date.max)
    if as_of is None:
        raise UsageError("publishing a snapshot: nothing was read up to that day; land logs with `em run PATH` first")
    path = folder / f"{as_of.isoformat()}.duckdb"
    content = _content_of(store, rules, as_of, nights)
    standing = _rows_if_current(path, content.digest)
    if standing is not None and not is_as_written(path):
        standing, is_anew = None, True
    if standing is None:
        head = ledger.to_note(noted_head(folder)) if ledger else None
        content = replace(content, ledger=head, kept_back=_until(as_of, store, kept_back()))
        write(store.lake, path, content, rules, None if is_anew else folder / LATEST)
    _point_latest(folder)
    return SnapshotReport(path, as_of, standing is None, content.n_rows if standing is None else standing)


def publish_home(home: PublishingHome, as_of: date | None = None, *, is_anew: bool = False) -> SnapshotReport:
    """The same of a home, with all that it keeps beside its tables."""
    return publish(
        home.store, home.snapshots, home.time_rules, as_of, is_anew=is_anew, ledger=home.ledger,
        nights=home.nights.history(), kept_back=lambda: home.offers.kept_back(_users(home.store)),
    )  # fmt: skip


def _until(as_of: date, store: Store, kept_back: Iterable[KeptBack]) -> tuple[KeptBack, ...]:
    """What was kept back by the end of a day; all of it where there is no newer day."""
    is_newest = as_of == newest_day(store)
    return tuple(one for one in kept_back if is_newest or one.timestamp.date() <= as_of)


def _users(store: Store) -> list[str]:
    """Those of whom anything is known, in order."""
    day = store.lake.latest(CURRENT_EDGES, date.max)
    return [] if day is None else sorted(pc.unique(store.lake.read(CURRENT_EDGES, day)["user_id"]).to_pylist())


def newest_day(store: Store, until: date = date.max) -> date | None:
    """The day of which a snapshot would be made: the last with facts up to one; of a home that has no facts at all the
    last on which anything happened. None where nothing did."""
    with_facts = store.lake.latest(CURRENT_EDGES, until)
    if with_facts is not None or store.lake.days(CURRENT_EDGES):
        return with_facts
    return max((day for table in WITHOUT_FACTS if (day := store.lake.latest(table, until))), default=None)


def is_current(store: Store, folder: Path, rules: TimeRules, nights: History = NO_NIGHTS) -> bool:
    """Whether the newest snapshot stands and holds what the lake holds; reads footers, not rows."""
    as_of = newest_day(store)
    if as_of is None:
        return False
    content = _content_of(store, rules, as_of, nights)
    return _rows_if_current(folder / f"{as_of.isoformat()}.duckdb", content.digest) is not None


def noted_head(folder: Path) -> Head | None:
    """The head of the ledger that the newest snapshot notes; None without one that can be read and notes any."""
    path = folder / LATEST
    if not path.exists():
        return None
    try:
        with connect(str(path), is_read_only=True) as connection:
            found = connection.execute("SELECT n_entries, hash FROM ledger_head").fetchone()
    except duckdb.Error:  # damaged, or of an older layout
        return None
    return Head(*found) if found else None


def _content_of(store: Store, rules: TimeRules, as_of: date, nights: History) -> Content:
    """What a snapshot of a day holds, as the lake has it; reads footers, not rows."""
    is_newest = as_of == newest_day(store)
    parts = {name: _parts(store, CATALOG[name], as_of, is_newest=is_newest) for name in PUBLISHED}
    listed = [night for night in nights.nights if is_newest or night.as_of <= as_of]
    standing = {night.target for night in nights.standing}
    told = tuple(Night(n.target, n.end, n.n_entries, n.target in standing) for n in listed)
    return Content(as_of, parts, digest([code_digest(__name__), rules.version]), nights=told)


def _parts(store: Store, table: Table, as_of: date, *, is_newest: bool) -> tuple[Part, ...]:
    # What a night made is known on the newest day, also where the last thing that happened is no message.
    until = date.max if is_newest and table in CONSOLIDATED else as_of
    infos = ((day, store.lake.info(table, day)) for day in _days(store, table, until))
    return tuple(Part(day, info.content_digest, info.n_rows) for day, info in infos if info is not None)


def _days(store: Store, table: Table, as_of: date) -> list[date]:
    if table is INFERRED_EDGES:  # made for single days: those of another day would follow from other facts
        return [as_of] if as_of in store.lake.days(table) else []
    if table.is_state:
        latest = store.lake.latest(table, as_of)
        return [latest] if latest else []
    return [day for day in store.lake.days(table) if day <= as_of]


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


def _point_latest(folder: Path) -> None:
    newest = max(p.name for p in folder.glob("????-??-??.duckdb"))
    link = folder / f".{LATEST}.{os.getpid()}.tmp"
    link.unlink(missing_ok=True)
    link.symlink_to(newest)
    link.replace(folder / LATEST)
    sync_folder(folder)
