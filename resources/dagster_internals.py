"""What is used of Dagster beside its public interface, and nothing else is: one place to look when it changes.

The history of one check, and an evaluation of one day within a run of many, have no public door yet; the type of a job
of assets has no public name. tests/resources/test_dagster_internals.py fails when what is relied on here changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import dagster as dg
from dagster._core.definitions.unresolved_asset_job_definition import UnresolvedAssetJobDefinition
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionRecord,
    AssetCheckExecutionRecordStatus,
)

AssetJob = UnresolvedAssetJobDefinition
"""What `dg.define_asset_job` returns."""


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


def report_in_run(instance: dg.DagsterInstance, run: dg.DagsterRun, evaluation: dg.AssetCheckEvaluation) -> None:
    """Adds an evaluation of one day to a run of many.

    As an event of the run: Dagster takes an evaluation without a run once a partition, and never again.
    """
    event = dg.DagsterEvent(
        event_type_value=dg.DagsterEventType.ASSET_CHECK_EVALUATION.value,
        job_name=run.job_name,
        event_specific_data=evaluation,
    )
    instance.report_dagster_event(event, run_id=run.run_id)


def _evaluation(record: AssetCheckExecutionRecord) -> dg.AssetCheckEvaluation | None:
    event = record.event.dagster_event if record.event else None
    data = event.event_specific_data if event else None
    return data if isinstance(data, dg.AssetCheckEvaluation) else None
