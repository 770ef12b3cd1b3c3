"""Which facts are due for revision: set-based over the state of one day, pure, in a fixed order."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import duckdb
import pyarrow as pa

from em_pipelines.lifecycle.revision.model import FactQuestion
from em_pipelines.lifecycle.revision.public import PLAIN_WORDS, PRIVATE_FLAGS, RELATIONS, is_public
from em_pipelines.lifecycle.revision.settings import RevisionSettings
from em_pipelines.storage.duckdb_engine import fetch, statement

HERE = Path(__file__).parent
_ASKED = pa.schema([("edge_id", pa.string()), ("asked_on", pa.date32()), ("outcome", pa.string())])


@dataclass(frozen=True, slots=True)
class Asked:
    """A fact that was asked about, the day for which, and what came of it."""

    edge_id: str
    asked_on: date
    outcome: str


@dataclass(frozen=True, slots=True)
class Selection:
    """Facts that are due, the most urgent first; `n_withheld` more were due and have words that may not leave."""

    questions: tuple[FactQuestion, ...] = ()
    n_withheld: int = 0


def select(  # noqa: PLR0913  (three tables, the day, and what steers it)
    current_edges: pa.Table,
    entities: pa.Table,
    asked: Iterable[Asked],
    *,
    asked_on: date,
    settings: RevisionSettings,
    connection: duckdb.DuckDBPyConnection,
) -> Selection:
    """Returns the facts that are due on `asked_on`, judged by the state at the end of the day before.

    `current_edges` and `entities` are rows of the tables of those names; `asked` what was asked about lately. Due is
    what is contradicted, or was last said more than `stale_days` ago, unless it was asked about since.
    """
    rows = [{"edge_id": a.edge_id, "asked_on": a.asked_on, "outcome": a.outcome} for a in asked]
    views = {"edges": current_edges, "entities": entities, "asked": pa.Table.from_pylist(rows, schema=_ASKED)}
    for name, table in views.items():
        connection.register(name, table)
    try:
        for name, value in {
            "asked_on": asked_on,
            "stale_days": settings.stale_days,
            "retry_days": settings.retry_days,
            "entity_types": list(settings.entity_types),
            "attributes": list(settings.attributes),
            "relations": list(RELATIONS),
            "flags": list(PRIVATE_FLAGS),
            "plain_words": list(PLAIN_WORDS),
        }.items():
            connection.execute(f"SET VARIABLE {name} = ?", [value])
        candidates = fetch(connection, statement(HERE, "candidates")).to_pylist()
    finally:
        for name in views:
            connection.unregister(name)
    due = [FactQuestion(**row, asked_on=asked_on) for row in candidates]
    questions = tuple(question for question in due if is_public(question))
    return Selection(questions, len(due) - len(questions))
