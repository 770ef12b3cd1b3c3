"""Our storage of events answers every query as Dagster's own does, from the same files; and it is safe to kill."""

import itertools
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import sqlalchemy as db
from dagster import EventLogEntry
from dagster._core.event_api import PartitionKeyFilter
from dagster._core.events import StepMaterializationData
from dagster._core.storage.event_log.sqlite.sqlite_event_log import SqliteEventLogStorage
from dagster._core.test_utils import freeze_time
from sqlalchemy.exc import IntegrityError

from em_pipelines.environment import environment
from em_pipelines.interfaces.cli.dagster_storage import DAGSTER_YAML
from resources.event_shards import MAX_OPEN
from resources.event_storage import BatchingEventLogStorage, a_partition_each

ROOT = Path(__file__).parents[2]
DAYS = dg.DailyPartitionsDefinition("2026-03-01", end_date="2026-03-06")
RANGE = {
    "dagster/asset_partition_range_start": "2026-03-01",
    "dagster/asset_partition_range_end": "2026-03-04",
}  # fmt: skip
TEA, COFFEE, WATER = (dg.AssetKey(name) for name in ("tea", "coffee", "water"))
HOT, CLEAN, WET = dg.AssetCheckKey(TEA, "is_hot"), dg.AssetCheckKey(TEA, "is_clean"), dg.AssetCheckKey(WATER, "is_wet")
OF_ASSETS = [
    dg.DagsterEventType.ASSET_MATERIALIZATION,
    dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED,
    dg.DagsterEventType.ASSET_OBSERVATION,
]
Storage = SqliteEventLogStorage


class Broken(dg.Config):
    is_broken: bool = False


@dg.asset(
    partitions_def=DAYS,
    backfill_policy=dg.BackfillPolicy.single_run(),
    check_specs=[
        dg.AssetCheckSpec("is_hot", asset="tea", blocking=True),
        dg.AssetCheckSpec("is_clean", asset="tea"),
    ],
)
def tea(context: dg.AssetExecutionContext, config: Broken) -> dg.MaterializeResult:
    for day in context.partition_keys:
        context.add_asset_metadata({"cups": 2}, partition_key=day)
    hot = dg.AssetCheckResult(check_name="is_hot", passed=not config.is_broken)
    clean = dg.AssetCheckResult(check_name="is_clean", passed=False, severity=dg.AssetCheckSeverity.WARN)
    return dg.MaterializeResult(check_results=[hot, clean], data_version=dg.DataVersion("seven"))


@dg.asset(
    deps=[tea],
    partitions_def=DAYS,
    backfill_policy=dg.BackfillPolicy.single_run(),
    retry_policy=dg.RetryPolicy(max_retries=1),
)
def coffee(context: dg.AssetExecutionContext) -> None:
    context.log.info("grinding")
    context.log_event(dg.AssetObservation("coffee", partition=context.partition_keys[0], metadata={"beans": 5}))
    if context.retry_number == 0:
        raise RuntimeError("no beans")


@dg.asset
def water() -> dg.MaterializeResult:
    return dg.MaterializeResult(metadata={"litres": 1}, tags={"from": "tap"})


@dg.asset_check(asset=water)
def is_wet() -> dg.AssetCheckResult:
    return dg.AssetCheckResult(passed=True)


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dg.DagsterInstance]:
    """An instance as `em run` makes it, with runs that succeeded and failed, and events of no run."""
    home = tmp_path_factory.mktemp("dagster")
    (home / "dagster.yaml").write_text(DAGSTER_YAML, encoding="utf-8")
    definitions = dg.Definitions(assets=[tea, coffee, water], asset_checks=[is_wet])
    everything = definitions.resolve_implicit_global_asset_job_def()
    with dg.DagsterInstance.from_config(str(home)) as instance:
        daily = [TEA, COFFEE]
        broken = {"ops": {"tea": {"config": {"is_broken": True}}}}
        assert everything.execute_in_process(instance=instance, tags=RANGE, asset_selection=daily).success
        everything.execute_in_process(
            instance=instance, tags=RANGE, asset_selection=daily, run_config=broken, raise_on_error=False
        )
        for _ in range(2):
            everything.execute_in_process(instance=instance, asset_selection=[WATER])
        instance.report_runless_asset_event(dg.AssetMaterialization("tea", partition="2026-03-05"))
        instance.report_runless_asset_event(dg.AssetObservation("water", metadata={"litres": 2}))
        instance.report_runless_asset_event(dg.AssetCheckEvaluation(WATER, "is_wet", passed=False, metadata={}))
        yield instance


