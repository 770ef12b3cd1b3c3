"""Where Dagster keeps events in a home: its own SQLite files and tables, written in batches.

Dagster buffers the events of a run's partitions and hands them over together, but its storage for SQLite stores them
one by one, each in two files opened anew: 9 ms and 270 KB written for an event of 3.5 KB. Here a batch is one
transaction in each of the two files, the run's own and the index over all runs; a single event is a batch of one.
Whatever reads is Dagster's, so the tables hold what its storage would have written, with two exceptions: a run's own
file has one planned event for all partitions of an asset, and the index keeps the event of a planned check once.

Everything here rests on Dagster's private classes; tests/resources/test_event_storage.py compares each query with
Dagster's own storage.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import dagster as dg
import sqlalchemy as db
from dagster import EventLogEntry
from dagster._config import Field, StringSource
from dagster._config.config_schema import UserConfigSchema
from dagster._core.events import (
    ASSET_CHECK_EVENTS,
    ASSET_EVENTS,
    EVENT_TYPE_TO_PIPELINE_RUN_STATUS,
    AssetMaterializationPlannedData,
)
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionRecord,
    AssetCheckExecutionRecordStatus,
)
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable, AssetKeyTable, SqlEventLogStorageTable
from dagster._core.storage.event_log.sqlite.sqlite_event_log import (
    INDEX_SHARD_NAME,
    SqliteEventLogStorage,
    SqliteEventLogStorageWatchdog,
)
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS
from dagster._core.storage.sqlite_storage import _event_logs_directory
from dagster._serdes import ConfigurableClassData, serialize_value
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.engine import Connection
from watchdog.events import FileSystemEvent
from watchdog.observers import Observer

from em_pipelines.environment import batch_events
from resources.event_shards import Shards, engine_of, has_rows, place_copy

PAGE_BYTES = 1024
"""Of files made here. Most tables of a run's own file are empty and take a page each, and a transaction writes whole
pages: with SQLite's 4096 the file of a run that does nothing takes 112 KB."""

RUN_ENDS = frozenset(
    {dg.DagsterEventType.RUN_SUCCESS, dg.DagsterEventType.RUN_FAILURE, dg.DagsterEventType.RUN_CANCELED}
)
MIRRORED = ASSET_EVENTS | ASSET_CHECK_EVENTS | EVENT_TYPE_TO_PIPELINE_RUN_STATUS.keys()
"""Events that queries over all runs want, which read the index alone."""

Row = dict[str, Any]


