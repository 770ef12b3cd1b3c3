"""How often agents were told to look into memory: counts by day and reason, nothing of what was asked or by whom."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import orjson

from em_pipelines.errors import StorageError
from em_pipelines.home import Home
from em_pipelines.retrieval.recall_gate import NO_RECALL, Reason
from em_pipelines.storage.files import write_atomically

KEPT_DAYS = 400
WANTED_RATE = 0.10
"""Memory that is looked into more often costs more than it gives."""


@dataclass(frozen=True, slots=True)
class Recalls:
    """The decisions of one day: how many, how many of them for looking into memory, and the reasons of those."""

    day: date
    n_asked: int
    n_recalled: int
    reasons: dict[str, int]

    @property
    def rate(self) -> float:
        """The share of decisions for looking, 0 to 1."""
        return self.n_recalled / self.n_asked if self.n_asked else 0.0


def count(home: Home, reason: Reason, day: date) -> None:
    """Notes one decision; in a home that cannot be written to it goes unnoted, for nobody's answer waits for it."""
    with suppress(StorageError), home.lock("recalls"):
        known = _read(_path(home))
        own = known.setdefault(day.isoformat(), {})
        own[reason.value] = own.get(reason.value, 0) + 1
        kept = dict(sorted(known.items())[-KEPT_DAYS:])
        write_atomically(_path(home), orjson.dumps(kept, option=orjson.OPT_SORT_KEYS))


def recalls(home: Home) -> list[Recalls]:
    """The decisions by day, the newest last."""
    found = []
    for day, counts in sorted(_read(_path(home)).items()):
        reasons = {reason: n for reason, n in sorted(counts.items()) if reason not in NO_RECALL}
        found.append(Recalls(date.fromisoformat(day), sum(counts.values()), sum(reasons.values()), reasons))
    return found


def _path(home: Home) -> Path:
    return home.path / "recalls.json"


def _read(path: Path) -> dict[str, dict[str, int]]:
    """What the file says; nothing of days that it does not say anything sensible of."""
    try:
        found = orjson.loads(path.read_bytes())
    except (FileNotFoundError, orjson.JSONDecodeError):
        return {}
    return {day: own for day, own in found.items() if _is_day(day, own)} if isinstance(found, dict) else {}


def _is_day(day: str, counts: object) -> bool:
    try:
        date.fromisoformat(day)
    except ValueError:
        return False
    return isinstance(counts, dict) and all(isinstance(n, int) for n in counts.values())
