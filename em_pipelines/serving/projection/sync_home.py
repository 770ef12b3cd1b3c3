"""The sync of one home: one at a time, noted in the home, and the erasures that it has still to carry over."""

import os
from datetime import UTC, date, datetime

import orjson

from em_pipelines.errors import CorruptTableError, GraphUnavailableError, UnsettledError
from em_pipelines.home import SPILL, Home
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.serving.projection.batch_times import note_batches
from em_pipelines.serving.projection.graph_store import OpenGraph
from em_pipelines.serving.projection.noted import GraphNote, Noted
from em_pipelines.serving.projection.projected_home import ProjectedHome
from em_pipelines.serving.projection.sync import SyncOptions, SyncReport, Written, project
from em_pipelines.serving.projection.timed_graph import TimedGraph
from em_pipelines.storage.histograms import FOLDER, add_to_note
from em_pipelines.storage.outage import OutageNote

LOCK = "graph"
"""The home's lock of whoever writes to the graph."""


NOTE = "graph.down"
"""In the home's locks, while a graph database that was not there is left alone."""
LATENCY_NOTE = "graph.json"
"""How long calls of the graph database took, beside the notes of the steps."""
OPEN_SECONDS = 60.0
"""For so long, by whoever does not ask for a sync by name; as with the large model, whose calls are few, too."""


def sync_home(
    home: ProjectedHome,
    open_graph: OpenGraph,
    *,
    is_full: bool = False,
    is_asked_for: bool = True,
    on_rows: Written = lambda _: None,
) -> SyncReport:
    """Makes the graph hold the newest state of a home. `is_full` writes everything again, equal or not.

    Where the database was not there just before, it is tried again at once only where the sync `is_asked_for` by name;
    else GraphUnavailableError is raised without a try. Raises what `project` and `open_graph` raise, LockedError where
    another sync takes too long, and UnsettledError where the state is being made anew.
    """
    outage = OutageNote(home.path / "locks" / NOTE, OPEN_SECONDS)
    if not is_asked_for and (left := outage.left_seconds):
        raise GraphUnavailableError(
            f"projecting the graph: not tried, since the database did not answer just before; it is tried again in "
            f"{left:.0f} s, and at once by `em sync-graph`"
        )
    try:
        report = _synced(home, open_graph, is_full=is_full, on_rows=on_rows)
    except GraphUnavailableError:
        outage.put()
        raise
    outage.clear()
    return report


def _synced(home: ProjectedHome, open_graph: OpenGraph, *, is_full: bool, on_rows: Written) -> SyncReport:
    note = GraphNote(home.record)
    options = SyncOptions(is_full, on_rows, home.settings.engine, home.path / SPILL / str(os.getpid()))
    with open_graph() as graph, home.lock(LOCK):
        begun, timed = datetime.now(UTC), TimedGraph(graph)
        try:
            report = project(home.store, timed, last=note.read(), options=options)
        except CorruptTableError as error:
            if _is_settled(home):
                raise
            raise UnsettledError(
                "projecting the graph: its days are being made anew, and do not fit together yet; try again when "
                "`em run` has ended"
            ) from error
        finally:
            add_to_note(home.path / FOLDER / LATENCY_NOTE, timed.durations)
            note_batches(home.path, timed.batches)
        if report.is_equal:
            note.put(Noted(begun, report.content, report.checksum_held))
    return report


def n_erased_since_sync(home: Home) -> int:
    """Erasures that ended after the last sync had begun: the graph may hold what they took away. 0 for a home that was
    never synced."""
    noted = GraphNote(home.record).read()
    if noted is None:
        return 0
    n_found = 0
    for path in home.book.certificates_folder.glob("[!.]*.json"):
        certificate = orjson.loads(path.read_bytes())
        is_later = datetime.fromisoformat(certificate["carried_out_at"]) >= noted.synced_at
        n_found += is_later and certificate["result"] == "erased"
    return n_found


def _is_settled(home: ProjectedHome) -> bool:
    """Whether the newest current edges were made from the entities that are there."""
    day = home.store.lake.latest(CURRENT_EDGES, date.max)
    return day is not None and home.store.is_current(home.steps["decay"], day)
