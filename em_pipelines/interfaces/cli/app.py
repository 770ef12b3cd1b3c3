"""The command line `em`: its commands, and what they end with."""

import os
import sys
from contextlib import AbstractAsyncContextManager
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import typer

from em_pipelines.environment import environment
from em_pipelines.errors import EmError, UsageError
from em_pipelines.interfaces.cli import (
    agents,
    checking,
    comparing,
    contexts,
    corrections,
    dead_letters,
    doctor,
    evaluate,
    explaining,
    exporting,
    forget,
    gating,
    landing,
    projecting,
    publishing,
    recording,
    revising,
    searching,
)
from em_pipelines.interfaces.cli import facts as reading
from em_pipelines.interfaces.cli import predictions as gold
from em_pipelines.interfaces.cli.console import (
    Defaults,
    Exit,
    ExtractorOption,
    HomeOption,
    fail,
    open_home,
    out,
    print_table,
)
from em_pipelines.interfaces.cli.dagster_runner import Summary, materialize, prepare_dagster_home, reset_runs
from em_pipelines.lifecycle.revision.model import Verifier
from em_pipelines.lifecycle.revision.night import RevisableHome
from em_pipelines.llm.asking import OpenAsking
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.scoring import Embedder
from em_pipelines.schema.readings import DEAD_LETTER, PENDING
from em_pipelines.serving.snapshot import LATEST
from em_pipelines.settings import Settings
from resources.graph_address import is_graph_set, open_graph

app = typer.Typer(name="em", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
app.command()(landing.land)
app.command()(reading.facts)
app.command()(reading.infer)
app.command()(searching.search)
app.command()(gating.gate)
app.command()(contexts.context)
app.command()(contexts.prompt)
app.command()(contexts.bootstrap)
app.command()(publishing.snapshot)
app.command()(comparing.diff)
app.command()(exporting.export)
app.command(name="import")(exporting.import_)
app.command(name="sync-graph")(projecting.sync_graph)
app.command(name="state-hash")(reading.state_hash)
app.command()(reading.settings)
app.command()(forget.forget)
app.command()(gold.extract)
app.command()(gold.resolve)
app.command()(evaluate.evaluate)
for command in (corrections.correct, corrections.confirm, corrections.retract, corrections.merge, corrections.split):
    app.command()(command)
app.command()(revising.revise)
app.command()(doctor.doctor)
app.command()(checking.check)
app.command()(recording.repair)
app.command(name="verify-ledger")(recording.verify_ledger)
app.command()(explaining.why)
app.command(name="why-not")(explaining.why_not)
app.command()(explaining.trace)
app.command()(agents.mcp)
app.add_typer(agents.tokens, name="token")
app.add_typer(dead_letters.app, name="dead-letters")


@app.callback()
def before_command(home: HomeOption = None) -> None:
    """Experience memory for agents: conversation logs in, checked and rebuildable memory out.

    Exit codes: 0 success, 1 a finding (dead letters, a failed check), 2 wrong use, 3 a failure worth a retry.
    """
    Defaults.home = home
    Defaults.open_models = _open_models
    Defaults.open_embedder = _open_embedder
    Defaults.open_verifier = _open_verifier
    Defaults.serve_agents = _serve_agents
    Defaults.open_graph = open_graph
    Defaults.is_graph_set = is_graph_set(environment())
    Defaults.reset_runs = reset_runs


def _open_models(settings: Settings) -> OpenAsking:
    """The client takes a second to import, which only those who ask a model pay."""
    from resources.model_access import asking_of  # noqa: PLC0415

    return asking_of(settings)


def _open_embedder(settings: Settings) -> Embedder:
    from resources.embedders import open_embedder  # noqa: PLC0415

    return open_embedder(settings)


def _open_verifier(home: RevisableHome) -> AbstractAsyncContextManager[Verifier]:
    from resources.verifier import open_verifier  # noqa: PLC0415

    return open_verifier(home)


def _serve_agents(settings: Settings, **how: Any) -> None:
    from em_pipelines.interfaces.mcp.serving import serve  # noqa: PLC0415

    serve(settings, _open_models, **how)


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
    extractor: ExtractorOption = None,
    is_full: Annotated[bool, typer.Option("--full", help="Make every day again, current or not.")] = False,
    home: HomeOption = None,
) -> None:
    """Land logs, materialize every day and asset that they touch, publish the snapshot.

    Safe to interrupt and to repeat: it goes on where it stopped, and does nothing where nothing is new.

    Example: em run examples/logs
    """
    first, last = _bounds(from_day, to_day)
    opened = open_home(home, **({"extractor": extractor} if extractor else {}))
    report = landing.land_into(opened, paths, landing.Format(format), user_id) if paths else None
    if report:
        landing.show(report)
    prepare_dagster_home(opened)
    with opened.lock("run"):
        opened.sweep()
        summary = materialize(opened, first, last, is_full=is_full)
    _show(opened, summary)
    _judge(summary)
    if report:
        landing.end_with(opened, report)


def _bounds(from_day: str | None, to_day: str | None) -> tuple[date | None, date | None]:
    first, last = reading.parse_day(from_day, "--from"), reading.parse_day(to_day, "--to")
    if first and last and first > last:
        raise UsageError(f"reading --from and --to: {first} is after {last}; give the earlier day first")
    return first, last


def _judge(summary: Summary) -> None:
    """Ends with a finding, or asks for another run, where not everything was made and read as it should be."""
    if summary.failed_checks:
        fail(f"checks failed: {'; '.join(summary.failed_checks)}; see them in the UI (`make dev`)", Exit.FINDING)
    if n_dead := summary.n_unread(DEAD_LETTER):
        fail(f"{n_dead} messages could not be read and are dead letters; see `em dead-letters list`", Exit.FINDING)
    if n_pending := summary.n_unread(PENDING):
        why = ", ".join(sorted({segment.reason for segment in summary.unread if segment.status == PENDING}))
        fail(f"{n_pending} messages wait to be read by the model ({why}); `em run` goes on from there", Exit.RETRY)


def _show(home: Pipeline, summary: Summary) -> None:
    if not summary.n_runs:
        out().print("Nothing is new: every day and the snapshot are current.")
    elif summary.n_days:
        out().print(f"Materialized {summary.n_days} days.")
    else:
        out().print("Every day is current; what was not checked or published yet is now.")
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


def _is_utf8(argument: str) -> bool:
    """A file may be called as it likes; a text that is no UTF-8 is nobody's name and nobody's word."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


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
    except Exception:
        if all(map(_is_utf8, sys.argv)):
            raise
        sys.stderr.write("em: reading the arguments: one of them is no UTF-8; see `em --help`\n")
        code = Exit.USAGE
    sys.exit(code if isinstance(code, int) else Exit.OK)
