"""From landed records to the raw tables and the table of dead letters: pure functions, one a table.

Of several records with one key the first stands, so that a landing repeated after a crash adds nothing.
"""

import base64
from collections.abc import Callable, Iterable
from datetime import date
from typing import Any

import pyarrow as pa

from em_pipelines.schema.table import BYTES, DATE, INSTANT, TEXT, Record, Records, Table, Tables
from em_pipelines.schema.tables.clean import DEAD_LETTERS
from em_pipelines.schema.tables.raw import ERASURES, FEEDBACK, INTERACTIONS, SKILL_INVOCATIONS, WORLD_EVENTS


def interactions_table(records: Iterable[Record]) -> pa.Table:
    """Landed interactions as the table `interactions`, in its order."""
    return _table(INTERACTIONS, records)


def skill_invocations_table(records: Iterable[Record]) -> pa.Table:
    """Landed skill invocations as the table `skill_invocations`, in its order."""
    return _table(SKILL_INVOCATIONS, records)


def feedback_table(records: Iterable[Record]) -> pa.Table:
    """Landed feedback as the table `feedback`, in its order."""
    return _table(FEEDBACK, records)


def world_events_table(records: Iterable[Record]) -> pa.Table:
    """Landed world events as the table `world_events`, in its order."""
    return _table(WORLD_EVENTS, records)


def erasures_table(records: Iterable[Record]) -> pa.Table:
    """Erasures, as they were noted in the log, as the table `erasures`, in its order."""
    return _table(ERASURES, records)


def dead_letters_table(records: Iterable[Record]) -> pa.Table:
    """Landed dead letters as the table `dead_letters`, in its order; raw bytes decoded, the last status standing."""
    return _table(DEAD_LETTERS, fold_letters(records).values())


def fold_letters(records: Iterable[Record]) -> dict[str, Record]:
    """Dead letters by id, each with its last status; `records` are letters and changes of status, as landed."""
    letters: dict[str, Record] = {}
    for record in records:
        letter_id = record["dead_letter_id"]
        if letter_id not in letters:
            letters[letter_id] = dict(record)
        elif "raw" not in record:
            letters[letter_id]["status"] = record["status"]
    return {k: v for k, v in letters.items() if "raw" in v}


def _table(table: Table, records: Iterable[Record]) -> pa.Table:
    rows: dict[tuple[Any, ...], Record] = {}
    for record in records:
        rows.setdefault(tuple(record[name] for name in table.key), record)
    columns = []
    for column in table.columns:
        values = [row.get(column.name) for row in rows.values()]
        if column.type == BYTES:
            columns.append(pa.array([base64.b64decode(str(v)) for v in values], BYTES))
        elif column.type in (INSTANT, DATE):
            columns.append(pa.array(values, TEXT).cast(column.type))
        else:
            columns.append(pa.array(values, column.type))
    found = pa.Table.from_arrays(columns, schema=table.schema)
    return found.sort_by([(name, "ascending") for name in table.sort_by])


BUILDERS: dict[str, Callable[[Records], pa.Table]] = {
    INTERACTIONS.name: interactions_table,
    SKILL_INVOCATIONS.name: skill_invocations_table,
    FEEDBACK.name: feedback_table,
    WORLD_EVENTS.name: world_events_table,
    DEAD_LETTERS.name: dead_letters_table,
    ERASURES.name: erasures_table,
}


def landing_run(table: Table) -> Callable[[date, Tables, Records], Tables]:
    """The run of the step that makes the table of one kind of record."""
    build = BUILDERS[table.name]
    return lambda _, __, records: {table.name: build(records)}
