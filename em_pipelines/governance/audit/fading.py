"""Fading: on which day a fact that nobody mentioned fell into a lower band of confidence, or out of use.

Decay is a closed form, so any day can be looked at by itself; the days in between are looked at only where the ends
of a span of time differ.
"""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.lifecycle.decay import current_edges
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.storage.duckdb_engine import fetch, registered, statement

HERE = Path(__file__).parent
Standing = tuple[date, pa.Table]
"""The end of a day, and facts as they stand then."""
FADED = pa.schema(
    [
        *(EDGES.schema.field(name) for name in ("edge_id", "user_id", "subject_id", "source_mechanism", "provenance")),
        pa.field("old_status", pa.string()),
        pa.field("new_status", pa.string()),
        pa.field("confidence_before", pa.float64()),
        pa.field("confidence_after", pa.float64()),
        pa.field("faded_on", pa.date32()),
    ]
)


def fading(
    facts: pa.Table, first: date, last: date, decay: DecaySettings, connection: duckdb.DuckDBPyConnection
) -> pa.Table:
    """What time alone does to facts from the end of day `first` to that of `last`, a row a change, in columns FADED.

    `facts` has the columns of `edges`, as they stood all that time.
    """
    if first >= last or not facts.num_rows:
        return FADED.empty_table()
    connection.execute(statement(HERE, "fading_macros"))

    def standing(some: pa.Table, on: date) -> pa.Table:
        return current_edges(some, ENTITIES.empty(), on, decay, connection).to_table()

    pieces = _pieces(facts, (first, standing(facts, first)), (last, standing(facts, last)), standing, connection)
    return pa.concat_tables([FADED.empty_table(), *(piece.cast(FADED) for piece in pieces)])


def _pieces(
    facts: pa.Table,
    earlier: Standing,
    later: Standing,
    standing: Callable[[pa.Table, date], pa.Table],
    connection: duckdb.DuckDBPyConnection,
) -> Iterator[pa.Table]:
    """The changes from the end of one day to that of a later one, each on its day. Untouched facts only ever fade, so
    what stands at both ends as it did needs no look in between."""
    (first, at_first), (last, at_last) = earlier, later
    with registered(connection, {"earlier": at_first, "later": at_last}):
        changed = fetch(connection, statement(HERE, "faded"))
    if not changed.num_rows:
        return
    if last - first == timedelta(days=1):
        yield changed.append_column("faded_on", pa.array([last] * changed.num_rows, pa.date32()))
        return
    facts = facts.filter(pc.is_in(facts["edge_id"], value_set=changed["edge_id"].combine_chunks()))
    middle = first + (last - first) // 2
    between = middle, standing(facts, middle)
    yield from _pieces(facts, earlier, between, standing, connection)
    yield from _pieces(facts, between, later, standing, connection)
