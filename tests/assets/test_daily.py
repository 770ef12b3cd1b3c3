"""The daily assets on a real instance and real Parquet: days alone and in ranges, late data, quiet days, new code."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from assets.daily import ID_COLUMNS, of_day
from em_pipelines.schema.table import PERSONAL_COLUMNS
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.extraction import LLM_CALLS
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.schema.vocabulary import OBSERVATIONS

NewWorld = Callable[..., Any]
NEVER_LANDED = {"skill_invocations", "feedback", "world_events", "dead_letters", "erasures"}


def materialized(result: dg.ExecuteInProcessResult, asset: str) -> dict[str, dict[str, Any]]:
    """Metadata of the asset's materializations, by partition."""
    return {
        event.partition: {k: v.value for k, v in event.materialization.metadata.items()}
        for event in result.get_asset_materialization_events()
        if event.asset_key == dg.AssetKey(asset) and event.partition
    }


def data_version_of(result: dg.ExecuteInProcessResult, asset: str) -> str:
    """The data version of an asset's materializations, of which each tells the same."""
    events = [e for e in result.get_asset_materialization_events() if e.asset_key == dg.AssetKey(asset)]
    (version,) = {str(e.materialization.tags["dagster/data_version"]) for e in events}
    return version


def facts(world: Any, day: int) -> set[tuple[str, str]]:
    rows = world.home.store.lake.read(EDGES, date(2026, 3, day)).to_pylist()
    return {(row["relation"], row["status"]) for row in rows if row["relation"] not in OBSERVATIONS}


def test_one_day_becomes_facts_in_every_table(world: Any) -> None:
    world.land(1, "I like tea.")
    result = world.run(1)
    assert result.success
    asked = {event.asset_key.to_user_string() for event in result.get_asset_materialization_events()}
    assert asked == {table.name for step in world.home.steps.values() for table in step.outputs}
    assert world.files().keys() == {f"{name}/2026-03-01" for name in asked - NEVER_LANDED}
    assert facts(world, 1) == {("likes", "active")}


@pytest.mark.slow
def test_three_days_in_one_run_leave_the_bytes_of_three_runs(new_world: NewWorld) -> None:
    together, alone = new_world("together"), new_world("alone")
    for world in (together, alone):
        for day, text in enumerate(("I live in Oslo.", "I like tea.", "I live in Rome."), 1):
            world.land(day, text)
    result = together.run(1, 3)
    assert result.success
    assert together.instance.get_runs_count() == 1
    assert set(materialized(result, "edges")) == {"2026-03-01", "2026-03-02", "2026-03-03"}
    assert facts(together, 3) == {("lives_in", "superseded"), ("lives_in", "active"), ("likes", "active")}
    for day in (1, 2, 3):
        assert alone.run(day).success
    assert together.files() == alone.files()


@pytest.mark.parametrize(
    "is_full", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["found current", "made again"]
)
def test_one_day_run_again_alone_leaves_identical_bytes(is_full: bool, world: Any) -> None:
    for day in (1, 2, 3):
        world.land(day, f"I like dish{day}.")
    assert world.run(1, 3).success
    before = world.files()
    result = world.run(2, is_full=is_full)
    assert result.success
    assert world.files() == before
    said = materialized(result, "edges")["2026-03-02"]
    assert (said["days_made"], said["days_already_current"]) == ((1, 0) if is_full else (0, 1))


@pytest.mark.slow
def test_the_version_of_data_is_the_digest_of_its_rows(world: Any) -> None:
    for day in (1, 2):
        world.land(day, f"I like dish{day}.")
    store, table = world.home.store, CATALOG["edges"]
    assert world.run(1, 2).success
    alone, twice = (data_version_of(world.run(day), "edges") for day in (1, 1))
    assert alone == twice == store.lake.info(table, date(2026, 3, 1)).content_digest
    assert data_version_of(world.run(1, 2, is_full=True), "edges") == data_version_of(world.run(1, 2), "edges")
    world.land(1, "I like tea.", session="s2")
    assert data_version_of(world.run(1), "edges") != alone


