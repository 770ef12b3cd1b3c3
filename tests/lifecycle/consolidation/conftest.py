"""A home whose telemetry tests write, and what of it nights make: tables as bytes, and files."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.governance.erasure.forget import catch_up
from em_pipelines.landing.land import land
from em_pipelines.language.values import iso_instant
from em_pipelines.lifecycle.consolidation.documents.memory_files import root_of
from em_pipelines.lifecycle.consolidation.night import NightReport, decide, roll_back, run_night
from em_pipelines.lifecycle.consolidation.nights import Said
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.derived import CONSOLIDATED
from em_pipelines.settings import load_settings

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)


@dataclass
class Sleeper:
    """A home, and what tests do to it."""

    home: Pipeline
    folder: Path
    n_landed: int = field(default=0)

    def land(self, calls: Iterable[dict[str, Any]]) -> None:
        """Lands rows of skill_invocations, and makes their days."""
        self.n_landed += 1
        path = self.folder / f"log-{self.n_landed}.jsonl"
        wanted = ("user_id", "session_id", "skill_name", "input_hash", "output_summary", "error_category", "exit_code",
                  "duration_ms", "cost_usd")  # fmt: skip
        records = (
            {"kind": "skill_invocation", "timestamp": iso_instant(row["timestamp"]), **{n: row[n] for n in wanted}}
            for row in calls
        )
        path.write_bytes(b"\n".join(map(orjson.dumps, records)) + b"\n")
        land([path], self.home.store.log, now=NOW, settings=self.home.settings.landing)
        self.make()

    def make(self) -> None:
        """Makes what is out of date, as a run does."""
        catch_up(self.home)
        self.home.refresh_consolidation()

    def night(self) -> NightReport:
        return run_night(self.home, NOW, is_forced=True)

    def roll_back(self, consolidation_id: str) -> list[str]:
        return roll_back(self.home, consolidation_id, NOW)

    def decide(self, experience_id: str, said: Said) -> None:
        decide(self.home, [experience_id], said, NOW)

    def files(self) -> dict[str, bytes]:
        """What stands in the folder of MEMORY.md and SKILL.md, by path."""
        root = root_of(self.home)
        return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}

    def tables(self) -> dict[str, bytes]:
        """The files of the tables that nights make, footers included."""
        lake = self.home.path / "lake"
        found = (path for table in CONSOLIDATED for path in sorted((lake / table.name).glob("*.parquet")))
        return {str(path.relative_to(lake)): path.read_bytes() for path in found}

    def all(self) -> dict[str, bytes]:
        return {**self.files(), **self.tables()}


@pytest.fixture
def sleeper(home_path: Path, tmp_path: Path) -> Sleeper:
    """A fresh home."""
    return Sleeper(Pipeline(load_settings(home=home_path)), tmp_path)
