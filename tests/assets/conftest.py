"""Homes with an extractor of two verbs, a real instance, and runs of the assets without their checks."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path

import dagster as dg
import orjson
import pytest
from dagster._core.definitions.data_version import CachingStaleStatusResolver, StaleStatus
from dagster._core.loader import LoadingContextForTest

from assets.daily import daily_assets, op_name
from assets.partitions import daily_partitions
from assets.snapshot import snapshot
from em_pipelines.landing.land import land
from em_pipelines.landing.settings import FIRST_PARTITION
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.readings import Claim, Extraction, LocalExtractor, Mention, Segment
from em_pipelines.schema.vocabulary import EntityType, TemporalType
from em_pipelines.settings import load_settings
from em_pipelines.storage.run_plan import Plan, plan
from resources.dagster_internals import SELF_REPORTING
from resources.home import HomeResource

LATER = datetime(2026, 4, 1, tzinfo=UTC)
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
VERBS = {"like": ("likes", EntityType.FOOD), "live in": ("lives_in", EntityType.PLACE)}


@dataclass(frozen=True)
class TinyExtractor(LocalExtractor):
    """Reads `I like X.` and `I live in X.`, and nothing else."""

    version: str = "1"
    name: str = "tiny"

    def extract(self, segment: Segment) -> Extraction:
        found = Extraction()
        for turn in segment.turns:
            for match in re.finditer(r"I (like|live in) (\w+)", turn.text):
                relation, kind = VERBS[match[1]]
                start, end = match.span(2)
                found.mentions.append(Mention(turn.turn_number, match[2], kind, start, end))
                found.claims.append(
                    Claim(
                        turn.turn_number, "user", EntityType.PERSON, relation, match[2], kind, None, 0.9, start, end,
                        TemporalType.STATE,
                    )
                )  # fmt: skip
        return found


@dataclass
class World:
    """A home and its assets, and a real instance to run them on."""

    home: Pipeline
    instance: dg.DagsterInstance

    def land(self, day: int, text: str, session: str = "s1") -> None:
        """Lands one message of ada on a day of March 2026."""
        path = self.home.path / "files" / f"{day}-{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        message = {
            "user_id": "ada", "session_id": session, "turn_number": day, "role": "user", "content": text,
            "timestamp": f"2026-03-{day:02}T10:00:00Z",
        }  # fmt: skip
        path.write_bytes(orjson.dumps(message))
        assert land([path], self.home.store.log, now=LATER, settings=self.home.settings.landing).n_landed == 1

    def change_step(self, name: str, version: str) -> None:
        """Gives a step another version, as an edit of its code would."""
        self.home.steps[name] = replace(self.home.steps[name], also=(version,))

    def definitions(self) -> dg.Definitions:
        return dg.Definitions(
            assets=[
                *(daily_assets(step, daily_partitions(FIRST_PARTITION)) for step in self.home.steps.values()),
                snapshot,
            ],
            resources={"home": HomeResource.of(self.home.settings)},
            executor=dg.in_process_executor,
        )

    def run(
        self, *days: int | date, select: list[str] | None = None, is_full: bool = False, reports: bool = False
    ) -> dg.ExecuteInProcessResult:
        """One run over the days from the first to the last, of all daily assets or of those selected.

        A number is a day of March 2026. With `reports` the assets tell of what they have made, as those of `em run` do.
        """
        tags: dict[str, str] = {}
        config = {op_name(step): {"config": {"is_full": is_full}} for step in self.home.steps.values()}
        keys = [name for step in self.home.steps.values() for name in (table.name for table in step.outputs)]
        if days:
            first, last = (str(day if isinstance(day, date) else date(2026, 3, day)) for day in (days[0], days[-1]))
            tags = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}
            tags |= SELF_REPORTING if reports else {}
        return (
            self.definitions()
            .resolve_implicit_global_asset_job_def()
            .execute_in_process(
                instance=self.instance,
                asset_selection=[dg.AssetKey(name) for name in select or keys],
                tags=tags,
                run_config={**QUIET, "ops": config if is_full else {}},
                raise_on_error=False,
            )
        )

    def events(self, asset: str) -> list[dg.AssetMaterialization]:
        """What Dagster knows of an asset, oldest first."""
        found = self.instance.fetch_materializations(dg.AssetKey(asset), limit=100, ascending=True).records
        return [record.asset_materialization for record in found if record.asset_materialization]

    def told(self, asset: str) -> list[str | None]:
        """The days of which Dagster has heard of an asset, in order of time."""
        return [event.partition for event in self.events(asset)]

    def stale(self, asset: str, day: int) -> bool:
        """Whether the UI would call a day of March 2026 stale."""
        graph = self.definitions().resolve_asset_graph()
        resolver = CachingStaleStatusResolver(self.instance, graph, LoadingContextForTest(self.instance))
        return resolver.get_status(dg.AssetKey(asset), f"2026-03-{day:02}") is StaleStatus.STALE

    def plan(self) -> Plan:
        return plan(self.home.store, self.home.steps.values())

    def files(self) -> dict[str, bytes]:
        """Every partition of the lake with its bytes, by `table/day`."""
        lake = self.home.path / "lake"
        return {str(p.relative_to(lake).with_suffix("")): p.read_bytes() for p in sorted(lake.rglob("*.parquet"))}


@pytest.fixture
def new_world(tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Makes worlds of their own, all on one instance."""
    with dg.DagsterInstance.ephemeral(str(tmp_path), settings={"telemetry": {"enabled": False}}) as instance:

        def make(name: str = "home", version: str = "1") -> World:
            home = Pipeline(load_settings(home=tmp_path / name))
            home.extractor = TinyExtractor(version)
            return World(home, instance)

        yield make


@pytest.fixture
def world(new_world: Callable[..., World]) -> World:
    return new_world()