@pytest.mark.slow
def test_every_partition_shows_its_own_number_of_rows_whether_made_or_found(world: Any) -> None:
    world.land(1, "I like tea.")
    world.land(1, "I like rice.", session="s2")
    world.land(3, "I like tea.", session="s3")
    for result in (world.run(1, 3), world.run(1, 3)):
        said = materialized(result, "messages")
        assert {day: said[day]["dagster/row_count"] for day in said} == {
            "2026-03-01": 2,
            "2026-03-02": 0,
            "2026-03-03": 1,
        }
    assert said["2026-03-01"]["path"].endswith("messages/2026-03-01.parquet")
    assert "path" not in said["2026-03-02"]


@pytest.mark.slow
def test_late_data_opens_its_own_day_again_and_the_fold_after_it(new_world: NewWorld) -> None:
    late, in_order = new_world("late"), new_world("in_order")
    for day in (1, 2, 4):
        late.land(day, f"I like dish{day}.")
    assert late.run(1, 4).success
    before = late.files()
    late.land(2, "I live in Oslo.", session="late")
    assert late.plan().days == (date(2026, 3, 2), date(2026, 3, 4))
    assert late.run(2, 4).success
    assert late.plan().days == ()
    changed = {name for name, data in late.files().items() if data != before[name]}
    assert changed >= {f"{table}/2026-03-0{day}" for table in ("edges", "entities", "current_edges") for day in (2, 4)}
    assert not any(name.endswith("2026-03-01") for name in changed)
    assert not {"interactions/2026-03-04", "messages/2026-03-04", "claims/2026-03-04"} & changed
    in_order.land(1, "I like dish1.")
    in_order.land(2, "I like dish2.")
    in_order.land(2, "I live in Oslo.", session="late")
    in_order.land(4, "I like dish4.")
    assert in_order.run(1, 4).success
    assert late.files() == in_order.files()


@pytest.mark.slow
def test_a_quiet_day_in_between_has_no_partition_and_breaks_no_fold(world: Any) -> None:
    world.land(1, "I live in Oslo.")
    world.land(3, "I live in Rome.")
    result = world.run(1, 3)
    assert result.success
    assert not any(name.endswith("2026-03-02") for name in world.files())
    assert materialized(result, "edges")["2026-03-03"]["days_without_input"] == 1
    assert facts(world, 3) == {("lives_in", "superseded"), ("lives_in", "active")}


@pytest.mark.slow
def test_facts_of_a_quiet_day_are_made_when_asked_for_and_follow_late_data(world: Any) -> None:
    world.land(1, "I like tea.")
    assert world.run(1).success
    assert world.run(9, select=["current_edges"]).success
    quiet = date(2026, 3, 9)
    row, _ = sorted(world.home.store.lake.read(CURRENT_EDGES, quiet).to_pylist(), key=lambda row: row["relation"])
    assert (row["as_of"], row["effective_confidence"] < row["confidence"]) == (quiet, True)
    assert world.plan().days == ()
    world.land(1, "I live in Oslo.", session="late")
    assert world.plan().days == (date(2026, 3, 1), quiet)
    assert world.run(1, 9).success
    assert world.home.store.lake.read(CURRENT_EDGES, quiet).num_rows == 4, "two facts, and the sentences they stand in"
    assert world.plan().days == ()


def test_nothing_that_a_person_said_or_is_called_reaches_the_event_log(world: Any) -> None:
    world.land(1, "I live in Zanzibar.", session="secretive")
    result = world.run(1)
    samples = {
        event.asset_key.to_user_string(): str(event.materialization.metadata["sample"].value)
        for event in result.get_asset_materialization_events()
        if event.asset_key and "sample" in event.materialization.metadata
    }
    assert samples.keys() == {name.split("/")[0] for name in world.files()}
    for asset, sample in samples.items():
        header = {name.strip() for name in sample.splitlines()[0].strip("| ").split("|")}
        names = set(CATALOG[asset].schema.names) - PERSONAL_COLUMNS - ID_COLUMNS
        assert header == {name for name in names if not name.endswith(("_id", "_ids"))}
        mostly_empty = {"extraction_issues", "llm_calls", "contradictions", "entity_ops"}
        assert len(sample.splitlines()) > 2 or asset in mostly_empty
    logged = "".join(str(entry) for entry in world.instance.all_logs(result.run_id))
    assert "Zanzibar".casefold() not in logged.casefold()
    assert "secretive" not in logged
    assert "'ada'" not in logged and "| ada |" not in logged


