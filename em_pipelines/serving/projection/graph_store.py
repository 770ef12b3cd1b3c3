"""What a graph store has to offer, so that memory can be projected into it. `memory` has one in this process;
`resources.neo4j` one for any server that speaks Bolt.

Every call is one user's data or more, named by `user_id`; nothing of a store is ever named by a database's own ids.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import pyarrow as pa

from em_pipelines.serving.projection.shapes import EdgeKind, Row

HELD_NODES = pa.schema([("label", pa.string()), ("key", pa.string()), ("digest", pa.int64())])
"""Nodes that a store holds."""
HELD_EDGES = pa.schema(
    [
        ("relation", pa.string()), ("target", pa.string()), ("source_key", pa.string()), ("target_key", pa.string()),
        ("edge_id", pa.string()), ("digest", pa.int64()),
    ]
)  # fmt: skip
"""Relationships that a store holds, with the ends that they really have."""


@dataclass(frozen=True, slots=True)
class Sums:
    """How much there is of one user, and the sums of the digests: equal sums, equal content."""

    n_nodes: int = 0
    n_edges: int = 0
    node_sum: int = 0
    edge_sum: int = 0


def checksum(sums: Mapping[str, Sums]) -> str:
    """SHA-256 over the sums of all users: equal for equal graphs, whatever the order in which they were written."""
    found = hashlib.sha256()
    for user_id, s in sorted(sums.items()):
        found.update(
            b"%d:%s %d %d %d %d\n"
            % (len(user_id.encode()), user_id.encode(), s.n_nodes, s.n_edges, s.node_sum, s.edge_sum)
        )
    return found.hexdigest()


class GraphStore(Protocol):
    """A place for nodes and relationships. Calls raise GraphUnavailableError where a retry may help, and
    GraphRefusedError where it will not; a call that raises has written its batch whole or not at all.

    Only what has a key, or an edge_id, and a type of the vocabulary is looked at, counted and removed: whatever else
    people keep in the same database is left alone.
    """

    def prepare(self) -> None:
        """Makes constraints and indexes that are not there yet."""

    def sums(self) -> dict[str, Sums]:
        """What the store holds of each user."""

    def nodes_of(self, user_ids: Sequence[str]) -> pa.Table:
        """The nodes of some users, as HELD_NODES."""

    def edges_of(self, user_ids: Sequence[str]) -> pa.Table:
        """The relationships that start at nodes of some users, as HELD_EDGES."""

    def put_nodes(self, label: str, rows: Sequence[Row]) -> None:
        """Writes one batch: makes nodes, or sets all properties of those whose key is there."""

    def put_edges(self, kind: EdgeKind, rows: Sequence[Row]) -> None:
        """Writes one batch of relationships between nodes that are there; other rows change nothing."""

    def drop_nodes(self, label: str, keys: Sequence[str]) -> None:
        """Removes nodes, with every relationship that they have."""

    def drop_edges(self, kind: EdgeKind, ends: Sequence[tuple[str, str, str]]) -> None:
        """Removes relationships by source key, target key and edge_id."""


OpenGraph: TypeAlias = Callable[[], AbstractContextManager[GraphStore]]
"""What opens the store that the environment names; raises SettingsError where it names none, or not well."""


def total(sums: Iterable[Sums]) -> Sums:
    """The sums of all of them."""
    found = list(sums)
    return Sums(*(sum(getattr(s, name) for s in found) for name in ("n_nodes", "n_edges", "node_sum", "edge_sum")))
