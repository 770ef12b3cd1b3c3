"""The asset `revision`: a night under Dagster, its figures, and what it never writes into the event log."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.revision import revision_asset
from em_pipelines.errors import BreakerOpenError, SettingsError
from em_pipelines.lifecycle.revision.model import Finding, NullVerifier, Outcome
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.settings import load_settings
from resources.home import HomeResource
from tests.lifecycle.revision.worlds import TODAY, YESTERDAY, ScriptedVerifier, World

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@pytest.fixture
def home(home_path: Path) -> Pipeline:
    found = Pipeline(load_settings(home=home_path, revision={"is_enabled": True}))
    world = World()
    for place in ("Kotor", "Perast", "Budva"):
        world.fact("Korvel", "located_in", place, kinds="organization place")
    found.store.lake.write(CURRENT_EDGES, YESTERDAY, world.edges)
    found.store.lake.write(ENTITIES, YESTERDAY, world.entities)
    return found


def materialize(home: Pipeline, verifier: Any, night: str | None = None) -> tuple[dg.ExecuteInProcessResult, str]:
    """One run over the home; returns it with everything that it logged."""

    @asynccontextmanager
    async def opened(_: Any) -> AsyncIterator[Any]:
        if isinstance(verifier, Exception):
            raise verifier
        yield verifier

    stand_ins = [dg.AssetSpec("current_edges"), dg.AssetSpec("entities")]
    definitions = dg.Definitions(
        assets=[revision_asset(opened), *stand_ins], resources={"home": HomeResource.of(home.settings)}
    )
    config = {**QUIET, "ops": {"revision": {"config": {"night": night}}}}
    job = definitions.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as instance:
        result = job.execute_in_process(instance=instance, run_config=config, raise_on_error=False)
        return result, "".join(str(entry) for entry in instance.all_logs(result.run_id))


def shown(result: dg.ExecuteInProcessResult) -> dict[str, Any]:
    (event,) = result.get_asset_materialization_events()
    return {name: value.value for name, value in event.materialization.metadata.items()}


def test_a_night_shows_its_figures_and_no_fact(home: Pipeline) -> None:
    replies = {"Kotor": Finding(Outcome.VERIFIED), "Perast": Finding(Outcome.CHANGED, "Risan", "https://example.org/")}
    verifier = ScriptedVerifier(lambda q: replies.get(q.object, Finding(Outcome.UNKNOWN, reason="not_decided")))
    result, logged = materialize(home, verifier, str(YESTERDAY))
    assert shown(result) == {
        "due": 3, "withheld": 0, "asked": 3, "verified": 1, "changed": 1, "unknown": 1, "deferred": 0,
        "cost_usd": 0.25, "as_of": str(YESTERDAY), "verifier": "scripted", "unknown_because": {"not_decided": 1},
        "deferred_because": [],
    }  # fmt: skip
    assert len(list(home.store.log.read("feedback", TODAY))) == 3
    assert not [name for name in ("Korvel", "Perast", "Risan", "example.org") if name in logged]


def test_without_a_verifier_nothing_is_asked_and_the_run_says_so(home: Pipeline) -> None:
    result, _ = materialize(home, NullVerifier(), str(YESTERDAY))
    assert shown(result)["note"] == NullVerifier.note
    assert shown(result)["asked"] == 0
    assert home.store.log.days("feedback") == []


def test_an_endpoint_that_is_down_defers_the_night_and_fails_nothing(home: Pipeline) -> None:
    result, logged = materialize(home, ScriptedVerifier(lambda _: BreakerOpenError("open")), str(YESTERDAY))
    assert result.success
    assert (shown(result)["deferred"], shown(result)["deferred_because"]) == (3, ["BreakerOpenError"])
    assert "3 facts are deferred: open" in logged


def test_a_missing_key_fails_the_run_with_one_sentence(home: Pipeline) -> None:
    result, logged = materialize(home, SettingsError("no key is set"))
    assert not result.success
    assert "no key is set" in logged


def test_without_a_tag_it_is_the_night_of_the_day_that_has_ended_last(home: Pipeline) -> None:
    verifier = ScriptedVerifier()
    result, _ = materialize(home, verifier)
    assert result.success
    assert len(verifier.asked) == 3
    assert shown(result)["as_of"] > str(YESTERDAY)
