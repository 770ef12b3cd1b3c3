"""Driving Dagster in this process: what `em run` does between landing and its summary.

Days that are out of date are materialized, and what they give is published, in one run. What a user sees of it is
`em_pipelines.interfaces.cli.app`'s business.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from em_pipelines import errors
from em_pipelines.environment import silence_libraries
from em_pipelines.errors import EmError, PermanentError, RunFailedError
from em_pipelines.extraction.unread_segments import UnreadSegment, sessions_with, unread_languages, unread_segments
from em_pipelines.governance.audit.unmatched_feedback import unmatched_feedback
from em_pipelines.home import Home
from em_pipelines.interfaces.cli import interrupts
from em_pipelines.interfaces.cli.console import err
from em_pipelines.interfaces.cli.dagster_storage import StorageError, is_in_storage, is_of_storage, with_storage
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval import packs
from em_pipelines.schema.readings import TOO_LONG, UNTRUSTED_SESSION
from em_pipelines.schema.tables.extraction import EXTRACTION_ISSUES
from em_pipelines.serving.metrics.daily import is_measured, metrics_step
from em_pipelines.serving.snapshot import is_current, newest_day
from em_pipelines.storage.quarantine import SetAside
from em_pipelines.storage.run_plan import Span, plan, steps_with_work
from em_pipelines.storage.step import Step

if TYPE_CHECKING:
    import dagster as dg
    from rich.progress import Progress, TaskID

LAUNCHER_TAG = "em/launcher"
SERVED_ALL_THE_SAME = ("extraction_complete", "nothing_set_aside")
"""Fail while a model has not read everything, or something is set aside: what is there is served all the same, and the
command says the rest in a line of its own."""


@dataclass
class Summary:
    """What `em run` did: days and runs, checks that failed, what no model has read yet, what of the days that were made
    is in languages that rules do not read (messages by user and language), the conversations of which nothing is
    learned (user and session), feedback of these days that fitted no fact, and what was set aside."""

    n_days: int = 0
    n_runs: int = 0
    failed_checks: list[str] = field(default_factory=list)
    unread: list[UnreadSegment] = field(default_factory=list)
    languages: dict[str, dict[str, int]] = field(default_factory=dict)
    untrusted: set[tuple[str, str]] = field(default_factory=set)
    too_long: set[tuple[str, str]] = field(default_factory=set)
    unmatched: list[str] = field(default_factory=list)
    aside: list[SetAside] = field(default_factory=list)
    span: Span | None = None

    @property
    def newly_aside(self) -> list[SetAside]:
        """What is set aside of the days that were made or checked."""
        first, last = self.span or (date.max, date.min)
        return [entry for entry in self.aside if first <= entry.day <= last]

    def n_unread(self, status: str) -> int:
        """Messages that are pending, or dead letters."""
        return sum(segment.n_messages for segment in self.unread if segment.status == status)


def materialize(home: Pipeline, first: date | None, last: date | None, *, is_full: bool) -> Summary:
    """Makes the days that are out of date, within first and last, and publishes: in one run, or in two where somebody
    asked to be forgotten. Raises RunFailedError where a run fails for another reason than a check, or what a step
    raised of PermanentError."""
    days = _days_to_run(home, first, last, is_full=is_full)
    if not days and not home.unchecked and not home.book.pending() and _is_published(home):
        home.store.lake.keep_footers()
        return Summary(aside=list(home.store.quarantine.entries()))
    home.note_unchecked(days)
    return with_storage(home, lambda folder: _materialized(home, folder, days, is_full=is_full))


def _materialized(home: Pipeline, folder: Path, days: list[date], *, is_full: bool) -> Summary:
    """What came of the runs that make some days and publish, kept in Dagster's home in `folder`."""
    summary = Summary(n_days=len(days), span=home.unchecked)
    with _dagster(home, folder) as (instance, definitions, progress):
        runner = _Runner(definitions, instance, summary)
        if home.book.pending():
            _run(home, runner, is_full=is_full, publishes=False)
            # Only now it is known which names and facts the requests cover. What they change is made by the erasure
            # itself; running its days once more lets Dagster know and check them.
            from em_pipelines.governance.erasure.forget import carry_out

            progress.console.print("forgetting what was asked to be forgotten", style="dim")
            carry_out(home)
            is_full = False
        _run(home, runner, is_full=is_full)
        read = [day for day in home.store.lake.days(EXTRACTION_ISSUES) if day in {*days}]
        summary.unread = unread_segments(home.store.lake, read)
        summary.languages = unread_languages(home.store.lake, read)
        summary.untrusted = sessions_with(UNTRUSTED_SESSION, home.store.lake, read)
        summary.too_long = sessions_with(TOO_LONG, home.store.lake, read)
        summary.unmatched = unmatched_feedback(home.store.lake, days)
        summary.aside = list(home.store.quarantine.entries())
        if not summary.failed_checks:
            home.note_checked()
    return summary


