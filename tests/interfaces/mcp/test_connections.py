"""Connections that ask nothing, or never come to an end: closed in time, and in nobody's way."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import uvicorn

from em_pipelines.interfaces.mcp.connections import MAX_HEADER_BYTES, GuardedProtocol, GuardedServer

SOON_SECONDS = 20
"""By then it is closed on the busiest machine; what holds for ever is told apart by it."""
WHOLE = b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"
HEADERS = WHOLE[:-2]
LONG = HEADERS.replace(b" 2", b" 900000")
BIG = b"x" * 30_000_000
"""More than the buffers between two sockets hold."""


async def app(scope, receive, send) -> None:
    """Answers /early before it reads anything, /big at length, and all others when the body is there."""
    if scope["type"] != "http":
        return
    body, more = b"", scope["path"] != "/early"
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body, more = body + message["body"], message["more_body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": BIG if scope["path"] == "/big" else body or b"early"})


class Hasty(GuardedProtocol):
    """As short as a test can wait."""

    header_seconds, request_seconds, answer_seconds = 0.3, 0.6, 0.5
    max_connections = 8


class Crowded(GuardedProtocol):
    """In no hurry, but for few."""

    max_connections = 8


@pytest.fixture(params=[Hasty])
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    config = uvicorn.Config(
        app, http=request.param, h11_max_incomplete_event_size=MAX_HEADER_BYTES, log_level="critical", lifespan="off",
        timeout_keep_alive=1,
    )  # fmt: skip
    server = GuardedServer(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join(SOON_SECONDS)


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=SOON_SECONDS)


def rest(one: socket.socket) -> bytes:
    """Everything until it is closed; raises TimeoutError where it never is."""
    told = b""
    try:
        while data := one.recv(65_536):
            told += data
    except ConnectionResetError:
        pass
    return told


@pytest.mark.parametrize(
    "half",
    [b"", *(pytest.param(one, marks=pytest.mark.slow) for one in [b"POST /m", HEADERS[:-2], HEADERS, HEADERS + b"{"])],
    ids=str,
)
def test_what_never_comes_to_its_end_is_closed(port: int, half: bytes) -> None:
    with connected(port) as one:
        one.sendall(half)
        assert rest(one).startswith(b"HTTP/1.1 408")


@pytest.mark.parametrize(
    "begun",
    [
        HEADERS[:20],
        pytest.param(LONG, marks=pytest.mark.slow),
        pytest.param(LONG.replace(b"/mcp", b"/early"), marks=pytest.mark.slow),
    ],
    ids=["headers", "body", "after the answer"],
)
def test_what_comes_drop_by_drop_is_closed(port: int, begun: bytes) -> None:
    with connected(port) as one:
        one.sendall(begun)
        end = time.monotonic() + SOON_SECONDS
        with pytest.raises(OSError):
            while time.monotonic() < end:
                one.sendall(b"a" if b"Content" in begun else b"a: b\r\n")
                time.sleep(0.05)
        assert time.monotonic() < end


@pytest.mark.slow
def test_who_reads_no_answer_is_closed(port: int) -> None:
    with connected(port) as one:
        one.sendall(b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(2)
        assert len(rest(one)) < len(BIG), "it was cut off"


def test_headers_have_a_length(port: int) -> None:
    with connected(port) as one:
        one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * (MAX_HEADER_BYTES + 1))
        assert rest(one).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize("port", [Crowded], indirect=True)
def test_half_open_connections_shut_nobody_out(port: int) -> None:
    with ExitStack() as stack:
        for _ in range(5 * Crowded.max_connections):
            stack.enter_context(connected(port)).sendall(b"POST /m")
        asking = stack.enter_context(connected(port))
        asking.sendall(WHOLE)
        assert b"{}" in asking.recv(1000)


@pytest.mark.slow
def test_whoever_asks_one_thing_after_another_is_answered(port: int) -> None:
    with connected(port) as one:
        for _ in range(5):
            one.sendall(WHOLE)
            assert b"200 OK" in one.recv(1000)
            time.sleep(0.3)
        one.sendall(WHOLE[:30])
        time.sleep(0.1)
        one.sendall(WHOLE[30:] + WHOLE)
        told = b""
        while told.count(b"200 OK") < 2:
            told += one.recv(1000)
        assert rest(one) == b"", "closed when nothing more is asked"
