"""Tables of several days as one, so that one statement does the work of a day for each of them."""

from collections.abc import Iterable, Mapping
from datetime import date

import pyarrow as pa
import pyarrow.compute as pc


def dated(tables: Mapping[date, pa.Table], name: str) -> pa.Table:
    """The rows of all days, each with its day in a last column `name`. All have the same columns."""
    return pa.concat_tables(
        [
            table.append_column(name, pa.repeat(pa.scalar(day, pa.date32()), table.num_rows))
            for day, table in tables.items()
        ]
    )


def by_day(rows: pa.Table, name: str, days: Iterable[date], *, is_kept: bool = False) -> dict[date, pa.Table]:
    """The rows of each of the days, told apart by the column `name`; without it, unless it `is_kept`."""
    found = {day: rows.filter(pc.equal(rows[name], pa.scalar(day, pa.date32()))) for day in days}
    return found if is_kept else {day: own.drop_columns([name]) for day, own in found.items()}
