"""The UI and the daemon as a user meets them: what they list, a backfill, and a file dropped into the inbox."""

from typing import Any

import pytest

from em_pipelines.schema.tables.catalog import CATALOG

pytestmark = pytest.mark.slow

DAYS = ["2026-03-01", "2026-03-02", "2026-03-03"]
BACKFILL_SECONDS = 130  # the daemon looks at a backfill twice a minute, and three times before it calls it done
FACTS_SECONDS = 60
SOON_SECONDS = 10  # what is searched is made by the run that made the facts, after them

WORKSPACE = """{ workspaceOrError { __typename ... on Workspace { locationEntries {
    name loadStatus locationOrLoadError { __typename ... on PythonError { message } } } } } }"""
ASSETS = "{ assetNodes { assetKey { path } groupName isPartitioned } }"
SENSORS = """{ repositoriesOrError { ... on RepositoryConnection { nodes {
    sensors { name sensorState { status } } schedules { name scheduleState { status } } } } } }"""
LAUNCH = """mutation($backfill: LaunchBackfillParams!) { launchPartitionBackfill(backfillParams: $backfill) {
    __typename ... on LaunchBackfillSuccess { backfillId } ... on PythonError { message } } }"""
BACKFILL = """query($id: String!) { partitionBackfillOrError(backfillId: $id) { __typename
    ... on PartitionBackfill { status numPartitions error { message } } } }"""
RUNS = """query($filter: RunsFilter!) { runsOrError(filter: $filter) { ... on Runs { results {
    status assetMaterializations { assetKey { path } partition metadataEntries { label
    ... on IntMetadataEntry { intValue } } } } } } }"""


@pytest.fixture(scope="module")
def assets(ui: Any) -> list[dict[str, Any]]:
    return list(ui.query(ASSETS)["assetNodes"])


def test_the_code_location_loads_without_an_error(ui: Any) -> None:
    (location,) = ui.query(WORKSPACE)["workspaceOrError"]["locationEntries"]
    assert location["name"] == "em_pipelines.definitions"
    assert location["loadStatus"] == "LOADED"
    assert location["locationOrLoadError"] == {"__typename": "RepositoryLocation"}


def test_every_asset_is_listed_in_its_group(ui: Any, assets: list[dict[str, Any]]) -> None:
    listed = {asset["assetKey"]["path"][-1]: asset["groupName"] for asset in assets}
    steps = (*ui.home.steps.values(), ui.home.consolidation, *ui.home.proactive)
    made = {table.name for step in steps for table in step.outputs}
    undated = {
        "inferred_edges": "lifecycle",
        "revision": "lifecycle",
        "evaluation": "quality",
        "quality_report": "quality",
        "health_report": "quality",
        "weekly_report": "quality",
        "metrics": "quality",
    }
    latest = dict.fromkeys(("snapshot", "index_packs", "graph_projection"), "serving")
    assert listed == {name: CATALOG[name].group for name in made} | undated | latest


def test_sensors_and_schedules_run_without_being_switched_on(ui: Any) -> None:
    (repository,) = ui.query(SENSORS)["repositoriesOrError"]["nodes"]
    states = {sensor["name"]: sensor["sensorState"]["status"] for sensor in repository["sensors"]}
    states |= {schedule["name"]: schedule["scheduleState"]["status"] for schedule in repository["schedules"]}
    daily = ("landing", "stale_days", "batches", "requests", "graph_erasures", "backfills")
    sensors = (*daily, "probes", "starters", "alerts", "failed_runs", "standing_alerts")
    nights = ("decay", "revision", "inference", "consolidation", "snapshot", "graph", "quality")
    schedules = (*(f"nightly_{name}" for name in nights), "weekly_page")
    assert states == dict.fromkeys((*sensors, *schedules), "RUNNING")


def test_a_file_dropped_into_the_inbox_becomes_facts_without_a_hand(ui: Any) -> None:
    ui.drop("mirela/phone.jsonl", "2026-03-10", "I live in Oslo.", "mirela")
    ui.wait("facts of the dropped file", FACTS_SECONDS, lambda: "lives_in" in ui.relations("mirela"))
    ui.wait("the message in a search", SOON_SECONDS, lambda: "I live in Oslo." in ui.finds("mirela", "Where is Oslo?"))
    assert not (ui.home.inbox / "mirela" / "phone.jsonl").exists()


def test_a_backfill_of_three_days_is_one_run_that_succeeds(ui: Any, assets: list[dict[str, Any]]) -> None:
    launched = ui.query(
        LAUNCH,
        backfill={
            "assetSelection": [asset["assetKey"] for asset in assets if asset["isPartitioned"]],
            "partitionNames": DAYS,
            # the days are current, and made again
            "runConfigData": {"ops": {f"materialize_{name}": {"config": {"is_full": True}} for name in ui.home.steps}},
        },
    )["launchPartitionBackfill"]
    assert launched["__typename"] == "LaunchBackfillSuccess", launched
    backfill = launched["backfillId"]

    def ended() -> dict[str, Any] | None:
        found = ui.query(BACKFILL, id=backfill)["partitionBackfillOrError"]
        return dict(found) if found["status"] != "REQUESTED" else None

    found = ui.wait("end of the backfill", BACKFILL_SECONDS, ended)
    assert (found["status"], found["numPartitions"]) == ("COMPLETED_SUCCESS", 3), found
    tags = {"tags": [{"key": "dagster/backfill", "value": backfill}]}
    runs = ui.query(RUNS, filter=tags)["runsOrError"]["results"]
    assert [run["status"] for run in runs] == ["SUCCESS"]
    events = [event for run in runs for event in run["assetMaterializations"]]
    made = {table.name for step in ui.home.steps.values() for table in step.outputs}
    assert {(event["assetKey"]["path"][-1], event["partition"]) for event in events} == {
        (name, day) for name in made for day in DAYS
    }
    n_made = {
        event["assetKey"]["path"][-1]: entry["intValue"]
        for event in events
        for entry in event["metadataEntries"]
        if entry["label"] == "days_made"
    }
    assert {name for name, n in n_made.items() if n == 3} >= {"interactions", "claims", "edges", "current_edges"}
    assert ui.relations("ada") >= {"lives_in", "likes"}
