"""Inferred edges as an asset: made once for the newest facts, whatever the range of days before it."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.inference import inference_asset
from assets.snapshot import snapshot
from em_pipelines.schema.tables.derived import INFERRED_EDGES
from em_pipelines.storage.duckdb_engine import connect
from resources.home import HomeResource

RULE = """rules:
  - {id: liked, about: What is liked has to do with who likes it., when: [one likes other], then: other relates_to one}
"""


@pytest.fixture
def world(new_world: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A world with a rule about what its extractor reads."""
    (tmp_path / "rules.yaml").write_text(RULE)
    monkeypatch.setenv("EM_INFERENCE__RULES_FILE", str(tmp_path / "rules.yaml"))
    return new_world()


def make_tables(world: Any) -> None:
    for step in world.home.steps.values():
        world.home.store.run_days(step, world.home.store.days(step))


def run(world: Any, *, is_full: bool = False) -> dict[str, Any]:
    """Materializes inference and snapshot; what is shown of the inferred edges."""
    definitions = dg.Definitions(
        assets=[inference_asset(world.home.inference), snapshot],
        resources={"home": HomeResource.of(world.home.settings)},
        executor=dg.in_process_executor,
    )
    result = definitions.resolve_implicit_global_asset_job_def().execute_in_process(
        instance=world.instance,
        run_config={
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
            "ops": {"materialize_inference": {"config": {"is_full": is_full}}},
        },
    )
    (event,) = result.asset_materializations_for_node("materialize_inference")
    return {name: value.value for name, value in event.metadata.items()}


def test_what_follows_is_made_for_the_newest_facts_and_published(world: Any) -> None:
    world.land(1, "I like tea.")
    world.land(4, "I like rice.")
    make_tables(world)
    shown = run(world)
    assert (shown["dagster/row_count"], shown["as_of"], shown["already_current"]) == (2, "2026-03-04", False)
    assert "| liked | 2 |" in shown["by_rule"]
    assert world.home.store.lake.days(INFERRED_EDGES) == [date(2026, 3, 4)]
    with connect(str(world.home.snapshots / "latest.duckdb"), is_read_only=True) as connection:
        found = connection.execute("SELECT subject, relation, object, rule_id, because FROM inferred_facts").fetchall()
    assert sorted(found) == [
        ("rice", "relates_to", "user", "liked", ["user likes rice"]),
        ("tea", "relates_to", "user", "liked", ["user likes tea"]),
    ]


@pytest.mark.slow
def test_it_is_made_again_where_facts_changed_and_otherwise_not(world: Any) -> None:
    world.land(1, "I like tea.")
    make_tables(world)
    assert not world.home.is_inferred
    run(world)
    assert world.home.is_inferred
    assert run(world)["already_current"] is True
    assert run(world, is_full=True)["already_current"] is False
    world.land(1, "I like rice.", session="s2")
    make_tables(world)
    assert not world.home.is_inferred
    assert run(world)["dagster/row_count"] == 2


@pytest.mark.slow
def test_a_snapshot_of_a_day_without_inferred_edges_has_none_of_another(world: Any) -> None:
    from em_pipelines.serving.snapshot import publish

    world.land(1, "I like tea.")
    world.land(4, "I like rice.")
    make_tables(world)
    world.home.infer(date(2026, 3, 1))
    early = publish(world.home.store, world.home.snapshots, world.home.time_rules, date(2026, 3, 1))
    assert early.n_rows["inferred_edges"] == 1
    assert publish(world.home.store, world.home.snapshots, world.home.time_rules).n_rows["inferred_edges"] == 0


def test_without_facts_nothing_follows(world: Any) -> None:
    assert world.home.is_inferred
    assert world.home.infer().made == ()
