"""A graph store in this process: for whoever wants the graph without a server, and to say exactly what one must do."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from em_pipelines.serving.projection.graph_store import HELD_EDGES, HELD_NODES, Sums
from em_pipelines.serving.projection.shapes import EDGE_PROPERTIES, ENTITY, KEY, NODE_PROPERTIES, EdgeKind, Row

Properties = dict[str, Any]
Ends = tuple[str, str, str]


class InMemoryGraph:
    """A `GraphStore` of dicts."""

    def __init__(self) -> None:
        self.nodes: dict[str, dict[str, Properties]] = {label: {} for label in NODE_PROPERTIES}
        """Properties by label and key; what is null is left out."""
        self.edges: dict[EdgeKind, dict[Ends, Properties]] = defaultdict(dict)
        """Properties by kind, and by source key, target key and edge_id."""

    def prepare(self) -> None:
        """Nothing: keys are unique here."""

    def sums(self) -> dict[str, Sums]:
        """What is held of each user."""
        found: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
        for offset, held in ((0, self._all_nodes()), (1, self._all_edges())):
            for properties in held:
                figures = found[properties["user_id"]]
                figures[offset] += 1
                figures[offset + 2] += properties["digest"]
        return {user_id: Sums(*figures) for user_id, figures in found.items()}

    def nodes_of(self, user_ids: Sequence[str]) -> pa.Table:
        """The nodes of some users, as HELD_NODES."""
        wanted = set(user_ids)
        rows = [
            {"label": label, "key": key, "digest": properties["digest"]}
            for label, held in self.nodes.items()
            for key, properties in held.items()
            if properties["user_id"] in wanted
        ]
        return pa.Table.from_pylist(rows, schema=HELD_NODES)

    def edges_of(self, user_ids: Sequence[str]) -> pa.Table:
        """The relationships that start at nodes of some users, as HELD_EDGES."""
        wanted = set(user_ids)
        rows = [
            {
                "relation": kind.relation, "target": kind.target, "source_key": source, "target_key": target,
                "edge_id": edge_id, "digest": properties["digest"],
            }
            for kind, held in self.edges.items()
            for (source, target, edge_id), properties in held.items()
            if self.nodes[ENTITY][source]["user_id"] in wanted
        ]  # fmt: skip
        return pa.Table.from_pylist(rows, schema=HELD_EDGES)

    def put_nodes(self, label: str, rows: Sequence[Row]) -> None:
        """Writes one batch of nodes."""
        for row in rows:
            properties = _told(NODE_PROPERTIES[label], row)
            self.nodes[label][properties[KEY]] = properties

    def put_edges(self, kind: EdgeKind, rows: Sequence[Row]) -> None:
        """Writes one batch of relationships between nodes that are there."""
        for source, target, edge_id, *values in rows:
            if source in self.nodes[ENTITY] and target in self.nodes[kind.target]:
                self.edges[kind][source, target, edge_id] = _told(EDGE_PROPERTIES, values)

    def drop_nodes(self, label: str, keys: Sequence[str]) -> None:
        """Removes nodes, with every relationship that they have."""
        gone = set(keys)
        for key in gone:
            self.nodes[label].pop(key, None)
        for kind, held in self.edges.items():
            for ends in [
                e for e in held if (label == ENTITY and e[0] in gone) or (label == kind.target and e[1] in gone)
            ]:
                del held[ends]

    def drop_edges(self, kind: EdgeKind, ends: Sequence[Ends]) -> None:
        """Removes relationships by source key, target key and edge_id."""
        for gone in ends:
            self.edges[kind].pop(gone, None)

    def _all_nodes(self) -> Iterable[Mapping[str, Any]]:
        return (properties for held in self.nodes.values() for properties in held.values())

    def _all_edges(self) -> Iterable[Mapping[str, Any]]:
        return (properties for held in self.edges.values() for properties in held.values())


def _told(names: Sequence[str], values: Sequence[Any]) -> Properties:
    return {name: value for name, value in zip(names, values, strict=True) if value is not None}
