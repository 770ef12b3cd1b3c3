"""What is used of Dagster beside its public interface: one place to look when it changes.

The history of one check, an evaluation of one day within a run of many, events of the days that a run has made, and an
instance that captures no output have no public door yet; the type of a job of assets has no public name.
tests/resources/test_dagster_internals.py fails when what is relied on here changes. The storage of events alone, in
event_storage.py, has private names of its own.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
from dagster._core.definitions.data_version import (
    CODE_VERSION_TAG,
    DATA_VERSION_IS_USER_PROVIDED_TAG,
    DATA_VERSION_TAG,
    DEFAULT_DATA_VERSION,
    get_input_data_version_tag,
    get_input_event_pointer_tag,
)
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
from dagster._core.event_api import PartitionKeyFilter
from dagster._core.events import DagsterEventBatchMetadata, StepMaterializationData, generate_event_batch_id
from dagster._core.instance.ref import InstanceRef
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionRecord,
    AssetCheckExecutionRecordStatus,
)
from dagster._core.storage.dagster_run import assets_are_externally_managed
from dagster._core.storage.local_compute_log_manager import LocalComputeLogManager
from dagster._core.storage.noop_compute_log_manager import NoOpComputeLogManager
from dagster._core.storage.tags import EXTERNALLY_MANAGED_ASSETS_TAG

AssetJob = UnresolvedAssetJobDefinition
"""What `dg.define_asset_job` returns."""
LOOKED_BACK = 5
"""Executions of a check among which the last that came to anything is looked for: runs that were killed have none."""


SELF_REPORTING: Mapping[str, str] = {EXTERNALLY_MANAGED_ASSETS_TAG: "true"}
"""Tags of a run whose assets report what they have made. Of any other, Dagster stores two events for each table and day
of its range, whether or not there is anything on that day."""


def instance_in(folder: Path) -> dg.DagsterInstance:
    """The instance of a folder, for runs in this process: what steps print goes where this process prints.

    By default Dagster captures that by two processes a step, one of which ends every interrupt from a terminal, which
    goes to all of them, with a traceback. Where dagster.yaml has captured output kept in a place of its own, it is.
    """
    ref = InstanceRef.from_dir(str(folder))
    if ref.compute_logs_data.class_name == LocalComputeLogManager.__name__:
        unseen = {"module": NoOpComputeLogManager.__module__, "class": NoOpComputeLogManager.__name__}
        ref = InstanceRef.from_dir(str(folder), overrides={"compute_logs": unseen})
    return dg.DagsterInstance.from_ref(ref)


@dataclass(frozen=True, slots=True)
class PastCheck:
    """One execution of a check: its number, which grows, whether it failed, and what it said; None while it runs."""

    number: int
    has_failed: bool
    evaluation: dg.AssetCheckEvaluation | None


def past_checks(instance: dg.DagsterInstance, key: dg.AssetCheckKey, limit: int) -> Sequence[PastCheck]:
    """The last executions of a check, newest first.

    By check, not by cursor over all events: asking the event log for check events fails on SQLite.
    """
    records = instance.event_log_storage.get_asset_check_execution_history(key, limit=limit)
    return [
        PastCheck(record.id, record.status is AssetCheckExecutionRecordStatus.FAILED, _evaluation(record))
        for record in records
    ]


def last_evaluation(instance: dg.DagsterInstance, key: dg.AssetCheckKey) -> dg.AssetCheckEvaluation | None:
    """What a check came to when it last ran, over all the days of that run; None before the first time. Rows of single
    days are none, nor is a run that has only begun."""
    of_no_day = PartitionKeyFilter(key=None)
    records = instance.event_log_storage.get_asset_check_execution_history(key, LOOKED_BACK, partition_filter=of_no_day)
    return next((found for record in records if (found := _evaluation(record))), None)


def report_in_run(instance: dg.DagsterInstance, run: dg.DagsterRun, *evaluations: dg.AssetCheckEvaluation) -> None:
    """Adds evaluations of single days to a run of many, as one batch.

    As events of the run: Dagster takes an evaluation without a run once a partition, and never again. Times are a
    millisecond apart, as those of `report_materializations`.
    """
    batch, until = generate_event_batch_id(), time.time()
    for number, evaluation in enumerate(evaluations, start=1):
        event = dg.DagsterEvent(
            event_type_value=dg.DagsterEventType.ASSET_CHECK_EVALUATION.value,
            job_name=run.job_name,
            event_specific_data=evaluation,
        )
        instance.report_dagster_event(
            event,
            run_id=run.run_id,
            batch_metadata=DagsterEventBatchMetadata(batch, number == len(evaluations)),
            timestamp=until - (len(evaluations) - number) / 1000,
        )


def reports_itself(run: dg.DagsterRun) -> bool:
    """Whether the run has the tags `SELF_REPORTING`."""
    return assets_are_externally_managed(run)


def report_materializations(context: dg.AssetExecutionContext, made: Sequence[dg.AssetMaterialization]) -> None:
    """Stores events of what a step of the run has made, as one batch.

    The UI takes events of one time for one event, so they are a millisecond apart.
    """
    batch, until = generate_event_batch_id(), time.time()
    for number, materialization in enumerate(made, start=1):
        event = dg.DagsterEvent(
            event_type_value=dg.DagsterEventType.ASSET_MATERIALIZATION.value,
            job_name=context.run.job_name,
            step_key=context.op_execution_context.get_step_execution_context().step.key,
            event_specific_data=StepMaterializationData(materialization),
        )
        context.instance.report_dagster_event(
            event,
            run_id=context.run.run_id,
            batch_metadata=DagsterEventBatchMetadata(batch, number == len(made)),
            timestamp=until - (len(made) - number) / 1000,
        )


def last_event(instance: dg.DagsterInstance) -> int:
    """The number of the last event that any run has stored; 0 where there is none."""
    return instance.event_log_storage.get_maximum_record_id() or 0


def version_tags(version: str, made_from: Mapping[str, str]) -> dict[str, str]:
    """The tags of a partition: the version of its data, and its `provenance_tags`."""
    return {DATA_VERSION_TAG: version, **made_from}


def provenance_tags(code_version: str, read: Mapping[str, str | None], read_at: int) -> dict[str, str]:
    """The tags by which Dagster tells whether a partition is out of date: the version of the code that made it, and of
    what that has `read` by table, None where there was nothing; `read_at` is the `last_event` then."""
    keys = {name: dg.AssetKey(name) for name in read}
    return {
        DATA_VERSION_IS_USER_PROVIDED_TAG: "true",
        CODE_VERSION_TAG: code_version,
        **{get_input_data_version_tag(key): read[name] or DEFAULT_DATA_VERSION.value for name, key in keys.items()},
        **{get_input_event_pointer_tag(key): str(read_at) for key in keys.values()},
    }


def known_versions(instance: dg.DagsterInstance, asset: str) -> dict[str, str]:
    """The version of the data of each partition of an asset that Dagster has heard of last, by partition."""
    tags = instance.event_log_storage.get_latest_tags_by_partition(
        dg.AssetKey(asset), dg.DagsterEventType.ASSET_MATERIALIZATION, [DATA_VERSION_TAG]
    )
    return {partition: found[DATA_VERSION_TAG] for partition, found in tags.items()}


def _evaluation(record: AssetCheckExecutionRecord) -> dg.AssetCheckEvaluation | None:
    event = record.event.dagster_event if record.event else None
    data = event.event_specific_data if event else None
    return data if isinstance(data, dg.AssetCheckEvaluation) else None
