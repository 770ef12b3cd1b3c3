"""What a declared table is: columns, types, nullability, key and sort order.

The tables themselves stand in `schema.tables`, one module a group.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

TEXT = pa.string()
INT = pa.int64()
REAL = pa.float64()
FLAG = pa.bool_()
INSTANT = pa.timestamp("us", tz="UTC")
DATE = pa.date32()
TEXTS = pa.list_(pa.field("item", pa.string(), nullable=False))
BYTES = pa.binary()

Tables = dict[str, Any]
"""What a step is given and gives: rows by the name of their table, those of a state before it as `state_NAME`."""
Record = dict[str, Any]
"""What has landed: a line of the log."""
Records = Iterable[Record]
STATE_DAYS = "state_days"
"""Under this name a dated step gets the day of each state that it is given: columns table_name and day."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its Arrow type, whether it may be null, and what it means."""

    name: str
    type: pa.DataType
    about: str
    is_nullable: bool = False


@dataclass(frozen=True)
class Table:
    """A declared table: column order, sort order and key are part of the contract.

    `sort_by` makes equal content equal bytes; `key` is unique within a partition. `is_state` marks tables that hold
    the whole state at the end of their day rather than what happened on it.
    """

    name: str
    group: str
    about: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    sort_by: tuple[str, ...]
    is_state: bool = False

    @cached_property
    def schema(self) -> pa.Schema:
        """The Arrow schema, with nullability."""
        return pa.schema([pa.field(c.name, c.type, nullable=c.is_nullable) for c in self.columns])

    def empty(self) -> pa.Table:
        """Returns the table with no rows."""
        return self.schema.empty_table()

    def from_rows(self, rows: Sequence[Mapping[str, object]]) -> pa.Table:
        """Builds an Arrow table from row dicts; absent columns are null. Raises pa.ArrowInvalid on a wrong type."""
        return pa.Table.from_pylist(rows, schema=self.schema)


def rows_of(table: pa.Table) -> Iterator[dict[str, Any]]:
    """The rows as dicts, batch by batch."""
    for batch in table.to_batches(max_chunksize=10_000):
        yield from batch.to_pylist()


def col(name: str, type_: pa.DataType, about: str) -> Column:
    """A column that is never null."""
    return Column(name, type_, about)


def opt(name: str, type_: pa.DataType, about: str) -> Column:
    """A column that may be null."""
    return Column(name, type_, about, is_nullable=True)


USER_ID = col("user_id", TEXT, "whose memory this is")
SESSION_ID = col("session_id", TEXT, "the conversation")
TURN = col("turn_number", INT, "number of the message in its conversation, from 0")
CORRELATION_ID = col("correlation_id", TEXT, "ties together everything that came of one message")
TIMESTAMP = col("timestamp", INSTANT, "when it was said, by the log")

PERSONAL_COLUMNS = frozenset(
    {
        "user_id",
        "session_id",
        "speaker",
        "subject",
        "participants",
        "content",
        "content_hash",
        "raw",
        "payload",
        "output_summary",
        "summary",
        "entities_mentioned",
        "file",
        "detail",
        "name",
        "role",
        "object",
        "value",
        "attribute",
        "qualifiers",
        "over",
        "statement",
        "object_key",
        "canonical_name",
        "name_key",
        "discriminator",
        "aliases",
        "alias_keys",
        "before",
        "after",
        "text",
        "gap",
        "excerpt",
        "source_id",
        "provenance",
        "reason",
        "tags",
        "context_tags",
        "old_value",
        "new_value",
        "decision_reasoning",
        "metadata",
    }
)
"""Columns that say who somebody is or what they wrote. They stay in tables: no log, metric or event repeats them,
for nothing that is erased may live on there."""
