"""Inference by rules: which edges follow from the current ones, as set-based joins over all users at once.

Level by level, by the number of stated facts in a chain: on the facts of shorter chains the rules of two and three
patterns, then on what they gave the rules of one pattern. A level costs a fixed number of statements, however many
rules there are: rules are rows. Nothing is written anywhere.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.inference.cycles import arcs_on_cycles
from em_pipelines.inference.paths import relation_traits, rule_paths
from em_pipelines.inference.rules import Rule
from em_pipelines.inference.settings import InferenceSettings
from em_pipelines.sql import fetch, scalar, statement
from em_pipelines.tables.derived import INFERRED_EDGES

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


def infer(
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
    with _stated(edges, entities, rules, settings, connection, is_all=proposals is not None):
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
    with _stated(edges, entities, (), settings, connection, is_all=True):
        return fetch(connection, statement(HERE, "grounds"))


@contextmanager
def _stated(
    edges: pa.Table, entities: pa.Table, rules: Sequence[Rule], settings: InferenceSettings,
    connection: duckdb.DuckDBPyConnection, *, is_all: bool,
) -> Iterator[None]:  # fmt: skip
    """Lays out what was stated, and clears away on leaving."""
    given = {
        "known_edges": edges,
        "known_entities": entities,
        "rule_paths": rule_paths(rules),
        "relation_traits": relation_traits(rules, is_all=is_all),
    }
    for name, table in given.items():
        connection.register(name, table)
    try:
        _set(connection, as_of=pc.max(edges["as_of"]).as_py(), **{name: getattr(settings, name) for name in BOUNDS})
        connection.execute(statement(HERE, "macros"))
        connection.execute(statement(HERE, "stated"))
        yield
    finally:
        for name in given:
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
    found = arcs_on_cycles(((graph, start), (graph, goal)) for graph, start, goal in arcs)
    if found:
        rows = [{"graph": start[0], "start": start[1], "goal": goal[1]} for start, goal in found]
        connection.register("arcs_on_cycles", pa.Table.from_pylist(rows))
        connection.execute(statement(HERE, "without_cycles"))
        connection.unregister("arcs_on_cycles")


def _set(connection: duckdb.DuckDBPyConnection, **values: float | str | date | Any) -> None:
    for name, value in values.items():
        connection.execute(f"SET VARIABLE {name} = ?", [value])