@pytest.fixture(scope="module")
def told(instance: dg.DagsterInstance) -> list[EventLogEntry]:
    """All events of the instance, in the order in which they came to pass."""
    runs = [*(run.run_id for run in instance.get_runs()), ""]
    events = [event for run in runs for event in instance.all_logs(run)]
    return sorted(events, key=lambda event: event.timestamp)


def one_by_one(events: Sequence[EventLogEntry]) -> list[EventLogEntry]:
    """The events that Dagster would have stored, had it not been told that one may stand for many partitions."""
    return [one for event in events for one in a_partition_each(event)]


def batches(events: Sequence[EventLogEntry], size: int) -> Iterator[list[EventLogEntry]]:
    for start in range(0, len(events), size):
        yield list(events[start : start + size])


@pytest.fixture(scope="module")
def theirs(
    told: list[EventLogEntry], instance: dg.DagsterInstance, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Storage]:
    storage = Storage(str(tmp_path_factory.mktemp("theirs")))
    storage.register_instance(instance)
    fill(storage, one_by_one(told), size=1)
    yield storage
    storage.dispose()


HANDED_OVER = [
    (7, True),
    *(pytest.param(one, marks=pytest.mark.slow) for one in [(1, False), (7, False), (1000, True)]),
]


@pytest.fixture(scope="module", params=HANDED_OVER, ids=str)
def told_to_us(request: pytest.FixtureRequest) -> tuple[int, bool]:
    """How many events a batch has, and whether a planned one stands for all partitions."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def ours(
    told_to_us: tuple[int, bool],
    told: list[EventLogEntry],
    instance: dg.DagsterInstance,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[BatchingEventLogStorage]:
    size, is_whole = told_to_us
    storage = BatchingEventLogStorage(str(tmp_path_factory.mktemp("ours")))
    storage.register_instance(instance)
    fill(storage, told if is_whole else one_by_one(told), size)
    yield storage
    storage.dispose()


def fill(storage: Storage, events: Sequence[EventLogEntry], size: int) -> None:
    """Stores the first run, wipes an asset, stores what comes after it."""
    first = [event for event in events if event.run_id == events[0].run_id]
    rest = [event for event in events if event.run_id != events[0].run_id]
    for batch in batches(first, size):
        storage.store_event_batch(batch)
    with freeze_time(datetime.fromtimestamp(first[-1].timestamp, UTC)):
        storage.wipe_asset(COFFEE)
    for batch in batches(rest, size):
        storage.store_event_batch(batch)


def in_all_runs(query: Callable[..., Any]) -> Callable[[Storage], Any]:
    def ask(storage: Storage) -> Any:
        return {run: query(storage, run) for run in ["", *sorted(storage.get_all_run_ids())]}

    return ask


def of_all_assets(query: Callable[..., Any]) -> Callable[[Storage], Any]:
    return lambda storage: [query(storage, key) for key in (TEA, COFFEE, WATER)]


def without_times(records: Any) -> Any:
    """Executions of checks without the second at which their row was made."""
    return [record._replace(create_timestamp=0.0) for record in records]


def of_all_checks(query: Callable[..., Any]) -> Callable[[Storage], Any]:
    return lambda storage: [without_times(query(storage, key)) for key in (HOT, CLEAN, WET)]


def records_of_type(kind: dg.DagsterEventType) -> Callable[[Storage], Any]:
    return lambda storage: storage.get_event_records(dg.EventRecordsFilter(kind))


OF_RUNS: dict[str, Callable[[Storage], Any]] = {
    "records": in_all_runs(lambda s, run: s.get_records_for_run(run).records),
    "records, newest first": in_all_runs(lambda s, run: s.get_records_for_run(run, ascending=False, limit=9).records),
    "records after a cursor": in_all_runs(
        lambda s, run: s.get_records_for_run(run, cursor=s.get_records_for_run(run, limit=3).cursor).records
    ),
    "logs": in_all_runs(lambda s, run: s.get_logs_for_run(run)),
}
"""What numbers the rows of a run's own file, which has one planned event for all partitions of an asset."""

