"""Driving Dagster in this process: what `em run` does between landing and its summary.

Days that are out of date are materialized range by range, then the snapshot is published. What a user sees of it is
`em_pipelines.cli`'s business.
"""

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from em_pipelines import errors
from em_pipelines.commands.console import err
from em_pipelines.erasure.certificate import Certificate
from em_pipelines.erasure.forget import carry_out
from em_pipelines.errors import PermanentError, RunFailedError
from em_pipelines.extraction.unread import UnreadSegment, unread_segments
from em_pipelines.home import Home
from em_pipelines.planning import assets_with_work, plan
from em_pipelines.retrieval import packs
from em_pipelines.serving.snapshot import is_current
from em_pipelines.serving.time_rules import TimeRules
from em_pipelines.tables.extraction import EXTRACTION_ISSUES

if TYPE_CHECKING:
    import dagster as dg

DAGSTER_YAML = """\
telemetry: {enabled: false}
nux: {enabled: false}
"""
LAUNCHER_TAG = "em/launcher"
UNREAD_CHECK = "extraction_complete"
"""Fails while a model has not read everything; the facts that are there are served all the same."""


@dataclass
class Summary:
    """What `em run` did: days and runs, checks that failed, what was forgotten, and what no model has read yet."""

    n_days: int = 0
    n_runs: int = 0
    failed_checks: list[str] = field(default_factory=list)
    erased: list[Certificate] = field(default_factory=list)
    unread: list[UnreadSegment] = field(default_factory=list)

    def n_unread(self, status: str) -> int:
        """Messages that are pending, or dead letters."""
        return sum(segment.n_messages for segment in self.unread if segment.status == status)


def materialize(home: Home, first: date | None, last: date | None, *, is_full: bool) -> Summary:
    """Makes the days that are out of date, within first and last, and publishes; raises RunFailedError where a run
    fails for another reason than a check, or what a step raised of PermanentError."""
    todo = plan(home.store, home.steps.values(), gap_days=home.settings.run_gap_days, is_full=is_full)
    ranges = [(max(a, first or a), min(b, last or b)) for a, b in todo.ranges]
    ranges = sorted({*((a, b) for a, b in ranges if a <= b), *home.unchecked_ranges()})
    summary = Summary(n_days=sum((b - a).days + 1 for a, b in ranges))
    has_requests = bool(home.book.pending())
    is_published = not _has_facts(home) or (
        home.is_inferred
        and is_current(home.store, home.snapshots, TimeRules.of(home.settings))
        and packs.is_current(home)
    )
    if not ranges and not has_requests and is_published:
        return summary
    home.note_unchecked(ranges)
    with _dagster(home, ranges) as (instance, definitions, progress):
        run = partial(_run_ranges, home, definitions, instance, summary)
        run(ranges, is_full=is_full)
        if has_requests:
            # Only now it is known which names and facts the requests cover. What they change is made by the erasure
            # itself; running its days once more lets Dagster know and check them.
            progress.console.print("forgetting what was asked to be forgotten", style="dim")
            summary.erased = carry_out(home)
            run(home.unchecked_ranges(), is_full=False)
        days = home.store.lake.days(EXTRACTION_ISSUES)
        touched = [day for day in days if any(a <= day <= b for a, b in ranges)]
        summary.unread = unread_segments(home.store.lake, touched)
        if not summary.failed_checks:
            if _has_facts(home):  # of dead letters alone nothing can be published
                progress.console.print("publishing the snapshot", style="dim")
                _execute(definitions, instance, "publish", {"em/full": "true"} if is_full else {}, summary)
            home.note_unchecked([])
    return summary


def _has_facts(home: Home) -> bool:
    return bool(home.store.lake.days(home.steps["decay"].outputs[0]))


def _run_ranges(
    home: Home,
    definitions: "dg.Definitions",
    instance: "dg.DagsterInstance",
    summary: Summary,
    ranges: list[tuple[date, date]],
    *,
    is_full: bool,
) -> None:
    """Runs the job `main` over ranges of days, one after the other."""
    for a, b in ranges:
        tags = {"dagster/asset_partition_range_start": str(a), "dagster/asset_partition_range_end": str(b)}
        if is_full:
            tags["em/full"] = "true"
        _execute(definitions, instance, "main", tags, summary, assets_with_work(home.store, home.steps.values(), a, b))