class BatchingEventLogStorage(SqliteEventLogStorage):
    """Dagster's event log storage for SQLite, in the same files, written a batch at a time.

    In dagster.yaml it takes one field, `base_dir`, for the folder of the files; without it they lie where Dagster puts
    its own, in `history/runs` of the instance's folder, and follow that wherever it is moved.
    """

    def __init__(self, base_dir: str | None = None, inst_data: ConfigurableClassData | None = None) -> None:
        self._inst_data = inst_data
        self._is_open = False
        if base_dir is not None:
            self._open(base_dir)

    def _open(self, base_dir: str) -> None:
        self._folder = Path(base_dir).absolute()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._shards = Shards(self._folder, self._prepare, SQLITE_BUSY_TIMEOUT_SECONDS)
        self._tables: set[str] = set()
        self._asset_key_columns: set[str] = set()
        index = self._shards.path(INDEX_SHARD_NAME)
        is_new = not index.exists()
        if is_new:
            self._place_empty(index)
        super().__init__(str(self._folder), self._inst_data)
        if is_new:
            self.reindex_events()
            self.reindex_assets()
        self._is_open = True

    def register_instance(self, instance: dg.DagsterInstance) -> None:
        """Opens the files of the instance, which Dagster hands over before it asks anything."""
        if not self._is_open:
            self._open(_event_logs_directory(instance.root_directory))
        super().register_instance(instance)

    @classmethod
    def config_type(cls) -> UserConfigSchema:
        """What may stand under `config` in dagster.yaml."""
        return {"base_dir": Field(StringSource, is_required=False)}

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Any) -> Self:
        """What Dagster calls in each process that opens the instance. It has Dagster batch there, too."""
        batch_events()
        return cls(config_value.get("base_dir"), inst_data)

    def dispose(self) -> None:
        """Closes the files; they are opened again for whoever still asks."""
        if self._is_open:
            super().dispose()
            self._shards.close_all()

    def wipe(self) -> None:
        """Deletes all events of all runs."""
        self._shards.close_all()
        super().wipe()

    # Files

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        with self._shards.transaction(shard) as connection:
            yield connection

    def _prepare(self, name: str, path: Path) -> None:
        """Sees to it that a file is there and has its tables; of one that has them, once a process."""
        with self._db_lock:
            if not path.exists():
                self._place_empty(path)
                self._initialized_dbs.discard(name)
            if name not in self._initialized_dbs:
                if not has_rows(path, "alembic_version"):  # what Dagster writes last into a new one
                    self._initdb(engine_of(path, SQLITE_BUSY_TIMEOUT_SECONDS))
                self._initialized_dbs.add(name)

    def _place_empty(self, path: Path) -> None:
        """Puts a file with empty tables where there is none, unless the file system has its own view of that.

        The tables depend on the version of Dagster alone. Making them takes Dagster a third of a second of waiting for
        the disk, so they are made once and copied.
        """

        def make(file: Path) -> None:
            engine = engine_of(file, SQLITE_BUSY_TIMEOUT_SECONDS)
            db.event.listen(engine, "connect", _with_small_pages)
            self._initdb(engine)

        place_copy(self._folder / f"empty-{dg.__version__}-{PAGE_BYTES}.sqlite", path, make)

    # Of what only ever comes, that it is there is asked once

    def has_table(self, table_name: str) -> bool:
        """Whether the index has a table."""
        if table_name not in self._tables and super().has_table(table_name):
            self._tables.add(table_name)
        return table_name in self._tables

    def _has_asset_key_col_on_connection(self, conn: Connection, column_name: str) -> bool:
        if column_name not in self._asset_key_columns and super()._has_asset_key_col_on_connection(conn, column_name):
            self._asset_key_columns.add(column_name)
        return column_name in self._asset_key_columns

    # Writing

    def store_event(self, event: EventLogEntry) -> None:
        """Stores one event; raises what SQLAlchemy does where a disk is full or a file locked for too long."""
        self.store_event_batch([event])

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Stores events in their order, those of a run in one transaction of each file; raises as `store_event` does.

        After an error none of the run's events is in either file, so that Dagster can try them one by one. A process
        that is killed leaves them in both files, in none, or in the run's own alone; never a part of them.
        """
        for run_id in dict.fromkeys(event.run_id for event in events):
            of_run = [event for event in events if event.run_id == run_id]
            self._store(run_id, of_run)
            if any(_type_of(event) in RUN_ENDS for event in of_run):
                self._shards.close(run_id)

    def _event_to_row(self, event: EventLogEntry) -> Row:
        """The columns that Dagster fills, with the event as JSON without spaces: a twentieth less."""
        told = event.get_dagster_event() if event.is_dagster_event else None
        key = told.asset_key if told else None
        return {
            "run_id": event.run_id,
            "event": serialize_value(event, separators=(",", ":")),
            "dagster_event_type": told.event_type_value if told else None,
            "timestamp": self._event_insert_timestamp(event),  # type: ignore[no-untyped-call]
            "step_key": told.step_key if told else event.step_key,
            "asset_key": key.to_string() if key else None,
            "partition": told.partition or None if told else None,
        }

    def _store(self, run_id: str, events: Sequence[EventLogEntry]) -> None:
        rows = [self._event_to_row(event) for event in events]
        mirrored = [
            (one, row if one is event else self._event_to_row(one))
            for event, row in zip(events, rows, strict=True)
            if _type_of(event) in MIRRORED
            for one in a_partition_each(event)
        ]
        if not mirrored:
            with self.run_connection(run_id) as connection:
                _insert(connection, rows)
            return
        stored: list[int] = []
        try:
            with self.index_connection() as index:
                self._store_in_index(index, mirrored)
                with self.run_connection(run_id) as connection:
                    ids = _insert(connection, rows)
                stored = ids
        except BaseException:  # the index may fail at its very end, as on a full disk, when the other has them already
            if stored:
                self._take_back(run_id, stored)
            raise

    def _take_back(self, run_id: str, ids: Sequence[int]) -> None:
        with self.run_connection(run_id) as connection:
            connection.execute(SqlEventLogStorageTable.delete().where(SqlEventLogStorageTable.c.id.in_(ids)))

    def _store_in_index(self, index: Connection, mirrored: Sequence[tuple[EventLogEntry, Row]]) -> None:
        ids = _insert(index, [row for _, row in mirrored])
        numbered = [(event, number) for (event, _), number in zip(mirrored, ids, strict=True)]
        of_assets = [(event, number) for event, number in numbered if _type_of(event) in ASSET_EVENTS]
        if of_assets:
            self._store_asset_event_tags(index, *(list(column) for column in zip(*of_assets, strict=True)))
            self._store_latest(index, of_assets)
        for event, number in numbered:
            if _type_of(event) in ASSET_CHECK_EVENTS:
                self.store_asset_check_event(event, number)

    def _store_latest(self, index: Connection, numbered: Sequence[tuple[EventLogEntry, int]]) -> None:
        """Writes down what each asset's events have set last, in as many statements as there are assets.

        A materialization, a plan and an observation set columns of their own, so of each the last one counts.
        """
        last: dict[tuple[str, Any], tuple[EventLogEntry, int]] = {}
        for event, number in numbered:
            key = event.get_dagster_event().asset_key
            if key is not None:
                kind = key.to_string(), _type_of(event)
                last.pop(kind, None)  # it goes to the end: the kinds are taken in the order of their last events
                last[kind] = event, number
        has_times = self._has_asset_key_index_cols_on_connection(index)
        values: dict[str, Row] = {}
        for (name, _), (event, number) in last.items():
            values.setdefault(name, {}).update(self._get_asset_entry_values(event, number, has_times))
        for name, row in values.items():
            if row:
                statement = insert(AssetKeyTable).values(asset_key=name, **row)
                index.execute(statement.on_conflict_do_update(index_elements=["asset_key"], set_=row))

    # Planned events: one for all partitions

    @property
    def supports_partition_subset_in_asset_materialization_planned_events(self) -> bool:
        """Has Dagster plan an asset once a run. The index gets a row a partition all the same, by which failed and
        running partitions are told."""
        return True

    def get_asset_partitions_for_run(
        self, run_id: str, of_type: dg.DagsterEventType | set[dg.DagsterEventType] | None = None
    ) -> Mapping[dg.AssetKey, Set[str | None]]:
        """The assets of a run's events, each with its partitions, None where it has none."""
        found = {key: set(names) for key, names in super().get_asset_partitions_for_run(run_id, of_type).items()}
        planned = dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED
        is_asked = of_type is None or of_type is planned or (isinstance(of_type, Set) and planned in of_type)
        if is_asked and any(None in names for names in found.values()):
            for event in self.get_logs_for_run(run_id, of_type=planned):
                plan = event.get_dagster_event()
                if plan.asset_key and plan.partitions_subset:
                    found[plan.asset_key] = found[plan.asset_key] - {None} | {
                        *plan.partitions_subset.get_partition_keys()
                    }
        return found

    def _store_asset_check_evaluation_planned(self, event: EventLogEntry, event_id: int | None) -> None:
        """A row a partition. Their event, which names all of the partitions, stands in the index under its number;
        Dagster puts it into each row."""
        planned = event.get_dagster_event().asset_check_planned_data
        partitions = planned.partitions_subset.get_partition_keys() if planned.partitions_subset else None
        if not partitions:
            super()._store_asset_check_evaluation_planned(event, event_id)
            return
        of_all = {
            "asset_key": planned.asset_key.to_string(),
            "check_name": planned.check_name,
            "run_id": event.run_id,
            "execution_status": AssetCheckExecutionRecordStatus.PLANNED.value,
            "evaluation_event_timestamp": self._event_insert_timestamp(event),  # type: ignore[no-untyped-call]
            "evaluation_event_storage_id": event_id,
        }
        with self.index_connection() as index:
            index.execute(AssetCheckExecutionsTable.insert(), [{**of_all, "partition": key} for key in partitions])

    def get_asset_check_execution_history(self, *args: Any, **kwargs: Any) -> Sequence[AssetCheckExecutionRecord]:
        """The last executions of a check, newest first."""
        return self._with_events(super().get_asset_check_execution_history(*args, **kwargs))

    def get_latest_asset_check_execution_by_key(
        self, *args: Any, **kwargs: Any
    ) -> Mapping[dg.AssetCheckKey, AssetCheckExecutionRecord]:
        """The last execution of each check."""
        found = super().get_latest_asset_check_execution_by_key(*args, **kwargs)
        return dict(zip(found, self._with_events(list(found.values())), strict=True))

    def _with_events(self, records: Sequence[AssetCheckExecutionRecord]) -> Sequence[AssetCheckExecutionRecord]:
        """The same, with the events of those planned for a partition from where they stand."""
        without = [record.id for record in records if record.event is None]
        if not without:
            return records
        checks, events = AssetCheckExecutionsTable.c, SqlEventLogStorageTable.c
        query = (
            db.select(checks.id, events.event)
            .join(SqlEventLogStorageTable, events.id == checks.evaluation_event_storage_id)
            .where(
                checks.id.in_(without),
                events.dagster_event_type == dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED.value,
            )
        )
        with self.index_connection() as index:
            found = {row.id: row.event for row in index.execute(query)}
        return [
            record._replace(event=dg.deserialize_value(found[record.id], EventLogEntry))
            if record.id in found
            else record
            for record in records
        ]

    # Watching

    def watch(self, run_id: str, cursor: str | None, callback: Any) -> None:
        """Calls back with each event that is stored for a run from now on, by whichever process."""
        observer: Any = self._obs
        if observer is None:
            observer = Observer()
            observer.start()
            self._obs = observer
        watchdog = _Watchdog(self, run_id, callback, cursor)
        self._watchers[run_id][callback] = watchdog, observer.schedule(watchdog, self._base_dir, recursive=True)


