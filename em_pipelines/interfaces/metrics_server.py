"""The metrics of one home over HTTP, for Prometheus to fetch: GET /metrics, and nothing else.

What is told holds no names and no texts; still, how much somebody says is nobody's business: beyond loopback a token is
wanted, or a word that a network is trusted. One figure is computed at a time, whoever asks how often.
"""

import hmac
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address

import anyio

from em_pipelines.errors import EmError, UsageError
from em_pipelines.observability.work import flush
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.metrics.live import samples
from em_pipelines.serving.metrics.samples import CONTENT_TYPE, exposition

PATH = "/metrics"
SECONDS_A_REQUEST = 10
"""A client that says nothing for so long is let go."""
_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Address:
    """Where metrics are served; port 0 is any free one. Beyond loopback there has to be a token, or `is_remote`."""

    host: str
    port: int
    token: str | None = None
    is_remote: bool = False

    def check(self) -> None:
        """Raises UsageError for an address at which anybody could read them unasked, and for an empty token."""
        if self.token is not None and not self.token.strip():
            raise UsageError("serving metrics: EM_METRICS_TOKEN is empty; set it to a word, or unset it")
        if not (self._is_loopback or self.token or self.is_remote):
            raise UsageError(
                f"serving metrics on {self.host}: anybody who reaches it could read them; set EM_METRICS_TOKEN, give "
                "--allow-remote, or serve on 127.0.0.1"
            )

    @property
    def _is_loopback(self) -> bool:
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


class MetricsServer(ThreadingHTTPServer):
    """Serves what `tell` gives; it may raise EmError, which is answered with 503 and no text of it."""

    daemon_threads = True

    def __init__(self, address: Address, tell: Callable[[], str]) -> None:
        address.check()
        self._token, self._tell, self._one = address.token, tell, threading.Lock()
        try:
            super().__init__((address.host, address.port), _Handler)
        except OSError as error:
            raise UsageError(
                f"serving metrics on {address.host}:{address.port}: {error.strerror or error}; choose another with "
                "--host and --port"
            ) from error

    @property
    def url(self) -> str:
        """Where it serves."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}{PATH}"

    def answer(self, path: str, authorization: str | None) -> tuple[HTTPStatus, str]:
        """Status and text of an answer."""
        if path.partition("?")[0] != PATH:
            return HTTPStatus.NOT_FOUND, f"nothing is here; see {PATH}\n"
        if self._token is not None:
            given = (authorization or "").removeprefix("Bearer ").encode("utf-8", "replace")
            if not hmac.compare_digest(given, self._token.encode()):
                return HTTPStatus.UNAUTHORIZED, "a token is wanted: Authorization: Bearer TOKEN\n"
        try:
            with self._one:
                return HTTPStatus.OK, self._tell()
        except EmError as error:
            _LOGGER.warning("counting failed with %s; `em doctor` tells more", type(error).__name__)
            return HTTPStatus.SERVICE_UNAVAILABLE, "it could not be counted now; the server's log tells more\n"


class _Handler(BaseHTTPRequestHandler):
    server: MetricsServer
    server_version = "em"
    sys_version = ""
    timeout = SECONDS_A_REQUEST

    def do_GET(self) -> None:
        """Answers."""
        status, text = self.server.answer(self.path, self.headers.get("Authorization"))
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", CONTENT_TYPE if status is HTTPStatus.OK else "text/plain; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        if status is HTTPStatus.UNAUTHORIZED:
            self.send_header("WWW-Authenticate", "Bearer")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing of requests: anybody could fill a disk with them."""


def serve(home: Pipeline, address: Address) -> None:
    """Serves the metrics of a home until told to stop (SIGINT, SIGTERM); ends the process with success then. Says on
    stderr where. Raises UsageError for an address that cannot be had or may not be used."""
    server = MetricsServer(address, lambda: exposition(samples(home, datetime.now(UTC))))
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()

    async def wait() -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            sys.stderr.write(f"em metrics: serving on {server.url}\n")
            sys.stderr.flush()
            async for _ in signals:
                return

    anyio.run(wait)
    server.shutdown()
    server.server_close()
    flush()
    logging.shutdown()
    os._exit(0)  # as `em mcp`: what listens for signals beside us would call it interrupted
