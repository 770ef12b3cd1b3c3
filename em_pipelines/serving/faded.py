"""How many facts time has taken from what is current, so that an old conversation does not look empty."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import pyarrow as pa

from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.language.counting import IS, counted
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.serving.facts import TOLD_FROM, KeptAs, named_facts
from em_pipelines.storage.duckdb_engine import bind, scratch
from em_pipelines.storage.store import Store

COUNTED = """
SELECT user_id, count_if(is_old), count_if(NOT is_old AND (
    status IN ('expired', 'archived') OR (status IN ('active', 'contradicted') AND effective_confidence < $least)
))
FROM counted GROUP BY user_id ORDER BY user_id
"""


@dataclass(frozen=True, slots=True)
class Faded:
    """Of one user: facts that are served as old, and facts that have faded, expired or are archived."""

    user_id: str
    n_old: int
    n_gone: int


def sentence(n_old: int, n_gone: int) -> str | None:
    """Two figures in words; None where both are 0."""
    old = f"{counted(n_old, 'fact', IS)} old, served with the day and marked as perhaps out of date"
    gone = f"{counted(n_gone, 'fact', ('has', 'have'))} faded or expired"
    return "; ".join(text for text, n in ((old, n_old), (gone, n_gone)) if n) or None


def faded(store: Store, as_of: date, decay: DecaySettings, users: Sequence[str] | None = None) -> list[Faded]:
    """The figures at the end of a day, of some users or of all, by user. Feedback that waits is not looked at."""
    with scratch() as connection:
        edges, entities = (_rows(store, table, as_of, users) for table in (EDGES, ENTITIES))
        edges = KeptAs.FACTS.of(edges)
        columns = ("user_id", "status", "effective_confidence", "is_old", *SORTED)
        bind(connection, "counted", named_facts(edges, entities, as_of, decay.keeping(), connection, columns))
        found = connection.execute(COUNTED, {"least": TOLD_FROM}).fetchall()
    return [Faded(*row) for row in found]


SORTED = ("subject", "relation", "object", "edge_id")


def _rows(store: Store, table: Table, until: date, users: Sequence[str] | None) -> pa.Table:
    day = store.lake.latest(table, until)
    if day is None:
        return table.empty()
    return store.lake.read(table, day) if users is None else store.lake.find(table, day, "user_id", users)
