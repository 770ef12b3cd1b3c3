"""The step that makes the probes of the newest day: what is not known, no longer sure, undecided or too broad.

Set-based over all users at once: facts and things are laid out, each form of gap (gaps.yaml) is one statement, and
what was found is worded, judged and cut to what is worth most. Every row is a function of the tables of the day: an
answer, a correction or an erasure takes a question away by itself.

Value is worth × (0.55 + 0.20 × importance + 0.15 × recency + 0.10 × reach): what an answer of the kind is worth, how
important the thing is among the user's, how lately it was spoken of (1 within 7 days, falling to 0.3 at 90, as in the
context block), and how much hangs on it (facts of the thing, at five the whole; of a fact, how often it was repeated).
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import duckdb
import pyarrow as pa

from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.lifecycle.proactive.gaps import gap_tables
from em_pipelines.lifecycle.proactive.ground import lay_out
from em_pipelines.lifecycle.proactive.settings import ProactiveSettings
from em_pipelines.lifecycle.proactive.validator import objections
from em_pipelines.lifecycle.proactive.wording import shaped
from em_pipelines.schema.table import Records, Tables
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.graph import CONTRADICTIONS, ENTITIES
from em_pipelines.schema.tables.outgoing import PROBES
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.storage.duckdb_engine import connect, fetch, registered, statement

HERE = Path(__file__).parent
Objections = Callable[[str, str], tuple[str, ...]]
"""(text, benefit) → what speaks against asking it so; empty where nothing does."""

SHAPE_COLUMNS = pa.schema([(name, pa.string()) for name in ("name", "entity_type", "shape", "text")])
FORMS = (
    "probe_answers", "probe_cold", "probe_near", "probe_of_things", "probe_unvalued", "probe_persons", "probe_stale",
    "probe_contradictions", "probe_retracted", "probe_namesakes", "probe_of_facts",
)  # fmt: skip


@dataclass(frozen=True)
class ProbesRun:
    """Makes the probes that stand at the end of a day. `objections` judges texts; by default the validator does.
    `polish` puts those of the table into other words, where a model has found some."""

    settings: ProactiveSettings
    decay: DecaySettings
    objections: Objections = objections
    polish: Callable[[pa.Table], pa.Table] | None = None

    def run(self, day: date, tables: Tables, _: Records) -> Tables:
        """Returns the table of probes of the day."""
        edges = tables[f"state_{CURRENT_EDGES.name}"]
        if not (self.settings.is_enabled and edges.num_rows):
            return {PROBES.name: PROBES.empty()}
        known = {
            "known_edges": edges,
            "known_entities": tables[f"state_{ENTITIES.name}"],
            "known_contradictions": tables[f"state_{CONTRADICTIONS.name}"],
            "feedback": tables[FEEDBACK.name],
        }
        with connect() as connection, registered(connection, {**known, **gap_tables()}):
            made = self._made(connection, day)
        return {PROBES.name: self.polish(made) if self.polish else made}

    def _made(self, connection: duckdb.DuckDBPyConnection, day: date) -> pa.Table:
        lay_out(connection, day, self.settings, self.decay)
        connection.execute(statement(HERE, "probe_named_alike"))
        named = connection.execute(statement(HERE, "probe_names")).fetchall()
        shapes = pa.Table.from_pylist(shaped(named), schema=SHAPE_COLUMNS)
        with registered(connection, {"probe_shapes": shapes}):
            for name in (*FORMS, "probe_judged"):
                connection.execute(statement(HERE, name))
        texts = connection.execute("SELECT DISTINCT text, benefit FROM probe_judged").fetchall()
        fine = [{"text": text, "benefit": benefit} for text, benefit in texts if not self.objections(text, benefit)]
        columns = pa.schema([("text", pa.string()), ("benefit", pa.string())])
        with registered(connection, {"probe_fine": pa.Table.from_pylist(fine, schema=columns)}):
            return fetch(connection, statement(HERE, "probe_kept")).select(PROBES.schema.names).cast(PROBES.schema)
