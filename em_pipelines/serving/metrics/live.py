"""What the metrics come to now: totals of the days that were counted, and what is only known of now. Changes nothing.

Reads the table `metrics`, what models took (SQLite), today's probes and starters, and notes. It works for a home that
is at work, and for one on a disk that is mounted for reading alone: as of what was counted last.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Protocol

import orjson
import pyarrow as pa

from em_pipelines.landing.erasure_requests import RequestBook
from em_pipelines.lifecycle.proactive.offers import OFFERED, OfferBook
from em_pipelines.llm.settings import LlmSettings
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.outgoing import PROBES
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.schema.tables.record import METRICS
from em_pipelines.serving.metrics.catalogue import BY_NAME, OF_SAMPLE, Kind
from em_pipelines.serving.metrics.queues import queues
from em_pipelines.serving.metrics.samples import Sample, of_histogram
from em_pipelines.serving.projection.sync_home import LATENCY_NOTE, OPEN_SECONDS
from em_pipelines.serving.projection.sync_home import NOTE as GRAPH_NOTE
from em_pipelines.storage.duckdb_engine import registered, scratch, statement
from em_pipelines.storage.histograms import FOLDER, read_note
from em_pipelines.storage.outage import OutageNote
from em_pipelines.storage.store import Store

HERE = Path(__file__).parent
PENDING = ("em_extraction_total", '{"stage":"reading","status":"pending"}')
"""What waits for a model is counted of each day, and told as a queue: it is no total, for it gets less."""
CLOSED, HALF_OPEN, OPEN = 0.0, 1.0, 2.0


class MeteredSettings(Protocol):
    """How models are asked."""

    @property
    def llm(self) -> LlmSettings: ...


class MeteredHome(Protocol):
    """A home that tells how it goes."""

    @property
    def path(self) -> Path: ...
    @property
    def store(self) -> Store: ...
    @property
    def settings(self) -> MeteredSettings: ...
    @property
    def answers(self) -> Path: ...
    @property
    def book(self) -> RequestBook: ...
    @property
    def offers(self) -> OfferBook: ...


def samples(home: MeteredHome, now: datetime) -> list[Sample]:
    """Every sample there is, in order. `now` is an instant, for the ages of what waits. Raises CorruptTableError, and
    what else reading raises."""
    totals, pending = _totals(home.store)
    found = [*totals, *_probes(home), *_latencies(home.path), *_breakers(home)]
    if home.answers.exists():
        from em_pipelines.serving.metrics.calls import calls  # noqa: PLC0415  (SQLite, where models were asked)

        found = [*(one for one in found if not one.metric.name.startswith("em_llm_")), *calls(home.answers)]
    return sorted([*found, *queues(home, pending, now.astimezone(UTC))], key=lambda one: one.order)


def _totals(store: Store) -> tuple[list[Sample], list[tuple[date, float]]]:
    """Counters of all days and gauges of the newest; and of what day how many messages wait for a model."""
    days = store.lake.days(METRICS)
    return store.lake.once("metrics", [METRICS], days, lambda: _summed(store, days))


def _summed(store: Store, days: list[date]) -> tuple[list[Sample], list[tuple[date, float]]]:
    if not days:
        return [], []
    of_now = pa.table({"name": [sample for sample, metric in OF_SAMPLE.items() if metric.kind is Kind.GAUGE]
                       + [*BY_NAME["em_confidence_distribution"].sample_names]})  # fmt: skip
    with scratch() as connection, registered(connection, {"of_now": of_now}):
        _bind(connection, store, METRICS, days)
        found = connection.execute(statement(HERE, "totals"), {"newest": days[-1]}).fetchall()
        waits = connection.execute(
            "SELECT CAST(timestamp AS DATE), value FROM metrics WHERE (name, labels) = ($1, $2) ORDER BY ALL",
            list(PENDING),
        ).fetchall()
    told = [Sample(name, orjson.loads(labels), value) for name, labels, value in found if name in OF_SAMPLE]
    return [one for one in told if one.labels.get("status") != "pending"], waits


def _bind(connection: Any, store: Store, table: Table, days: list[date]) -> None:
    """Makes the rows of a table of these days readable, by DuckDB itself where their files are local."""
    files = [store.lake.local_file(table, day) for day in days]
    if None in files:
        connection.register(table.name, store.lake.read_days(table, days))
        return
    quoted = ", ".join("'" + str(path).replace("'", "''") + "'" for path in files)
    connection.execute(f"CREATE OR REPLACE TEMP VIEW {table.name} AS FROM read_parquet([{quoted}])")


def _probes(home: MeteredHome) -> Iterator[Sample]:
    """Questions: those known or told of by agents, and those that were kept back, once a conversation or day."""
    day = home.store.lake.latest(PROBES, date.max)
    waiting = home.store.lake.read(PROBES, day) if day else PROBES.empty()
    kinds = {row["probe_id"]: row["kind"] for row in waiting.select(["probe_id", "kind"]).to_pylist()}
    kept_back: Counter[str] = Counter()
    for entry in home.offers.of_all():
        if entry.target.startswith("probe_"):
            kinds.setdefault(entry.target, entry.kind or "unknown")
            kept_back[entry.said] += entry.said != OFFERED
    for told in _named_probes(home.store):
        kinds.setdefault(told, "unknown")
    for kind, n in Counter(kinds.values()).items():
        yield Sample("em_probe_generated", {"type": kind}, n)
    for reason, n in kept_back.items():
        if n:
            yield Sample("em_probe_suppressed", {"reason": reason}, n)


def _named_probes(store: Store) -> list[str]:
    """Ids of the questions that feedback tells of."""
    days = store.lake.days(FEEDBACK)

    def read() -> list[str]:
        with scratch() as connection:
            _bind(connection, store, FEEDBACK, days)
            query = (
                "SELECT DISTINCT payload ->> '$.probe_id' FROM feedback WHERE starts_with(type, 'probe_') ORDER BY 1"
            )
            return [str(target or "unnamed") for (target,) in connection.execute(query).fetchall()]

    return store.lake.once("probes of metrics", [FEEDBACK], days, read) if days else []


def _latencies(home: Path) -> Iterator[Sample]:
    """What a clock measured: steps by channel, and the calls of the graph database."""
    for path in sorted((home / FOLDER).glob("*.json")):
        for label, histogram in read_note(path).items():
            if path.name == LATENCY_NOTE:
                yield from of_histogram("em_neo4j_query_latency_ms", {"query_type": label}, histogram)
            else:
                labels = {"stage": path.stem, "channel": label}
                yield from of_histogram("em_extraction_latency_ms", labels, histogram)


def _breakers(home: MeteredHome) -> Iterator[Sample]:
    """What is left alone since it was down, as processes note it for each other."""
    for name, note in outages(home.path, home.settings.llm).items():
        state = OPEN if note.left_seconds else HALF_OPEN if note.is_there else CLOSED
        yield Sample("em_circuit_breaker_state", {"dependency": name}, state)


def outages(home: Path, llm: LlmSettings) -> Mapping[str, OutageNote]:
    """The notes of outages, by what is down."""
    open_seconds = {
        "graph": OPEN_SECONDS,
        "embedder": llm.embedder_breaker.open_seconds,
        "llm_small": llm.small_breaker.open_seconds,
        "llm_large": llm.large_breaker.open_seconds,
    }
    assert Path(GRAPH_NOTE).stem in open_seconds
    return {name: OutageNote(home / "locks" / f"{name}.down", left) for name, left in open_seconds.items()}
