"""Connections that cost something and ask nothing: how long, how large and how many.

uvicorn waits for ever for the rest of a request, and for a client that does not read its answer. Here each request has
to come whole in time, each answer has to be read, headers are short, and connections are counted: where there are too
many, the one goes whose request has been unfinished for longest, so that half-open ones shut nobody out.
"""

import asyncio
import resource
from functools import partial
from socket import socket
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_HEADER_BYTES = 32 * 1024
"""Of a request line with its headers; nginx takes as much in its default of four buffers of 8 KB."""
MAX_CONNECTIONS = 512
TLS_SECONDS = 10.0
TOO_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


class GuardedProtocol(H11Protocol):
    """One connection over HTTP/1.1. Figures are of the class, so that tests can have smaller ones."""

    header_seconds = 10.0
    """From the first byte, or from the connection, to the end of the headers."""
    request_seconds = 30.0
    """To the end of the body."""
    answer_seconds = 30.0
    """How long an answer may lie there without being read to its end."""
    max_connections = min(MAX_CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._awaited_since: float | None = None
        self._awaiting: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Admits it, in the place of another where there are too many."""
        super().connection_made(transport)
        self._await_request()
        if len(self.connections) > self.max_connections:
            others = (one for one in self.connections if isinstance(one, GuardedProtocol) and one is not self)
            oldest = min(
                (one for one in others if one._is_awaited), key=lambda one: one._awaited_since or 0.0, default=self
            )
            oldest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Takes some bytes of a request."""
        if self._awaited_since is None and self._is_between_requests:
            self._await_request()
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Makes ready for the next request."""
        super().on_response_complete()
        self._look()
        self._await_reading()

    def pause_writing(self) -> None:
        """Hears that the answer piles up."""
        super().pause_writing()
        self._await_reading()

    def timeout_keep_alive_handler(self) -> None:
        """Closes a connection on which nothing more is asked; at once where its answer is not being read."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    def connection_lost(self, exc: Exception | None) -> None:
        """Lets go of what waits for it."""
        self._stop_waiting()
        if self._unread:
            self._unread.cancel()
        super().connection_lost(exc)

    @property
    def _is_between_requests(self) -> bool:
        return self.conn.their_state is h11.IDLE

    @property
    def _is_awaited(self) -> bool:
        return self._awaited_since is not None and not self.transport.is_closing()

    def _await_request(self) -> None:
        self._awaited_since = self.loop.time()
        self._awaiting = self.loop.call_later(self.header_seconds, self._check_headers)

    def _look(self) -> None:
        """Waits no more for a request that has come whole."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_waiting()

    def _stop_waiting(self) -> None:
        if self._awaiting:
            self._awaiting.cancel()
        self._awaited_since = self._awaiting = None

    def _check_headers(self) -> None:
        if self._is_between_requests:
            self._give_up()
        else:
            left = self.request_seconds - self.header_seconds
            self._awaiting = self.loop.call_later(left, self._give_up)

    def _give_up(self) -> None:
        """Ends a connection whose request does not come to its end. Where an answer has begun, as to a wrong token,
        nothing more is said."""
        if self.transport.is_closing() or self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        self.transport.write(TOO_LATE)
        self.transport.close()
        self._await_reading()

    def _await_reading(self) -> None:
        if not self._unread and self.transport.get_write_buffer_size():
            self._unread = self.loop.call_later(self.answer_seconds, self._check_read)

    def _check_read(self) -> None:
        self._unread = None
        if self.transport.get_write_buffer_size():
            self.transport.abort()


class GuardedServer(uvicorn.Server):
    """A server whose handshakes of TLS have to end in time as well."""

    async def startup(self, sockets: list[socket] | None = None) -> None:
        """Begins to listen."""
        loop = asyncio.get_running_loop()
        plain = loop.create_server
        if self.config.ssl:  # uvicorn leaves the minute that is the default
            loop.create_server = partial(plain, ssl_handshake_timeout=TLS_SECONDS)  # type: ignore[method-assign]
        try:
            await super().startup(sockets)
        finally:
            loop.create_server = plain  # type: ignore[method-assign]
