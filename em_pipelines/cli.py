"""The command line `em`: its commands, what they end with, and `em run`, which drives Dagster in this process."""

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from em_pipelines.commands import dead_letters, doctor, evaluate, gold, landing, publishing, reading
from em_pipelines.commands.console import Defaults, Exit, HomeOption, err, fail, open_home, out, print_table
from em_pipelines.errors import EmError, RunFailedError, UsageError
from em_pipelines.home import Home
from em_pipelines.planning import plan
from em_pipelines.serving.snapshot import LATEST, is_current

if TYPE_CHECKING:
    import dagster as dg

app = typer.Typer(name="em", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command()(landing.land)
app.command()(reading.facts)
app.command()(publishing.snapshot)
app.command(name="state-hash")(reading.state_hash)
app.command()(reading.settings)
app.command()(gold.extract)
app.command()(gold.resolve)
app.command()(evaluate.evaluate)
app.command()(doctor.doctor)
app.add_typer(dead_letters.app, name="dead-letters")

DAGSTER_YAML = """\
telemetry: {enabled: false}
nux: {enabled: false}
"""
LAUNCHER_TAG = "em/launcher"


@app.callback()
def before_command(home: HomeOption = None) -> None:
    """Experience memory for agents: conversation logs in, checked and rebuildable memory out.

    Exit codes: 0 success, 1 a finding (dead letters, a failed check), 2 wrong use, 3 a failure worth a retry.
    """
    Defaults.home = home


@app.command()
def run(
    paths: Annotated[list[Path] | None, typer.Argument(help="Files or folders to land first.")] = None,
    format: landing.FormatOption = landing.Format.AUTO,
    user_id: landing.UserIdOption = None,
    from_day: Annotated[
        str | None, typer.Option("--from", metavar="YYYY-MM-DD", help="Materialize from this day.")
    ] = None,
    to_day: Annotated[
        str | None, typer.Option("--to", metavar="YYYY-MM-DD", help="Materialize up to this day.")
    ] = None,
    extractor: Annotated[str, typer.Option("--extractor", help="rules: the one there is.")] = "rules",
    is_full: Annotated[bool, typer.Option("--full", help="Make every day again, current or not.")] = False,
    home: HomeOption = None,
) -> None:
    """Land logs, materialize every day and asset that they touch, publish the snapshot.

    Safe to interrupt and to repeat: it goes on where it stopped, and does nothing where nothing is new.

    Example: em run examples/logs
    """
    first, last = reading.parse_day(from_day, "--from"), reading.parse_day(to_day, "--to")
    if first and last and first > last:
        raise UsageError(f"reading --from and --to: {first} is after {last}; give the earlier day first")
    opened = open_home(home, **({} if extractor == "rules" else {"extractor": extractor}))
    report = landing.land_into(opened, paths, landing.Format(format), user_id) if paths else None
    if report:
        landing.show(report)
    prepare_dagster_home(opened)
    with opened.lock("run"):
        opened.sweep()
        summary = _materialize(opened, first, last, is_full=is_full)
    _show(opened, summary)
    if summary.failed_checks:
        fail(f"checks failed: {'; '.join(summary.failed_checks)}; see them in the UI (`make dev`)", Exit.FINDING)
    if report:
        landing.end_with(opened, report)


@dataclass
class Summary:
    """What `em run` did: days and runs, checks that failed, and whether there is a new snapshot."""

    n_days: int = 0
    n_runs: int = 0
    failed_checks: list[str] = field(default_factory=list)


def _materialize(home: Home, first: date | None, last: date | None, *, is_full: bool) -> Summary:
    todo = plan(home.store, home.steps.values(), gap_days=home.settings.run_gap_days, is_full=is_full)
    ranges = [(max(a, first or a), min(b, last or b)) for a, b in todo.ranges]
    ranges = sorted({*((a, b) for a, b in ranges if a <= b), *home.unchecked_ranges()})
    summary = Summary(n_days=sum((b - a).days + 1 for a, b in ranges))
    has_facts = bool(home.store.lake.days(home.steps["decay"].outputs[0]))
    if not ranges and (not has_facts or is_current(home.store, home.snapshots)):
        return summary
    home.note_unchecked(ranges)
    with _dagster(home, ranges) as (instance, definitions, progress):
        for a, b in ranges:
            tags = {"dagster/asset_partition_range_start": str(a), "dagster/asset_partition_range_end": str(b)}
            if is_full:
                tags["em/full"] = "true"
            _execute(definitions, instance, "main", tags, summary, _assets_with_work(home, a, b))
        if not summary.failed_checks:
            progress.console.print("publishing the snapshot", style="dim")
            _execute(definitions, instance, "publish", {}, summary)
            home.note_unchecked([])
    return summary


def _assets_with_work(home: Home, first: date, last: date) -> list[str]:
    """All daily assets but those of logs that have nothing in the range: Dagster would note each of their days."""
    steps = home.steps.values()
    idle = {s.name for s in steps if s.log_kind and not any(first <= day <= last for day in home.store.days(s))}
    return [table.name for step in steps if step.name not in idle for table in step.outputs]


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


def _bury_dead_runs(instance: "dg.DagsterInstance") -> None:
    """Marks runs of this command that were killed as failed. Whoever holds the run lock knows that none is alive."""
    import dagster as dg  # noqa: PLC0415

    alive = [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED]
    for found in instance.get_runs(dg.RunsFilter(tags={LAUNCHER_TAG: "cli"}, statuses=alive)):
        instance.report_run_failed(found, "The process ended before the run did; the next run goes on from there.")


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
        if not found.passed and found.severity is dg.AssetCheckSeverity.ERROR
    ]
    if result.success or summary.failed_checks:
        return
    failure = next((e for e in result.all_events if e.is_step_failure), None)
    error = failure.step_failure_data.error if failure else None
    cause = error.cause if error and error.cause else error
    raise RunFailedError(
        f"running {job}: {failure.step_key if failure else 'the run'} failed with "
        f"{cause.message.strip() if cause else 'no message'}; finished days are kept, `em run` goes on from there"
    )


def _show(home: Home, summary: Summary) -> None:
    if not summary.n_runs:
        out().print("Nothing is new: every day and the snapshot are current.")
    else:
        out().print(f"Materialized {summary.n_days} days in {summary.n_runs} runs.")
    latest = home.snapshots / LATEST
    if not latest.exists():
        out().print("Nothing learned yet: no snapshot.")
        return
    print_table(
        "Memory", ("user", "messages", "conversations", "entities", "facts", "last seen"), publishing.users(latest)
    )
    out().print(f"snapshot  {latest}", markup=False, soft_wrap=True)
    out().print(f"look      em facts --user NAME --home {home.path}", markup=False, soft_wrap=True)
    out().print("UI        make dev, then open the address that it prints", markup=False, soft_wrap=True)


def main() -> None:
    """Runs `em`; every error of ours ends as one sentence on stderr and its exit code."""
    try:
        code = app(standalone_mode=False)
    except EmError as error:
        sys.stderr.write(f"em: {error}\n")
        code = error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("em: interrupted; what was done is kept, the same command goes on from there\n")
        code = Exit.RETRY
    except typer.TyperException as error:
        sentence = getattr(error, "format_message", error.__str__)()
        sys.stderr.write(f"em: {sentence.rstrip('.')}; see `em --help`\n")
        code = Exit.USAGE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = Exit.OK
    sys.exit(code if isinstance(code, int) else Exit.OK)
