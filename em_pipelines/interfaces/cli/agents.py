"""`em mcp` and `em token`: memory for agents, and who may ask it."""

from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from em_pipelines.environment import take
from em_pipelines.errors import UsageError
from em_pipelines.governance.token_scope import DEFAULT_DAYS, MAX_DAYS, TokenScope
from em_pipelines.interfaces.agents.address import Address
from em_pipelines.interfaces.cli.console import (
    Defaults,
    Exit,
    HomeOption,
    JsonOption,
    end_if_unknown,
    fail,
    note_no_home_yet,
    open_existing,
    open_home,
    out,
    print_json,
    print_table,
    say,
    telling_of_a_new_home,
)
from em_pipelines.language.counting import counted

if TYPE_CHECKING:
    from em_pipelines.governance.access_tokens import Token, TokenBook
    from em_pipelines.pipeline import Pipeline

TOKEN_VARIABLE = "EM_MCP_TOKEN"
tokens = typer.Typer(no_args_is_help=True, help="Tokens for agents: make, list and revoke them.")


class Scope(StrEnum):
    """What `--scope` takes."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


SCOPES = "read asks; write reports, adds and corrects, too; admin erases, too."
DomainChoice = Annotated[
    str | None,
    typer.Option("--domain", help="Nothing said in another domain is told; not with admin.", show_default=False),
]
UserChoice = Annotated[str | None, typer.Option("--user", help="Whose memory, over stdio.", show_default=False)]


def mcp(
    user: UserChoice = None,
    scope: Annotated[Scope, typer.Option("--scope", help=f"How far, with --user: {SCOPES}")] = Scope.READ,
    domain: DomainChoice = None,
    is_http: Annotated[bool, typer.Option("--http", help="Serve over HTTP, with a token a user.")] = False,
    host: Annotated[str, typer.Option("--host", help="Address to serve HTTP on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 is any free one.")] = 8722,
    certificate: Annotated[
        Path | None, typer.Option("--tls-cert", help="Certificate, PEM.", show_default=False)
    ] = None,
    key: Annotated[Path | None, typer.Option("--tls-key", help="Its key, PEM.", show_default=False)] = None,
    is_behind_tls: Annotated[
        bool, typer.Option("--behind-tls", help="A proxy in front ends TLS: allows a --host beyond loopback.")
    ] = False,
    home: HomeOption = None,
) -> None:
    """Serve memory to agents by the Model Context Protocol: over stdio for one user, or over HTTP by token.

    Over stdio the user is named, or told by a token in EM_MCP_TOKEN. It runs until its input ends or it is interrupted.

    Example: em mcp --user mirela --scope write
    """
    opened = open_home(home)
    token = take(TOKEN_VARIABLE)
    if Defaults.serve_agents is None:
        raise UsageError("serving agents: this process has no server; use `em mcp`")
    on_start = partial(note_no_home_yet, opened)
    if is_http:
        if user is not None or token is not None or domain is not None:
            raise UsageError(
                "serving over HTTP: whose memory it is, tokens tell; leave out --user, --domain and EM_MCP_TOKEN"
            )
        Defaults.serve_agents(
            opened.settings, on_start=on_start, address=Address(host, port, certificate, key, is_behind_tls)
        )
        return
    Defaults.serve_agents(
        opened.settings, on_start=on_start, user=user, scope=TokenScope.named(scope), token=token, domain=domain
    )


@tokens.command()
def create(
    user: Annotated[str, typer.Option("--user", help="Whose memory it opens.")],
    scope: Annotated[Scope, typer.Option("--scope", help=SCOPES)] = Scope.READ,
    days: Annotated[int, typer.Option("--days", min=1, max=MAX_DAYS, help="For how long.")] = DEFAULT_DAYS,
    domain: DomainChoice = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a token. It is printed now and never again: only a hash of it is kept.

    Example: em token create --user mirela --scope read --days 30
    """
    opened = open_home(home)
    with telling_of_a_new_home(opened, say):
        token, made = _book(opened).create(user, TokenScope.named(scope), datetime.now(UTC), days, domain)
        _enter(opened, "token.create", made)
    if as_json:
        print_json({"token": token, **_document(made)})
    else:
        out().print(token, markup=False, soft_wrap=True)


@tokens.command(name="list")
def list_tokens(
    user: Annotated[str | None, typer.Option("--user", help="Of this user alone.", show_default=False)] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """List tokens: their ids, whose they are, how far they reach and until when. Never the tokens themselves.

    Example: em token list --user mirela
    """
    from em_pipelines.governance.access_tokens import checked_user

    opened = open_existing(home)
    book = _book(opened)
    found = [_document(token) for token in book.all(checked_user(user) if user is not None else None)]
    if as_json:
        print_json(found)
    else:
        columns = ("token_id", "user_id", "scope", "domain", "created_at", "expires_at", "is_valid")
        print_table(counted(len(found), "token"), columns, [[row[name] for name in columns] for row in found])
    if user is not None and not found:
        end_if_unknown(opened, user)
    if edited := book.edited():
        fail(
            f"listing tokens: line {edited[0]} of HOME/record/tokens.jsonl was edited and lets nobody in"
            f"{f', and {len(edited) - 1} more' * (len(edited) > 1)}; "
            "remove it with `em token revoke ID`, or delete the line",
            Exit.FINDING,
        )


@tokens.command()
def revoke(
    token_id: Annotated[str, typer.Argument(metavar="ID", help="Id of a token, or its beginning.")],
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke a token: it is refused from the next call on. `em token list` shows the ids.

    Example: em token revoke 3f9a
    """
    opened = open_existing(home)
    gone = _book(opened).revoke(token_id)
    if gone is None:
        if as_json:
            print_json({"token_id": token_id, "is_edited": True})
        else:
            out().print("removed a line that was edited and let nobody in")
        return
    _enter(opened, "token.revoke", gone)
    if as_json:
        print_json(_document(gone))
    else:
        out().print(f"revoked {gone.token_id}, {gone.scope.label} for {gone.user_id}", markup=False)


def _book(home: "Pipeline") -> "TokenBook":
    from em_pipelines.governance.access_tokens import TokenBook

    return TokenBook(home.record, home.salt)


def _enter(home: "Pipeline", action: str, token: "Token") -> None:
    from em_pipelines.storage.ledger_entries import Act

    home.ledger.append(Act(action, token.user_id, token.token_id, datetime.now(UTC)))


def _document(token: "Token") -> dict[str, Any]:
    return {
        "token_id": token.token_id,
        "user_id": token.user_id,
        "scope": token.scope.label,
        "domain": token.domain,
        "created_at": token.created_at.isoformat(timespec="seconds"),
        "expires_at": token.expires_at.isoformat(timespec="seconds"),
        "is_valid": datetime.now(UTC) < token.expires_at,
    }
