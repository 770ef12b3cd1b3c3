"""Inference by rules: which edges follow from the current ones, as set-based joins over all users at once.

Level by level, by the number of stated facts in a chain: on the facts of shorter chains the rules of two and three
patterns, then on what they gave the rules of one pattern. A level costs a fixed number of statements, however many
rules there are: rules are rows. Nothing is written anywhere. What a model proposes is taken in as rows, too.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Protocol

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.lifecycle.inference.cycles import arcs_on_cycles
from em_pipelines.lifecycle.inference.rules import Rule, relation_traits, rule_paths
from em_pipelines.lifecycle.inference.settings import InferenceSettings
from em_pipelines.schema.table import Records, Tables
from em_pipelines.schema.tables.derived import INFERRED_EDGES
from em_pipelines.storage.duckdb_engine import connect, fetch, scalar, statement

HERE = Path(__file__).parent
BOUNDS = ("factor", "max_confidence", "min_premise_confidence", "min_confidence", "max_fan_out", "max_hops")
TABLES = ("nodes", "names", "stated", "held", "spoken", "taken", "facts", "steps", "concluded", "found", "arcs")
PROPOSALS = pa.schema(
    [
        *((name, pa.string()) for name in ("user_id", "subject_id", "relation", "object_id")),
        ("premises", pa.list_(pa.string())),
    ]
)
"""What somebody concluded: an edge, and the ids of current edges that lead from its subject to its object."""
MAX_PEELINGS = 8
"""Rounds of peeling before what is left of a graph goes to the search for cycles: most graphs are gone after two."""


def infer(  # noqa: PLR0913  (its tables, one after the other, and what judges them)
    edges: pa.Table,
    entities: pa.Table,
    rules: Sequence[Rule],
    settings: InferenceSettings,
    connection: duckdb.DuckDBPyConnection,
    proposals: pa.Table | None = None,
) -> pa.Table:
    """Returns what follows from `edges` (columns of current_edges) by the rules, in the columns of inferred_edges.

    `entities` has the columns of that table; ends are read as the entities that their names are one with. Confidence is
    the product of the premises' effective confidence × factor, at most max_confidence. The result is a function of the
    arguments: neither the order of rows nor anything earlier matters. One row a fact, in no particular order.

    `proposals` (columns of PROPOSALS) are what somebody else concluded: judged like what rules conclude, after it.
    """
    if not (settings.is_enabled and edges.num_rows):
        return INFERRED_EDGES.empty()
    with _stated(_views(edges, entities, rules, is_all=proposals is not None), settings, connection):
        for hops in range(1, settings.max_hops + 1):
            _climb(connection, hops)
        if proposals is not None:
            _judge(connection, proposals, settings)
        return fetch(connection, statement(HERE, "inferred")).select(INFERRED_EDGES.schema.names)


def grounds(
    edges: pa.Table, entities: pa.Table, settings: InferenceSettings, connection: duckdb.DuckDBPyConnection
) -> pa.Table:
    """Returns the facts between things that ground conclusions, of any relation: edge_id, user_id, subject_id,
    subject_type, relation, object_id, object_type, learned_at; ordered by user and edge id."""
    with _stated(_views(edges, entities, (), is_all=True), settings, connection):
        return fetch(connection, statement(HERE, "grounds"))


def _views(edges: pa.Table, entities: pa.Table, rules: Sequence[Rule], *, is_all: bool) -> dict[str, pa.Table]:
    """What the statements read, by the names under which they do."""
    return {
        "known_edges": edges,
        "known_entities": entities,
        "rule_paths": rule_paths(rules),
        "relation_traits": relation_traits(rules, is_all=is_all),
    }


@contextmanager
def _stated(
    views: dict[str, pa.Table], settings: InferenceSettings, connection: duckdb.DuckDBPyConnection
) -> Iterator[None]:
    """Lays out what was stated, and clears away on leaving."""
    for name, table in views.items():
        connection.register(name, table)
    try:
        as_of = pc.max(views["known_edges"]["as_of"]).as_py()
        _set(connection, as_of=as_of, **{name: getattr(settings, name) for name in BOUNDS})
        connection.execute(statement(HERE, "macros"))
        connection.execute(statement(HERE, "stated"))
        yield
    finally:
        for name in views:
            connection.unregister(name)
        connection.execute("".join(f"DROP TABLE IF EXISTS inference_{name};" for name in TABLES))


def _climb(connection: duckdb.DuckDBPyConnection, hops: int) -> None:
    """Adds what follows from `hops` stated facts."""
    _set(connection, hops=hops, origin="chain")
    if hops > 1:
        connection.execute(statement(HERE, "steps"))
        _settle(connection, "chains")
    _set(connection, origin="restatement")
    _settle(connection, "restatements")


def _judge(connection: duckdb.DuckDBPyConnection, proposals: pa.Table, settings: InferenceSettings) -> None:
    """Adds what was proposed and may stand, as a level of its own behind those of the rules."""
    _set(connection, hops=settings.max_hops + 1, origin="proposal")
    connection.register("proposals", proposals)
    try:
        _settle(connection, "proposals")
    finally:
        connection.unregister("proposals")


def _settle(connection: duckdb.DuckDBPyConnection, conclusions: str) -> None:
    """Draws conclusions and keeps those that may stand."""
    connection.execute(statement(HERE, conclusions))
    connection.execute(statement(HERE, "settled"))
    _drop_cycles(connection)
    connection.execute("INSERT INTO inference_facts FROM inference_found")


def _drop_cycles(connection: duckdb.DuckDBPyConnection) -> None:
    """Drops what was found and lies on a cycle with what is known and what else was found."""
    connection.execute(statement(HERE, "arcs"))
    n_left = scalar(connection, "SELECT count(*) FROM inference_arcs")
    for _ in range(MAX_PEELINGS):
        n_before = n_left
        if not n_before:
            return
        connection.execute(statement(HERE, "peeled"))
        n_left = scalar(connection, "SELECT count(*) FROM inference_arcs")
        if n_left == n_before:
            break
    arcs = connection.execute("FROM inference_arcs").fetchall()
    closing = arcs_on_cycles(((graph, start), (graph, goal)) for graph, start, goal in arcs)
    if closing:
        rows = [{"graph": start[0], "start": start[1], "goal": goal[1]} for start, goal in closing]
        connection.register("arcs_on_cycles", pa.Table.from_pylist(rows))
        connection.execute(statement(HERE, "without_cycles"))
        connection.unregister("arcs_on_cycles")


def _set(connection: duckdb.DuckDBPyConnection, **values: float | str | date | Any) -> None:
    for name, value in values.items():
        connection.execute(f"SET VARIABLE {name} = ?", [value])


class Proposed(Protocol):
    """What was proposed, in columns of infer.PROPOSALS, and how many users are still to be asked about."""

    @property
    def rows(self) -> pa.Table: ...
    @property
    def n_waiting(self) -> int: ...


class Proposer(Protocol):
    """Says what else follows from facts; `model` is the name of who says it."""

    model: str

    def propose(self, grounds: pa.Table, as_of: date) -> Proposed:
        """Asks about each user's facts, in the columns of infer.grounds."""


@dataclass
class InferenceRun:
    """Infers by rules, and by a proposer if there is one.

    A day about which the proposer still waits for answers stands with what follows by rules, and stays out of date.
    """

    rules: tuple[Rule, ...]
    settings: InferenceSettings
    proposer: Proposer | None = None
    _is_waiting: bool = field(default=False, init=False)

    def run(self, day: date, tables: Tables, _: Records) -> Tables:
        """The day's inferred_edges."""
        edges, entities = tables["state_current_edges"], tables["state_entities"]
        proposals = None
        with connect() as connection:
            if self.proposer is not None:
                proposed = self.proposer.propose(grounds(edges, entities, self.settings, connection), day)
                proposals, self._is_waiting = proposed.rows, bool(proposed.n_waiting)
            made = infer(edges, entities, self.rules, self.settings, connection, proposals)
        return {INFERRED_EDGES.name: made}

    def is_complete(self, _: Tables) -> bool:
        """Whether nobody of the day that was made last is still to be asked about."""
        return not self._is_waiting
