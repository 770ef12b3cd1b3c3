"""A small world of real runs: a home, an instance, an extractor of two words."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import orjson
import pytest

from assets.daily import daily_assets
from assets.inference import inference_asset
from assets.partitions import daily_partitions
from assets.proactive import proactive_asset
from assets.retrieval import index_packs
from em_pipelines.landing.land import land
from em_pipelines.landing.settings import FIRST_PARTITION
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.readings import Claim, Extraction, LocalExtractor, Mention, Segment
from em_pipelines.schema.table import Table
from em_pipelines.schema.vocabulary import EntityType, TemporalType
from em_pipelines.settings import Settings
from quality.checks import build_checks
from quality.packs import packs_whole
from resources.home import HomeResource

LATER = datetime(2026, 4, 1, tzinfo=UTC)
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class TinyExtractor(LocalExtractor):
    """Reads `I like X.` and `I relate to X.`; with `surely` in the message its confidence is out of any range."""

    name = "tiny"
    version = "1"

    def extract(self, segment: Segment) -> Extraction:
        found = Extraction()
        for turn in segment.turns:
            match = re.search(r"I (like|relate to) (\w+)", turn.text)
            if match:
                start, end = match.span(2)
                found.mentions.append(Mention(turn.turn_number, match[2], EntityType.FOOD, start, end))
                found.claims.append(
                    Claim(
                        turn.turn_number,
                        subject="user",
                        subject_type=EntityType.PERSON,
                        relation={"like": "likes", "relate to": "relates_to"}[match[1]],
                        object=match[2],
                        object_type=EntityType.FOOD,
                        value=None,
                        confidence=1.5 if "surely" in turn.text else 0.9,
                        start=start,
                        end=end,
                        temporal_type=TemporalType.STATE,
                    )
                )
        return found


@dataclass
class World:
    """A home with its assets and checks, and a real instance to run them on."""

    home: Pipeline
    instance: dg.DagsterInstance
    folder: Path

    def land(self, day: int, *texts: str) -> None:
        """Lands messages of ada on a day of March 2026, all of one session that goes on from day to day."""
        path = self.folder / f"{day}.jsonl"
        path.write_bytes(
            b"\n".join(
                orjson.dumps(
                    {
                        "user_id": "ada", "session_id": "s1", "turn_number": 100 * day + turn, "role": "user",
                        "content": text, "timestamp": f"2026-03-{day:02}T10:{turn:02}:00Z",
                    }
                )
                for turn, text in enumerate(texts)
            )
        )  # fmt: skip
        report = land([path], self.home.store.log, now=LATER, settings=self.home.settings.landing)
        assert report.n_landed == len(texts)

    def make_tables(self) -> None:
        """Runs every step without Dagster, so that there are tables to check."""
        for step in self.home.steps.values():
            self.home.store.run_days(step, self.home.store.days(step))
        self.home.infer()
        self.home.refresh_proactive()

    def change(self, table: Table, day: int, changed: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
        """Rewrites one partition as somebody with an editor would."""
        on = date(2026, 3, day)
        rows = changed(self.home.store.lake.read(table, on).to_pylist())
        self.home.store.lake.write(table, on, table.from_rows(rows))

    def rows(self, table: Table, day: int) -> list[dict[str, Any]]:
        """The rows of one partition."""
        return self.home.store.lake.read(table, date(2026, 3, day)).to_pylist()

    def days_of_check(self, asset: str, name: str) -> dict[str, bool]:
        """What was last reported of each partition of a check: whether it passed."""
        found: dict[str, bool] = {}
        key = dg.AssetCheckKey(dg.AssetKey(asset), name)
        for record in reversed(self.instance.event_log_storage.get_asset_check_execution_history(key, limit=100)):
            event = record.event.dagster_event if record.event else None
            data = event.event_specific_data if event else None
            if isinstance(data, dg.AssetCheckEvaluation) and data.partition:
                found[data.partition] = data.passed
        return found

    def stands(self, asset: str, name: str) -> str:
        """How Dagster takes a check to stand: the status of what it was told last."""
        key = dg.AssetCheckKey(dg.AssetKey(asset), name)
        found = self.instance.event_log_storage.get_latest_asset_check_execution_by_key([key])
        return str(found[key].status.value)

    def run(self, selection: dg.AssetSelection, **tags: str) -> dg.ExecuteInProcessResult:
        """One run of what is selected; without tags it has no partition."""
        steps = self.home.steps.values()
        definitions = dg.Definitions(
            assets=[
                *(daily_assets(step, daily_partitions(FIRST_PARTITION)) for step in steps),
                inference_asset(self.home.inference),
                *(proactive_asset(step) for step in self.home.proactive),
                index_packs,
            ],
            asset_checks=[*build_checks([*steps, self.home.inference, *self.home.proactive]), packs_whole],
            jobs=[dg.define_asset_job("some", selection)],
            resources={"home": HomeResource.of(self.home.settings)},
            executor=dg.in_process_executor,
        )
        job = definitions.resolve_job_def("some")
        return job.execute_in_process(instance=self.instance, tags=tags, run_config=QUIET, raise_on_error=False)

    def check(self, asset: str, name: str, **tags: str) -> dg.AssetCheckEvaluation:
        """Runs one check by itself and returns what it found."""
        result = self.run(dg.AssetSelection.checks(dg.AssetCheckKey(dg.AssetKey(asset), name)), **tags)
        assert result.success or result.get_asset_check_evaluations(), [
            event.step_failure_data.error for event in result.all_events if event.is_step_failure
        ]
        (found,) = result.get_asset_check_evaluations()
        return found


@pytest.fixture
def tiny() -> TinyExtractor:
    return TinyExtractor()


@pytest.fixture
def world(settings: Settings, tiny: TinyExtractor, tmp_path: Path) -> Iterator[World]:
    home = Pipeline(settings)
    home.extractor = tiny
    with dg.DagsterInstance.ephemeral(str(tmp_path), settings={"telemetry": {"enabled": False}}) as instance:
        yield World(home, instance, tmp_path)
