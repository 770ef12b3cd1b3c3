"""What a check finds, and the form of checks that are one statement: figures a day, judged day by day.

Each has a statement in sql/ of its name, which gives figures a day over the rows of all days at once, and a function
that judges the figures of one day. Nothing here knows of Dagster, and no check stands here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Protocol

import duckdb
import pyarrow as pa

from em_pipelines.governance.audit.settings import QualitySettings
from em_pipelines.schema.expectations import misfit
from em_pipelines.schema.table import Table
from em_pipelines.storage.day_rows import ask_days
from em_pipelines.storage.duckdb_engine import statement
from em_pipelines.storage.lake import Lake

HERE = Path(__file__).parent
DEFAULTS = QualitySettings()
DAY = "{day}"
"""Stands in the advice of a `MeaningCheck` for the day that fails."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a check holds, the figure it rests on, and what to do if it does not. `is_warning`: it is no failure yet,
    but on the way to one. `note` is what is to be said of one that holds, such as that there was too little to ask."""

    is_success: bool
    figure: float
    advice: str
    is_warning: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What a check of the home came to: `problem` says what was found and what to do, and is empty where it holds;
    `note` is what is to be said all the same."""

    problem: str = ""
    figure: float = 0.0
    is_warning: bool = False
    note: str = ""
    more: Mapping[str, int | float | str] = field(default_factory=dict)


class DailyCheck(Protocol):
    """A check of what a table means, asked day by day."""

    @property
    def name(self) -> str: ...
    @property
    def asset(self) -> Table: ...
    @property
    def reads(self) -> tuple[Table, ...]: ...
    @property
    def about(self) -> str: ...
    @property
    def is_blocking(self) -> bool: ...
    def find(self, lake: Lake, days: Sequence[date], limits: QualitySettings = DEFAULTS) -> dict[date, Finding]:
        """What the check finds on each of the days, in their order. Raises CorruptTableError."""


@dataclass(frozen=True, slots=True)
class MeaningCheck:
    """A check of our own: the asset it stands on, the tables it reads, what judges the figures of a day by the
    limits that are set, and the variables that its statement takes."""

    name: str
    asset: Table
    reads: tuple[Table, ...]
    judge: Callable[..., Finding]
    about: str
    is_blocking: bool = True
    variables: Mapping[str, Any] = field(default_factory=dict)

    def find(self, lake: Lake, days: Sequence[date], limits: QualitySettings = DEFAULTS) -> dict[date, Finding]:
        """What the check finds on each of the days, in their order. Raises CorruptTableError."""
        figures = figures_of(lake, self.name, self.reads, days, self.variables)
        return {day: _of_day(self.judge(limits, **figures[day]), day) for day in days}


def _of_day(finding: Finding, day: date) -> Finding:
    return replace(finding, advice=finding.advice.replace(DAY, day.isoformat()))


def figures_of(
    lake: Lake, name: str, reads: Sequence[Table], days: Sequence[date], variables: Mapping[str, Any]
) -> dict[date, dict[str, Any]]:
    """What the statement `name` says of each of the days: its columns by name. Raises CorruptTableError."""
    for table in reads:
        _require_declared(lake, table, days)

    def ask(connection: duckdb.DuckDBPyConnection) -> list[dict[str, Any]]:
        connection.register("days", pa.table({"day": pa.array(days, pa.date32())}))
        for variable, value in variables.items():
            connection.execute(f"SET VARIABLE {variable} = $value", {"value": value})
        return connection.sql(statement(HERE, name)).to_arrow_table().to_pylist()

    return {row.pop("day"): row for row in ask_days(lake, days, reads, ask)} if days else {}


def _require_declared(lake: Lake, table: Table, days: Sequence[date]) -> None:
    """Raises CorruptTableError, as reading does, where the columns of a file are not those declared."""
    for day in days:
        found = lake.schema(table, day)
        if found is not None and misfit(table.schema, found):
            lake.read(table, day)
