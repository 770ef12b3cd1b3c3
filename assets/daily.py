"""One factory for all daily assets: a step of the engine becomes a Dagster asset a table.

A new step needs no code here. What an asset does is in the engine; what is here is what Dagster wants to know of it:
dependencies, partitions, versions, columns and what to show of a materialization.
"""

import inspect
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

import dagster as dg
import pyarrow.compute as pc
from pydantic import Field

from em_pipelines.governance.audit.settling import settle
from em_pipelines.schema.ids import digest
from em_pipelines.schema.table import PERSONAL_COLUMNS, Table
from em_pipelines.schema.tables.derived import INFERRED_EDGES
from em_pipelines.storage.staleness import PartitionInfo
from em_pipelines.storage.step import Step, StepReport
from em_pipelines.storage.store import Store
from resources.dagster_internals import (
    known_versions,
    last_event,
    provenance_tags,
    report_materializations,
    reports_itself,
    version_tags,
)
from resources.home import HomeResource

OWNERS = ["team:memory"]
SAMPLE_ROWS = 5
SAMPLE_CHARACTERS = 80
ID_COLUMNS = frozenset({
    "id", "input_hash", "supersedes", "superseded_by", "contradicts", "merged_into", "distinct_from", "premises",
    "consolidates",
})  # fmt: skip
"""Columns that hold ids under another name."""
SHOWN_DAYS = 31
"""Of a long run no more days are listed."""


class DailyConfig(dg.Config):
    """How days are made."""

    is_full: bool = Field(default=False, description="make days again that are current")


def daily_assets(step: Step, partitions: dg.DailyPartitionsDefinition) -> dg.AssetsDefinition:
    """Returns the assets of one step: one a table that it makes, all made together."""

    @dg.multi_asset(
        name=op_name(step),  # ops and jobs share one space of names
        specs=[table_spec(step, table) for table in step.outputs],
        partitions_def=partitions,
        backfill_policy=dg.BackfillPolicy.single_run(),
        # All tables of a step are made together, whichever are selected. But of assets that cannot be selected one by
        # one Dagster compares how their days are represented, which differs by the route through the graph on which
        # it found them, and refuses backfills from the UI.
        can_subset=True,
    )
    def materialize_days(
        context: dg.AssetExecutionContext, config: DailyConfig, home: HomeResource
    ) -> Iterator[dg.MaterializeResult]:
        store = home.home.store
        days = [date.fromisoformat(key) for key in context.partition_keys]
        tables = [table for table in step.outputs if dg.AssetKey(table.name) in context.selected_asset_keys]
        begun_at, begun = last_event(context.instance), time.process_time()
        report = StepReport()
        try:
            with home.home.lock(f"step-{step.name}"):
                report = store.run_days(step, days, is_forced=config.is_full, on_days=home.days_done)
                aside = settle(store, step, days)
        finally:  # where a day fails, those before it stand
            done = _Done(store, step, report, days, time.process_time() - begun)
            if reports_itself(context.run):
                read = _Provenance(done, begun_at)
                for table in tables:
                    report_materializations(context, _events(done, table, context.instance, read))
        context.log.info(f"{step.name}: made {len(report.made)} days, found {len(report.current)} current")
        if aside:
            context.log.warning(
                f"{step.name}: set {len(aside)} aside that a check would fail with; see `em quarantine`"
            )
        for table in tables:
            is_told = reports_itself(context.run)
            yield dg.MaterializeResult(asset_key=table.name) if is_told else _result(done, table, context)

    return materialize_days


