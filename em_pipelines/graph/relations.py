"""Relations as the fold compares them: which say the same the other way round, which cannot hold together, and the
circles that some may not form.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from em_pipelines.schema.vocabulary import FUNCTIONAL, RELATIONS, SYMMETRIC
from em_pipelines.storage.duckdb_engine import fetch, scalar, statement

HERE = Path(__file__).parent

PREFERENCE = "preference"
"""The family of relations that speak for or against one thing, and so can contradict each other."""
TONES: dict[str, tuple[int, int]] = {
    "likes": (1, -1),
    "prefers": (1, 0),
    "interested_in": (1, 0),
    "might_be_interested_in": (0, 0),
    "dislikes": (-1, 0),
}
"""Whether a relation speaks for (1) or against (-1) its object, stated and denied: who no longer prefers a thing, or
does not dislike it, says neither."""
KEPT_DIRECTION = {"child_of": "parent_of", "has_part": "part_of", "manages": "reports_to"}
"""Inverse relations, and the one that stands for both when facts are compared; the functional one where one is."""
ACYCLIC = frozenset({"part_of", "parent_of", "reports_to", "located_in"})
"""Relations (of those that are kept) in which nothing can be above itself."""
TAKEN_BACK_TOGETHER: tuple[frozenset[str], ...] = (
    frozenset({"likes", "prefers", "interested_in", "might_be_interested_in"}),
    frozenset({"wants", "needs", "plans", "decided"}),
    frozenset({"owns", "uses", "has_pet"}),
    frozenset({"did", "attended", "visited"}),
    frozenset({"knows", "friend_of", "colleague_of", "relates_to"}),
    frozenset({"is_a", "works_as"}),
)
"""Relations between which extractors differ for one sentence: who takes one of them back means the sentence."""


def kept(relation: str) -> str:
    """The relation under which a fact is compared."""
    return KEPT_DIRECTION.get(relation, relation)


def taken_back_with(relation: str) -> frozenset[str]:
    """Relations that go when a fact of this one is taken back."""
    return next((group for group in TAKEN_BACK_TOGETHER if relation in group), frozenset({relation}))


@cache
def relation_kinds() -> pa.Table:
    """One row a relation: how SQL is to compare it."""
    rows = [
        {
            "relation": relation,
            "relation_key": kept(relation),
            "family": PREFERENCE if relation in TONES else kept(relation),
            "is_functional": kept(relation) in FUNCTIONAL,
            "is_inverse": relation in KEPT_DIRECTION,
            "is_symmetric": relation in SYMMETRIC,
            "tone": TONES.get(relation, (0, 0))[0],
            "tone_denied": TONES.get(relation, (0, 0))[1],
        }
        for relation in sorted(RELATIONS)
    ]
    return pa.Table.from_pylist(rows)


def install_edge_macros(connection: duckdb.DuckDBPyConnection) -> None:
    """Defines the macros of sql/macros.sql: ids, slots and directions of edges, for as long as the connection lives."""
    connection.execute(statement(HERE, "macros"))


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
    closing = circles(edges)
    if not closing:
        return
    connection.register("closing", pa.table({"edge_id": closing}))
    for name in ("circles_note", "circles_update"):
        connection.execute(statement(HERE, name))
    connection.unregister("closing")


def circles(edges: Iterable[Row]) -> list[str]:
    """Ids of today's edges that lead back to where they start, over those that stand before them.

    Edges are placed, with `is_today` and learned_at, edge_id and user_id.
    """
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
