"""Which nights there were, and what was decided about them: `HOME/record/consolidation.jsonl`, append-only.

A line says that a night looked at everything up to an instant, that one was rolled back, that somebody let an
experience count or turned it away, or that consolidation was switched off or on. It holds ids and days, and nothing of
what anybody said or did. What came of the nights is made from the log whenever it is wanted.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.errors import CorruptLogError
from em_pipelines.schema.ids import content_id
from em_pipelines.storage.files import write_atomically

FILE = "consolidation.jsonl"
REPORTS = "consolidation-reports.jsonl"
MAX_REPORTS = 1_000
"""Lines, the newest: nearly three years of nights."""
BOOK_LOCK = "consolidation-book"
"""Held while lines are written, and no longer: whoever is at work on a night holds another."""


class Said(StrEnum):
    """What a line says."""

    NIGHT = "night"
    ROLLBACK = "rollback"
    ACCEPT = "accept"
    REJECT = "reject"
    DISABLE = "disable"
    ENABLE = "enable"


@dataclass(frozen=True, slots=True)
class Line:
    """One line: `target` is the consolidation_id of a night or the id of an experience, `until` the instant of the last
    entry that a night has seen, and `n_entries` how many there were; `at` is when it was written, and counts for
    nothing. `words` is a hash of the words of tools' outputs that were accepted with an experience."""

    said: Said
    target: str
    at: str
    until: datetime | None = None
    n_entries: int = 0
    words: str | None = None

    @property
    def end(self) -> datetime:
        """The instant before which everything counted, of a night."""
        assert self.until is not None
        return self.until + timedelta(microseconds=1)

    @property
    def as_of(self) -> date:
        """The day of a night, UTC."""
        assert self.until is not None
        return self.until.date()


@dataclass(frozen=True, slots=True)
class History:
    """The lines that make a difference, in order; equal where nothing of what follows could be different."""

    lines: tuple[Line, ...] = ()
    is_enabled: bool = True

    @property
    def nights(self) -> tuple[Line, ...]:
        """Every night that there was, in order."""
        return tuple(line for line in self.lines if line.said is Said.NIGHT)

    @property
    def standing(self) -> tuple[Line, ...]:
        """The nights that were not rolled back, in order."""
        nights: list[Line] = []
        for line in self.lines:
            if line.said is Said.NIGHT:
                nights.append(line)
            elif line.said is Said.ROLLBACK:
                nights = nights[: _place(nights, line.target)]
        return tuple(nights)

    @property
    def checkpoint(self) -> Line | None:
        """The last night that stands; None before the first."""
        return self.standing[-1] if self.standing else None

    def next_night(self, until: datetime, n_entries: int, at: datetime) -> Line:
        """The line of a night that would come now: its id is the same wherever the same has happened before."""
        told = (f"{line.said} {line.target} {line.until}" for line in self.effective)
        return Line(Said.NIGHT, content_id("con", until.isoformat(), *told), at.isoformat(), until, n_entries)

    @property
    def effective(self) -> tuple[Line, ...]:
        """The lines without the nights that were rolled back last, and what rolled them back: before another night
        comes they make no difference to anything but that night. Without rejections, too, that were taken back."""
        lines = list(self.lines)
        while lines and lines[-1].said is Said.ROLLBACK:
            target = lines[-1].target
            place = next(n for n, line in enumerate(lines) if line.said is Said.NIGHT and line.target == target)
            kept = [line for line in lines[place:-1] if line.said in (Said.ACCEPT, Said.REJECT)]
            lines = [*lines[:place], *kept]
        return _without_overturned(lines)


def _without_overturned(lines: list[Line]) -> tuple[Line, ...]:
    """The lines without rejections after which the same was accepted."""
    said = decided(lines)
    return tuple(line for line in lines if line.said is not Said.REJECT or said[line.target] is Said.REJECT)


def _place(nights: list[Line], target: str) -> int:
    """Where a night stands among others; behind them all where it does not."""
    return next((n for n, night in enumerate(nights) if night.target == target), len(nights))


