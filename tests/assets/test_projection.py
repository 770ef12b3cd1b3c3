"""The graph database as an asset: skipped with a reason, synced with figures, and a plain word where it fails."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dagster as dg
import pytest

from assets.projection import UNSET, projection_asset
from em_pipelines.errors import GraphUnavailableError
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.projection.graph_in_memory import InMemoryGraph
from em_pipelines.serving.projection.graph_store import GraphStore
from em_pipelines.serving.projection.shapes import ENTITY
from resources.graph_address import open_graph
from resources.home import HomeResource

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
PASSWORD = "pw-nobody-may-read-this"


@pytest.fixture
def home(world: Any, monkeypatch: pytest.MonkeyPatch) -> Pipeline:
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:9")
    monkeypatch.setenv("NEO4J_PASSWORD", PASSWORD)
    world.land(1, "I live in Oslo.")
    for step in world.home.steps.values():
        world.home.store.run_days(step, world.home.store.days(step))
    found: Pipeline = world.home
    return found


def opening(graph: GraphStore) -> Callable[[], Any]:
    @contextmanager
    def opened() -> Iterator[GraphStore]:
        yield graph

    return opened


def materialize(home: Pipeline, opened: Callable[[], Any]) -> tuple[dg.ExecuteInProcessResult, str]:
    """One run over the home; returns it with everything that it logged."""
    stand_ins = [dg.AssetSpec(name) for name in ("snapshot", "current_edges", "entities")]
    definitions = dg.Definitions(
        assets=[projection_asset(opened), *stand_ins], resources={"home": HomeResource.of(home.settings)}
    )
    job = definitions.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.ephemeral(settings={"telemetry": {"enabled": False}}) as instance:
        result = job.execute_in_process(instance=instance, run_config=QUIET, raise_on_error=False)
        return result, "".join(str(entry) for entry in instance.all_logs(result.run_id))


def shown(result: dg.ExecuteInProcessResult) -> dict[str, Any]:
    (event,) = result.get_asset_materialization_events()
    return {name: value.value for name, value in event.materialization.metadata.items()}


def test_a_sync_shows_its_figures_and_no_name(home: Pipeline) -> None:
    graph = InMemoryGraph()
    result, logged = materialize(home, opening(graph))
    assert result.success
    first = shown(result)
    assert (first["as_of"], first["users"], first["rows_written"], first["already_current"]) == (
        "2026-03-01", 1, 3, False,
    )  # fmt: skip
    assert {node["name"] for node in graph.nodes[ENTITY].values()} == {"user", "Oslo"}
    assert "Oslo" not in logged
    again = shown(materialize(home, opening(graph))[0])
    assert (again["rows_written"], again["already_current"]) == (0, True)
    assert again["checksum"] == first["checksum"]


def test_without_an_address_it_is_skipped_and_says_why(home: Pipeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEO4J_URI")
    result, logged = materialize(home, open_graph)
    assert result.success
    assert not result.get_asset_materialization_events()
    assert UNSET in logged


def test_a_database_that_is_down_fails_the_run_with_one_sentence_and_no_secret(
    home: Pipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resources.neo4j.RETRY_SECONDS", 0.2)
    result, logged = materialize(home, open_graph)
    assert not result.success
    assert "talking to the graph database at 127.0.0.1: no answer" in logged
    assert PASSWORD not in logged


def test_one_that_breaks_off_is_completed_by_the_next(home: Pipeline) -> None:
    class Breaking(InMemoryGraph):
        is_broken = True

        def put_edges(self, kind: Any, rows: Any) -> None:
            if self.is_broken:
                raise GraphUnavailableError("writing: it went away")
            super().put_edges(kind, rows)

    graph = Breaking()
    result, logged = materialize(home, opening(graph))
    assert not result.success
    assert "2 rows had been written and are kept" in logged
    graph.is_broken = False
    assert shown(materialize(home, opening(graph))[0])["rows_written"] == 1


def test_a_graph_that_is_not_memory_s_fails_the_run(home: Pipeline) -> None:
    class Forgetful(InMemoryGraph):
        def put_edges(self, kind: Any, rows: Any) -> None:
            """Writes nothing."""

    result, logged = materialize(home, opening(Forgetful()))
    assert not result.success
    assert "holds 2 nodes and 0 relationships of ours, which are not those of memory" in logged
