"""What stands, who was told, and what is silenced: `HOME/alerts/book.json`, replaced whole whenever it changes.

It holds alerts as `rules` word them and the names of sinks, no address and nothing of what anybody said. Lost, it costs
the silences and one more message for everything that stands. A book that cannot be read is put beside its place when
the next one is written, and tells of itself until somebody has deleted it.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.governance.alerts.alert import Alert, Severity
from em_pipelines.governance.alerts.rules import Finding
from em_pipelines.storage.files import write_atomically

FOLDER = "alerts"
FILE, DAMAGED_FILE = Path(FOLDER, "book.json"), Path(FOLDER, "book.damaged.json")
LOCK = "alerts"
"""The home's lock of whoever tells or writes the book, so that two processes do not tell the same."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a sink took last of an alert that stands: how bad it was said to be, and when."""

    severity: Severity
    at: datetime


@dataclass(slots=True)
class Standing:
    """An alert that stands since an instant, or has ended and was not told everywhere; `told` is by name of sink."""

    alert: Alert
    since: datetime
    told: dict[str, Told] = field(default_factory=dict)
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Silence:
    """Until when nothing is sent of a rule, or of one alert by its key, and why."""

    name: str
    since: datetime
    until: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class DamageLook:
    """When every byte of the home was looked at last, and what was found."""

    at: datetime
    found: tuple[Finding, ...] = ()


@dataclass(slots=True)
class Book:
    """Everything that stands in the file; `problem` says what of it could not be read."""

    standing: dict[str, Standing] = field(default_factory=dict)
    silences: dict[str, Silence] = field(default_factory=dict)
    damage: DamageLook | None = None
    problem: str | None = None

    def silence_of(self, alert: Alert, now: datetime) -> Silence | None:
        """What keeps an alert from being sent at an instant."""
        found = (self.silences.get(name) for name in (alert.key, alert.rule))
        return next((one for one in found if one is not None and now < one.until), None)

    def silenced(self, now: datetime) -> list[Silence]:
        """The silences that hold, those first that end first."""
        return sorted((one for one in self.silences.values() if now < one.until), key=lambda one: one.until)


class AlertBook:
    """The file of one home. Whoever writes holds the home's lock LOCK."""

    def __init__(self, home: Path) -> None:
        self._path = home / FILE
        self._damaged = home / DAMAGED_FILE

    @property
    def finding(self) -> Finding | None:
        """What there is to say of a book that could not be read; None where none lies here."""
        if not (self._damaged.exists() or self.read().problem):
            return None
        return Finding(
            "The book of alerts could not be read, and was begun anew without its silences",
            f"silence anew what should be, and delete HOME/{DAMAGED_FILE}",
        )

    def read(self) -> Book:
        """What the file says; what of it nobody can read is left out, and named in `problem`."""
        try:
            document = orjson.loads(self._path.read_bytes())
            alerts, silences, damage = document["alerts"], document["silences"], document["damage"]
            book = Book()
            for one in alerts:
                standing = _standing(one)
                book.standing[standing.alert.key] = standing
            for one in silences:
                silence = Silence(one["name"], _instant(one["since"]), _instant(one["until"]), str(one["reason"]))
                book.silences[silence.name] = silence
            if damage:
                found = tuple(Finding(str(one["found"]), str(one["advice"])) for one in damage["found"])
                book.damage = DamageLook(_instant(damage["at"]), found)
        except FileNotFoundError:
            return Book()
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            return Book(problem=f"reading {self._path}: it is no book of alerts ({type(error).__name__})")
        return book

    def write(self, book: Book) -> None:
        """Replaces the file, where anything is another than it says; it is on the disk when this returns. None is
        made to say nothing."""
        if book == Book() and not self._path.exists():
            return
        data = orjson.dumps(_document(book), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        with suppress(FileNotFoundError):
            if self._path.read_bytes() == data:
                return
        if self.read().problem:
            write_atomically(self._damaged, self._path.read_bytes())
        write_atomically(self._path, data)


def _document(book: Book) -> dict[str, Any]:
    return {
        "alerts": [
            {
                **asdict(one.alert),
                "since": one.since,
                "ended_at": one.ended_at,
                "told": {sink: asdict(told) for sink, told in sorted(one.told.items())},
            }
            for _, one in sorted(book.standing.items())
        ],
        "silences": [asdict(one) for _, one in sorted(book.silences.items())],
        "damage": asdict(book.damage) if book.damage else None,
    }


def _standing(found: Mapping[str, Any]) -> Standing:
    alert = Alert(
        str(found["rule"]), Severity(found["severity"]), str(found["title"]), str(found["text"]), str(found["todo"]),
        str(found["about"]),
    )  # fmt: skip
    told = {str(sink): Told(Severity(one["severity"]), _instant(one["at"])) for sink, one in found["told"].items()}
    ended_at = found["ended_at"]
    return Standing(alert, _instant(found["since"]), told, _instant(ended_at) if ended_at else None)


def _instant(text: str) -> datetime:
    """Raises ValueError for an instant that names no time zone: it could be compared with none."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(text)
    return at