def _days_to_run(home: Pipeline, first: date | None, last: date | None, *, is_full: bool) -> list[date]:
    """The days that are out of date, within first and last."""
    todo = plan(home.store, home.steps.values(), is_full=is_full)
    return [day for day in todo.days if (first or day) <= day <= (last or day)]


def _is_published(home: Pipeline) -> bool:
    """Whether what is served is what the lake holds; where nothing was read there is nothing to serve."""
    return newest_day(home.store) is None or (
        home.is_inferred
        and home.is_proactive_current
        and is_measured(home)
        and is_current(home.store, home.snapshots, home.time_rules, home.nights.history())
        and packs.is_current(home)
    )


def _run(home: Pipeline, runner: "_Runner", *, is_full: bool, publishes: bool = True) -> None:
    """One run over the days that nobody has checked yet, those to be made among them, and what is published of them."""
    from resources.dagster_internals import SELF_REPORTING
    from sensors.jobs import PUBLISHED

    span = home.unchecked
    if span is None:
        runner.execute(
            "publish", {}, config=_config([home.inference, *home.proactive, metrics_step()], is_full=is_full)
        )
        return
    todo = steps_with_work(home.store, home.steps.values(), *span)
    tags = {
        **SELF_REPORTING,
        "dagster/asset_partition_range_start": str(span[0]),
        "dagster/asset_partition_range_end": str(span[1]),
    }
    tables = [table.name for step in todo for table in step.outputs]
    steps = [*todo, *([home.inference, *home.proactive, metrics_step()] if publishes else [])]
    runner.execute("main", tags, [*tables, *(PUBLISHED if publishes else ())], config=_config(steps, is_full=is_full))


def _config(steps: Iterable[Step], *, is_full: bool) -> dict[str, Any]:
    """The run configuration of the ops that make the steps' tables; none where all is as it is by default."""
    from assets.daily import DailyConfig, op_name

    if not is_full:
        return {}
    return {"ops": {op_name(step): {"config": DailyConfig(is_full=True).model_dump()} for step in steps}}


@contextmanager
def _dagster(home: Pipeline, folder: Path) -> Iterator["tuple[dg.DagsterInstance, dg.Definitions, Progress]"]:
    """An instance in a folder, the definitions over the home, and a progress bar that hears of days done.

    Dagster takes a second to import, which only this command pays.
    """
    silence_libraries()
    import dagster as dg
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from em_pipelines.definitions import build_definitions
    from resources.dagster_internals import instance_in

    warnings.filterwarnings("ignore", category=dg.BetaWarning)  # of Dagster's own code: nothing a user could mend
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    tasks: dict[str, TaskID] = {}
    console = err()
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:

        def days_done(step: str, n_days: int) -> None:
            if step not in tasks:  # what a step has to do shows when those before it are done
                first, last = home.unchecked or (date.min, date.max)
                n_todo = sum(first <= day <= last for day in home.store.days(home.steps[step]))
                tasks[step] = progress.add_task(f"{step} (days)", total=n_todo)
            progress.update(tasks[step], advance=n_days)
            interrupts.check()  # where a library made an error of its own of it, other steps would go on

        with instance_in(folder) as instance:
            _bury_dead_runs(instance)
            yield instance, build_definitions(home.settings, on_days=days_done), progress


