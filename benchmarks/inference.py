"""Inference over a million current edges of invented users: seconds, and edges that follow.

Each user has people, places, employers, projects and tools; a third of the edges are of relations that no rule looks
at. One employer of one user has ten thousand people, as an imported address book may have.
"""

import random
import time
from datetime import UTC, date, datetime

import pyarrow as pa
from rich.console import Console
from rich.table import Table as Printed

from em_pipelines.inference.infer import infer
from em_pipelines.inference.rules import rules_of
from em_pipelines.inference.settings import InferenceSettings
from em_pipelines.sql import connect
from em_pipelines.tables.derived import CURRENT_EDGES
from em_pipelines.tables.graph import ENTITIES
from em_pipelines.tables.schema import Table

N_EDGES = 1_000_000
EDGES_A_USER = 2_000
N_HUB = 10_000
SAID = datetime(2026, 1, 1, tzinfo=UTC)
KINDS = {"person": 300, "place": 60, "organization": 40, "project": 40, "tool": 120, "event": 40, "food": 200}
"""Things of each user, by entity type."""
SHARES = (
    (33, "likes", "person", "food"), (10, "works_at", "person", "organization"), (10, "lives_in", "person", "place"),
    (8, "parent_of", "person", "person"), (8, "friend_of", "person", "person"), (5, "works_on", "person", "project"),
    (5, "uses", "project", "tool"), (5, "depends_on", "tool", "tool"), (4, "located_in", "place", "place"),
    (3, "part_of", "project", "project"), (3, "attended", "person", "event"), (2, "located_in", "event", "place"),
    (2, "reports_to", "person", "person"), (2, "spouse_of", "person", "person"),
)  # fmt: skip
"""Percent of the edges, by relation and the types of its ends."""


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
            found = infer(edges.slice(0, n_edges), entities, rules_of(settings), settings, connection)
            seconds = time.perf_counter() - begun
        table.add_row(f"{n_edges:,}", f"{seconds:.2f}", f"{n_edges / seconds:,.0f}", f"{found.num_rows:,}")
    console.print(table)


def invented(n_edges: int, seed: int) -> tuple[pa.Table, pa.Table]:
    """So many current edges, and the entities at their ends."""
    rng = random.Random(seed)
    things = {kind: [f"{kind}{n}" for n in range(n_of)] for kind, n_of in KINDS.items()}
    rows: list[tuple[str, str, str, str]] = []
    known: dict[tuple[str, str], str] = {}
    for n in range(N_HUB):
        rows.append(("user0", f"hub{n}", "works_at", "employer"))
        known["user0", f"hub{n}"] = "person"
    known["user0", "employer"] = "organization"
    n_user = 0
    while len(rows) < n_edges:
        user = f"user{n_user}"
        n_user += 1
        chosen = rng.choices(SHARES, weights=[share[0] for share in SHARES], k=EDGES_A_USER)
        said = {
            (user, rng.choice(things[of]), relation, rng.choice(things[to])): (of, to) for _, relation, of, to in chosen
        }
        for row, (of, to) in said.items():
            known[user, row[1]], known[user, row[3]] = of, to
        rows += said
    rows = rows[:n_edges]
    edges = _filled(
        CURRENT_EDGES,
        edge_id=[f"edge_{n:07}" for n in range(len(rows))],
        user_id=[user for user, *_ in rows],
        subject_id=[f"{user}/{subject}" for user, subject, _, _ in rows],
        relation=[relation for _, _, relation, _ in rows],
        object_id=[f"{user}/{object_}" for user, _, _, object_ in rows],
        object_key=[f"{user}/{object_}" for user, _, _, object_ in rows],
        effective_confidence=[round(rng.uniform(0.4, 1), 4) for _ in rows],
    )
    entities = _filled(
        ENTITIES,
        entity_id=[f"{user}/{thing}" for user, thing in known],
        user_id=[user for user, _ in known],
        entity_type=list(known.values()),
    )
    return edges, entities


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