def table_spec(step: Step, table: Table) -> dg.AssetSpec:
    """What Dagster is told of a table that a step makes."""
    # Only what is read of the day itself: with any other mapping than day to day, an asset's own day before among them,
    # Dagster gives what comes after it a run of its own in every backfill. The order of days is the engine's to keep,
    # and the metadata tell of the states of the day before.
    # What has no days (what is inferred, after all of them) is none of them either.
    looked_over = (window.table for window in step.windows)
    sources = dict.fromkeys((*step.inputs, *step.latest, *looked_over))
    deps = [dg.AssetDep(source.name) for source in sources if source is not INFERRED_EDGES]
    return dg.AssetSpec(
        key=table.name,
        group_name=table.group,
        description=table.about,
        deps=deps,
        code_version=step.code_version,
        owners=OWNERS,
        kinds={"duckdb", "parquet"} if step.is_fold or step.latest else {"python", "parquet"},
        tags={"em/table": "state" if table.is_state else "events"},
        metadata={
            "dagster/column_schema": dg.TableSchema(
                columns=[
                    dg.TableColumn(
                        name=column.name,
                        type=str(column.type),
                        description=column.about,
                        constraints=dg.TableColumnConstraints(nullable=column.is_nullable),
                    )
                    for column in table.columns
                ]
            ),
            "dagster/table_name": table.name,
            "dagster/storage_kind": "parquet",
            "dagster/code_references": dg.CodeReferencesMetadataValue(code_references=[source_of(step)]),
            "key": ", ".join(table.key),
            "states_of_the_day_before": ", ".join(state.name for state in step.previous),
        },
    )


def op_name(step: Step) -> str:
    """The name of the op that makes a step's tables, by which a run configures it."""
    return f"materialize_{step.name}"


def source_of(step: Step) -> dg.LocalFileCodeReference:
    """Where the code of a step stands."""
    code = inspect.unwrap(step.run).__code__
    return dg.LocalFileCodeReference(file_path=code.co_filename, line_number=code.co_firstlineno, label=step.name)


def data_version(store: Store, table: Table, days: Iterable[date]) -> dg.DataVersion:
    """The version of a table's data on some days: of one day the digest of its rows, which its footer holds, of
    several that of their digests. Dagster knows one version a table and run."""
    infos = {day: store.lake.info(table, day) for day in sorted(days)}
    digests = {day: info.content_digest for day, info in infos.items() if info is not None}
    if len(digests) == 1:
        return dg.DataVersion(next(iter(digests.values())))
    return dg.DataVersion(digest(f"{day} {content}" for day, content in digests.items()))


@dataclass(frozen=True, slots=True)
class _Done:
    """What a run did with the days that it was asked for, of one step, and what it took."""

    store: Store
    step: Step
    report: StepReport
    days: Collection[date]
    processor_seconds: float

    def standing(self, table: Table) -> dict[date, PartitionInfo]:
        """What is known of those of the days, in order, that have a partition of a table."""
        wanted = set(self.days)
        infos = {day: self.store.lake.info(table, day) for day in self.store.lake.days(table) if day in wanted}
        return {day: info for day, info in infos.items() if info is not None}


def _events(
    done: _Done, table: Table, instance: dg.DagsterInstance, read: "_Provenance"
) -> list[dg.AssetMaterialization]:
    """What Dagster is told of a table: each day that the run has made, and those that it found and Dagster does not
    know as they are, for the run that made them was killed, or they were made without Dagster."""
    infos = done.standing(table)
    if not infos.keys() <= set(done.report.made):
        known = known_versions(instance, table.name)
        infos = {d: i for d, i in infos.items() if d in done.report.made or known.get(str(d)) != i.content_digest}
    of_run = {max(infos): _of_run(done, table, infos)} if infos else {}
    return [
        dg.AssetMaterialization(
            table.name,
            partition=str(day),
            metadata=of_day(done.store, table, day, info.n_rows) | of_run.get(day, {}),
            tags=version_tags(info.content_digest, read.on(day)),
        )
        for day, info in infos.items()
    ]