@contextmanager
def _dagster(
    home: Home, ranges: list[tuple[date, date]]
) -> Iterator["tuple[dg.DagsterInstance, dg.Definitions, Progress]"]:
    """An instance in the home, the definitions over it, and a progress bar that hears of days done.

    Dagster takes a second to import, which only this command pays.
    """
    os.environ.setdefault("DAGSTER_DISABLE_TELEMETRY", "1")
    import dagster as dg  # noqa: PLC0415

    from em_pipelines.definitions import build_definitions  # noqa: PLC0415

    warnings.filterwarnings("ignore", category=dg.BetaWarning)  # of Dagster's own code: nothing a user could mend
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    tasks: dict[str, TaskID] = {}
    with Progress(*columns, console=err(), transient=True) as progress:

        def days_done(step: str, n_days: int) -> None:
            if step not in tasks:  # what a step has to do shows when those before it are done
                days = home.store.days(home.steps[step])
                n_todo = sum(any(a <= day <= b for a, b in ranges) for day in days)
                tasks[step] = progress.add_task(f"{step} (days)", total=n_todo)
            progress.update(tasks[step], advance=n_days)

        with dg.DagsterInstance.from_config(str(prepare_dagster_home(home))) as instance:
            _bury_dead_runs(instance)
            yield instance, build_definitions(home.settings, on_days=days_done), progress


def prepare_dagster_home(home: Home) -> Path:
    """Makes Dagster's own home with a configuration that calls nobody; an existing one is left as it is."""
    folder = home.dagster_home.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "dagster.yaml").exists():
        (folder / "dagster.yaml").write_text(DAGSTER_YAML, encoding="utf-8")
    return folder


def reset_runs(home: Home, is_applied: bool) -> int:
    """How many runs of `em run` are noted as at work, though no process is; marked as failed where `is_applied`, which
    takes the run lock of the caller. While somebody else holds that, there are none."""
    if not (home.dagster_home / "dagster.yaml").exists():
        return 0
    import dagster as dg  # noqa: PLC0415

    try:
        with (
            nullcontext() if is_applied else home.lock("run", timeout_seconds=0),
            dg.DagsterInstance.from_config(str(home.dagster_home.absolute())) as instance,
        ):
            found = _dead_runs(instance)
            if is_applied:
                _bury_dead_runs(instance)
            return len(found)
    except errors.LockedError:
        return 0


def _bury_dead_runs(instance: "dg.DagsterInstance") -> None:
    """Marks runs of this command that were killed as failed. Whoever holds the run lock knows that none is alive."""
    for found in _dead_runs(instance):
        instance.report_run_failed(found, "The process ended before the run did; the next run goes on from there.")


def _dead_runs(instance: "dg.DagsterInstance") -> "Sequence[dg.DagsterRun]":
    import dagster as dg  # noqa: PLC0415

    alive = [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED]
    return instance.get_runs(dg.RunsFilter(tags={LAUNCHER_TAG: "cli"}, statuses=alive))


def _execute(
    definitions: "dg.Definitions",
    instance: "dg.DagsterInstance",
    job: str,
    tags: dict[str, str],
    summary: Summary,
    assets: list[str] | None = None,
) -> None:
    import dagster as dg  # noqa: PLC0415

    result = definitions.resolve_job_def(job).execute_in_process(
        instance=instance,
        tags={**tags, LAUNCHER_TAG: "cli"},
        run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
        asset_selection=[dg.AssetKey(name) for name in assets] if assets else None,
        raise_on_error=False,
    )
    summary.n_runs += 1
    summary.failed_checks += [
        f"{found.check_name} on {found.asset_key.to_user_string()}: {found.description or 'failed'}"
        for found in result.get_asset_check_evaluations()
        if not found.passed and found.severity is dg.AssetCheckSeverity.ERROR and found.check_name != UNREAD_CHECK
    ]
    if result.success or summary.failed_checks:
        return
    failure = next((e for e in result.all_events if e.is_step_failure), None)
    error = failure.step_failure_data.error if failure else None
    cause = error.cause if error and error.cause else error
    kind = _permanent(cause.cls_name) if cause else None
    found = cause.message.strip() if cause else "no message"
    raise (kind or RunFailedError)(
        f"running {job}: {failure.step_key if failure else 'the run'} failed with "
        f"{found.split(': ', 1)[-1] if kind else found}; finished days are kept, `em run` goes on from there"
    )


def _permanent(name: str | None) -> type[PermanentError] | None:
    """The error of ours of that name, if a retry gives it again: it ends `em run` as it would any other command."""
    kind = getattr(errors, name or "", None)
    return kind if isinstance(kind, type) and issubclass(kind, PermanentError) else None
