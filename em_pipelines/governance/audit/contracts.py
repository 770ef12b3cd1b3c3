"""Whether the rows of a table are what is expected of them, asked of DuckDB: one SQL statement a table.

It is compiled from the declared expectations and reads the files of all days at once, so it costs milliseconds and
blocks every run. Great Expectations asks the same of the same declaration, see `quality.suites`. Nothing here looks at
what rows mean.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

import duckdb
import pyarrow as pa

from em_pipelines.errors import CorruptTableError
from em_pipelines.language.counting import counted
from em_pipelines.schema.expectations import (
    Between,
    Broken,
    ColumnsMatch,
    Expectation,
    InSet,
    NotNull,
    RowsPerDay,
    Unique,
    Verdict,
    expectations_of,
    misfit,
    mistyped,
)
from em_pipelines.schema.table import Table
from em_pipelines.storage.day_rows import DAY, ask_days
from em_pipelines.storage.duckdb_engine import bind, fetch, scratch
from em_pipelines.storage.lake import Lake


@dataclass(frozen=True, slots=True)
class NewestRows:
    """The newest rows of a table, the days they are of, and how many rows all days that count have."""

    rows: pa.Table
    days: tuple[date, ...]
    n_rows_there: int


@dataclass(frozen=True, slots=True)
class TableReport:
    """What was found in a table: a verdict, or why its rows could not be read.

    `n_rows_there` counts the rows of all partitions that could have been looked at.
    """

    table: Table
    verdict: Verdict | None
    n_rows_there: int
    problem: str = ""

    @property
    def is_success(self) -> bool:
        """Whether it was read, and all expectations hold."""
        return self.verdict is not None and self.verdict.is_success

    @property
    def sentences(self) -> list[str]:
        """What is wrong, in words."""
        return self.verdict.sentences if self.verdict else [self.problem]


UNASKED = "could not be evaluated: the column is not there in its declared type"


def check_days(lake: Lake, table: Table, days: Sequence[date]) -> Verdict:
    """What is broken in the partitions of these days, taken together.

    Files whose columns are not those declared break that expectation, and their rows are not looked at. Raises
    CorruptTableError where a file cannot be read, for then nothing is known of the table.
    """
    return lake.once(("contract", table.name, *days), [table], days, lambda: _checked(lake, table, days))


def _checked(lake: Lake, table: Table, days: Sequence[date]) -> Verdict:
    # Files of one table mostly share one schema, which is one object: each is looked at once.
    schemas = {day: lake.schema(table, day) for day in days}
    distinct = {id(found): found for found in schemas.values() if found is not None}
    judged = {key: misfit(table.schema, found) for key, found in distinct.items()}
    misfits = {day: said for day, found in schemas.items() if (said := judged.get(id(found)))}
    fitting = [day for day in days if day not in misfits]
    expectations = expectations_of(table)
    asked = _Statement(table, expectations, table.schema.names)
    figures = ask_days(lake, fitting, [table], asked.figures)
    found = asked.judge(figures, n_days=len(days))
    if misfits:
        first = min(misfits)
        said = f"in {len(misfits)} of {len(days)} files its columns differ from the declared schema, first {first}: "
        found = (Broken(ColumnsMatch(table.schema), said + misfits[first]), *found)
    return Verdict(figures["n_rows"], len(days), len(expectations), found)


def check_table(lake: Lake, table: Table) -> TableReport:
    """The same of all days of a table, of a state the newest; a file that cannot be read is a finding like others."""
    try:
        verdict = check_days(lake, table, lake.days(table)[-1:] if table.is_state else lake.days(table))
    except CorruptTableError as error:
        return TableReport(table, None, 0, str(error))
    return TableReport(table, verdict, verdict.n_rows)


def check_rows(table: Table, rows: pa.Table, *, n_days: int = 0) -> Verdict:
    """The same of rows in memory, which need not have the table's columns: what cannot be asked of them is broken."""
    expectations = expectations_of(table)
    unaskable = broken_by_columns(expectations, rows.schema)
    left = {broken.expectation for broken in unaskable}
    asked = _Statement(table, [e for e in expectations if e not in left], rows.schema.names)
    with scratch() as connection:
        bind(connection, table.name, rows)
        figures = asked.figures(connection)
        connection.execute(f"DROP VIEW IF EXISTS {table.name}")
    found = {b.expectation: b for b in (*unaskable, *asked.judge(figures, n_days=n_days))}
    return Verdict(figures["n_rows"], n_days, len(expectations), tuple(found[e] for e in expectations if e in found))