QUERIES: dict[str, Callable[[Storage], Any]] = {
    "materializations of a run": in_all_runs(
        lambda s, run: [r.event_log_entry for r in s.get_records_for_run(run, of_type=OF_ASSETS[0]).records]
    ),
    "stats": in_all_runs(lambda s, run: s.get_stats_for_run(run)),
    "step stats": in_all_runs(lambda s, run: s.get_step_stats_for_run(run)),
    "partitions of runs": in_all_runs(lambda s, run: s.get_asset_partitions_for_run(run)),
    "planned partitions of runs": in_all_runs(lambda s, run: s.get_asset_partitions_for_run(run, OF_ASSETS[1])),
    "materialized partitions of runs": in_all_runs(lambda s, run: s.get_asset_partitions_for_run(run, {OF_ASSETS[0]})),
    **{f"records of {kind.value}": records_of_type(kind) for kind in OF_ASSETS},
    "records of some partitions": lambda s: s.get_event_records(
        dg.EventRecordsFilter(OF_ASSETS[0], asset_key=TEA, asset_partitions=["2026-03-02", "2026-03-05"])
    ),
    "records between cursors": lambda s: s.get_event_records(
        dg.EventRecordsFilter(OF_ASSETS[0], after_cursor=3, before_cursor=40), limit=5, ascending=True
    ),
    "materializations": of_all_assets(lambda s, key: s.fetch_materializations(key, limit=100)),
    "a page of materializations": lambda s: s.fetch_materializations(
        TEA, limit=2, cursor=s.fetch_materializations(TEA, limit=2).cursor
    ),
    "observations": of_all_assets(lambda s, key: s.fetch_observations(key, limit=100)),
    "run status changes": lambda s: [
        s.fetch_run_status_changes(kind, limit=100)
        for kind in (
            dg.DagsterEventType.RUN_START,
            dg.DagsterEventType.RUN_SUCCESS,
            dg.DagsterEventType.RUN_FAILURE,
        )
    ],
    "asset records": lambda s: sorted(s.get_asset_records(), key=lambda record: record.storage_id),
    "asset keys": lambda s: (set(s.all_asset_keys()), s.get_asset_keys(prefix=["t"]), s.has_asset_key(COFFEE)),
    "latest materializations": lambda s: s.get_latest_materialization_events([TEA, COFFEE, WATER]),
    "materialized partitions": of_all_assets(lambda s, key: s.get_materialized_partitions(key)),
    "latest ids by partition": of_all_assets(
        lambda s, key: [s.get_latest_storage_id_by_partition(key, kind) for kind in OF_ASSETS]
    ),
    "latest tags by partition": of_all_assets(
        lambda s, key: s.get_latest_tags_by_partition(key, OF_ASSETS[0], ["dagster/data_version"])
    ),
    "attempts without materializations": of_all_assets(
        lambda s, key: s.get_latest_asset_partition_materialization_attempts_without_materializations(key)
    ),
    "latest plans": of_all_assets(
        lambda s, key: [s.get_latest_planned_materialization_info(key, day) for day in (None, "2026-03-02")]
    ),
    "tags": of_all_assets(lambda s, key: s.get_event_tags_for_asset(key)),
    "summaries": lambda s: [s.get_asset_event_summary_records(kind) for kind in OF_ASSETS],
    "checks": of_all_checks(lambda s, key: s.get_asset_check_execution_history(key, limit=100)),
    "checks of a day": of_all_checks(
        lambda s, key: s.get_asset_check_execution_history(
            key, limit=100, partition_filter=PartitionKeyFilter(key="2026-03-02")
        )
    ),
    "latest checks": lambda s: without_times(s.get_latest_asset_check_execution_by_key([HOT, CLEAN, WET]).values()),
    "partitions of checks": lambda s: s.get_asset_check_partition_info([HOT, CLEAN, WET]),
    "greatest number": lambda s: s.get_maximum_record_id(),
}


def test_every_query_is_answered_as_dagsters_own_storage_does(
    ours: BatchingEventLogStorage, theirs: Storage, told_to_us: tuple[int, bool]
) -> None:
    is_whole = told_to_us[1]
    queries = QUERIES if is_whole else {**QUERIES, **OF_RUNS}
    empty = [name for name, query in queries.items() if not query(theirs)]
    assert empty == []
    assert {name: query(ours) for name, query in queries.items()} == {
        name: query(theirs) for name, query in queries.items()
    }


def table(storage: Storage, name: str) -> list[tuple[Any, ...]]:
    """The rows of a table of the index, without what says when they were made and what is told from elsewhere."""
    with storage.index_connection() as connection:
        rows = [dict(row) for row in connection.exec_driver_sql(f"SELECT * FROM {name} ORDER BY 1").mappings()]
    for row in rows:
        row.pop("create_timestamp", None)
        row.pop("migration_completed", None)
        if "event" in row:
            row["event"] = json.loads(row["event"])
        if row.get("execution_status") == "PLANNED":
            del row["evaluation_event"]
    return [tuple(row.values()) for row in rows]