class NightBook:
    """The file of one home. Whoever writes holds the home's lock BOOK_LOCK."""

    def __init__(self, record: Path) -> None:
        self._path = record / FILE

    @property
    def is_there(self) -> bool:
        """Whether anything was ever written."""
        return self._path.exists()

    @property
    def has_decisions(self) -> bool:
        """Whether anything was decided about an experience."""
        return any(line.said in (Said.ACCEPT, Said.REJECT) for line in self.history().lines)

    def history(self) -> History:
        """What the file says; raises CorruptLogError where nobody can read it."""
        lines: list[Line] = []
        is_enabled = True
        for number, line in enumerate(self._lines(), start=1):
            read = self._read(line, number)
            if read.said is Said.ROLLBACK and all(
                read.target != night.target for night in History(tuple(lines)).standing
            ):
                raise self._corrupt(number)
            if read.said in (Said.DISABLE, Said.ENABLE):
                is_enabled = read.said is Said.ENABLE
            else:
                lines.append(read)
        return History(tuple(lines), is_enabled)

    def append(self, *lines: Line) -> None:
        """Adds lines, whole or not at all."""
        written = b"".join(orjson.dumps(asdict(line)) + b"\n" for line in lines)
        write_atomically(self._path, b"".join(line + b"\n" for line in self._lines()) + written)

    def forget(self, is_gone: Callable[[str], bool]) -> int:
        """Removes decisions about experiences that are gone; returns how many."""
        lines = self._lines()
        read = [self._read(line, number) for number, line in enumerate(lines, start=1)]
        decided = (Said.ACCEPT, Said.REJECT)
        kept = [
            line for line, one in zip(lines, read, strict=True) if one.said not in decided or not is_gone(one.target)
        ]
        if len(kept) < len(lines):
            write_atomically(self._path, b"".join(line + b"\n" for line in kept))
        return len(lines) - len(kept)

    def _lines(self) -> list[bytes]:
        return self._path.read_bytes().splitlines() if self._path.exists() else []

    def _read(self, line: bytes, number: int) -> Line:
        try:
            found = orjson.loads(line)
            until = datetime.fromisoformat(found["until"]) if found["until"] else None
            read = Line(
                Said(found["said"]), str(found["target"]), str(found["at"]), until, int(found["n_entries"]),
                found.get("words"),
            )  # fmt: skip
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
            raise self._corrupt(number) from error
        if read.said is Said.NIGHT and read.until is None:
            raise self._corrupt(number)
        return read

    def _corrupt(self, number: int) -> CorruptLogError:
        return CorruptLogError(
            f"reading {self._path}: line {number} is not what was written; put the file back from a backup, or delete "
            "it: nights are then made anew, and nothing counts as rolled back"
        )


class ReportBook:
    """What each night of one home came to, in figures, a line each, for people. Nothing is worked out from it: lost or
    damaged, it is missed by nobody. Whoever writes holds the home's lock `consolidation`."""

    def __init__(self, record: Path) -> None:
        self._path = record / REPORTS

    def append(self, figures: Mapping[str, Any]) -> None:
        """Adds a line."""
        lines = [*self._lines(), orjson.dumps(dict(figures))][-MAX_REPORTS:]
        write_atomically(self._path, b"".join(line + b"\n" for line in lines))

    def reports(self) -> list[dict[str, Any]]:
        """What was written, in order; lines that nobody can read are left out."""
        found = []
        for line in self._lines():
            with suppress(orjson.JSONDecodeError):
                found.append(orjson.loads(line))
        return [one for one in found if isinstance(one, dict)]

    def _lines(self) -> list[bytes]:
        return self._path.read_bytes().splitlines() if self._path.exists() else []


def decided(lines: Iterable[Line]) -> dict[str, Said]:
    """What was decided last about each experience, by its id."""
    return {target: line.said for target, line in decisions(lines).items()}


def decisions(lines: Iterable[Line]) -> dict[str, Line]:
    """The last line that decides about each experience, by its id."""
    return {line.target: line for line in lines if line.said in (Said.ACCEPT, Said.REJECT)}


def words_id(words: str) -> str:
    """By what accepted words are known: the book holds nothing of what anybody said."""
    return content_id("words", words)
