"""A place to land in, and small records to land."""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.landing.dead_letters import open_letters
from em_pipelines.landing.land import all_letters, land
from em_pipelines.landing.report import LandingReport
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.schema.table import Record
from em_pipelines.storage.landed_log import LandedLog

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)


@dataclass
class Home:
    """A landed log and a folder of files beside it."""

    root: Path
    log: LandedLog
    now: datetime = NOW

    def write(self, name: str, data: str | bytes | list[Any]) -> Path:
        """Writes a file; a list is written as JSON Lines."""
        path = self.root / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(data, list):
            data = b"".join(orjson.dumps(record) + b"\n" for record in data)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    def land(self, *paths: Path, settings: LandingSettings | None = None, **options: Any) -> LandingReport:
        return land(paths, self.log, now=self.now, settings=settings or LandingSettings(), **options)

    def land_data(self, name: str, data: str | bytes | list[Any], **options: Any) -> LandingReport:
        return self.land(self.write(name, data), **options)

    def landed(self, kind: str = "interactions") -> list[Record]:
        """All records of a kind, in order of day and landing."""
        return [record for day in self.log.days(kind) for record in self.log.read(kind, day)]

    def reasons(self) -> list[str]:
        return [letter["reason"] for letter in all_letters(self.log).values()]

    def facts(self) -> list[tuple[str, ...]]:
        """Subject, relation (the key, of has_attribute) and object of what was imported, in the order of landing."""
        said = [orjson.loads(record["payload"]) for record in self.landed("feedback")]
        return [(p["subject"], p.get("attribute", p["relation"]), p["object"]) for p in said]

    def the_letter(self) -> Record:
        """The only open letter, its raw bytes decoded."""
        (letter,) = open_letters(self.log)
        return {**letter, "raw": base64.b64decode(letter["raw"])}

    def segments(self) -> dict[str, bytes]:
        """Every file of the log with its bytes."""
        folder = self.root / "log"
        return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def new_home(tmp_path: Path) -> Callable[[str], Home]:
    def make(name: str) -> Home:
        return Home(tmp_path / name, LandedLog(tmp_path / name / "log"))

    return make


@pytest.fixture
def home(new_home: Callable[[str], Home]) -> Home:
    return new_home("home")


@pytest.fixture
def message() -> Callable[..., dict[str, Any]]:
    """One interaction as people write it; fields can be set, or left out with None."""

    def make(turn: Any = 0, **fields: Any) -> dict[str, Any]:
        base = {
            "user_id": "ada",
            "session_id": "s1",
            "turn_number": turn,
            "role": "user",
            "content": f"message {turn}",
            "timestamp": "2026-03-05T18:20:00Z",
        }
        return {k: v for k, v in (base | fields).items() if v is not None}

    return make


@pytest.fixture
def settings() -> Callable[..., LandingSettings]:
    """Settings of landing with some of them set."""
    return LandingSettings
