"""What a snapshot says of the whole home, in figures: how much is known, how it went day by day, what it cost.

One reading of one file, so a page costs the same whether a run is at work or not, and is as old as it says.
"""

from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb

from em_pipelines.errors import CorruptTableError
from em_pipelines.storage.duckdb_engine import connect, statement

HERE = Path(__file__).parent
TRENDS = (
    "quality_days", "change_days", "model_days", "confidence", "relations", "issues", "probe_figures", "totals",
    "weeks", "learned_weeks",
)  # fmt: skip
"""Statements in sql/, each a list of rows."""


@dataclass(frozen=True, slots=True)
class HomeFigures:
    """A home at the end of `as_of`, as its snapshot of `published_at` has it. Rows are dicts by the names of the
    statements in sql/."""

    as_of: date
    published_at: datetime
    people: list[dict[str, Any]]
    rows: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    @property
    def totals(self) -> dict[str, Any]:
        """Numbers of the whole home."""
        return self.rows["totals"][0]


def home_figures(snapshot: Path) -> HomeFigures | None:
    """The figures of a snapshot; None where there is none yet. Raises CorruptTableError where it cannot be read."""
    if not snapshot.exists():
        return None
    try:
        with connect(str(snapshot), is_read_only=True) as connection:
            asked = {name: _rows(connection, name) for name in (*TRENDS, "people")}
            (as_of,) = connection.execute("SELECT as_of FROM snapshot_info").fetchone() or (date.min,)
    except duckdb.Error as error:
        raise CorruptTableError(
            f"reading the snapshot {snapshot.name}: it is damaged ({str(error).splitlines()[0]}); "
            "`em repair --apply` publishes it again"
        ) from error
    people = asked.pop("people")
    published_at = datetime.fromtimestamp(snapshot.stat().st_mtime).astimezone()
    return HomeFigures(as_of, published_at, people, asked)


def _rows(connection: duckdb.DuckDBPyConnection, name: str) -> list[dict[str, Any]]:
    found = connection.execute(statement(HERE, name))
    columns = [column[0] for column in found.description or ()]
    return [dict(zip(columns, row, strict=True)) for row in found.fetchall()]
