"""The sync: makes a graph store hold what memory holds, writing only what differs.

Who differs is seen by sums of digests a user, what of theirs by listing it. Nothing is remembered between two syncs
but in the store itself, so that one that was broken off is completed by the next, whatever it had done.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TypeVar

from em_pipelines.errors import GraphUnavailableError, UsageError
from em_pipelines.language.counting import IS, counted
from em_pipelines.schema.ids import digest
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.serving.projection import desired_state
from em_pipelines.serving.projection.desired_state import Wanted
from em_pipelines.serving.projection.graph_store import GraphStore, Sums, checksum, total
from em_pipelines.serving.projection.noted import Noted
from em_pipelines.serving.projection.shapes import NODE_PROPERTIES
from em_pipelines.storage.duckdb_engine import EngineSettings, Rows, connect
from em_pipelines.storage.step import code_digest
from em_pipelines.storage.store import Store

BATCH_ROWS = 2_000
"""Rows a transaction: between 1,000 and 5,000 servers are fastest, and a batch that is tried again costs little."""
GROUP_ROWS = 100_000
"""Rows of users that are compared at a time, for they are in memory; a larger user is compared alone."""
Written = Callable[[int], None]
T = TypeVar("T")


@dataclass(slots=True)
class Tally:
    """Rows that were written and removed, and that the store holds in the end.

    A relationship whose end is another thing than before is removed and added.
    """

    added: int = 0
    changed: int = 0
    removed: int = 0
    held: int = 0

    @property
    def n_written(self) -> int:
        """Rows that were sent to be written or removed."""
        return self.added + self.changed + self.removed


@dataclass(slots=True)
class SyncReport:
    """What a sync did, and whether the store then held what it should; the checksums are of both sides."""

    as_of: date | None
    n_users: int = 0
    n_users_changed: int = 0
    nodes: Tally = field(default_factory=Tally)
    edges: Tally = field(default_factory=Tally)
    checksum_wanted: str = ""
    checksum_held: str = ""
    content: str = ""
    """Digest of what memory held; empty where that changed while it was read."""

    @property
    def is_equal(self) -> bool:
        """Whether counts and checksum of both sides agree."""
        return self.checksum_wanted == self.checksum_held

    @property
    def finding(self) -> str:
        """What to say where they do not agree."""
        return (
            f"the graph database holds {self.nodes.held} nodes and {self.edges.held} relationships of ours, which are "
            "not those of memory: somebody else writes there; `em sync-graph --full` writes all of them again"
        )

    @property
    def n_written(self) -> int:
        """Rows that were sent to be written or removed."""
        return self.nodes.n_written + self.edges.n_written


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How a sync goes: `is_full` writes everything again, equal or not; `on_rows(n)` hears of every batch.

    `engine` and `spill` are of the database that compares: its limits, and the folder for what memory does not hold.
    """

    is_full: bool = False
    on_rows: Written = lambda _: None
    engine: EngineSettings | None = None
    spill: Path | None = None


DEFAULT_OPTIONS = SyncOptions()


def project(
    store: Store, graph: GraphStore, *, last: Noted | None = None, options: SyncOptions = DEFAULT_OPTIONS
) -> SyncReport:
    """Makes `graph` hold the newest state of the lake.

    Where memory is what it was at the `last` sync, it is enough that the graph is, too: nothing is read but its sums.
    Where everything was erased the graph is emptied. Raises UsageError where nothing was ever made, for then it is
    rather the home that is wrong, and what GraphStore raises.
    """
    as_of = store.lake.latest(CURRENT_EDGES, date.max)
    if as_of is None:
        raise UsageError(
            "projecting the graph: there are no facts in this home; run `em run PATH` first, or see --home"
        )
    content = _content(store, as_of)
    graph.prepare()
    held = graph.sums()
    if last and not options.is_full and (last.content, last.checksum) == (content, checksum(held)):
        report = SyncReport(as_of, n_users=len(held), content=content, checksum_wanted=last.checksum)
        _close(report, held)
        return report
    with connect(engine=options.engine, spill=options.spill) as connection:
        wanted = Wanted(_rows(store, ENTITIES, as_of), _rows(store, CURRENT_EDGES, as_of), connection)
        is_same = _content(store, as_of) == content
        report = sync(graph, wanted, held, is_full=options.is_full, on_rows=options.on_rows)
    report.as_of, report.content = as_of, content if is_same else ""
    return report


