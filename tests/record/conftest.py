"""A ledger with entries, for tests that break it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from em_pipelines.record.ledger import Ledger
from em_pipelines.salting import Salt

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def ledger_of() -> Callable[[Path, int], Ledger]:
    """ledger_of(folder, n): a ledger of n entries."""

    def make(folder: Path, n_entries: int) -> Ledger:
        ledger = Ledger(folder, Salt(folder / "salt"))
        for n in range(n_entries):
            ledger.append("correct", user_id=f"user-{n % 2}", target=f"edge_{n}", at=NOON + timedelta(hours=n))
        return ledger

    return make