@pytest.mark.slow
def test_what_is_shown_of_a_run_stands_on_its_newest_day_and_does_not_grow_with_it(world: Any) -> None:
    lake, step = world.home.store.lake, world.home.steps["decay"]
    for day in range(1, 32):
        lake.write(EDGES, date(2026, 1, day), EDGES.empty())
        lake.write(EDGES, date(2026, 3, day), EDGES.empty())
    world.home.store.run_days(step, world.home.store.days(step))
    said = materialized(world.run(date(2026, 1, 1), 31, select=["current_edges"]), "current_edges")
    assert len(said) == 90
    assert [day for day, shown in said.items() if "rows_by_day" in shown] == ["2026-03-31"]
    listed = said["2026-03-31"]["rows_by_day"]
    assert "| 2026-03-31 |" in listed and "2026-01" not in listed


@pytest.mark.slow
def test_a_run_that_reports_itself_tells_of_the_days_it_made_and_of_no_others(world: Any) -> None:
    world.land(1, "I live in Oslo.")
    world.land(9, "I live in Rome.")
    result = world.run(1, 9, reports=True)
    assert result.success
    assert world.told("edges") == ["2026-03-01", "2026-03-09"]
    assert world.told("feedback") == []
    records = world.instance.fetch_materializations(dg.AssetKey("edges"), limit=10).records
    assert len({int(record.timestamp * 1000) for record in records}) == 2, "the UI shows one event a millisecond"
    assert world.run(1, 9, reports=True).success
    assert world.told("edges") == ["2026-03-01", "2026-03-09"], "nothing was made again"
    assert world.run(9, is_full=True, reports=True).success
    assert world.told("edges") == ["2026-03-01", "2026-03-09", "2026-03-09"]


@pytest.mark.slow
def test_days_that_were_made_without_dagster_are_told_by_the_next_run_over_them(world: Any) -> None:
    for day in (1, 2):
        world.land(day, f"I like dish{day}.")
    assert world.run(1, reports=True).success
    for step in world.home.steps.values():
        world.home.store.run_days(step, world.home.store.days(step))
    assert world.run(1, 2, reports=True).success
    assert world.told("edges") == ["2026-03-01", "2026-03-02"]


def test_a_step_that_fails_on_a_day_tells_of_those_before_it(world: Any) -> None:
    for day in (1, 2, 3):
        world.land(day, f"I like dish{day}.")
    assert world.run(1, 3, select=["interactions"], reports=True).success
    path = Path(world.home.store.lake.path(CATALOG["interactions"], date(2026, 3, 3)))
    path.write_bytes(path.read_bytes()[:-40])
    assert not world.run(1, 3, select=["messages"], reports=True).success
    assert world.told("messages") == ["2026-03-01", "2026-03-02"]


def test_what_a_run_reports_says_by_which_versions_a_day_was_made(world: Any) -> None:
    world.land(1, "I like tea.")
    assert world.run(1, reports=True).success
    (event,) = world.events("claims")
    lake, step = world.home.store.lake, world.home.steps["extraction"]
    digests = {table: lake.info(CATALOG[table], date(2026, 3, 1)).content_digest for table in ("claims", "messages")}
    assert event.tags["dagster/data_version"] == digests["claims"]
    assert event.tags["dagster/code_version"] == step.code_version
    assert event.tags["dagster/input_data_version/messages"] == digests["messages"]
    assert {"dagster/row_count", "path", "days_made", "processor_seconds", "sample"} <= event.metadata.keys()


def test_what_models_cost_is_a_number_of_its_day(world: Any, rows_of: Any) -> None:
    store, day = world.home.store, date(2026, 3, 1)
    calls = rows_of(LLM_CALLS, {"call_id": "a", "cost_usd": 0.25}, {"call_id": "b", "cost_usd": 0.5})
    store.lake.write(LLM_CALLS, day, calls)
    assert of_day(store, LLM_CALLS, day, 2)["cost_usd"].value == 0.75
    assert "cost_usd" not in of_day(store, LLM_CALLS, day, 0)
    assert "cost_usd" not in of_day(store, MESSAGES, day, 2)


