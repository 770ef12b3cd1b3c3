"""Whether what is served is what memory holds: the rows of the snapshot and of the graph database, counted and summed.

The three are compared by one checksum, that of the projection: sums of digests a user over entities, values and facts.
Of the snapshot the rows of every table are counted, too.
"""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

import duckdb
import pyarrow as pa

from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.serving.projection.desired_state import Wanted
from em_pipelines.serving.projection.graph_store import GraphStore, Sums, checksum, total
from em_pipelines.serving.snapshot import LATEST
from em_pipelines.storage.duckdb_engine import Rows, connect, fetch, scalar
from em_pipelines.storage.store import Store


@dataclass(frozen=True, slots=True)
class Served:
    """One side: how many nodes and relationships, their checksum, and tables whose rows are not as many as noted."""

    n_nodes: int
    n_edges: int
    checksum: str
    miscounted: tuple[str, ...] = ()

    @classmethod
    def of(cls, sums: dict[str, Sums], miscounted: tuple[str, ...] = ()) -> "Served":
        """The sums of all users."""
        there = total(sums.values())
        return cls(there.n_nodes, there.n_edges, checksum(sums), miscounted)


def of_lake(store: Store, as_of: date) -> Served:
    """What memory holds at the end of a day. Raises CorruptTableError."""
    with connect() as connection:
        entities, edges = (_rows(store, table, as_of) for table in (ENTITIES, CURRENT_EDGES))
        return Served.of(Wanted(entities, edges, connection).sums())


def of_snapshot(folder: Path) -> Served:
    """What the newest snapshot holds, by its rows and not by what it says of itself. Raises duckdb.Error where it
    cannot be read."""
    with connect(str(folder / LATEST), is_read_only=True) as snapshot, connect() as connection:
        noted = snapshot.execute("SELECT table_name, n_rows FROM snapshot_tables").fetchall()
        miscounted = tuple(
            name for name, n_rows in noted if scalar(snapshot, f'SELECT count(*) FROM "{name}"') != n_rows
        )
        entities, edges = (_columns(snapshot, table) for table in (ENTITIES, CURRENT_EDGES))
        return Served.of(Wanted(entities, edges, connection).sums(), miscounted)


def of_graph(graph: GraphStore) -> Served:
    """What a graph database holds. Raises what GraphStore raises."""
    return Served.of(dict(graph.sums()))


def _rows(store: Store, table: Table, as_of: date) -> Rows:
    day = store.lake.latest(table, as_of)
    return store.lake.scan(table, day) if day else table.empty()


def _columns(snapshot: duckdb.DuckDBPyConnection, table: Table) -> pa.Table:
    """The rows of a table of the snapshot, in its declared columns."""
    listed = ", ".join(f'"{name}"' for name in table.schema.names)
    return fetch(snapshot, f"SELECT {listed} FROM {table.name}")
