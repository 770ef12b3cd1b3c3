"""What rows point at: that it is there, and that it is of the same user. Over every table with a user and references.

The rules of `integrity` ask this of entities and edges in every run; here every other table is asked, once a night, for
what was written since. Add a reference to REFERENCES when a table gets a column that holds another's id.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

import duckdb

from em_pipelines.schema.table import TEXTS, Table
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.derived import CURRENT_EDGES, EXPERIENCE_LINKS, EXPERIENCES, INFERRED_EDGES, RULES
from em_pipelines.schema.tables.extraction import CLAIMS, EXTRACTION_ISSUES, LLM_CALLS, MENTIONS, SEGMENTS
from em_pipelines.schema.tables.graph import (
    CONTRADICTIONS,
    EDGES,
    ENTITIES,
    ENTITY_MENTIONS,
    ENTITY_OPS,
    GRAPH_OPS,
)
from em_pipelines.schema.tables.outgoing import PROBES, STARTERS
from em_pipelines.schema.tables.record import AUDIT_TRAIL
from em_pipelines.storage.day_rows import ask_days
from em_pipelines.storage.duckdb_engine import bind, fetch, statement
from em_pipelines.storage.lake import Lake

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Reference:
    """A column that holds ids of another table's rows: of the newest state, or of the same day.

    `may_dangle`: it also names what is in no table any more, so that only the user is asked about.
    """

    table: Table
    column: str
    target: Table
    may_dangle: bool = False

    @property
    def name(self) -> str:
        """How people call it."""
        return f"{self.table.name}.{self.column}"


@dataclass(frozen=True, slots=True)
class Pointing:
    """What is wrong with one reference on one day: rows that point at nothing, and at what is another user's."""

    reference: Reference
    day: date
    n_dangling: int
    n_crossing: int


def _of(table: Table, columns: str, target: Table, *, may_dangle: bool = False) -> Iterator[Reference]:
    yield from (Reference(table, column, target, may_dangle) for column in columns.split())


REFERENCES = (
    *(ref for table in (MENTIONS, CLAIMS, EXTRACTION_ISSUES) for ref in _of(table, "message_id", MESSAGES)),
    *(ref for table in (MENTIONS, CLAIMS, EXTRACTION_ISSUES) for ref in _of(table, "segment_id", SEGMENTS)),
    *_of(SEGMENTS, "message_ids", MESSAGES),
    *_of(LLM_CALLS, "segment_id", SEGMENTS, may_dangle=True),
    *_of(ENTITY_MENTIONS, "mention_id", MENTIONS, may_dangle=True),  # each user, who speaks, is resolved unnamed
    *_of(ENTITY_MENTIONS, "entity_id", ENTITIES),
    *_of(ENTITY_OPS, "entity_id other_id", ENTITIES),
    *_of(GRAPH_OPS, "edge_id", EDGES),
    *_of(CURRENT_EDGES, "subject_id object_id", ENTITIES),
    *_of(CURRENT_EDGES, "edge_id supersedes superseded_by contradicts", EDGES),
    *_of(CONTRADICTIONS, "edge_id other_edge_id", EDGES),
    *_of(CONTRADICTIONS, "entity_id", ENTITIES),
    *_of(INFERRED_EDGES, "subject_id object_id", ENTITIES),
    *_of(INFERRED_EDGES, "premises", CURRENT_EDGES),
    *_of(PROBES, "entity_id", ENTITIES),
    *_of(PROBES, "edge_id other_edge_id", EDGES),
    *_of(STARTERS, "edge_id", EDGES),
    *_of(STARTERS, "experience_id", EXPERIENCES),
    *_of(RULES, "experience_id", EXPERIENCES),
    *_of(EXPERIENCE_LINKS, "experience_id", EXPERIENCES),
    *_of(AUDIT_TRAIL, "entity_id", ENTITIES, may_dangle=True),
    *_of(AUDIT_TRAIL, "edge_id", EDGES, may_dangle=True),
)
REFERRING = tuple({reference.table.name: reference.table for reference in REFERENCES}.values())
"""The tables that have references, each once."""


def broken_references(lake: Lake, table: Table, days: Sequence[date]) -> list[Pointing]:
    """What is wrong with the references of a table on these days; empty where nothing is. Raises CorruptTableError.

    What a state is pointed at for is asked of its newest day: ids come and stay, but for what is erased, and that takes
    what points at it along.
    """
    found = [one for ref in REFERENCES if ref.table is table for one in _asked(lake, ref, days)]
    return [one for one in found if one.n_dangling or one.n_crossing]


def _asked(lake: Lake, ref: Reference, days: Sequence[date]) -> Iterable[Pointing]:
    """Where the target is a state, only its newest day is opened: rows of others may have been given up."""
    newest = lake.days(ref.target)[-1:]
    known = ask_days(lake, newest, [ref.target], partial(fetch, sql=_targets(ref))) if ref.target.is_state else None

    def ask(connection: duckdb.DuckDBPyConnection) -> list[tuple[date, int, int]]:
        connection.execute(f"CREATE OR REPLACE TEMP VIEW referring AS {_referring(ref)}")
        if known is None:
            connection.execute(f"CREATE OR REPLACE TEMP VIEW targets AS {_targets(ref)}")
        else:
            bind(connection, "targets", known)
        connection.execute("SET VARIABLE is_same_day = $value", {"value": known is None})
        return connection.execute(statement(HERE, "references")).fetchall()

    tables = [ref.table] if known is not None else [ref.table, ref.target]
    for day, n_dangling, n_crossing in ask_days(lake, days, tables, ask):
        yield Pointing(ref, day, 0 if ref.may_dangle else n_dangling, n_crossing)


def _targets(ref: Reference) -> str:
    return f'SELECT partition_day, user_id, "{ref.target.key[0]}" AS target_id FROM {ref.target.name}'


def _referring(ref: Reference) -> str:
    is_list = ref.table.schema.field(ref.column).type == TEXTS
    value = f'unnest("{ref.column}")' if is_list else f'"{ref.column}"'
    numbered = f"SELECT *, row_number() OVER () AS row_number FROM {ref.table.name} WHERE user_id IS NOT NULL"
    return f"SELECT partition_day, user_id, row_number, {value} AS target_id FROM ({numbered})"
