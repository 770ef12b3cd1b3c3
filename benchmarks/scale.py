"""Ten million edges on one machine: decay and fold against a plain copy of the same columns, Parquet to Parquet.

Ratios within one run, for machines differ and are shared. Peak memory is of the whole process.
"""

import resource
import tempfile
import time
from datetime import date
from pathlib import Path

import duckdb
import pyarrow as pa

from em_pipelines.extraction.feedback_statements import Spoken
from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.graph.fold import fold
from em_pipelines.graph.rounds import FoldSettings
from em_pipelines.graph.row_fold import Day
from em_pipelines.language.name_keys import name_key
from em_pipelines.lifecycle.decay import current_edges
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.extraction import CLAIMS, MENTIONS
from em_pipelines.schema.tables.graph import CONTRADICTIONS, EDGES, ENTITIES, ENTITY_MENTIONS, ENTITY_OPS
from em_pipelines.storage.duckdb_engine import EngineSettings, ParquetRows, Query, connect, fetch, statement
from em_pipelines.storage.lake import COMPRESSION, ROW_GROUP_ROWS, Lake

HERE = Path(__file__).parent
N_EDGES = 10_000_000
N_CLAIMS = 100_000
EDGES_PER_USER = 1_000
STATE_DAY = date(2026, 10, 31)
DAY = date(2026, 11, 1)


def run(n_edges: int = N_EDGES, n_claims: int = N_CLAIMS) -> None:
    """Makes a state of `n_edges`, then prints seconds and ratios of copy, decay and the fold of a day."""
    with tempfile.TemporaryDirectory(prefix="em-scale-", ignore_cleanup_errors=True) as folder:
        root = Path(folder)
        connection = connect(engine=EngineSettings(), spill=root / "spill")
        lake = Lake(root / "lake")
        _prepare(connection, lake, n_edges, n_claims)
        state, registry = lake.scan(EDGES, STATE_DAY), lake.scan(ENTITIES, STATE_DAY)
        assert isinstance(state, ParquetRows)
        print(f"{n_edges:,} edges, {Path(state.path).stat().st_size / 1e6:,.0f} MB; {n_claims:,} claims")
        copy = min(_copy(connection, state.path, root / "copy.parquet") for _ in range(2))
        _print("copy, Parquet to Parquet", copy, copy)
        started = time.perf_counter()
        standing = current_edges(state, registry, DAY, DecaySettings(), connection)
        lake.write(CURRENT_EDGES, DAY, standing)
        _print("decay, expiry and archival (at most 3)", time.perf_counter() - started, copy)
        started = time.perf_counter()
        _fold(connection, lake, state, registry)
        _print("fold of a day (at most 10)", time.perf_counter() - started, copy)
        print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB (at most 8)")


def _print(what: str, seconds: float, copy: float) -> None:
    print(f"{what:42} {seconds:7.1f} s {seconds / copy:6.2f} x copy", flush=True)


def _copy(connection: duckdb.DuckDBPyConnection, source: str, target: Path) -> float:
    started = time.perf_counter()
    connection.execute(
        f"COPY (FROM read_parquet('{source}')) TO '{target}' "
        f"(FORMAT parquet, COMPRESSION {COMPRESSION}, ROW_GROUP_SIZE {ROW_GROUP_ROWS})"
    )
    return time.perf_counter() - started


def _prepare(connection: duckdb.DuckDBPyConnection, lake: Lake, n_edges: int, n_claims: int) -> None:
    """A state as years of conversations leave it: relations, types and dates mixed, a twentieth of names merged."""
    for name, value in (("n_edges", n_edges), ("n_claims", n_claims), ("edges_per_user", EDGES_PER_USER)):
        connection.execute(f"SET VARIABLE {name} = {value}")
    connection.execute("SET VARIABLE day = ?::DATE", [DAY])
    connection.execute(statement(HERE, "macros"))
    for table, name in ((EDGES, "edges"), (ENTITIES, "entities")):
        lake.write(table, STATE_DAY, Query(connection, statement(HERE, name)))
    for table, name in ((CLAIMS, "claims"), (MENTIONS, "mentions"), (ENTITY_MENTIONS, "entity_mentions")):
        lake.write(table, DAY, Query(connection, statement(HERE, name)))


def _fold(
    connection: duckdb.DuckDBPyConnection, lake: Lake, state: ParquetRows, registry: pa.Table | ParquetRows
) -> None:
    today = Day(
        day=DAY,
        claims=lake.read(CLAIMS, DAY),
        mentions=lake.read(MENTIONS, DAY),
        entity_mentions=lake.read(ENTITY_MENTIONS, DAY),
        entity_ops=ENTITY_OPS.empty(),
        entities=registry,
        spoken=Spoken(),
    )
    made = fold(
        state,
        CONTRADICTIONS.empty(),
        today,
        settings=FoldSettings(),
        decay=DecaySettings(),
        connection=connection,
        name_key=name_key,
    )
    lake.write(EDGES, DAY, made.edges)
    found = fetch(connection, "SELECT kind, count(*) AS n FROM changes GROUP BY ALL ORDER BY n DESC").to_pylist()
    print("operations:", ", ".join(f"{row['n']:,} {row['kind']}" for row in found))


if __name__ == "__main__":
    run()
