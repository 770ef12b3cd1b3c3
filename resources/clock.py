"""The clock that tells real time."""

import asyncio
import time
from datetime import UTC, datetime


class SystemClock:
    """The machine's clock (`em_pipelines.llm.clock.Clock`)."""

    def now(self) -> datetime:
        """The instant, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Returns after so many seconds."""
        await asyncio.sleep(seconds)