@pytest.mark.parametrize(
    "name",
    ["event_logs", "asset_keys", "asset_event_tags", "asset_check_executions", "secondary_indexes", "alembic_version"],
)
def test_the_index_holds_what_dagster_would_have_written(
    name: str, ours: BatchingEventLogStorage, theirs: Storage
) -> None:
    assert table(theirs, name)
    assert table(ours, name) == table(theirs, name)


def test_a_run_over_days_has_one_plan_an_asset(instance: dg.DagsterInstance) -> None:
    run = next(run for run in instance.get_runs() if run.tags.get("dagster/asset_partition_range_start"))
    planned = instance.event_log_storage.get_logs_for_run(run.run_id, of_type=OF_ASSETS[1])
    assert sorted(str(event.asset_key) for event in (e.get_dagster_event() for e in planned)) == sorted(
        map(str, (TEA, COFFEE))
    )


def test_both_storages_read_and_go_on_with_each_others_files(told: list[EventLogEntry], tmp_path: Path) -> None:
    first = [event for event in one_by_one(told) if event.run_id == told[0].run_id]
    half = len(first) // 2
    kinds = itertools.cycle([Storage, BatchingEventLogStorage])
    for batch, kind in zip((first[:half], first[half:]), kinds, strict=False):
        storage = kind(str(tmp_path))
        storage.store_event_batch(batch)
        storage.dispose()
    for kind in (Storage, BatchingEventLogStorage):
        storage = kind(str(tmp_path))
        assert storage.get_logs_for_run(first[0].run_id) == first
        assert storage.get_materialized_partitions(TEA) == {f"2026-03-0{day}" for day in range(1, 5)}
        storage.dispose()


def materializations(run_id: str, n_days: int) -> list[EventLogEntry]:
    """A batch as Dagster makes it of an asset's days."""
    return [
        EventLogEntry(
            error_info=None, level=10, user_message="", run_id=run_id, timestamp=1_772_000_000.0 + day, job_name="all",
            dagster_event=dg.DagsterEvent(
                event_type_value="ASSET_MATERIALIZATION", job_name="all",
                event_specific_data=StepMaterializationData(
                    dg.AssetMaterialization("tea", partition=f"day-{day}", tags={"dagster/data_version": "one"})
                ),
            ),
        )
        for day in range(n_days)
    ]  # fmt: skip


def n_stored(folder: Path, run_id: str) -> tuple[int, int]:
    """How many events of a run stand in its own file and in the index."""
    found = []
    for name in (run_id, "index"):
        if not (folder / f"{name}.db").exists():  # connecting would make it
            found.append(0)
            continue
        connection = sqlite3.connect(folder / f"{name}.db")
        query = "SELECT count(*) FROM event_logs WHERE run_id = ?"
        found.append(connection.execute(query, (run_id,)).fetchone()[0])
        connection.close()
    return found[0], found[1]


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[BatchingEventLogStorage]:
    storage = BatchingEventLogStorage(str(tmp_path))
    yield storage
    storage.dispose()


def test_a_batch_that_fails_leaves_nothing_so_that_its_events_can_be_tried_alone(
    storage: BatchingEventLogStorage, told: list[EventLogEntry], tmp_path: Path
) -> None:
    kind = dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED
    plan = next(event for event in told if event.is_dagster_event and event.dagster_event_type is kind)
    plan = plan._replace(run_id="run")  # twice it breaks a unique index: a row a day of the run
    batch = [*materializations("run", 3), plan, plan]
    with pytest.raises(IntegrityError):
        storage.store_event_batch(batch)
    assert n_stored(tmp_path, "run") == (0, 0)
    for event in batch[:-1]:
        storage.store_event(event)
    with pytest.raises(IntegrityError):
        storage.store_event(batch[-1])
    assert n_stored(tmp_path, "run") == (4, 4)


def test_what_a_run_has_is_taken_back_where_the_index_fails_at_the_very_end(
    storage: BatchingEventLogStorage, tmp_path: Path
) -> None:
    storage.store_event_batch(materializations("run", 2))
    with storage.index_connection() as connection:
        engine = connection.engine

    def fail(connection: db.Connection) -> None:
        raise OSError("no space left on device")

    db.event.listen(engine, "commit", fail)
    with pytest.raises(OSError, match="no space"):
        storage.store_event_batch(materializations("run", 3))
    assert n_stored(tmp_path, "run") == (2, 2)
    storage.store_event_batch(materializations("run", 3))
    assert n_stored(tmp_path, "run") == (5, 5)


