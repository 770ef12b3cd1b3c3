"""The snapshot as an asset: published once for what the lake holds, and a plain word where there is nothing."""

from pathlib import Path
from typing import Any

from em_pipelines.storage.duckdb_engine import connect


def make_tables(world: Any) -> None:
    for step in world.home.steps.values():
        world.home.store.run_days(step, world.home.store.days(step))


def shown(result: Any) -> dict[str, Any]:
    (event,) = result.get_asset_materialization_events()
    return {name: value.value for name, value in event.materialization.metadata.items()}


def test_a_snapshot_is_published_once_for_what_the_lake_holds(world: Any) -> None:
    world.land(1, "I like tea.")
    make_tables(world)
    first = shown(world.run(select=["snapshot"]))
    assert (first["as_of"], first["already_current"]) == ("2026-03-01", False)
    with connect(first["path"], is_read_only=True) as connection:
        assert connection.execute("SELECT relation FROM facts").fetchall() == [("likes",)]
        assert connection.execute("SELECT count(*) FROM edges").fetchall() == [(first["dagster/row_count"],)]
    assert (Path(first["path"]).parent / "latest.duckdb").resolve() == Path(first["path"]).resolve()
    assert shown(world.run(select=["snapshot"]))["already_current"] is True
    world.land(2, "I live in Oslo.")
    make_tables(world)
    second = shown(world.run(select=["snapshot"]))
    assert (second["as_of"], second["already_current"]) == ("2026-03-02", False)
    assert second["dagster/row_count"] > first["dagster/row_count"]


def test_without_facts_nothing_is_published_and_the_log_says_what_to_do(world: Any) -> None:
    result = world.run(select=["snapshot"])
    assert result.success
    assert not result.get_asset_materialization_events()
    logged = [entry.user_message for entry in world.instance.all_logs(result.run_id)]
    assert any("land logs with `em run PATH` first" in message for message in logged)
    assert not world.home.snapshots.exists()
