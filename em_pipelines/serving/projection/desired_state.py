"""What the graph should hold: the newest state of memory as nodes and relationships, and how that differs from what a
store holds. SQL over the lake's files; nothing here talks to a store."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from em_pipelines.errors import CorruptTableError
from em_pipelines.language.counting import IS, counted
from em_pipelines.schema.vocabulary import RELATIONS
from em_pipelines.serving.projection.graph_store import Sums
from em_pipelines.serving.projection.shapes import (
    EDGE_ID,
    EDGE_PROPERTIES,
    ENTITY,
    MAX_LOOKUP_CHARACTERS,
    NODE_PROPERTIES,
    VALUE,
    EdgeKind,
    Row,
)
from em_pipelines.storage.duckdb_engine import Rows, bind, scalar, statement

HERE = Path(__file__).parent
TABLES = {ENTITY: "wanted_entities", VALUE: "wanted_values"}
EDGE_COLUMNS = ("source_key", "target_key", EDGE_ID, *EDGE_PROPERTIES)


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows to write with one statement, and how many of them are new rather than changed."""

    rows: list[Row]
    n_new: int


class Wanted:
    """The graph that memory asks for. One connection, one use at a time."""

    def __init__(self, entities: Rows, edges: Rows, connection: duckdb.DuckDBPyConnection) -> None:
        """`entities` and `edges` are rows of the tables `entities` and `current_edges`, of one day.

        Raises CorruptTableError where an edge has a relation that there is not, or an end that is no entity.
        """
        self._connection = connection
        bind(connection, "entities_known", entities)
        bind(connection, "edges_standing", edges)
        connection.execute(f"SET VARIABLE max_lookup_characters = {MAX_LOOKUP_CHARACTERS}")
        for name in ("macros", "wanted_edges", "wanted_entities", "wanted_values"):
            connection.execute(statement(HERE, name))
        foreign = {row[0] for row in connection.execute("SELECT DISTINCT relation FROM wanted_edges").fetchall()}
        if foreign - RELATIONS:
            raise CorruptTableError(
                f"projecting the graph: {counted(len(foreign - RELATIONS), 'relation')} of current_edges not found in "
                "the vocabulary; see `em doctor`"
            )
        if n_dangling := scalar(connection, statement(HERE, "dangling")):
            raise CorruptTableError(
                f"projecting the graph: {counted(int(str(n_dangling)), 'fact', IS)} about things that are not in "
                "entities; see `em doctor`"
            )

    def sums(self) -> dict[str, Sums]:
        """What there has to be of each user."""
        found = self._connection.execute(statement(HERE, "wanted_sums")).fetchall()
        return {u: Sums(n_nodes, n_edges, int(nodes), int(edges)) for u, n_nodes, n_edges, nodes, edges in found}

    def compare(self, user_ids: Sequence[str], nodes: pa.Table, edges: pa.Table, *, is_full: bool) -> None:
        """Takes in what a store holds of some users; what follows speaks of them. `is_full` asks for everything."""
        bind(self._connection, "chosen", pa.table({"user_id": pa.array(user_ids, pa.string())}))
        bind(self._connection, "held_nodes", nodes)
        bind(self._connection, "held_edges", edges)
        self._connection.execute(f"SET VARIABLE is_full = {is_full}")
        for name in ("stale_edges", "due_edges"):
            self._connection.execute(statement(HERE, name))

    def due_nodes(self, label: str, n_rows: int) -> Iterator[Batch]:
        """Batches of nodes to write."""
        self._choose(label)
        self._connection.execute(statement(HERE, "due_nodes"))
        return self._batches("due_nodes", NODE_PROPERTIES[label], "key", n_rows)

    def gone_nodes(self, label: str) -> list[str]:
        """Keys of nodes to remove."""
        self._choose(label)
        return [row[0] for row in self._connection.execute(statement(HERE, "gone_nodes")).fetchall()]

    def stale_edges(self) -> dict[EdgeKind, list[tuple[str, str, str]]]:
        """Relationships to remove, by kind: source key, target key, edge_id."""
        rows = self._connection.execute("FROM stale_edges ORDER BY ALL").fetchall()
        found: dict[EdgeKind, list[tuple[str, str, str]]] = {}
        for relation, target, source_key, target_key, edge_id in rows:
            found.setdefault(EdgeKind(relation, target), []).append((source_key, target_key, edge_id))
        return found

    def due_edges(self, n_rows: int) -> Iterator[tuple[EdgeKind, Batch]]:
        """Batches of relationships to write, kind by kind."""
        kinds = self._connection.execute("SELECT DISTINCT relation, target FROM due_edges ORDER BY ALL").fetchall()
        for kind in (EdgeKind(*row) for row in kinds):
            # Names of the closed lists: EdgeKind has looked at them.
            chosen = f"(FROM due_edges WHERE relation = '{kind.relation}' AND target = '{kind.target}')"
            for batch in self._batches(chosen, EDGE_COLUMNS, EDGE_ID, n_rows):
                yield kind, batch

    def _choose(self, label: str) -> None:
        self._connection.execute("SET VARIABLE label = ?", [label])
        self._connection.execute(f"CREATE OR REPLACE TEMP VIEW wanted_nodes AS FROM {TABLES[label]}")

    def _batches(self, rows: str, columns: Sequence[str], order: str, n_rows: int) -> Iterator[Batch]:
        listed = ", ".join(f'"{column}"' for column in columns)
        # Fetched as tuples, not as Arrow: the connection is not needed for anything else until the last of them.
        found = self._connection.execute(f"SELECT {listed}, is_new FROM {rows} ORDER BY {order}")
        while some := found.fetchmany(n_rows):
            yield Batch([row[:-1] for row in some], sum(row[-1] for row in some))
