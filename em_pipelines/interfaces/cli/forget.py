"""`em forget`: what somebody asks to be forgotten goes from everywhere, with a certificate."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from em_pipelines.errors import EmError, ErasureIncompleteError, UsageError
from em_pipelines.interfaces.cli.console import (
    Defaults,
    Exit,
    HomeOption,
    JsonOption,
    UserOption,
    err,
    fail,
    naming_the_nearest,
    open_existing,
    out,
    print_json,
    print_table,
    say,
)
from em_pipelines.language.counting import IS, counted

if TYPE_CHECKING:
    from em_pipelines.governance.erasure.certificate import Certificate
    from em_pipelines.landing.erasure_requests import Scope
    from em_pipelines.pipeline import Pipeline
    from em_pipelines.redaction.planning import Preview

SHOWN_FACTS = 20


def forget(
    user: UserOption,
    fact: Annotated[
        str | None, typer.Option("--fact", metavar="ID", help="A fact, by its edge id.", show_default=False)
    ] = None,
    entity: Annotated[
        str | None, typer.Option("--entity", metavar="NAME", help="Who or what, by any name.", show_default=False)
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="A conversation.", show_default=False)
    ] = None,
    is_all: Annotated[bool, typer.Option("--all", help="Everything of the user.")] = False,
    is_sure: Annotated[bool, typer.Option("--yes", help="Do not ask; required without a terminal.")] = False,
    is_dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go; change nothing.")] = False,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Erase a fact, an entity, a conversation or a user: from the log, tables, snapshots and caches, for good.

    At a terminal it shows what would go and asks first; without one (a pipe, cron) it is refused unless --yes is given:
    look with --dry-run before. What was erased stays away when the same log lands again. A graph database that
    this home was synced with is synced again where NEO4J_URI is set.

    Example: em forget --user mirela --entity Porto
    """
    from em_pipelines.governance.erasure.forget import as_document, preview
    from em_pipelines.governance.erasure.forget import forget as forget_scope
    from em_pipelines.landing.erasure_requests import Scope

    scope = Scope.named(user, fact=fact, entity=entity, session=session, is_all=is_all)
    opened = open_existing(home)
    asks = not (is_sure or is_dry_run)
    if asks:
        _check_terminal()
    if is_dry_run or asks:
        with naming_the_nearest(opened, user):
            found = preview(opened, scope)
        if as_json and is_dry_run:
            print_json(as_document(found))
        else:
            _show(scope, found)
        if is_dry_run:
            return
        if not typer.confirm("Erase this for good?", err=True):
            fail("nothing was erased, as you said", Exit.FINDING)
    with naming_the_nearest(opened, user):
        certificate = forget_scope(opened, scope)
    if as_json:
        print_json(certificate.as_document())
    else:
        _print(certificate)
    _tell_of_pool(opened)
    _carry_over(opened, is_told=not as_json)


def _check_terminal() -> None:
    """Raises UsageError where nobody can be asked."""
    if not sys.stdin.isatty():
        raise UsageError(
            "forgetting: nothing was erased, for there is no terminal to ask at; --yes erases without asking, "
            "--dry-run shows what would go"
        )


def _tell_of_pool(home: "Pipeline") -> None:
    """Says where a shared pool could not be told what is taken back; the next run tries again."""
    from em_pipelines.lifecycle.pool.contributing import n_waiting

    if n := n_waiting(home):
        say(f"the shared pool could not be told of {counted(n, 'withdrawal')} yet; `em run` tries again")


def _carry_over(home: "Pipeline", *, is_told: bool) -> None:
    """Takes what was erased out of the graph database, too, where this home has one. Raises ErasureIncompleteError
    where it is named and cannot be synced; the certificate stands all the same."""
    from em_pipelines.serving.projection.sync_home import n_erased_since_sync, sync_home

    if not n_erased_since_sync(home):
        return
    if Defaults.open_graph is None or not Defaults.is_graph_set():
        note = "the graph database still holds it: run `em sync-graph` where NEO4J_URI is set"
        err().print(f"em: {note}", markup=False, soft_wrap=True)
        return
    try:
        report = sync_home(home, Defaults.open_graph, is_asked_for=False)
    except EmError as error:
        raise ErasureIncompleteError(f"forgetting: done in the home, not in the graph database: {error}") from error
    if not report.is_equal:
        raise ErasureIncompleteError(f"forgetting: done in the home; {report.finding}")
    if is_told:
        out().print("The graph database holds it no more.")


def _show(scope: "Scope", found: "Preview") -> None:
    print_table(f"Facts that go ({len(found.facts)})", ("fact",), [(fact,) for fact in found.facts[:SHOWN_FACTS]])
    if len(found.facts) > SHOWN_FACTS:
        out().print(f"… and {len(found.facts) - SHOWN_FACTS} more")
    removed = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in sorted(found.n_removed.items())) or "no records"
    out().print(f"{counted(found.n_cut, 'message', IS)} cut, {removed} are removed, of {scope.user_id}", markup=False)


def _print(certificate: "Certificate") -> None:
    document = certificate.as_document()
    print_table(
        "Certificate of erasure",
        ("", ""),
        [(name.replace("_", " "), _cell(value)) for name, value in document.items() if value not in ({}, [])],
    )


def _cell(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {n}" for name, n in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
