"""Fading: on which day a fact that nobody mentioned fell into a lower band of confidence, or out of use.

Decay is a closed form, so any day can be looked at by itself; the days in between are looked at only where the ends
of a span of time differ.
"""

from datetime import date
from pathlib import Path

import duckdb
import pyarrow as pa

from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.lifecycle.decay import install_standing_macros
from em_pipelines.storage.duckdb_engine import fetch, registered, statement

HERE = Path(__file__).parent


def fading(
    facts: pa.Table, first: date, last: date, decay: DecaySettings, connection: duckdb.DuckDBPyConnection
) -> pa.Table:
    """What time alone does to facts from the end of day `first` to that of `last`, a row a change, as `faded` has it.

    `facts` has the columns of `edges`, as they stood all that time.
    """
    of_facts = {
        name: pa.repeat(pa.scalar(day, pa.date32()), facts.num_rows)
        for name, day in (("faded_from", first), ("faded_until", last), ("trail_day", last))
    }
    for name, days in of_facts.items():
        facts = facts.append_column(name, days)
    with registered(connection, {"standing": facts}):
        return faded(decay, last, connection)


def faded(decay: DecaySettings, as_of: date, connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """The changes of the facts in `standing`, each from the end of its day `faded_from` to that of `faded_until`.

    Columns edge_id, user_id, subject_id, source_mechanism, provenance, old_status, new_status, confidence_before,
    confidence_after (0 to 1), faded_on and trail_day.
    """
    install_standing_macros(connection, decay, as_of)
    connection.execute(statement(HERE, "fading_macros"))
    return fetch(connection, statement(HERE, "faded"))