PRELUDE = f"""
import os, signal, sys, threading
import dagster as dg
import sqlalchemy as db
sys.path.insert(0, {str(ROOT)!r})
from dagster import EventLogEntry
from dagster._core.events import StepMaterializationData
from resources.event_storage import BatchingEventLogStorage
folder, run_id, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
def batch(days):
    return [EventLogEntry(error_info=None, level=10, user_message="", run_id=run_id, timestamp=1772000000.0 + day,
        job_name="all", dagster_event=dg.DagsterEvent(event_type_value="ASSET_MATERIALIZATION", job_name="all",
        event_specific_data=StepMaterializationData(
            dg.AssetMaterialization("tea", partition=f"{{run_id}}-{{day}}"))))
        for day in days]
storage = BatchingEventLogStorage(folder)
"""
WRITE = "for i in range(n): storage.store_event_batch(batch(range(i * 10, i * 10 + 10)))\n"
KILL = """
seen = 0
def count(*args):
    global seen
    seen += 1
    if seen == n:
        os.kill(os.getpid(), signal.SIGKILL)
db.event.listen(db.engine.Engine, "before_cursor_execute", count)
db.event.listen(db.engine.Engine, "commit", count)
storage.store_event_batch(batch(range(10)))
"""


def started(code: str, folder: Path, run_id: str, n: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", PRELUDE + code, str(folder), run_id, str(n)], cwd=ROOT)


@pytest.mark.slow
def test_processes_that_write_at_once_lose_and_repeat_nothing(tmp_path: Path) -> None:
    writers = [started(WRITE, tmp_path, run_id, 20) for run_id in ("one", "two")]
    assert [writer.wait() for writer in writers] == [0, 0]
    storage = BatchingEventLogStorage(str(tmp_path))
    assert (n_stored(tmp_path, "one"), n_stored(tmp_path, "two")) == ((200, 200), (200, 200))
    assert len(storage.get_materialized_partitions(TEA)) == 400
    assert storage.get_maximum_record_id() == 400
    storage.dispose()


@pytest.mark.slow
def test_a_reader_sees_what_another_process_wrote(storage: BatchingEventLogStorage, tmp_path: Path) -> None:
    assert storage.get_materialized_partitions(TEA) == set()
    assert storage.get_logs_for_run("one") == []
    assert started(WRITE, tmp_path, "one", 1).wait() == 0
    assert len(storage.get_materialized_partitions(TEA)) == 10
    assert len(storage.get_logs_for_run("one")) == 10


@pytest.mark.parametrize(
    "nth", [pytest.param(nth, marks=() if nth == 7 else pytest.mark.slow) for nth in range(1, 15, 2)]
)
def test_a_process_that_is_killed_leaves_a_batch_or_none_in_each_file(nth: int, tmp_path: Path) -> None:
    BatchingEventLogStorage(str(tmp_path)).dispose()
    ended = started(WRITE + KILL, tmp_path, "run", nth).wait()
    assert ended in {0, -signal.SIGKILL}
    storage = BatchingEventLogStorage(str(tmp_path))
    before = len(storage.get_logs_for_run("run"))
    of_run, of_index = n_stored(tmp_path, "run")
    whole = nth * 10
    assert (of_run, of_index) in {(whole, whole), (whole + 10, whole), (whole + 10, whole + 10)}
    storage.store_event_batch(materializations("run", 5))
    assert n_stored(tmp_path, "run") == (before + 5, of_index + 5)
    storage.dispose()
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(("-wal", "-shm"))] == []


