"""A home with an extractor that reads nothing, its definitions, and a real instance for sensors to ask."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import orjson
import pytest

from em_pipelines.definitions import build_definitions
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.readings import Extraction, LocalExtractor, Segment
from em_pipelines.settings import load_settings
from resources.home import HomeResource

LATER = datetime(2026, 4, 1, tzinfo=UTC)
LONG_AGO = LATER.timestamp()
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class NoExtractor(LocalExtractor):
    """Reads nothing; its version can be set."""

    name = "none"
    version = "1"

    def __init__(self, *_: object) -> None:
        pass

    def extract(self, segment: Segment) -> Extraction:
        return Extraction()


@dataclass
class World:
    """A home, what Dagster makes of it, and the instance that it runs on."""

    home: Pipeline
    instance: dg.DagsterInstance
    definitions: dg.Definitions

    @property
    def resources(self) -> dict[str, HomeResource]:
        return {"home": HomeResource.of(self.home.settings)}

    def message(self, day: str, **changes: Any) -> bytes:
        return orjson.dumps(
            {
                "user_id": "ada", "session_id": "s1", "turn_number": int(day[-2:]), "role": "user",
                "content": "I like tea.", "timestamp": f"{day}T10:00:00Z", **changes,
            }
        )  # fmt: skip

    def drop(self, name: str, data: bytes, changed_at: float = LONG_AGO) -> Path:
        """Puts a file into the inbox, last changed at an instant."""
        path = self.home.inbox / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (changed_at, changed_at))
        return path

    def land(self, *days: str, **changes: Any) -> None:
        """Lands a message on each of the days."""
        path = self.home.path / "log.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\n".join(self.message(day, **changes) for day in days))
        report = land([path], self.home.store.log, now=LATER, settings=self.home.settings.landing)
        assert report.n_landed == len(days)

    def make_tables(self) -> None:
        """Runs every step over every day, without Dagster."""
        for step in self.home.steps.values():
            self.home.store.run_days(step, self.home.store.days(step))

    def tick(self, name: str, cursor: str | None = None) -> tuple[dg.RunRequest | dg.SkipReason, str | None]:
        """Evaluates a sensor once; returns what it asks for, or why for nothing, and its cursor afterwards."""
        sensor = self.definitions.resolve_sensor_def(name)
        with dg.build_sensor_context(instance=self.instance, cursor=cursor, resources=self.resources) as context:
            found = sensor(context)
            (answer,) = [found] if isinstance(found, dg.RunRequest | dg.SkipReason) else list(found)
            return answer, context.cursor

    def record_run(self, job: str, status: dg.DagsterRunStatus, tags: dict[str, str]) -> str:
        """A run of the job as the instance remembers it; returns its id."""
        job_def = self.definitions.resolve_job_def(job)
        return self.instance.create_run_for_job(job_def, status=status, tags=tags).run_id


@pytest.fixture
def world(home_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr("em_pipelines.extraction.rules.extractor.RulesExtractor", NoExtractor)
    settings = load_settings(home=home_path)
    with dg.DagsterInstance.ephemeral(str(tmp_path), settings={"telemetry": {"enabled": False}}) as instance:
        yield World(Pipeline(settings), instance, build_definitions(settings))
