"""Telling what was found: noted in the book first, then told to every sink, and noted again what each took.

Noted before it is sent, so that a process that is killed loses nothing; noted after each sink, so that the next one
tells nothing twice but what was under way. Sinks are handed in; `resources.alert_sinks` has them.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from em_pipelines.governance.alerts.alert import Alert, Look, Severity
from em_pipelines.governance.alerts.book import LOCK, AlertBook, Book, Standing, Told
from em_pipelines.home import Home

WAIT_SECONDS = 30.0
"""For whoever else is telling: longer than a sink takes to give up."""
OWED_DAYS = 7
"""For so long the end of an alert is owed to a sink that does not take it, or is not there any more."""
_LOGGER = logging.getLogger(__name__)


class Kind(StrEnum):
    """Why something is sent."""

    RAISED = "raised"
    WORSE = "worse"
    REMINDER = "reminder"
    ENDED = "ended"
    TEST = "test"


@dataclass(frozen=True, slots=True)
class Notice:
    """What is sent; `since` is when the alert was found first."""

    kind: Kind
    alert: Alert
    since: datetime

    @property
    def title(self) -> str:
        """One line."""
        how = self.alert.severity if self.kind in (Kind.RAISED, Kind.TEST) else self.kind
        return f"[{how}] {' '.join(self.alert.title.split())}"

    @property
    def body(self) -> str:
        """What was found and what to do; of what has ended, since when it stood."""
        since = f"{self.since:%Y-%m-%d %H:%M} UTC"
        if self.kind is Kind.ENDED:
            return f"It stood since {since}: {self.alert.text}"
        stood = f"\nIt stands since {since}." if self.kind in (Kind.WORSE, Kind.REMINDER) else ""
        quiet = f"\nTo hear nothing of it for a while: `em alerts silence {self.alert.rule}`"
        return f"{self.alert.text}\n{self.alert.todo}{stood}{'' if self.kind is Kind.TEST else quiet}"


class Sink(Protocol):
    """Where notices go."""

    @property
    def name(self) -> str:
        """By which the book knows what it took."""

    def take(self, notice: Notice) -> str | None:
        """Sends a notice; returns why it was not taken, without an address or a password, or None where it was."""


@dataclass(slots=True)
class Sent:
    """How many notices sinks took, and why those that failed did, by name."""

    n_taken: int = 0
    refused: dict[str, str] = field(default_factory=dict)


def tell(home: Home, look: Look, sinks: Sequence[Sink], now: datetime, repeat_hours: float) -> Sent:
    """Notes what a look has found, and tells the sinks whatever each has to hear of: what was found now, what it did
    not take before, what got worse, what is to be repeated, and what has ended. A sink that fails is left alone until
    the next time. Raises LockedError where another process takes too long, and StorageError."""
    sent = Sent()
    with home.lock(LOCK, timeout_seconds=WAIT_SECONDS):
        store = AlertBook(home.path)
        book = store.read()
        _note(book, look, now)
        store.write(book)
        for sink in sinks:
            for standing in sorted(book.standing.values(), key=lambda one: (-one.alert.severity.rank, one.since)):
                kind = _due(standing, sink.name, book, now, repeat_hours)
                if kind is None:
                    continue
                if why := _refusal(sink, Notice(kind, standing.alert, standing.since)):
                    sent.refused[sink.name] = why
                    break
                sent.n_taken += 1
                _took(standing, sink.name, kind, now)
                store.write(book)
        _drop(book, now)
        store.write(book)
    return sent


def try_out(sinks: Sequence[Sink], now: datetime) -> dict[str, str | None]:
    """Sends a message to each sink that says it is a test; returns by name why it was not taken, None where it was."""
    alert = Alert(
        "test", Severity.WARNING, "a test of alerts", "Nothing is wrong: somebody has called `em alerts test`.",
        "There is nothing to do.",
    )  # fmt: skip
    return {sink.name: _refusal(sink, Notice(Kind.TEST, alert, now)) for sink in sinks}


def _note(book: Book, look: Look, now: datetime) -> None:
    found = {alert.key: alert for alert in look.found}
    for key, alert in found.items():
        known = book.standing.get(key)
        if known is None:
            book.standing[key] = Standing(alert, now)
        else:
            if known.ended_at is not None:
                known.since, known.ended_at = now, None
            known.alert = alert
    for key, standing in book.standing.items():
        if key not in found and standing.alert.rule in look.asked and standing.ended_at is None:
            standing.ended_at = now


def _due(standing: Standing, sink: str, book: Book, now: datetime, repeat_hours: float) -> Kind | None:
    """Why a sink has to hear of an alert now; None where it has not."""
    told = standing.told.get(sink)
    if book.silence_of(standing.alert, now):
        return None
    if standing.ended_at is not None:
        return Kind.ENDED if told else None
    if told is None:
        return Kind.RAISED
    if standing.alert.severity.rank > told.severity.rank:
        return Kind.WORSE
    is_old = repeat_hours > 0 and now - told.at >= timedelta(hours=repeat_hours)
    return Kind.REMINDER if is_old else None


def _took(standing: Standing, sink: str, kind: Kind, now: datetime) -> None:
    """What got better and is as bad again is no news, unless a reminder has told that it was better."""
    if kind is Kind.ENDED:
        del standing.told[sink]
    else:
        standing.told[sink] = Told(standing.alert.severity, now)


def _refusal(sink: Sink, notice: Notice) -> str | None:
    try:
        return sink.take(notice)
    except Exception as error:  # a sink at fault keeps no other from hearing
        _LOGGER.warning("telling %s failed (%s)", sink.name, type(error).__name__)
        return f"it failed ({type(error).__name__})"


def _drop(book: Book, now: datetime) -> None:
    """Lets go of what has ended and is owed to nobody, and of silences that are over."""
    until = now - timedelta(days=OWED_DAYS)
    for key, standing in list(book.standing.items()):
        ended_at = standing.ended_at
        if ended_at is not None and (
            not standing.told or ended_at <= until or book.silence_of(standing.alert, now) is not None
        ):
            del book.standing[key]
    book.silences = {one.name: one for one in book.silenced(now)}
