"""Inference over a million current edges of invented users: seconds, and edges that follow.

Each user has people, places, employers, projects and tools; a third of the edges are of relations that no rule looks
at. One employer of one user has ten thousand people, as an imported address book may have.
"""

import random
import time
from datetime import UTC, date, datetime
from typing import NamedTuple

import pyarrow as pa
from rich.console import Console
from rich.table import Table as Printed

from em_pipelines.lifecycle.inference.infer import infer
from em_pipelines.lifecycle.inference.rules import rules_of
from em_pipelines.lifecycle.inference.settings import InferenceSettings
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.storage.duckdb_engine import connect

N_EDGES = 1_000_000
EDGES_A_USER = 2_000
N_HUB = 10_000
SAID = datetime(2026, 1, 1, tzinfo=UTC)
KINDS = {"person": 300, "place": 60, "organization": 40, "project": 40, "tool": 120, "event": 40, "food": 200}
"""Things of each user, by entity type."""
THINGS = {kind: [f"{kind}{n}" for n in range(n_of)] for kind, n_of in KINDS.items()}
SHARES = (
    (33, "likes", "person", "food"), (10, "works_at", "person", "organization"), (10, "lives_in", "person", "place"),
    (8, "parent_of", "person", "person"), (8, "friend_of", "person", "person"), (5, "works_on", "person", "project"),
    (5, "uses", "project", "tool"), (5, "depends_on", "tool", "tool"), (4, "located_in", "place", "place"),
    (3, "part_of", "project", "project"), (3, "attended", "person", "event"), (2, "located_in", "event", "place"),
    (2, "reports_to", "person", "person"), (2, "spouse_of", "person", "person"),
)  # fmt: skip
"""Percent of the edges, by relation and the types of its ends."""


class Statement(NamedTuple):
    """What one user says: an edge between two of their things."""

    user: str
    subject: str
    relation: str
    object: str


def main() -> None:
    """Runs the benchmark and prints it."""
    console = Console()
    edges, entities = invented(N_EDGES, seed=1)
    settings = InferenceSettings()
    table = Printed(title="current_edges → inferred_edges", title_justify="left")
    for column in ("edges", "seconds", "edges/s", "inferred"):
        table.add_column(column, justify="right")
    for n_edges in (N_EDGES // 4, N_EDGES // 2, N_EDGES):
        with connect() as connection:
            begun = time.perf_counter()
            inferred = infer(edges.slice(0, n_edges), entities, rules_of(settings), settings, connection)
            seconds = time.perf_counter() - begun
        table.add_row(f"{n_edges:,}", f"{seconds:.2f}", f"{n_edges / seconds:,.0f}", f"{inferred.num_rows:,}")
    console.print(table)


def invented(n_edges: int, seed: int) -> tuple[pa.Table, pa.Table]:
    """So many current edges, and the entities at their ends."""
    rng = random.Random(seed)
    rows = [Statement("user0", f"hub{n}", "works_at", "employer") for n in range(N_HUB)]
    known = {("user0", f"hub{n}"): "person" for n in range(N_HUB)} | {("user0", "employer"): "organization"}
    n_users = 0
    while len(rows) < n_edges:
        for said, (of, to) in _statements(f"user{n_users}", rng).items():
            known[said.user, said.subject], known[said.user, said.object] = of, to
            rows.append(said)
        n_users += 1
    return _edges(rows[:n_edges], rng), _entities(known)


def _edges(rows: list[Statement], rng: random.Random) -> pa.Table:
    """As current edges of any confidence."""
    return _filled(
        CURRENT_EDGES,
        edge_id=[f"edge_{n:07}" for n in range(len(rows))],
        user_id=[row.user for row in rows],
        subject_id=[f"{row.user}/{row.subject}" for row in rows],
        relation=[row.relation for row in rows],
        object_id=[f"{row.user}/{row.object}" for row in rows],
        object_key=[f"{row.user}/{row.object}" for row in rows],
        effective_confidence=[round(rng.uniform(0.4, 1), 4) for _ in rows],
    )


def _statements(user: str, rng: random.Random) -> dict[Statement, tuple[str, str]]:
    """What one user says, each with the types of its ends."""
    chosen = rng.choices(SHARES, weights=[share[0] for share in SHARES], k=EDGES_A_USER)
    return {
        Statement(user, rng.choice(THINGS[of]), relation, rng.choice(THINGS[to])): (of, to)
        for _, relation, of, to in chosen
    }


def _entities(known: dict[tuple[str, str], str]) -> pa.Table:
    """Of each user's thing, by its type."""
    return _filled(
        ENTITIES,
        entity_id=[f"{user}/{thing}" for user, thing in known],
        user_id=[user for user, _ in known],
        entity_type=list(known.values()),
    )


def _filled(table: Table, **columns: list[str] | list[float]) -> pa.Table:
    """Rows with these columns; the others are the same everywhere, or null where they may be."""
    n_rows = len(next(iter(columns.values())))
    same: dict[pa.DataType, object] = {
        pa.string(): "", pa.int64(): 1, pa.float64(): 0.9, pa.bool_(): False, pa.date32(): date(2026, 1, 2),
        pa.timestamp("us", tz="UTC"): SAID,
    }  # fmt: skip
    named = {"status": "active", "temporal_type": "state", "privacy_level": "L2"}
    made = []
    for field in table.schema:
        if field.name in columns:
            made.append(pa.array(columns[field.name], field.type))
        elif field.nullable:
            made.append(pa.nulls(n_rows, field.type))
        elif pa.types.is_list(field.type):
            made.append(pa.array([[]] * n_rows, field.type))
        else:
            made.append(pa.array([named.get(field.name, same[field.type])] * n_rows, field.type))
    return pa.Table.from_arrays(made, schema=table.schema)


if __name__ == "__main__":
    main()
