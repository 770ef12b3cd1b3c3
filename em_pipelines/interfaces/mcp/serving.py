"""Serving until told to stop: over stdin and stdout for one user, or over HTTP for whoever has a token.

SIGINT and SIGTERM end it with success within a second or two. What is at work then gets a moment; after that it is cut
off, which neither landing nor erasure minds.
"""

import logging
import os
import signal
import socket
import ssl
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import anyio
import uvicorn
from anyio import to_thread
from anyio.abc import TaskStatus
from mcp.server.transport_security import TransportSecuritySettings

from em_pipelines.errors import UsageError
from em_pipelines.governance.access_tokens import checked_domain, checked_user
from em_pipelines.governance.token_scope import TokenScope
from em_pipelines.interfaces.agents.address import Address
from em_pipelines.interfaces.mcp.callers import Caller, Verifier, always, by_request, by_token
from em_pipelines.interfaces.mcp.connections import MAX_HEADER_BYTES, GuardedProtocol, GuardedServer
from em_pipelines.interfaces.mcp.desk import Desk
from em_pipelines.interfaces.mcp.server import MemoryServer
from em_pipelines.pipeline import OpenModels
from em_pipelines.settings import Settings

GRACE_SECONDS = 1.0
MAX_BODY_BYTES = 4 * 1024 * 1024
PATH = "/mcp"
CLIENT_GONE = "ClientDisconnect"
"""What Starlette raises where the rest of a body does not come."""


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
    _log_to_stderr()
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
            await tasks.start(_on_signal, lambda: _end(desk))
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
    config = uvicorn.Config(
        app,
        http=GuardedProtocol,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        # Requests whose client has gone are answered all the same: so many may wait, whoever still listens.
        limit_concurrency=GuardedProtocol.max_connections + 1,
        log_level="error",  # of requests that are none, anybody could fill a disk with warnings
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=int(GRACE_SECONDS),
        ssl_certfile=address.certificate,
        ssl_keyfile=address.key,
    )
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise UsageError(f"serving with TLS: the certificate and its key cannot be used ({error.args[-1]})") from error
    http = _Server(config)
    with _bound(address) as listening:
        port = listening.getsockname()[1]
        host = f"[{address.host}]" if ":" in address.host else address.host
        where = f"http{'s' * bool(address.certificate)}://{host}:{port}{PATH}"

        def stop() -> None:
            http.should_exit = True

        async def serve() -> None:
            async with anyio.create_task_group() as tasks:
                await tasks.start(_on_signal, stop)
                sys.stderr.write(f"em mcp: serving on {where}\n")
                sys.stderr.flush()
                await http.serve(sockets=[listening])
                _end(desk)

        on_start()
        anyio.run(serve)


class _Server(GuardedServer):
    """Leaves signals to us: uvicorn raises them again once it has ended."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _on_signal(stop: Callable[[], None], *, task_status: TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            await to_thread.run_sync(stop)


def _end(desk: Desk) -> None:
    """Ends the process with success, once nothing is at work or the time for it is over."""
    desk.wait_until_idle(GRACE_SECONDS)
    logging.shutdown()
    sys.stderr.flush()
    os._exit(0)


def _log_to_stderr() -> None:
    """Warnings and worse alone, a line each, whatever level libraries choose for themselves."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.addFilter(_without_traces)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], format="em mcp: %(message)s", force=True)


def _without_traces(record: logging.LogRecord) -> bool:
    """Keeps what others log to a line: the kind of an error, and never its text, which may be somebody's words. Of a
    client that went away nothing is said at all: anybody could fill a log by it."""
    kind = record.exc_info[0] if record.exc_info else None
    if kind is None:
        return True
    record.msg, record.args = f"{record.getMessage().splitlines()[0]} ({kind.__name__})", ()
    record.exc_info = record.exc_text = None
    return kind.__name__ != CLIENT_GONE


@contextmanager
def _bound(address: Address) -> Iterator[socket.socket]:
    """A socket on the address; raises UsageError where it cannot be had."""
    try:
        family, *_, place = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        found = socket.create_server(place[:2], family=family, backlog=128)
    except (OSError, OverflowError, UnicodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "no such address"
        raise UsageError(
            f"serving on {address.host} port {address.port}: {said}; choose another with --host and --port"
        ) from error
    with found:
        yield found
