"""A home that infers: which model it asks, by which key, and that the snapshot of a day waits for its edges."""

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from em_pipelines.errors import SettingsError, UsageError
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.derived import CURRENT_EDGES, INFERRED_EDGES
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.settings import load_settings
from resources.model_access import asking_of
from tests.lifecycle.inference.oracle import AS_OF, edge, entity, tables
from tests.model_server.script import answer
from tests.model_server.server import ModelServer

MEMBER = answer({"edges": [{"subject": 2, "relation": "member_of", "object": 1, "facts": [1, 0]}]})
NAMES = (("user", "person"), ("em", "project"), ("acme", "organization"))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer([MEMBER]) as listening:
        yield listening


def home_of(
    path: Path, server: ModelServer | None, *, is_model_enabled: bool = True, has_client: bool = True
) -> Pipeline:
    llm = {"base_url": server.base_url if server else None, "small": "small", "large": "large"}
    home = Pipeline(
        load_settings(home=path, llm=llm, inference={"is_model_enabled": is_model_enabled}),
        asking_of if has_client else None,
    )
    edges, entities = tables(
        [edge("user", "created", "em"), edge("em", "part_of", "acme")], [entity(name, kind) for name, kind in NAMES]
    )
    home.store.lake.write(CURRENT_EDGES, AS_OF, edges)
    home.store.lake.write(ENTITIES, AS_OF, entities)
    return home


def rules_named(home: Pipeline) -> list[str]:
    return sorted(row["rule_id"] for row in home.store.lake.read(INFERRED_EDGES, AS_OF).to_pylist())


def test_the_large_model_is_asked_once_where_it_is_enabled(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EM_LLM_API_KEY", "sk-test-0000000000000000")
    home = home_of(tmp_path, server)
    assert not home.is_inferred
    assert home.infer().made == (AS_OF,)
    assert rules_named(home) == ["inverse", "model"]
    assert [call.body["model"] for call in server.calls] == ["large"]
    assert home.is_inferred
    assert home.infer().made == ()
    assert home.infer(is_forced=True).made == (AS_OF,)
    assert server.n_calls == 1


def test_nobody_is_asked_by_default(tmp_path: Path, server: ModelServer) -> None:
    home = home_of(tmp_path, server, is_model_enabled=False)
    home.infer()
    assert rules_named(home) == ["inverse"]
    assert server.n_calls == 0


def test_without_a_key_or_a_client_it_is_said_what_is_missing(tmp_path: Path, server: ModelServer) -> None:
    with pytest.raises(SettingsError):
        home_of(tmp_path / "a", server).infer()
    with pytest.raises(UsageError, match="no client"):
        home_of(tmp_path / "b", server, has_client=False).infer()


@pytest.mark.parametrize("ends_it", [pytest.param("the next look", marks=pytest.mark.slow), "a run"])
def test_a_look_at_a_past_day_leaves_nothing_behind_though_it_is_killed(tmp_path: Path, ends_it: str) -> None:
    home = home_of(tmp_path, None, is_model_enabled=False)
    past, lake = AS_OF - timedelta(days=1), home.store.lake
    lake.write(CURRENT_EDGES, past, lake.read(CURRENT_EDGES, AS_OF))
    lake.write(ENTITIES, past, lake.read(ENTITIES, AS_OF))
    home.infer()
    process = os.fork()
    if not process:
        with home.inferred_on(past):
            os._exit(0 if lake.has(INFERRED_EDGES, past) else 1)
    assert os.waitpid(process, 0)[1] == 0
    assert lake.has(INFERRED_EDGES, past)
    if ends_it == "a run":
        home.sweep()
    else:
        with home.inferred_on(past):
            assert lake.has(INFERRED_EDGES, past)
    assert lake.days(INFERRED_EDGES) == [AS_OF]
    with home.inferred_on(AS_OF):
        pass
    assert lake.days(INFERRED_EDGES) == [AS_OF]
