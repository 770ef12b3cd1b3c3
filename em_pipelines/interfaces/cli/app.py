"""The command line `em`: its commands, what they are handed of the outside, and what they end with.

Every command is known here before one is called, for help and completion. So modules of commands import the engine
where they use it, inside functions: what stands at their top is paid for by `em --help` and at each press of TAB.
"""

import os
import sys
from typing import TYPE_CHECKING, Any

import typer

from em_pipelines.errors import EmError
from em_pipelines.interfaces.cli import (
    agents,
    alerting,
    asks,
    backing_up,
    checking,
    comparing,
    consolidating,
    contexts,
    control,
    corrections,
    dead_letters,
    doctor,
    evaluate,
    explaining,
    exporting,
    forget,
    gating,
    interrupts,
    judging,
    landing,
    metering,
    models,
    overview,
    pooling,
    projecting,
    publishing,
    quarantine,
    questioning,
    recording,
    reporting,
    reviewing,
    revising,
    running,
    searching,
)
from em_pipelines.interfaces.cli import facts as reading
from em_pipelines.interfaces.cli import predictions as gold
from em_pipelines.interfaces.cli.console import Defaults, Exit, HomeOption, say
from em_pipelines.interfaces.cli.wrong_use import sentence_of

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager, AbstractContextManager

    from em_pipelines.governance.alerts.settings import AlertSettings
    from em_pipelines.governance.alerts.telling import Sink
    from em_pipelines.home import Home
    from em_pipelines.lifecycle.revision.model import Verifier
    from em_pipelines.lifecycle.revision.revisable_home import RevisableHome
    from em_pipelines.llm.asking import OpenAsking
    from em_pipelines.llm.endpoint_report import EndpointReport
    from em_pipelines.retrieval.scoring import Embedder
    from em_pipelines.serving.projection.graph_store import GraphStore
    from em_pipelines.settings import Settings

TYPERS_INTERRUPTED = 130
"""What typer returns where it has caught a KeyboardInterrupt."""

app = typer.Typer(name="em", no_args_is_help=True, pretty_exceptions_enable=False)
app.command()(landing.land)
app.command()(overview.users)
app.command()(overview.status)
app.command()(metering.metrics)
app.command()(reading.facts)
app.command()(reading.infer)
app.command()(searching.search)
app.command()(gating.gate)
app.command()(contexts.context)
app.command()(contexts.prompt)
app.command()(contexts.bootstrap)
app.command()(publishing.snapshot)
app.command()(publishing.catalog)
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
app.command()(judging.judge)
app.command()(questioning.questionnaire)
app.command()(revising.revise)
app.command()(consolidating.consolidate)
app.command()(consolidating.rollback)
app.command()(doctor.doctor)
app.command()(checking.check)
app.command()(recording.repair)
app.command(name="verify-ledger")(recording.verify_ledger)
app.command()(backing_up.backup)
app.command()(backing_up.restore)
app.command()(explaining.why)
app.command(name="why-not")(explaining.why_not)
app.command()(explaining.trace)
app.command()(asks.probes)
app.command()(asks.starters)
app.command(name="why-probe")(asks.why_probe)
app.command()(agents.mcp)
app.command()(control.ui)
app.command()(reporting.report)
app.command()(running.run)
app.add_typer(agents.tokens, name="token")
app.add_typer(dead_letters.app, name="dead-letters")
app.add_typer(quarantine.app, name="quarantine")
app.add_typer(models.app, name="llm")
app.add_typer(reviewing.app, name="review")
app.add_typer(pooling.app, name="pool")
app.add_typer(alerting.app, name="alerts")


