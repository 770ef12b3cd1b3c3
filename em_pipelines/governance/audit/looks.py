"""How far a look at all partitions has come: what was written since the last one is due, and what was found then.

HOME/looks.json holds names of tables, days and instants, and nothing of anybody. Deleting it has everything looked at
once more. Whoever notes holds the home's lock `quality`.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.schema.table import Table
from em_pipelines.storage.files import write_atomically
from em_pipelines.storage.lake import Lake

FILE = "looks.json"
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Due:
    """A partition to look at, and when it was written."""

    table: Table
    day: date
    written_at: datetime


class Looks:
    """The looks of one home, by name."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE

    def due(self, name: str, lake: Lake, tables: Iterable[Table]) -> list[Due]:
        """What was written since the look of that name, or broken then, in the order in which it was written.

        Of a state the newest day alone, and nothing whose rows were given up: making them again costs more than a look.
        """
        noted = self._noted(name)
        until = datetime.fromisoformat(noted["until"]) if noted else LONG_AGO
        broken = {(table, day) for table, day in noted.get("broken", ())}
        found = []
        for table in tables:
            days = lake.days(table)
            for day in days[-1:] if table.is_state else days:
                written_at = lake.modified_at(table, day) or LONG_AGO
                if (written_at > until or (table.name, str(day)) in broken) and not _is_thinned(lake, table, day):
                    found.append(Due(table, day, written_at))
        return sorted(found, key=lambda due: (due.written_at, due.table.name, due.day))

    def note(self, name: str, looked: Collection[Due], broken: Iterable[tuple[str, date]]) -> None:
        """Notes what a look has seen, in the order in which it was due, and what of it is broken."""
        before = self._noted(name)
        until = max([due.written_at.isoformat() for due in looked] + [before.get("until", LONG_AGO.isoformat())])
        noted = {"until": until, "broken": sorted([table, str(day)] for table, day in broken)}
        write_atomically(self._path, orjson.dumps({**self._all(), name: noted}, option=orjson.OPT_SORT_KEYS))

    def _noted(self, name: str) -> Mapping[str, Any]:
        found = self._all().get(name)
        return found if isinstance(found, dict) and "until" in found else {}

    def _all(self) -> dict[str, Any]:
        """Nobody misses a file that cannot be read: everything is looked at once more."""
        try:
            found = orjson.loads(self._path.read_bytes())
        except (FileNotFoundError, orjson.JSONDecodeError):
            return {}
        return found if isinstance(found, dict) else {}


def _is_thinned(lake: Lake, table: Table, day: date) -> bool:
    info = lake.info(table, day)
    return info is not None and info.is_thinned