def newest_rows(lake: Lake, table: Table, max_rows: int) -> NewestRows:
    """The newest days of a table that fit into `max_rows` together, of a state the newest alone; of a day that is
    larger by itself so many rows. Raises CorruptTableError, for columns that are not those declared, too."""
    days = lake.days(table)[-1:] if table.is_state else lake.days(table)
    sizes = {day: info.n_rows for day in days if (info := lake.info(table, day)) is not None}
    n_rows = 0
    fitting: list[date] = []
    for day in reversed(days):
        n_rows += sizes[day]
        if n_rows > max_rows and fitting:
            break
        fitting.append(day)
    n_rows_there = sum(sizes.values())
    if sizes and sizes[fitting[0]] > max_rows and not _misfit(lake, table, fitting[0]):
        first = f"SELECT * EXCLUDE ({DAY}) FROM {table.name} LIMIT {int(max_rows)}"
        rows = ask_days(lake, fitting[:1], [table], partial(fetch, sql=first)).cast(table.schema)
        return NewestRows(rows, tuple(fitting[:1]), n_rows_there)
    return NewestRows(lake.read_days(table, sorted(fitting)), tuple(sorted(fitting)), n_rows_there)


def broken_by_columns(expectations: Iterable[Expectation], found: pa.Schema) -> list[Broken]:
    """What is broken by the columns alone: that they are those declared, and all that reads one that is not there."""
    expectations = list(expectations)
    declared = next(e.schema for e in expectations if isinstance(e, ColumnsMatch))
    lost = mistyped(declared, found)
    said = misfit(declared, found)
    differing = [Broken(e, f"its columns differ from the declared schema: {said}") for e in expectations[:1] if said]
    return [*differing, *(Broken(e, UNASKED) for e in expectations if not lost.isdisjoint(e.columns))]


def _misfit(lake: Lake, table: Table, day: date) -> str | None:
    found = lake.schema(table, day)
    return misfit(table.schema, found) if found else None


class _Statement:
    """The statement of a table: a figure an expectation, the number of rows that break it."""

    def __init__(self, table: Table, expectations: Sequence[Expectation], names: Sequence[str]) -> None:
        self._table = table
        self._expectations = expectations
        self._names = names

    def figures(self, connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
        """Figures by name: `n_rows`, and `e0`, `e1`, … of the expectations that count rows, in their order."""
        values: list[object] = []
        counted = [(f"e{n}", self._count(e, values)) for n, e in enumerate(self._expectations)]
        parts = ["count(*) AS n_rows", *(f"{count} AS {name}" for name, count in counted if count)]
        # Of most columns the footer tells all that is asked; that their values can be read is seen by reading them.
        columns = ", ".join(f'"{name}"' for name in self._names)
        parts.append(f"bit_xor(hash({columns})) AS is_read")
        cursor = connection.execute(f"SELECT {', '.join(parts)} FROM {self._table.name}", values)
        names = [name for name, *_ in cursor.description or ()]
        return dict(zip(names, cursor.fetchall()[0], strict=True))

    def judge(self, figures: Mapping[str, int], *, n_days: int) -> tuple[Broken, ...]:
        """The expectations that the figures break."""
        said = ((e, self._said(e, n, figures, n_days)) for n, e in enumerate(self._expectations))
        return tuple(Broken(e, found) for e, found in said if found)

    def _said(self, expectation: Expectation, number: int, figures: Mapping[str, int], n_days: int) -> str:
        if isinstance(expectation, RowsPerDay):
            n_rows = figures["n_rows"]
            return f"found {n_rows}" if n_rows < expectation.minimum * n_days else ""
        n_breaking = figures.get(f"e{number}", 0)
        return f"{counted(n_breaking, 'row', ('breaks', 'break'))} it" if n_breaking else ""

    def _count(self, expectation: Expectation, values: list[object]) -> str:
        """The number of rows that break an expectation, as SQL; what it compares with is added to `values`."""
        match expectation:
            case NotNull(column):
                return f"count(*) - count({self._value(column)})"
            case InSet(column, allowed):
                values.extend(allowed)
                return f'count(*) FILTER (WHERE "{column}" NOT IN ({", ".join("?" * len(allowed))}))'
            case Between(column, low, high):
                values.extend([low] if high is None else [low, high])
                value = self._value(column)
                outside = f"{value} < ?" + ("" if high is None else f" OR {value} > ?")
                return f"count(*) FILTER (WHERE {outside})"
            case Unique(columns):
                return self._n_doubled(columns)
        return ""

    def _n_doubled(self, columns: Sequence[str]) -> str:
        """Rows whose key another row has, too; those without any value in it are left out."""
        key = ", ".join(f'"{name}"' for name in columns)
        is_any = " OR ".join(f'"{name}" IS NOT NULL' for name in columns)
        return (
            "(SELECT coalesce(sum(n), 0)::BIGINT FROM (SELECT count(*) AS n "
            f"FROM {self._table.name} WHERE {is_any} GROUP BY {key} HAVING count(*) > 1))"
        )

    def _value(self, column: str) -> str:
        """A column whose NaN are null."""
        is_real = pa.types.is_floating(self._table.schema.field(column).type)
        return f"nullif(\"{column}\", 'nan'::DOUBLE)" if is_real else f'"{column}"'
