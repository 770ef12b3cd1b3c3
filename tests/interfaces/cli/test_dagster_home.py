"""The configuration of Dagster in a home: made by the first run, brought up to date, and left alone once edited."""

from pathlib import Path

import dagster as dg
import pytest

from em_pipelines.interfaces.cli.dagster_storage import DAGSTER_YAML, FORMER_DAGSTER_YAMLS, prepare_dagster_home
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
from resources.event_storage import BatchingEventLogStorage


@pytest.fixture
def home(tmp_path: Path) -> Pipeline:
    return Pipeline(load_settings(home=tmp_path / "home"))


def test_a_new_home_stores_events_in_batches_beside_dagsters_other_files(home: Pipeline) -> None:
    folder = prepare_dagster_home(home)
    assert (folder / "dagster.yaml").read_text(encoding="utf-8") == DAGSTER_YAML
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        assert isinstance(instance.event_log_storage, BatchingEventLogStorage)
    assert (folder / "history" / "runs" / "index.db").exists()
    assert (folder / "history" / "runs.db").exists()


@pytest.mark.parametrize("former", sorted(FORMER_DAGSTER_YAMLS))
def test_a_configuration_that_nobody_has_edited_is_brought_up_to_date(former: str, home: Pipeline) -> None:
    home.dagster_home.mkdir(parents=True)
    (home.dagster_home / "dagster.yaml").write_text(former, encoding="utf-8")
    with dg.DagsterInstance.from_config(str(home.dagster_home)) as instance:
        instance.report_runless_asset_event(dg.AssetMaterialization("tea"))
    with dg.DagsterInstance.from_config(str(prepare_dagster_home(home))) as instance:
        assert isinstance(instance.event_log_storage, BatchingEventLogStorage)
        assert instance.get_latest_materialization_event(dg.AssetKey("tea"))


@pytest.mark.parametrize(
    "module", ["em_pipelines.orchestration.resources.event_storage", "older.resources.event_storage"]
)
def test_a_home_of_another_layout_names_the_modules_of_this_one(module: str, home: Pipeline) -> None:
    home.dagster_home.mkdir(parents=True)
    former = DAGSTER_YAML.replace("resources.event_storage", module)
    (home.dagster_home / "dagster.yaml").write_text(former, encoding="utf-8")
    prepare_dagster_home(home)
    assert (home.dagster_home / "dagster.yaml").read_text(encoding="utf-8") == DAGSTER_YAML


@pytest.mark.parametrize(
    "edited", [*(f"{former}\n" for former in sorted(FORMER_DAGSTER_YAMLS)), "storage: {}\n", "\xff"]
)
def test_one_that_somebody_has_edited_is_left_alone(edited: str, home: Pipeline) -> None:
    home.dagster_home.mkdir(parents=True)
    (home.dagster_home / "dagster.yaml").write_bytes(edited.encode("latin-1"))
    prepare_dagster_home(home)
    assert (home.dagster_home / "dagster.yaml").read_bytes() == edited.encode("latin-1")
