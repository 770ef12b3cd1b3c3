"""A ledger with entries, and homes in which something was said."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
from em_pipelines.storage.ledger import Ledger
from em_pipelines.storage.ledger_entries import Act
from em_pipelines.storage.salt import Salt

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="session")
def ledger_of() -> Callable[[Path, int], Ledger]:
    """ledger_of(folder, n): a ledger with n more entries."""

    def make(folder: Path, n_entries: int) -> Ledger:
        ledger = Ledger(folder, Salt(folder / "salt"))
        for n in range(n_entries):
            ledger.append(Act("correct", user_id=f"user-{n % 2}", target=f"edge_{n}", at=NOON + timedelta(hours=n)))
        return ledger

    return make


@pytest.fixture
def own_home(home: Pipeline, tmp_path: Path) -> Pipeline:
    """A copy of the module's `home`, for tests that change it."""
    shutil.copytree(home.path, tmp_path / "home")
    return Pipeline(home.settings.model_copy(update={"home": tmp_path / "home"}))


@pytest.fixture(scope="session")
def home_with() -> Callable[..., Pipeline]:
    """home_with(path, {message}, {…}): a home in which ada said this, a message a day in March 2026, all steps run.

    A dict with `type` is feedback. Settings as keywords.
    """

    def make(path: Path, *said: dict[str, Any], **settings: Any) -> Pipeline:
        home = Pipeline(load_settings(home=path, **settings))
        lines = []
        for number, one in enumerate(said):
            row = {"user_id": "ada", "session_id": f"s{number}", "timestamp": f"2026-03-{1 + number:02}T10:00:00Z"}
            if "type" not in one:
                row |= {"turn_number": 0, "role": "user"}
            lines.append(orjson.dumps(row | one))
        path.mkdir(parents=True, exist_ok=True)
        source = path / "said.jsonl"
        source.write_bytes(b"\n".join(lines) + b"\n")
        land([source], home.store.log, now=NOON + timedelta(days=60), settings=home.settings.landing)
        source.unlink()
        for step in home.steps.values():
            home.store.run_days(step, home.store.days(step))
        return home

    return make
