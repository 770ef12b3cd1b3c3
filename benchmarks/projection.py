"""The graph over Bolt: 10,000 entities and 50,000 edges, first written whole, then synced again unchanged and after a
night in which a tenth of the facts faded.

The server is that of the package arcadedb-embedded, on loopback, on the same cores as the sync.
"""

import random
import tempfile
import time
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
from rich.console import Console
from rich.table import Table as Printed

from benchmarks.engine import REFERENCE_LOOPS, reference_seconds
from em_pipelines.projection.sync import SyncReport, sync
from em_pipelines.projection.wanted import Wanted
from em_pipelines.sql import connect
from em_pipelines.tables.derived import CURRENT_EDGES
from em_pipelines.tables.graph import ENTITIES
from em_pipelines.vocabulary import LITERAL_OBJECT, RELATIONS
from resources.graph_address import read_graph_settings
from resources.neo4j import Neo4jGraph, connected
from tests.graph_server.server import running

N_ENTITIES, N_EDGES, N_USERS = 10_000, 50_000, 100
SAID = datetime(2026, 1, 1, tzinfo=UTC)
MIN_ROWS_PER_SECOND = 10_000
MAX_SHARE = 0.10


def main() -> None:
    """Runs the benchmark and prints it."""
    reference = reference_seconds()
    entities, edges = _world(faded=False)
    later = _world(faded=True)
    with (
        tempfile.TemporaryDirectory(prefix="em-graph-") as folder,
        running(Path(folder)) as server,
        connected(read_graph_settings(server.environment)) as graph,
    ):
        cold = _timed(graph, entities, edges)
        server.clear()
        runs = {
            "first, server just started": cold,
            "first": _timed(graph, entities, edges),
            "no change": _timed(graph, entities, edges),
            "a tenth faded": _timed(graph, *later),
        }
    table = Printed(title=f"{N_ENTITIES:,} entities, {N_EDGES:,} edges over Bolt", title_justify="left")
    for column in ("sync", "seconds", "rows written", "rows/s"):
        table.add_column(column, justify="left" if column == "sync" else "right")
    for name, (seconds, report) in runs.items():
        table.add_row(name, f"{seconds:.2f}", f"{report.n_written:,}", f"{report.n_written / seconds:,.0f}")
    Console().print(table)
    first, again = runs["first"], runs["no change"]
    Console().print(
        f"wanted: {MIN_ROWS_PER_SECOND:,} rows/s the first time, a sync without change at most {MAX_SHARE:.0%} of it; "
        f"reached {first[1].n_written / first[0]:,.0f} and {again[0] / first[0]:.1%}"
    )
    Console().print(
        f"{first[1].n_written * reference / first[0]:,.0f} rows in the time of {REFERENCE_LOOPS:,} additions in Python"
    )


def _timed(graph: Neo4jGraph, entities: pa.Table, edges: pa.Table) -> tuple[float, SyncReport]:
    """Seconds of one sync, from tables to the compared checksum."""
    begun = time.perf_counter()
    with connect() as connection:
        report = sync(graph, Wanted(entities, edges, connection))
    assert report.is_equal
    return time.perf_counter() - begun, report


def _world(*, faded: bool) -> tuple[pa.Table, pa.Table]:
    """Entities and edges of invented users: a third of each user's facts are about the user, as in a memory."""
    rng = random.Random(7)
    n_things, n_facts = N_ENTITIES // N_USERS, N_EDGES // N_USERS
    relations = sorted(RELATIONS - LITERAL_OBJECT)
    entities, edges = [], []
    for user in range(N_USERS):
        ids = [f"ent_{user:04}_{number:06}" for number in range(n_things)]
        entities += [_entity(user, number, found) for number, found in enumerate(ids)]
        for number in range(n_facts):
            subject = ids[0] if number % 3 == 0 else rng.choice(ids)
            confidence = 0.8 if faded and number % 10 == 0 else 0.9
            edges.append(_edge(user, number, subject, rng.choice(ids), rng.choice(relations), confidence))
    return ENTITIES.from_rows(entities), CURRENT_EDGES.from_rows(edges)


def _entity(user: int, number: int, entity_id: str) -> dict[str, object]:
    return {
        "entity_id": entity_id, "user_id": f"user-{user}", "canonical_name": f"Thing {number}",
        "name_key": f"thing {number}", "discriminator": "", "aliases": [], "alias_keys": [], "entity_type": "concept",
        "first_seen": SAID, "last_referenced": SAID, "mention_count": 3, "importance": 0.2, "certainty": 1.0,
        "privacy_level": "L2", "requires_verification": False, "qualifiers": [], "links": [], "distinct_from": [],
        "status": "active",
    }  # fmt: skip


def _edge(user: int, number: int, subject: str, object_: str, relation: str, confidence: float) -> dict[str, object]:
    source = {"session_id": f"s{number % 40}", "turn_number": number, "span_start": 0, "span_end": 9}
    return {
        "edge_id": f"edge_{user:04}_{number:06}", "user_id": f"user-{user}", "subject_id": subject,
        "relation": relation, "object_id": object_, "object_key": object_, "spell": 1, "polarity": 1,
        "temporal_type": "state", "valid_from": SAID.date(), "valid_precision": "month", "learned_at": SAID,
        "last_reinforced": SAID, "confidence": 0.9, "reinforcement_count": 1, "hedge_level": "none",
        "source_mechanism": "explicit", "flags": [], "context_tags": [], "privacy_level": "L2",
        "requires_verification": False, "has_pasted_source": False, "status": "active",
        "provenance": [{**source, "extraction_id": "rules"}], "effective_confidence": confidence,
        "as_of": date(2026, 3, 1),
    }  # fmt: skip


if __name__ == "__main__":
    main()
