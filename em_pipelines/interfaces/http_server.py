"""An application over HTTP until told to stop, on connections that cost something and ask nothing.

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
from typing import Any

import anyio
import uvicorn
from anyio import to_thread
from anyio.abc import TaskStatus

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.agents.address import Address
from em_pipelines.interfaces.mcp.connections import MAX_HEADER_BYTES, GuardedProtocol, GuardedServer
from em_pipelines.observability.log_lines import write_json
from em_pipelines.observability.work import flush

GRACE_SECONDS = 1.0
CLIENT_GONE = "ClientDisconnect"
"""What Starlette raises where the rest of a body does not come."""


def serve_app(  # noqa: PLR0913  (what is served, where, and what happens before and after)
    app: Any,
    address: Address,
    *,
    name: str,
    path: str = "/",
    on_start: Callable[[], None],
    on_end: Callable[[], None] = lambda: None,
) -> None:
    """Serves an ASGI application; says on stderr where, under `name`. Does not return: the process ends with success.

    Raises UsageError for an address that cannot be had.
    """
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
        where = f"http{'s' * bool(address.certificate)}://{host}:{port}{path}"

        def stop() -> None:
            http.should_exit = True

        async def serve() -> None:
            async with anyio.create_task_group() as tasks:
                await tasks.start(on_signal, stop)
                sys.stderr.write(f"{name}: serving on {where}\n")
                sys.stderr.flush()
                await http.serve(sockets=[listening])
                on_end()
                end_process()

        on_start()
        anyio.run(serve)


class _Server(GuardedServer):
    """Leaves signals to us: uvicorn raises them again once it has ended."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def on_signal(stop: Callable[[], None], *, task_status: TaskStatus[None]) -> None:
    """Calls `stop`, in a thread of its own, at each signal that asks the process to end."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            await to_thread.run_sync(stop)


def end_process() -> None:
    """Ends the process with success, whatever threads still wait for."""
    flush()
    logging.shutdown()
    sys.stderr.flush()
    os._exit(0)


def log_to_stderr(name: str, form: str) -> None:
    """Warnings and worse alone, a line each under `name`, whatever level libraries choose for themselves; of the form
    `json` with all that was bound to what is at work."""
    if form == "json":
        write_json(_is_of_interest)
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.addFilter(_without_traces)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], format=f"{name}: %(message)s", force=True)


def _is_of_interest(record: logging.LogRecord) -> bool:
    """Of a client that went away nothing is said: anybody could fill a log by it."""
    kind = record.exc_info[0] if record.exc_info else None
    return kind is None or kind.__name__ != CLIENT_GONE


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