@app.callback()
def before_command(home: HomeOption = None) -> None:
    """Experience memory for agents: conversation logs in, checked and rebuildable memory out.

    Exit codes: 0 success, 1 a finding (dead letters, a failed check), 2 wrong use, 3 a failure worth a retry.
    """
    Defaults.home = home
    Defaults.open_models = _open_models
    Defaults.check_endpoint = _check_endpoint
    Defaults.open_embedder = _open_embedder
    Defaults.open_verifier = _open_verifier
    Defaults.serve_agents = _serve_agents
    Defaults.serve_ui = _serve_ui
    Defaults.open_graph = _open_graph
    Defaults.is_graph_set = _is_graph_set
    Defaults.start_tracing = _start_tracing
    Defaults.reset_runs = _reset_runs
    Defaults.open_sinks = _open_sinks


def _check_endpoint(settings: "Settings") -> "EndpointReport":
    from resources.endpoint_check import check_endpoint

    return check_endpoint(settings)


def _open_models(settings: "Settings") -> "OpenAsking":
    from resources.model_access import asking_of

    return asking_of(settings)


def _open_embedder(settings: "Settings") -> "Embedder":
    from resources.embedders import open_embedder

    return open_embedder(settings)


def _open_verifier(home: "RevisableHome") -> "AbstractAsyncContextManager[Verifier]":
    from resources.verifier import open_verifier

    return open_verifier(home)


def _serve_agents(settings: "Settings", **how: Any) -> None:
    from em_pipelines.interfaces.mcp.serving import serve

    serve(settings, _open_models, **how)


def _serve_ui(settings: "Settings", **how: Any) -> None:
    from em_pipelines.interfaces.ui.serving import serve

    serve(settings, _open_models, _open_embedder, **how)


def _open_graph() -> "AbstractContextManager[GraphStore]":
    from resources.graph_address import open_graph

    return open_graph()


def _is_graph_set() -> bool:
    from em_pipelines.environment import environment
    from resources.graph_address import is_graph_set

    return is_graph_set(environment())


def _start_tracing(settings: "Settings") -> None:
    from resources.tracing import start

    start(settings)


def _open_sinks(settings: "AlertSettings") -> "list[Sink]":
    from em_pipelines.environment import environment
    from resources.alert_sinks import open_sinks

    return open_sinks(settings, environment())


def _reset_runs(home: "Home", is_applied: bool) -> int:
    from em_pipelines.interfaces.cli.dagster_runner import reset_runs

    return reset_runs(home, is_applied)


def _is_utf8(argument: str) -> bool:
    """A file may be called as it likes; a text that is no UTF-8 is nobody's name and nobody's word."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return False
    return True


def _of_the_outside(error: Exception) -> Exit:
    """What a full or closed disk, or an argument that nobody can read, ends with; raises what is an error of ours."""
    from em_pipelines.storage.files import storage_error

    if trouble := storage_error(error):
        say(f"{trouble}")
        return Exit.RETRY
    if all(map(_is_utf8, sys.argv)):
        raise error
    say("reading the arguments: one of them is no UTF-8; see `em --help`")
    return Exit.USAGE


def main() -> None:
    """Runs `em` in a process that hears of signals by itself: `em_pipelines.interfaces.cli.entry` is the command."""
    sys.exit(exit_code())


def exit_code() -> int:
    """Runs `em` and returns its exit code; every error of ours ends as one sentence on stderr."""
    interrupts.begin()
    try:
        code = app(prog_name="em", standalone_mode=False)
    except BaseException as error:
        if interrupts.came():  # whatever it became on its way
            return interrupts.end(say)
        return _code_of(error)
    if code == TYPERS_INTERRUPTED or interrupts.came():
        return interrupts.end(say)
    return code if isinstance(code, int) else Exit.OK


def _code_of(error: BaseException) -> int:
    """Says what an error was, and returns what it ends with; raises what nobody expects."""
    if isinstance(error, EmError):
        say(f"{error}")
        return error.exit_code
    if isinstance(error, (KeyboardInterrupt, typer.Abort)):
        return interrupts.end(say)
    if isinstance(error, typer.TyperException):
        say(sentence_of(error))
        return Exit.USAGE
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    if isinstance(error, Exception):
        return _of_the_outside(error)
    raise error
