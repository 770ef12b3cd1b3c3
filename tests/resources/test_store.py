"""The home as a resource: what it is built from, and that it reaches a run as it was given."""

from collections.abc import Callable
from pathlib import Path

import dagster as dg
import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import Settings, load_settings
from resources.home import HomeResource


@pytest.fixture
def home_of_run(tmp_path: Path) -> Callable[..., Pipeline]:
    """Runs an asset with the resource and returns the home that it was given."""

    def run(resource: HomeResource, **config: object) -> Pipeline:
        seen: list[Pipeline] = []

        @dg.asset
        def probe(home: HomeResource) -> None:
            seen.append(home.home)
            home.days_done("probe", 3)

        with dg.DagsterInstance.ephemeral(str(tmp_path), settings={"telemetry": {"enabled": False}}) as instance:
            run_config = {"resources": {"home": {"config": config}}} if config else None
            assert dg.materialize(
                [probe], instance=instance, resources={"home": resource}, run_config=run_config
            ).success
        return seen[0]

    return run


def test_a_run_works_with_the_settings_that_were_given(home_path: Path, home_of_run: Callable[..., Pipeline]) -> None:
    settings = load_settings(home=home_path, decay={"archive_below_confidence": 0.2})
    found = home_of_run(HomeResource.of(settings))
    assert found.settings == settings
    assert found.path == home_path


def test_a_run_tells_whoever_waits_of_days_done(settings: Settings, home_of_run: Callable[..., Pipeline]) -> None:
    heard: list[tuple[str, int]] = []
    home_of_run(HomeResource.of(settings, lambda step, n_days: heard.append((step, n_days))))
    assert heard == [("probe", 3)]


def test_a_run_that_nobody_waits_for_tells_nobody(settings: Settings, home_of_run: Callable[..., Pipeline]) -> None:
    assert home_of_run(HomeResource.of(settings)).settings == settings


def test_a_path_alone_reads_the_environment(
    home_path: Path, home_of_run: Callable[..., Pipeline], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EM_EMBEDDER", "openai:small")
    found = home_of_run(HomeResource(path=str(home_path)))
    assert (found.path, found.settings.embedder) == (home_path, "openai:small")


def test_another_path_in_the_run_config_wins_and_keeps_the_other_settings(
    settings: Settings, tmp_path: Path, home_of_run: Callable[..., Pipeline]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    found = home_of_run(HomeResource.of(settings.model_copy(update={"embedder": "openai:small"})), path=str(elsewhere))
    assert (found.path, found.settings.embedder) == (elsewhere, "openai:small")


def test_a_run_leaves_nothing_on_disk_that_was_not_asked_for(
    home_path: Path, home_of_run: Callable[..., Pipeline]
) -> None:
    home_of_run(HomeResource.of(load_settings(home=home_path)))
    assert [path.name for path in home_path.rglob("*")] == ["locks"]
