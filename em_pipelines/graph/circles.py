"""Circles: nothing is part of itself, its own ancestor or its own superior, over whatever steps.

A statement that would close one is kept and marked as contradicted: which of the statements is wrong, nobody said.
"""

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from em_pipelines.graph.relations import ACYCLIC
from em_pipelines.sql import fetch, scalar, statement

HERE = Path(__file__).parent
Row = dict[str, Any]


def break_circles(connection: duckdb.DuckDBPyConnection) -> None:
    """Marks today's active edges that close a circle, in the order in which they were learned."""
    relations = pa.table({"relation_key": sorted(ACYCLIC)})
    connection.register("acyclic", relations)
    try:
        if not scalar(connection, "SELECT count(*) FROM live SEMI JOIN acyclic USING (relation_key)"):
            return
        edges = fetch(connection, statement(HERE, "ladder")).to_pylist()
    finally:
        connection.unregister("acyclic")
    closing = list(_closing(edges))
    if not closing:
        return
    connection.register("closing", pa.table({"edge_id": closing}))
    for name in ("circles_note", "circles_update"):
        connection.execute(statement(HERE, name))
    connection.unregister("closing")


def _closing(edges: list[Row]) -> list[str]:
    """Ids of today's edges that lead back to where they start, over those that stand before them."""
    above: dict[tuple[str, str, str], set[str]] = {}
    found: list[str] = []
    for edge in sorted(edges, key=lambda e: (e["is_today"], e["learned_at"], e["edge_id"])):
        user, relation, start, end = (edge[n] for n in ("user_id", "relation_key", "subject_key", "target_key"))
        if edge["is_today"] and _leads_to(above, user, relation, end, start):
            found.append(edge["edge_id"])
        else:
            above.setdefault((user, relation, start), set()).add(end)
    return found


def _leads_to(above: dict[tuple[str, str, str], set[str]], user: str, relation: str, start: str, end: str) -> bool:
    seen, todo = {start}, [start]
    while todo:
        here = todo.pop()
        if here == end:
            return True
        new = above.get((user, relation, here), set()) - seen
        seen |= new
        todo += new
    return False