class _Watchdog(SqliteEventLogStorageWatchdog):
    """Hears of a run's events by changes of its file, or of its log: a file that is kept open changes later."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._patterns = [self._log_path, f"{self._log_path}-wal"]

    def on_modified(self, event: FileSystemEvent) -> None:  # noqa: ARG002 - watchdog's own signature
        self._process_log()


def _type_of(event: EventLogEntry) -> dg.DagsterEventType | None:
    return event.dagster_event_type if event.is_dagster_event else None


def a_partition_each(event: EventLogEntry) -> Iterable[EventLogEntry]:
    """Of an asset's planned event for many partitions one each, as the index wants them; any other as it is."""
    if _type_of(event) is not dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED:
        return [event]
    planned = event.get_dagster_event()
    subset = planned.partitions_subset
    if subset is None:
        return [event]
    data = planned.asset_materialization_planned_data
    return [
        event._replace(
            dagster_event=planned._replace(
                event_specific_data=AssetMaterializationPlannedData(data.asset_key, partition=key)
            )
        )
        for key in subset.get_partition_keys()
    ]


def _insert(connection: Connection, rows: Sequence[Row]) -> list[int]:
    """Adds rows of events at the end of the transaction's file and returns their numbers, which rise by one.

    The lock for writing is taken first: until the transaction ends nobody else takes a number.
    """
    connection.exec_driver_sql("BEGIN IMMEDIATE")
    table = SqlEventLogStorageTable
    first = (connection.scalar(db.select(db.func.max(table.c.id))) or 0) + 1
    ids = list(range(first, first + len(rows)))
    connection.execute(table.insert(), [{**row, "id": number} for number, row in zip(ids, rows, strict=True)])
    return ids


def _with_small_pages(connection: sqlite3.Connection, _record: object) -> None:
    connection.execute(f"PRAGMA page_size={PAGE_BYTES}").close()