def reset_runs(home: Home, is_applied: bool) -> int:
    """How many runs of `em run` are noted as at work, though no process is; marked as failed where `is_applied`, which
    takes the run lock of the caller. While somebody else holds that, there are none, nor where Dagster's storage cannot
    be read. Where `is_applied`, runs whose events are gone get a file for them again, an empty one."""
    from em_pipelines.governance.audit.dagster_files import flaws, lost_events

    if not (home.dagster_home / "dagster.yaml").exists() or flaws(home.dagster_home):
        return 0
    import dagster as dg

    try:
        with (
            nullcontext() if is_applied else home.lock("run", timeout_seconds=0),
            dg.DagsterInstance.from_config(str(home.dagster_home.absolute())) as instance,
        ):
            dead = _dead_runs(instance)
            if is_applied:
                for run_id in lost_events(home.dagster_home):
                    instance.all_logs(run_id)
                _bury_dead_runs(instance)
            return len(dead)
    except (errors.LockedError, errors.StorageError):
        return 0
    except Exception as error:
        if is_of_storage(error):
            return 0
        raise


def _bury_dead_runs(instance: "dg.DagsterInstance") -> None:
    """Marks runs of this command that were killed as failed. Whoever holds the run lock knows that none is alive."""
    for run in _dead_runs(instance):
        instance.report_run_failed(run, "The process ended before the run did; the next run goes on from there.")


def _dead_runs(instance: "dg.DagsterInstance") -> "Sequence[dg.DagsterRun]":
    import dagster as dg

    alive = [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED]
    return instance.get_runs(dg.RunsFilter(tags={LAUNCHER_TAG: "cli"}, statuses=alive))


@dataclass(frozen=True, slots=True)
class _Runner:
    """Runs jobs in this process and takes down in the summary what came of them."""

    definitions: "dg.Definitions"
    instance: "dg.DagsterInstance"
    summary: Summary

    def execute(
        self,
        job: str,
        tags: dict[str, str],
        assets: list[str] | None = None,
        config: dict[str, Any] | None = None,
    ) -> None:
        """Runs a job over all or some of its assets; raises where it fails for another reason than a check."""
        import dagster as dg

        result = self.definitions.resolve_job_def(job).execute_in_process(
            instance=self.instance,
            tags={**tags, LAUNCHER_TAG: "cli"},
            run_config={**(config or {}), "loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            asset_selection=[dg.AssetKey(name) for name in assets] if assets else None,
            raise_on_error=False,
        )
        interrupts.check()  # of which Dagster makes a run that failed, or nothing at its very end
        self.summary.n_runs += 1
        self.summary.failed_checks += [
            f"{check.check_name} on {check.asset_key.to_user_string()}: {check.description or 'failed'}"
            for check in result.get_asset_check_evaluations()
            if _has_failed(check)
        ]
        if not result.success and not self.summary.failed_checks:
            raise _failure(job, result)


def _has_failed(check: "dg.AssetCheckEvaluation") -> bool:
    import dagster as dg

    return (
        not check.passed
        and check.severity is dg.AssetCheckSeverity.ERROR
        and check.check_name not in SERVED_ALL_THE_SAME
    )


def _failure(job: str, result: "dg.ExecuteInProcessResult") -> Exception:
    """What a run that failed is reported as: the error of ours that a step ended with, else RunFailedError."""
    failure = next((event for event in result.all_events if event.is_step_failure), None)
    step = failure.step_key if failure else "the run"
    cause = _cause(failure)
    kind: type[EmError] | None = _permanent(cause.cls_name) if cause else None
    message = cause.message.strip() if cause else "no message"
    if kind:
        message = message.split(": ", 1)[-1]
    if kind is None and is_in_storage(_frames(failure)):
        kind = StorageError
    return (kind or RunFailedError)(
        f"running {job}: {step} failed with {message}; finished days are kept, `em run` goes on from there"
    )


def _cause(failure: "dg.DagsterEvent | None") -> Any:
    """The error that a step raised, below the one that Dagster makes of it; None where nothing tells."""
    error = failure.step_failure_data.error if failure else None
    return error.cause if error and error.cause else error


def _frames(failure: "dg.DagsterEvent | None") -> list[str]:
    """Where the error of a step came from and passed, as text."""
    frames: list[str] = []
    error = failure.step_failure_data.error if failure else None
    while error:
        frames += error.stack
        error = error.cause
    return frames


def _permanent(name: str | None) -> type[PermanentError] | None:
    """The error of ours of that name, if a retry gives it again: it ends `em run` as it would any other command."""
    kind = getattr(errors, name or "", None)
    return kind if isinstance(kind, type) and issubclass(kind, PermanentError) else None