def sync(
    graph: GraphStore,
    wanted: Wanted,
    held: Mapping[str, Sums] | None = None,
    *,
    is_full: bool = False,
    on_rows: Written = lambda _: None,
) -> SyncReport:
    """Makes `graph` hold what is wanted; `on_rows(n)` hears of every batch. `held` are its sums, where it was prepared
    and asked for them just now. Raises what GraphStore raises; what was written until then stays and is not written
    again."""
    report = SyncReport(as_of=None)
    try:
        should = wanted.sums()
        if held is None:
            graph.prepare()
            held = graph.sums()
        report.n_users = len(should)
        differing = sorted(u for u in should.keys() | held.keys() if is_full or should.get(u) != held.get(u))
        report.n_users_changed = len(differing)
        for group in _groups(differing, should, held):
            wanted.compare(group, graph.nodes_of(group), graph.edges_of(group), is_full=is_full)
            _write(graph, wanted, report, on_rows)
        if report.n_written:
            held = graph.sums()
    except GraphUnavailableError as error:
        if not report.n_written:
            raise
        raise GraphUnavailableError(
            f"{error}; {counted(report.n_written, 'row')} had been written and {IS[report.n_written != 1]} kept, "
            "the next sync goes on from there"
        ) from error
    report.checksum_wanted = checksum(should)
    _close(report, held)
    return report


def _close(report: SyncReport, held: Mapping[str, Sums]) -> None:
    there = total(held.values())
    report.nodes.held, report.edges.held = there.n_nodes, there.n_edges
    report.checksum_held = checksum(held)


def _content(store: Store, as_of: date) -> str:
    """A digest of what is projected, and of how."""
    parts = [code_digest(desired_state.__name__), str(as_of)]
    for table in (ENTITIES, CURRENT_EDGES):
        day = store.lake.latest(table, as_of)
        info = store.lake.info(table, day) if day else None
        parts.append(f"{table.name} {day} {info.content_digest if info else None}")
    return digest(parts)


def _write(graph: GraphStore, wanted: Wanted, report: SyncReport, on_rows: Written) -> None:
    """Nodes first, for relationships need their ends; those that nothing leads to any more last."""
    for label in NODE_PROPERTIES:
        for batch in _ahead(wanted.due_nodes(label, BATCH_ROWS)):
            graph.put_nodes(label, batch.rows)
            report.nodes.added += batch.n_new
            report.nodes.changed += len(batch.rows) - batch.n_new
            on_rows(len(batch.rows))
    for kind, ends in wanted.stale_edges().items():
        for start in range(0, len(ends), BATCH_ROWS):
            some = ends[start : start + BATCH_ROWS]
            graph.drop_edges(kind, some)
            report.edges.removed += len(some)
            on_rows(len(some))
    for kind, batch in _ahead(wanted.due_edges(BATCH_ROWS)):
        graph.put_edges(kind, batch.rows)
        report.edges.added += batch.n_new
        report.edges.changed += len(batch.rows) - batch.n_new
        on_rows(len(batch.rows))
    for label in NODE_PROPERTIES:
        keys = wanted.gone_nodes(label)
        for start in range(0, len(keys), BATCH_ROWS):
            gone = keys[start : start + BATCH_ROWS]
            graph.drop_nodes(label, gone)
            report.nodes.removed += len(gone)
            on_rows(len(gone))


def _ahead(batches: Iterator[T]) -> Iterator[T]:
    """The batches, each fetched while the server is busy with the one before: a fifth of a sync is making rows."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        coming = pool.submit(next, batches, None)
        while (batch := coming.result()) is not None:
            coming = pool.submit(next, batches, None)
            yield batch


def _groups(users: list[str], should: Mapping[str, Sums], held: Mapping[str, Sums]) -> Iterator[list[str]]:
    """Users to compare together, so that the rows of both sides stay below GROUP_ROWS where they can."""
    group: list[str] = []
    n_rows = 0
    for user_id in users:
        both = [side.get(user_id, Sums()) for side in (should, held)]
        n_more = sum(s.n_nodes + s.n_edges for s in both)
        if group and n_rows + n_more > GROUP_ROWS:
            yield group
            group, n_rows = [], 0
        group.append(user_id)
        n_rows += n_more
    if group:
        yield group


def _rows(store: Store, table: Table, as_of: date) -> Rows:
    """The rows of a state as of a day; none where there is none."""
    day = store.lake.latest(table, as_of)
    if day is None:
        return table.empty()
    store.lake.info(table, day)  # a damaged file is named as such
    return store.lake.scan(table, day)
