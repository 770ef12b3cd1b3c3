"""What was erased is taken out of the graph database without a hand, where there is one."""

from contextlib import nullcontext
from typing import Any

import dagster as dg
import pytest

from em_pipelines.governance.erasure.forget import forget
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.serving.projection.graph_in_memory import InMemoryGraph
from em_pipelines.serving.projection.sync_home import sync_home


def why(world: Any) -> str:
    """Why the sensor asks for nothing; empty where it asks for a run."""
    answer, _ = world.tick("graph_erasures")
    return answer.skip_message or "" if isinstance(answer, dg.SkipReason) else ""


def test_a_sync_is_asked_for_after_an_erasure_and_not_before(world: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "NEO4J_URI is not set" in why(world)
    monkeypatch.setenv("NEO4J_URI", "bolt://127.0.0.1:9")
    world.land("2026-03-01", "2026-03-02")
    (world.home.path / "log.jsonl").unlink()
    world.make_tables()
    assert "nothing was erased" in why(world)
    graph = InMemoryGraph()
    sync_home(world.home, lambda: nullcontext(graph))
    assert "nothing was erased" in why(world)
    forget(world.home, Scope(ScopeKind.USER, "ada", ""))
    assert why(world) == ""
    at_work = world.record_run("project", dg.DagsterRunStatus.STARTED, {})
    assert why(world) == "a run is at work"
    world.instance.delete_run(at_work)
    sync_home(world.home, lambda: nullcontext(graph))
    assert "nothing was erased" in why(world)