def test_threads_write_and_read_at_once(storage: BatchingEventLogStorage, tmp_path: Path) -> None:
    def write(run_id: str) -> None:
        for _ in range(10):
            storage.store_event_batch(materializations(run_id, 5))
            storage.get_materialized_partitions(TEA)

    threads = [threading.Thread(target=write, args=(f"run-{number % 2}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (n_stored(tmp_path, "run-0"), n_stored(tmp_path, "run-1")) == ((100, 100), (100, 100))


def test_a_process_that_was_forked_opens_files_of_its_own(storage: BatchingEventLogStorage, tmp_path: Path) -> None:
    storage.store_event_batch(materializations("run", 2))
    child = os.fork()
    if child == 0:
        try:
            storage.store_event_batch(materializations("run", 3))
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    storage.store_event_batch(materializations("run", 4))
    assert n_stored(tmp_path, "run") == (9, 9)


def ended(run_id: str) -> EventLogEntry:
    return EventLogEntry(
        error_info=None, level=10, user_message="", run_id=run_id, timestamp=1_772_000_000.0, job_name="all",
        dagster_event=dg.DagsterEvent(event_type_value="PIPELINE_SUCCESS", job_name="all"),
    )  # fmt: skip


def handles(folder: Path) -> set[str]:
    """Names of the files of a folder that this process has open."""
    found = set()
    for handle in Path("/proc/self/fd").iterdir():
        target = handle.readlink() if handle.is_symlink() else handle
        if target.parent == folder:
            found.add(target.name)
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="handles are listed by Linux alone")
def test_files_of_runs_that_ended_are_closed_and_others_do_not_pile_up(
    storage: BatchingEventLogStorage, tmp_path: Path
) -> None:
    storage.store_event_batch(materializations("run", 2))
    assert "run.db" in handles(tmp_path)
    storage.store_event(ended("run"))
    assert "run.db" not in handles(tmp_path)
    for number in range(3 * MAX_OPEN):
        storage.get_logs_for_run(f"run-{number}")
    assert len([name for name in handles(tmp_path) if name.endswith(".db")]) <= MAX_OPEN
    storage.dispose()
    assert handles(tmp_path) == set()
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(("-wal", "-shm"))] == []


@pytest.mark.slow
def test_a_process_that_ends_without_a_word_leaves_no_logs_behind(tmp_path: Path) -> None:
    assert started(WRITE, tmp_path, "run", 1).wait() == 0
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".db", ".db", ".sqlite"]


def test_files_that_somebody_deleted_are_made_again(storage: BatchingEventLogStorage, tmp_path: Path) -> None:
    storage.store_event_batch(materializations("run", 2))
    storage.wipe()
    storage.store_event_batch(materializations("run", 3))
    assert n_stored(tmp_path, "run") == (3, 3)
    for path in tmp_path.glob("run.db*"):
        path.unlink()
    storage.store_event_batch(materializations("run", 1))
    assert n_stored(tmp_path, "run") == (1, 4)


@pytest.mark.slow
def test_watchers_hear_of_each_event_that_another_process_stores(
    storage: BatchingEventLogStorage, tmp_path: Path
) -> None:
    heard: list[str] = []
    is_enough = threading.Event()

    def hear(event: EventLogEntry, _cursor: str) -> None:
        heard.append(str(event.get_dagster_event().partition))
        if len(heard) == 20:
            is_enough.set()

    storage.get_logs_for_run("run")  # its file is there, as of every run that the UI shows
    storage.watch("run", None, hear)
    assert started(WRITE, tmp_path, "run", 2).wait() == 0
    assert is_enough.wait(timeout=30)
    assert heard == [f"run-{day}" for day in range(20)]
    storage.end_watch("run", hear)


def test_a_home_that_is_moved_takes_its_events_along(told: list[EventLogEntry], tmp_path: Path) -> None:
    home = tmp_path / "here"
    home.mkdir()
    (home / "dagster.yaml").write_text(DAGSTER_YAML, encoding="utf-8")
    with dg.DagsterInstance.from_config(str(home)) as instance:
        instance.report_runless_asset_event(dg.AssetMaterialization("tea"))
        assert (home / "history" / "runs" / "index.db").exists()
    shutil.move(home, tmp_path / "there")
    with dg.DagsterInstance.from_config(str(tmp_path / "there")) as instance:
        assert instance.all_asset_keys() == [TEA]
        # what other processes of Dagster are handed, wherever they run and whatever their environment
        with dg.DagsterInstance.from_ref(instance.get_ref()) as other:
            assert isinstance(other.event_log_storage, BatchingEventLogStorage)
            assert other.all_asset_keys() == [TEA]
    assert not home.exists()


def test_dagster_batches_wherever_the_instance_is_opened(tmp_path: Path) -> None:
    (tmp_path / "dagster.yaml").write_text(DAGSTER_YAML, encoding="utf-8")
    assert "DAGSTER_EVENT_BATCH_SIZE" not in environment()
    with dg.DagsterInstance.from_config(str(tmp_path)):
        assert int(environment()["DAGSTER_EVENT_BATCH_SIZE"]) >= 100
