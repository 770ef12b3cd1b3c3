"""Making a day of a step for everybody but those for whom it cannot be made.

Users never meet in a step: every row of what it is given and what it gives is one user's. So a day that fails as a
whole is tried for halves of its users, and for halves of those that fail, until it is known for whom it does; they
keep the state of the day before, and nothing that happened to them on that day is in its tables.
"""

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import PurePath
from traceback import extract_tb
from typing import Any, Protocol

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.errors import CorruptTableError, EmError
from em_pipelines.schema.table import Record, Records, Table, Tables
from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.storage.duckdb_engine import in_memory
from em_pipelines.storage.parquet_files import canonical

OWNER = "user_id"
OF_THE_MACHINE = (
    OSError, MemoryError, duckdb.IOException, duckdb.OutOfMemoryException, duckdb.FatalException,
    duckdb.InterruptException,
)  # fmt: skip
INTERRUPTED = "Query interrupted"
"""What DuckDB's RuntimeError says where a signal came while it was at work."""

log = logging.getLogger(__name__)


class Made(Protocol):
    """The step whose day is made, as far as it is looked at here."""

    @property
    def name(self) -> str: ...
    @property
    def outputs(self) -> tuple[Table, ...]: ...
    @property
    def run(self) -> Callable[[date, Tables, Records], Tables]: ...


def is_of_rows(error: Exception) -> bool:
    """Whether an error can be one user's rows' fault. What this package raises on purpose, a full disk, a file that
    cannot be read, memory that has run out and an interruption are nobody's."""
    if isinstance(error, EmError):
        return isinstance(error, CorruptTableError)  # of rows that do not fit their table; those of files come again
    return not isinstance(error, OF_THE_MACHINE) and str(error) != INTERRUPTED


def said_of(error: Exception) -> str:
    """What an error is and where it was raised; never its message, which may quote what somebody said."""
    frames = [frame for frame in extract_tb(error.__traceback__) if "em_pipelines" in PurePath(frame.filename).parts]
    where = f" in {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{where}"


@dataclass(frozen=True)
class DayOfStep:
    """One day of a step with all that it is made from, in memory. `before` is the state before the day of each output
    that is one, by name."""

    step: Made
    day: date
    tables: Tables
    records: Sequence[Record]
    before: Tables

    @cached_property
    def users(self) -> list[str]:
        """Everybody of whom anything is read, in order."""
        found = {str(record[OWNER]) for record in self.records if record.get(OWNER) is not None}
        for rows in self.tables.values():
            if OWNER in rows.schema.names:
                found.update(pc.unique(rows[OWNER]).drop_null().to_pylist())
        return sorted(found)

    def without(self, users: Collection[str], claims: Collection[str] = ()) -> Tables:
        """What the day gives for everybody else, and what is left for these of the day before; without some claims."""
        made = self._made(lambda rows: _but(rows, OWNER, users), lambda user: user not in users, claims)
        left = {name: _only(rows, OWNER, users) for name, rows in self.before.items()}
        return {name: pa.concat_tables([rows, left[name]]) if name in left else rows for name, rows in made.items()}

    def of(self, users: Collection[str], without_claims: Collection[str] = ()) -> Tables:
        """What the day gives for these users alone."""
        return self._made(lambda rows: _only(rows, OWNER, users), lambda user: user in users, without_claims)

    def culprits(self) -> dict[str, str]:
        """The users for whom alone the day cannot be made, in order, each with what was raised."""
        return dict(sorted(_failing(self.users, self._error)))

    def _made(
        self, of_rows: Callable[[Any], Any], is_wanted: Callable[[str | None], bool], without_claims: Collection[str]
    ) -> Tables:
        tables = {name: of_rows(rows) for name, rows in self.tables.items()}
        if CLAIMS.name in tables:
            tables[CLAIMS.name] = _but(tables[CLAIMS.name], "claim_id", without_claims)
        records = [record for record in self.records if is_wanted(record.get(OWNER))]
        made = self.step.run(self.day, tables, records)
        return {table.name: canonical(table, in_memory(made[table.name])) for table in self.step.outputs}

    def _error(self, users: Collection[str]) -> str | None:
        try:
            self.of(users)
        except Exception as error:
            if not is_of_rows(error):
                raise
            log.debug("%s of %s: %d users fail", self.step.name, self.day, len(users))
            return said_of(error)
        return None


def _failing(users: Sequence[str], error_of: Callable[[Sequence[str]], str | None]) -> Iterator[tuple[str, str]]:
    """Each user who fails alone; found by halves, so one of a thousand takes some twenty tries."""
    waiting = [users] if users else []
    while waiting:
        some = waiting.pop()
        error = error_of(some)
        if error is None:
            continue
        if len(some) == 1:
            yield some[0], error
        else:
            waiting += [some[: len(some) // 2], some[len(some) // 2 :]]


def _only(rows: Any, column: str, values: Collection[str]) -> Any:
    return rows.filter(_is_in(rows, column, values)) if column in rows.schema.names else rows


def _but(rows: Any, column: str, values: Collection[str]) -> Any:
    """Rows of nobody stay."""
    return rows.filter(pc.invert(_is_in(rows, column, values))) if column in rows.schema.names else rows


def _is_in(rows: Any, column: str, values: Collection[str]) -> Any:
    return pc.is_in(rows[column], value_set=pa.array(sorted(values), pa.string()))
