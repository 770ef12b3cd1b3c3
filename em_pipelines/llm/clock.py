"""Time as an argument: what waits or measures is handed a clock. `resources.clock` has the one that tells real time."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """What time it is, and waiting."""

    def now(self) -> datetime:
        """The instant, in UTC."""

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back."""

    async def sleep(self, seconds: float) -> None:
        """Returns after so many seconds."""


class ManualClock:
    """A clock that goes only when told to; a sleep is over at once and moves it, so that nothing really waits."""

    def __init__(self, at: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._started_at = at
        self._passed = 0.0
        self.slept: list[float] = []
        """Every sleep asked for, in seconds, in order."""

    def now(self) -> datetime:
        """The instant at which it stands."""
        return self._started_at + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        """Seconds by which it was moved."""
        return self._passed

    def advance(self, seconds: float) -> None:
        """Moves it on."""
        self._passed += seconds

    async def sleep(self, seconds: float) -> None:
        """Moves it on, and lets other tasks have a turn."""
        self.slept.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)
