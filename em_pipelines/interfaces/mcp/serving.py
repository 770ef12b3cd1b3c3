"""Serving until told to stop: over stdin and stdout for one user, or over HTTP for whoever has a token.

SIGINT and SIGTERM end it with success within a second or two. What is at work then gets a moment; after that it is cut
off, which neither landing nor erasure minds.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import anyio
from mcp.server.transport_security import TransportSecuritySettings

from em_pipelines.errors import UsageError
from em_pipelines.governance.access_tokens import checked_domain, checked_user
from em_pipelines.governance.token_scope import TokenScope
from em_pipelines.interfaces.agents.address import Address
from em_pipelines.interfaces.http_server import GRACE_SECONDS, end_process, log_to_stderr, on_signal, serve_app
from em_pipelines.interfaces.mcp.callers import Caller, Verifier, always, by_request, by_token
from em_pipelines.interfaces.mcp.desk import Desk
from em_pipelines.interfaces.mcp.server import MemoryServer
from em_pipelines.pipeline import OpenModels
from em_pipelines.settings import Settings

SERVER = "em mcp"
MAX_BODY_BYTES = 4 * 1024 * 1024
PATH = "/mcp"


def serve(
    settings: Settings,
    open_models: OpenModels | None,
    *,
    on_start: Callable[[], None],
    address: Address | None = None,
    **how: Any,
) -> None:
    """Serves over HTTP where there is an address, else over stdio, as `serve_stdio` is told. `on_start` is called once
    nothing stands in the way of serving."""
    log_to_stderr(SERVER, settings.log.format)
    if address is None:
        serve_stdio(settings, open_models, on_start=on_start, **how)
    else:
        serve_http(settings, open_models, address, on_start)


def serve_stdio(  # noqa: PLR0913  (who is served, as the command line says it)
    settings: Settings,
    open_models: OpenModels | None,
    *,
    user: str | None,
    scope: TokenScope,
    token: str | None,
    domain: str | None = None,
    on_start: Callable[[], None],
) -> None:
    """Serves one user over stdin and stdout until stdin ends; nothing but the protocol is printed on stdout.

    The user is named, with a scope and perhaps a domain, or a token tells all of it. Raises UsageError for neither,
    both, or a token that does not stand.
    """
    if token is not None and domain is not None:
        raise UsageError("serving over stdio: the token says the domain; leave out --domain")
    if (user is None) == (token is None):
        raise UsageError("serving over stdio: give --user, or a token in EM_MCP_TOKEN, and not both")
    desk = Desk(settings, open_models)
    if token is not None:
        book = desk.tokens
        if book.check(token, datetime.now(UTC)) is None:
            raise UsageError("serving over stdio: the token in EM_MCP_TOKEN is not valid; make one: `em token create`")
        server = MemoryServer(desk, by_token(book, token))
    else:
        caller = Caller(checked_user(user or ""), scope, checked_domain(domain, scope))
        server = MemoryServer(desk, always(caller))

    async def serve() -> None:
        async with anyio.create_task_group() as tasks:
            # The thread that waits for the next line cannot be woken: the process ends without it.
            await tasks.start(on_signal, lambda: _end(desk))
            await server.run_stdio_async()
            _end(desk)

    on_start()
    anyio.run(serve)


def serve_http(
    settings: Settings, open_models: OpenModels | None, address: Address, on_start: Callable[[], None]
) -> None:
    """Serves whoever has a token, over streamable HTTP, until told to stop. Says on stderr where.

    Every request stands alone: none is remembered, so none can be taken over. Raises UsageError for an address that
    cannot be had or may not be used.
    """
    address.check()
    desk = Desk(settings, open_models)
    app = MemoryServer(desk, by_request, Verifier(desk.tokens)).streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=MAX_BODY_BYTES,
        host=address.host,
        transport_security=None
        if address.is_loopback
        else TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    serve_app(
        app,
        address,
        name=SERVER,
        path=PATH,
        on_start=on_start,
        on_end=lambda: _settle(desk),
    )


def _end(desk: Desk) -> None:
    _settle(desk)
    end_process()


def _settle(desk: Desk) -> None:
    """Waits until nothing is at work or the time for it is over."""
    desk.wait_until_idle(GRACE_SECONDS)
