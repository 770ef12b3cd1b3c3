"""The graph over Bolt: 10,000 entities and 50,000 edges, first written whole, then synced again unchanged and after a
night in which a tenth of the facts faded.

The server is that of the package arcadedb-embedded, on loopback, on the same cores as the sync. Where
EM_TEST_NEO4J_JARS names a folder of jars, it is Neo4j itself. Seconds of CPU are shown beside
those of the clock: on a machine that does something else as well, they say more.
"""

import random
import tempfile
import time
from contextlib import nullcontext
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
from rich.console import Console
from rich.table import Table as Printed

from benchmarks.engine import REFERENCE_LOOPS, reference_seconds
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.schema.vocabulary import RELATIONS, STORED_AS_VALUE
from em_pipelines.serving.projection.sync import SyncReport
from em_pipelines.serving.projection.sync_home import sync_home
from em_pipelines.settings import load_settings
from resources.graph_address import read_graph_settings
from resources.neo4j import Neo4jGraph, connected
from tests.graph_server.server import BoltServer, running

N_ENTITIES, N_EDGES, N_USERS = 10_000, 50_000, 100
SAID = datetime(2026, 1, 1, tzinfo=UTC)
FIRST, LATER = date(2026, 3, 1), date(2026, 3, 2)
N_WARMING = 3
"""First syncs before the one that counts: a server compiles what it does often while it does it."""
MIN_ROWS_PER_SECOND = 10_000
MAX_SHARE = 0.10
Measured = tuple[float, float, float, SyncReport]


def main() -> None:
    """Runs the benchmark and prints it."""
    reference = reference_seconds()
    runs: dict[str, Measured] = {}
    with (
        tempfile.TemporaryDirectory(prefix="em-graph-") as folder,
        running(Path(folder, "server")) as server,
        connected(read_graph_settings(server.environment)) as graph,
    ):
        home = Pipeline(load_settings(home=Path(folder, "home")))
        _fill(home, FIRST, faded=False)
        runs["first, server just started"] = _timed(home, graph, server)
        for _ in range(N_WARMING):
            server.clear()
            runs["first"] = _timed(home, graph, server)
        runs["no change"] = _timed(home, graph, server)
        _fill(home, LATER, faded=True)
        runs["a tenth faded"] = _timed(home, graph, server)
    _print(runs, type(server).__name__, reference)


def _print(runs: dict[str, Measured], server: str, reference: float) -> None:
    title = f"{N_ENTITIES:,} entities, {N_EDGES:,} edges over Bolt to {server}"
    table = Printed(title=title, title_justify="left")
    for column in ("sync", "seconds", "CPU here", "CPU of the server", "rows written", "rows/s"):
        table.add_column(column, justify="left" if column == "sync" else "right")
    for name, (seconds, own, others, report) in runs.items():
        speed = f"{report.n_written / seconds:,.0f}"
        table.add_row(name, f"{seconds:.2f}", f"{own:.2f}", f"{others:.2f}", f"{report.n_written:,}", speed)
    console = Console()
    console.print(table)
    (first, *first_cpu, report), (again, *again_cpu, _) = runs["first"], runs["no change"]
    console.print(
        f"wanted: {MIN_ROWS_PER_SECOND:,} rows/s the first time, a sync without change at most {MAX_SHARE:.0%} of it; "
        f"reached {report.n_written / first:,.0f} and {again / first:.1%}; by CPU "
        f"{report.n_written / sum(first_cpu):,.0f} and {sum(again_cpu) / sum(first_cpu):.1%}"
    )
    console.print(
        f"{report.n_written * reference / first:,.0f} rows in the time of {REFERENCE_LOOPS:,} additions in Python"
    )


def _timed(home: Pipeline, graph: Neo4jGraph, server: BoltServer) -> Measured:
    """Seconds of one sync, from the lake's files to the compared checksum, and of CPU on both sides."""
    begun, own, others = time.perf_counter(), time.process_time(), server.cpu_seconds()
    report = sync_home(home, lambda: nullcontext(graph))
    assert report.is_equal
    return time.perf_counter() - begun, time.process_time() - own, server.cpu_seconds() - others, report


def _fill(home: Pipeline, day: date, *, faded: bool) -> None:
    """Makes a world the state of a day."""
    for table, rows in zip((ENTITIES, CURRENT_EDGES), _world(faded=faded), strict=True):
        home.store.lake.write(table, day, rows)


def _world(*, faded: bool) -> tuple[pa.Table, pa.Table]:
    """Entities and edges of invented users: a third of each user's facts are about the user, as in a memory."""
    rng = random.Random(7)
    n_things, n_facts = N_ENTITIES // N_USERS, N_EDGES // N_USERS
    relations = sorted(RELATIONS - STORED_AS_VALUE)
    entities, edges = [], []
    for user in range(N_USERS):
        ids = [f"ent_{user:04}_{number:06}" for number in range(n_things)]
        entities += [_entity(user, number, entity_id) for number, entity_id in enumerate(ids)]
        for number in range(n_facts):
            subject = ids[0] if number % 3 == 0 else rng.choice(ids)
            confidence = 0.8 if faded and number % 10 == 0 else 0.9
            said = {"subject_id": subject, "object_id": rng.choice(ids), "relation": rng.choice(relations)}
            edges.append(_edge(user, number, said, confidence))
    return ENTITIES.from_rows(entities), CURRENT_EDGES.from_rows(edges)


def _entity(user: int, number: int, entity_id: str) -> dict[str, object]:
    return {
        "entity_id": entity_id, "user_id": f"user-{user}", "canonical_name": f"Thing {number}",
        "name_key": f"thing {number}", "discriminator": "", "aliases": [], "alias_keys": [], "entity_type": "concept",
        "first_seen": SAID, "last_referenced": SAID, "mention_count": 3, "importance": 0.2, "certainty": 1.0,
        "privacy_level": "L2", "requires_verification": False, "qualifiers": [], "links": [], "distinct_from": [],
        "status": "active",
    }  # fmt: skip


def _edge(user: int, number: int, said: dict[str, str], confidence: float) -> dict[str, object]:
    source = {"session_id": f"s{number % 40}", "turn_number": number, "span_start": 0, "span_end": 9}
    return {
        "edge_id": f"edge_{user:04}_{number:06}", "user_id": f"user-{user}", **said,
        "object_key": said["object_id"], "spell": 1, "polarity": 1,
        "temporal_type": "state", "valid_from": SAID.date(), "valid_precision": "month", "learned_at": SAID,
        "last_reinforced": SAID, "confidence": 0.9, "reinforcement_count": 1, "hedge_level": "none",
        "source_mechanism": "explicit", "flags": [], "context_tags": [], "privacy_level": "L2",
        "requires_verification": False, "has_pasted_source": False, "status": "active",
        "provenance": [{**source, "extraction_id": "rules"}], "effective_confidence": confidence,
        "as_of": date(2026, 3, 1),
    }  # fmt: skip


if __name__ == "__main__":
    main()
