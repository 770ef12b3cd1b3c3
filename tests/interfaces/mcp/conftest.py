"""Servers as others run them: processes of their own, spoken to by the SDK's client, over both transports."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from em_pipelines.governance.access_tokens import TokenBook
from em_pipelines.governance.token_scope import TokenScope
from em_pipelines.interfaces.memory import Memory
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
from tests.interfaces.agents.homes import make

ROOT = Path(__file__).parents[3]
EM = ("-c", "from em_pipelines.interfaces.cli.app import main; main()")
END_SECONDS = 10
"""For the exit of a process on a machine that is busy; an idle one takes a fraction of a second."""
Ask = Callable[..., Any]
Talk = Callable[[Client], Awaitable[Any]]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **more}


def book_of(home: Path) -> TokenBook:
    opened = Pipeline(load_settings(home=home))
    return TokenBook(opened.record, opened.salt)


def token_for(home: Path, user: str, scope: TokenScope = TokenScope.READ, *, now: datetime | None = None) -> str:
    return book_of(home).create(user, scope, now or datetime.now(UTC), days=1)[0]


def shown(result: Any) -> str:
    """Everything that a caller was told."""
    return json.dumps(result.model_dump(mode="json"), ensure_ascii=False)


def edge_of(home: Path, user: str, relation: str) -> str:
    return str(next(f["edge_id"] for f in Memory(home, user).facts() if f["relation"] == relation))


@dataclass(frozen=True)
class Served:
    """A server over HTTP: its process, address and home."""

    process: subprocess.Popen[str]
    url: str
    home: Path

    @asynccontextmanager
    async def client(self, token: str):
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http,
            Client(streamable_http_client(self.url, http_client=http)) as client,
        ):
            yield client

    def post(self, **headers: str) -> httpx2.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        usual = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        return httpx2.post(self.url, json=body, headers={**usual, **headers}, timeout=30)

    def end(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """The exit code and what stands on stdout."""
        self.process.send_signal(how)
        out, _ = self.process.communicate(timeout=END_SECONDS)
        return self.process.returncode, out


def serve(home: Path, *options: str) -> Served:
    """Starts a server on a free port of loopback and waits until it says where."""
    command = [sys.executable, *EM, "mcp", "--http", "--port", "0", "--home", str(home), *options]
    process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
    assert process.stderr
    said = process.stderr.readline()
    assert "serving on" in said, said
    return Served(process, said.rsplit(" ", 1)[1].strip(), home)


def talk_over_stdio(home: Path, talk: Talk, *options: str, **more: str) -> Any:
    """Starts a server over stdio, and lets somebody talk to it."""
    parameters = StdioServerParameters(
        command=sys.executable, args=[*EM, "mcp", "--home", str(home), *options], cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), **more},
    )  # fmt: skip

    async def connected() -> Any:
        async with Client(parameters) as client:
            return await talk(client)

    return anyio.run(connected)


@pytest.fixture(scope="module")
def module_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of nora and ivo for the tests of one module."""
    return make(tmp_path_factory.mktemp("mcp") / "home")


@pytest.fixture(scope="module")
def served(module_home: Path) -> Iterator[Served]:
    """A server over that home, for the tests of one module."""
    server = serve(module_home)
    yield server
    assert server.end() == (0, "")


@pytest.fixture(scope="module")
def tokens(module_home: Path) -> dict[str, str]:
    """Tokens by user and scope: nora-read, ivo-admin, …"""
    return {
        f"{user}-{scope.label}": token_for(module_home, user, scope) for user in ("nora", "ivo") for scope in TokenScope
    }


@pytest.fixture(scope="module")
def ask(served: Served, tokens: dict[str, str]) -> Iterator[Ask]:
    """ask(tool, …): what a tool gives nora, whose token may do all; or whoever `by` names. One client for each."""
    with start_blocking_portal() as portal, ExitStack() as stack:
        clients: dict[str, Client] = {}

        def call(tool: str, /, *, by: str = "nora-admin", **arguments: Any) -> Any:
            if by not in clients:
                clients[by] = stack.enter_context(portal.wrap_async_context_manager(served.client(tokens.get(by, by))))
            return portal.call(clients[by].call_tool, tool, arguments)

        yield call