@pytest.mark.parametrize(
    "change", [pytest.param("", marks=pytest.mark.slow), pytest.param("said", marks=pytest.mark.slow), "code"]
)
def test_dagster_holds_stale_what_came_out_otherwise_or_would(change: str, world: Any) -> None:
    for day in (1, 2):
        world.land(day, f"I like dish{day}.")
    assert world.run(1, 2, reports=True).success
    if change == "said":
        world.land(2, "I live in Oslo.", session="late")
        assert world.run(2, select=["interactions", "messages"], reports=True).success
    if change == "code":
        world.change_step("extraction", "another")
    fresh, stale = world.stale("claims", 1), world.stale("claims", 2)
    assert (fresh, stale) == {"": (False, False), "said": (False, True), "code": (True, True)}[change]


def test_no_table_depends_on_another_day_by_which_dagster_would_split_a_backfill(world: Any) -> None:
    specs = {spec.key.to_user_string(): spec for spec in world.definitions().resolve_all_asset_specs()}
    daily = {name: spec for name, spec in specs.items() if spec.partitions_def}
    assert daily.keys() == {table.name for step in world.home.steps.values() for table in step.outputs}
    for name, spec in daily.items():
        assert all(dep.partition_mapping is None for dep in spec.deps), name
        assert name not in {dep.asset_key.to_user_string() for dep in spec.deps}
    assert daily["edges"].metadata["states_of_the_day_before"] == "edges, contradictions"
    assert daily["entities"].metadata["states_of_the_day_before"] == "entities"


def test_every_table_of_a_step_can_be_materialized_alone(world: Any) -> None:
    world.land(1, "I like tea.")
    assert world.run(1, select=["interactions", "messages", "segments"]).success
    result = world.run(1, select=["mentions"])
    assert result.success
    assert [event.asset_key for event in result.get_asset_materialization_events()] == [dg.AssetKey("mentions")]
    assert materialized(result, "mentions")["2026-03-01"]["dagster/row_count"] == 2


@pytest.mark.slow
def test_a_changed_step_makes_its_days_stale_and_nothing_before_it(world: Any) -> None:
    for day in (1, 2):
        world.land(day, f"I like dish{day}.")
    assert world.run(1, 2).success
    before = world.files()
    world.change_step("sessions", "another")
    assert world.home.store.stale_days(world.home.steps["sessions"]) == [date(2026, 3, 1), date(2026, 3, 2)]
    assert world.home.store.stale_days(world.home.steps["messages"]) == []
    result = world.run(1, 2)
    assert materialized(result, "sessions")["2026-03-02"]["days_made"] == 2
    assert materialized(result, "messages")["2026-03-02"]["days_already_current"] == 2
    assert materialized(result, "current_edges")["2026-03-02"]["days_already_current"] == 2
    changed = {name.split("/")[0] for name, data in world.files().items() if data != before[name]}
    assert changed == {"sessions"}  # its footer; what it holds is the same, so that nothing follows


@pytest.mark.slow
def test_a_changed_extractor_changes_the_code_version_that_dagster_compares(new_world: NewWorld) -> None:
    old, new = new_world("home", "1"), new_world("home", "2")
    old.land(1, "I like tea.")
    run = old.run(1)
    (event,) = (e for e in run.get_asset_materialization_events() if e.asset_key == dg.AssetKey("claims"))
    tag = event.materialization.tags["dagster/code_version"]

    def declared(world: Any, asset: str) -> str | None:
        specs = world.definitions().resolve_all_asset_specs()
        return next(spec.code_version for spec in specs if spec.key == dg.AssetKey(asset))

    assert tag == declared(old, "claims") != declared(new, "claims")
    assert declared(old, "messages") == declared(new, "messages")
    assert new.plan().days == (date(2026, 3, 1),)


@pytest.mark.slow
def test_a_corrupt_partition_fails_the_run_with_what_to_do_and_the_rest_is_kept(world: Any) -> None:
    for day in (1, 2):
        world.land(day, f"I like dish{day}.")
    assert world.run(1, 2).success
    path = Path(world.home.store.lake.path(MESSAGES, date(2026, 3, 2)))
    path.write_bytes(path.read_bytes()[:100])
    before = world.files()
    result = world.run(1, 2)
    assert not result.success
    failure = next(event for event in result.all_events if event.is_step_failure)
    error = failure.step_failure_data.error
    assert error and error.cause
    assert f"`em repair --apply` makes {path} again" in error.cause.message
    assert world.files() == before
    path.unlink()
    assert world.run(1, 2).success
    assert world.plan().days == ()
