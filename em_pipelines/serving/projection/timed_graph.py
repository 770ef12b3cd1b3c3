"""A graph store with a watch: how long each call took, by its kind, for whoever asks how the graph database does."""

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TypeVar

import pyarrow as pa

from em_pipelines.serving.projection.batch_times import BatchTime
from em_pipelines.serving.projection.graph_store import GraphStore, Sums
from em_pipelines.serving.projection.shapes import EdgeKind, Row
from em_pipelines.storage.histograms import Histogram, Histograms

T = TypeVar("T")


class TimedGraph:
    """A `GraphStore` that counts the durations of another's calls into `durations`, by the name of the call; calls that
    fail count as well. What wrote or removed is in `batches`, too, one by one."""

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph
        self.durations: Histograms = {}
        self.batches: list[BatchTime] = []

    def prepare(self) -> None:
        """Makes constraints and indexes that are not there yet."""
        self._timed("prepare", self._graph.prepare)

    def sums(self) -> dict[str, Sums]:
        """What the store holds of each user."""
        return self._timed("sums", self._graph.sums)

    def nodes_of(self, user_ids: Sequence[str]) -> pa.Table:
        """The nodes of some users."""
        return self._timed("nodes_of", lambda: self._graph.nodes_of(user_ids))

    def edges_of(self, user_ids: Sequence[str]) -> pa.Table:
        """The relationships that start at nodes of some users."""
        return self._timed("edges_of", lambda: self._graph.edges_of(user_ids))

    def put_nodes(self, label: str, rows: Sequence[Row]) -> None:
        """Writes one batch of nodes."""
        self._timed("put_nodes", lambda: self._graph.put_nodes(label, rows))

    def put_edges(self, kind: EdgeKind, rows: Sequence[Row]) -> None:
        """Writes one batch of relationships."""
        self._timed("put_edges", lambda: self._graph.put_edges(kind, rows))

    def drop_nodes(self, label: str, keys: Sequence[str]) -> None:
        """Removes nodes, with every relationship that they have."""
        self._timed("drop_nodes", lambda: self._graph.drop_nodes(label, keys))

    def drop_edges(self, kind: EdgeKind, ends: Sequence[tuple[str, str, str]]) -> None:
        """Removes relationships."""
        self._timed("drop_edges", lambda: self._graph.drop_edges(kind, ends))

    def _timed(self, name: str, call: Callable[[], T]) -> T:
        begun = time.perf_counter()
        try:
            return call()
        finally:
            seconds = time.perf_counter() - begun
            self.durations.setdefault(name, Histogram()).add(seconds * 1000)
            if name.startswith(("put_", "drop_")):
                self.batches.append(BatchTime(datetime.now(UTC), seconds))
