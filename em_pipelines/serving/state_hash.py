"""One hash a table, and one of all: equal for equal memory, whatever the route that led there.

Hashes what rows say, not the bytes they lie in, and leaves out what only tells the route: the file and line of a dead
letter, the day on which it was landed, what models were asked and took for it, what is in quarantine (what is
missing for it shows in the tables that it is missing from), and of the trail when somebody inferred or erased. What
memory would say by itself (`probes`, `starters`) follows from the rest on the day on which somebody last looked, and is
left out, too; so are `metrics`, which count the rest.
"""

import base64
import hashlib
from datetime import date

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.lifecycle.decay import current_edges
from em_pipelines.lifecycle.inference.infer import infer
from em_pipelines.lifecycle.inference.rules import rules_of
from em_pipelines.lifecycle.inference.settings import InferenceSettings
from em_pipelines.schema.table import Table, rows_of
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.schema.tables.clean import DEAD_LETTERS
from em_pipelines.schema.tables.derived import CURRENT_EDGES, INFERRED_EDGES
from em_pipelines.schema.tables.extraction import LLM_CALLS
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.schema.tables.outgoing import PROBES, STARTERS
from em_pipelines.schema.tables.raw import ERASURES, INTERACTIONS
from em_pipelines.schema.tables.record import AUDIT_TRAIL, METRICS, QUARANTINE
from em_pipelines.storage.duckdb_engine import connect
from em_pipelines.storage.parquet_files import canonical
from em_pipelines.storage.store import Store

BY_ROUTE = ("inference", "erasure")
"""Components of the trail whose events are of the day on which they were run, not of what was said."""
NOT_HASHED = (LLM_CALLS, QUARANTINE, ERASURES, PROBES, STARTERS, METRICS)
DEAD_LETTER_CONTENT = ("reason", "raw", "format", "user_id", "status")


def state_hash(
    store: Store, decay: DecaySettings, as_of: date | None = None, *, inference: InferenceSettings | None = None
) -> dict[str, str]:
    """Returns SHA-256 (hex) of the canonical content of each table up to the end of `as_of`, and of all as `all`.

    `as_of` is the last day of the log unless given. Canonical: each row as JSON with sorted keys, rows sorted; of
    state tables the rows of the last day, of others those of all days, of dead letters the open ones; what follows by
    rules is inferred anew, as current edges are computed anew, and what a model proposed is left out.
    """
    days = store.lake.days(INTERACTIONS)
    as_of = as_of or (days[-1] if days else date.min)
    told = {name: table for name, table in CATALOG.items() if table not in NOT_HASHED}
    hashes = {
        name: _hash(_rows(store, table, as_of, decay, inference or InferenceSettings())) for name, table in told.items()
    }
    together = hashlib.sha256("".join(f"{name} {value}\n" for name, value in hashes.items()).encode())
    return {**hashes, "all": together.hexdigest()}


def _rows(store: Store, table: Table, as_of: date, decay: DecaySettings, inference: InferenceSettings) -> list[bytes]:
    if table in {CURRENT_EDGES, INFERRED_EDGES}:  # computed: they stand on any day, whether somebody wrote them or not
        return _lines(_computed(store, table, as_of, decay, inference))
    if table is DEAD_LETTERS:
        letters = rows_of(store.lake.read_days(table, store.lake.days(table)))
        return [_line({k: row[k] for k in DEAD_LETTER_CONTENT}) for row in letters if row["status"] == "open"]
    if table.is_state:
        return _lines(_latest(store, table, as_of))
    found = store.lake.read_days(table, (day for day in store.lake.days(table) if day <= as_of))
    if table is AUDIT_TRAIL:
        found = found.filter(pc.invert(pc.is_in(found["component"], pa.array(BY_ROUTE))))
    return _lines(found)


def _computed(store: Store, table: Table, as_of: date, decay: DecaySettings, inference: InferenceSettings) -> pa.Table:
    """What the facts of a day come to on it, or what follows from that by rules."""
    edges, entities = (_latest(store, state, as_of) for state in (EDGES, ENTITIES))
    with connect() as connection:
        current = canonical(CURRENT_EDGES, current_edges(edges, entities, as_of, decay, connection).to_table())
        if table is CURRENT_EDGES:
            return current
        return infer(current, entities, rules_of(inference), inference, connection)


def _latest(store: Store, table: Table, as_of: date) -> pa.Table:
    latest = store.lake.latest(table, as_of)
    return store.lake.read(table, latest) if latest else table.empty()


def _lines(rows: pa.Table) -> list[bytes]:
    return [_line(row) for row in rows_of(rows)]


def _line(row: dict[str, object]) -> bytes:
    return orjson.dumps(row, option=orjson.OPT_SORT_KEYS, default=_encoded)


def _encoded(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"no canonical form for {type(value).__name__}")


def _hash(lines: list[bytes]) -> str:
    content = hashlib.sha256()
    for line in sorted(lines):
        content.update(line)
        content.update(b"\n")
    return content.hexdigest()
