"""The sync of one home: one at a time, noted in the home, and the erasures that it has still to carry over."""

import os
from datetime import UTC, date, datetime

import orjson

from em_pipelines.errors import CorruptTableError, UnsettledError
from em_pipelines.home import SPILL, Home
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.serving.projection.graph_store import OpenGraph
from em_pipelines.serving.projection.noted import GraphNote, Noted
from em_pipelines.serving.projection.projected_home import ProjectedHome
from em_pipelines.serving.projection.sync import SyncOptions, SyncReport, Written, project

LOCK = "graph"
"""The home's lock of whoever writes to the graph."""


def sync_home(
    home: ProjectedHome, open_graph: OpenGraph, *, is_full: bool = False, on_rows: Written = lambda _: None
) -> SyncReport:
    """Makes the graph hold the newest state of a home. `is_full` writes everything again, equal or not.

    Raises what `project` and `open_graph` raise, LockedError where another sync takes too long, and UnsettledError
    where the state is being made anew.
    """
    note = GraphNote(home.record)
    options = SyncOptions(is_full, on_rows, home.settings.engine, home.path / SPILL / str(os.getpid()))
    with open_graph() as graph, home.lock(LOCK):
        begun = datetime.now(UTC)
        try:
            report = project(home.store, graph, last=note.read(), options=options)
        except CorruptTableError as error:
            if _is_settled(home):
                raise
            raise UnsettledError(
                "projecting the graph: its days are being made anew, and do not fit together yet; try again when "
                "`em run` has ended"
            ) from error
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