class _Provenance:
    """What the tables of a step were made from, day by day, as tags; the same for all of its tables."""

    def __init__(self, done: _Done, read_at: int) -> None:
        self._done = done
        self._read_at = read_at
        self._known: dict[date, dict[str, str]] = {}

    def on(self, day: date) -> dict[str, str]:
        """The tags of a day."""
        if day not in self._known:
            lake, step = self._done.store.lake, self._done.step
            infos = {table.name: lake.info(table, day) for table in (*step.inputs, *step.latest)}
            read = {name: info.content_digest if info else None for name, info in infos.items()}
            self._known[day] = provenance_tags(step.code_version, read, self._read_at)
        return self._known[day]


def _result(done: _Done, table: Table, context: dg.AssetExecutionContext) -> dg.MaterializeResult:
    """What Dagster stores by itself: an event for each day of the range, those without anything among them."""
    infos = done.standing(table)
    for day, info in infos.items():
        context.add_asset_metadata(of_day(done.store, table, day, info.n_rows), table.name, partition_key=str(day))
    newest = max(infos, default=max(done.days))
    context.add_asset_metadata(_of_run(done, table, infos), table.name, partition_key=str(newest))
    return dg.MaterializeResult(
        asset_key=table.name,
        metadata={"dagster/row_count": dg.IntMetadataValue(0)},
        data_version=data_version(done.store, table, infos),
    )


def of_day(store: Store, table: Table, day: date, n_rows: int) -> dict[str, dg.MetadataValue]:
    """What is shown of one partition: numbers, which the UI plots over days; of calls of models what they cost."""
    found: dict[str, dg.MetadataValue] = {
        "dagster/row_count": dg.IntMetadataValue(n_rows),
        "path": dg.PathMetadataValue(store.lake.path(table, day)),
    }
    if n_rows and "cost_usd" in table.schema.names:
        costs = store.lake.read(table, day)["cost_usd"]
        found["cost_usd"] = dg.FloatMetadataValue(round(pc.sum(costs).as_py() or 0.0, 6))
    return found


def _of_run(done: _Done, table: Table, infos: Mapping[date, PartitionInfo]) -> dict[str, dg.MetadataValue]:
    """What is shown of the run as a whole, on the newest of its days: on each, it would grow with their square."""
    report = done.report
    found: dict[str, dg.MetadataValue] = {
        "days_made": dg.IntMetadataValue(len(report.made)),
        "days_already_current": dg.IntMetadataValue(len(report.current)),
        "days_without_input": dg.IntMetadataValue(len(done.days) - len(report.made) - len(report.current)),
        "processor_seconds": dg.FloatMetadataValue(round(done.processor_seconds, 3)),
    }
    if infos:
        rows = "\n".join(f"| {day} | {info.n_rows} |" for day, info in list(infos.items())[-SHOWN_DAYS:])
        found["rows_by_day"] = dg.MarkdownMetadataValue(f"| day | rows |\n| --- | --: |\n{rows}")
        found["sample"] = dg.MarkdownMetadataValue(_sample(done.store, table, max(infos)))
    return found


def _sample(store: Store, table: Table, day: date) -> str:
    """The first rows as a table, without what people wrote: Dagster's event log is no place for it. Nor for ids: they
    are hashes of names, by which a name that was erased could be guessed and checked."""
    names = [c.name for c in table.columns if c.name not in PERSONAL_COLUMNS and not _is_id(c.name)]
    rows = store.lake.head(table, day, names, SAMPLE_ROWS)
    lines = [f"| {' | '.join(names)} |", "| " + " | ".join("---" for _ in names) + " |"]
    lines += ["| " + " | ".join(_cell(row[name]) for name in names) + " |" for row in rows]
    return "\n".join(lines)


def _is_id(name: str) -> bool:
    return name.endswith(("_id", "_ids")) or name in ID_COLUMNS


def _cell(value: object) -> str:
    text = str(value).replace("|", "\\|").replace("\n", " ")
    return text if len(text) <= SAMPLE_CHARACTERS else text[: SAMPLE_CHARACTERS - 1] + "…"
