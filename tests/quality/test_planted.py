"""What goes wrong with a model is found by the check that is named for it, in the first run after it: into a home made
from the examples a day is planted, and Dagster checks it."""

import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.daily import daily_assets
from assets.partitions import daily_partitions
from em_pipelines.landing.settings import FIRST_PARTITION
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.extraction import CLAIMS, EXTRACTION_ISSUES, MENTIONS
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.settings import Settings, load_settings
from quality.checks import ON_TABLES, build_checks
from resources.home import HomeResource

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
DAY = date(2026, 10, 17)
Rows = list[dict[str, Any]]


def times(rows: Rows, key: str, n: int, **changed: Any) -> Rows:
    return [row | changed | {key: f"{row[key]}-{k}"} for row in rows for k in range(n)]


def found_on(settings: Settings, day: date, instance: dg.DagsterInstance) -> dict[str, dg.AssetCheckEvaluation]:
    """What all checks of a day find, by name: those that do not hold."""
    steps = [step for name, step in Pipeline(settings).steps.items() if name in ("extraction", "messages", "fold")]
    definitions = dg.Definitions(
        assets=[daily_assets(step, daily_partitions(FIRST_PARTITION)) for step in steps],
        asset_checks=build_checks(steps),
        jobs=[dg.define_asset_job("some", dg.AssetSelection.all_asset_checks())],
        resources={"home": HomeResource.of(settings)},
        executor=dg.in_process_executor,
    )
    job = definitions.resolve_job_def("some")
    tags = {"dagster/partition": str(day)}
    result = job.execute_in_process(instance=instance, tags=tags, run_config=QUIET, raise_on_error=False)
    return {found.check_name: found for found in result.get_asset_check_evaluations() if not found.passed}


@pytest.fixture
def settings(examples_home: Path, tmp_path: Path) -> Settings:
    shutil.copytree(examples_home, tmp_path / "home", symlinks=True)
    return load_settings(home=tmp_path / "home")


def test_all_days_of_the_examples_pass_every_check(examples_home: Path) -> None:
    lake = Pipeline(load_settings(home=examples_home)).store.lake
    for check in ON_TABLES:
        days = lake.days(check.asset)[-1:] if check.asset.is_state else lake.days(check.asset)
        found = check.find(lake, days)
        assert [day for day, one in found.items() if not one.is_success] == [], check.name


@pytest.mark.parametrize(
    ("name", "table", "change", "day"),
    [
        ("users_apart", EDGES, lambda r: [r[0] | {"user_id": "tobias"}, *r[1:]], date(2026, 11, 1)),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in [
                ("hallucination_rate", EXTRACTION_ISSUES, lambda r: times(r, "issue_id", 2, issue="span"), DAY),
                ("hallucination_spike", EXTRACTION_ISSUES, lambda r: times(r, "issue_id", 2, issue="span"), DAY),
                ("confidence_drift", CLAIMS, lambda r: times(r, "claim_id", 5, confidence=0.35), DAY),
                ("entities_drift", MENTIONS, lambda r: times(r, "mention_id", 5), DAY),
                ("relates_to_share", CLAIMS, lambda r: [row | {"relation": "relates_to"} for row in r], DAY),
                ("claims_sourced", CLAIMS, lambda r: [row | {"message_id": "msg_gone"} for row in r], DAY),
                ("ends_exist", EDGES, lambda r: [r[0] | {"object_id": "ent_gone"}, *r[1:]], date(2026, 11, 1)),
            ]
        ),
    ],
)
def test_what_is_planted_is_caught_by_the_check_that_is_named_for_it(
    name: str, table: Table, change: Callable[[Rows], Rows], day: date, settings: Settings
) -> None:
    lake = Pipeline(settings).store.lake
    with dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as instance:
        assert found_on(settings, day, instance) == {}
        lake.write(table, day, table.from_rows(change(lake.read(table, day).to_pylist())))
        found = found_on(settings, day, instance)
        assert name in found
        assert f"first {day}: " in str(found[name].description)


def test_thresholds_are_settings(examples_home: Path) -> None:
    strict = load_settings(home=examples_home, quality={"max_entities_deviations": 0.1, "max_relates_to_share": 0.0})
    lake = Pipeline(strict).store.lake
    check = next(check for check in ON_TABLES if check.name == "entities_drift")
    assert [one for one in check.find(lake, lake.days(MENTIONS), strict.quality).values() if not one.is_success]
    assert all(one.is_success for one in check.find(lake, lake.days(MENTIONS)).values())
