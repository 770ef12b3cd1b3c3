"""Over stdio: one user, named or told by a token; nothing but the protocol on stdout; an end that is clean."""

import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import orjson
import pytest
from mcp import Client

from em_pipelines.governance.token_scope import TokenScope
from tests.interfaces.mcp.conftest import EM, END_SECONDS, ROOT, book_of, environment, talk_over_stdio, token_for

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@pytest.fixture
def started(module_home: Path):
    """A process that has answered `initialize`, spoken to by hand."""
    command = [sys.executable, *EM, "mcp", "--user", "nora", "--home", str(module_home)]
    process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)  # fmt: skip
    assert process.stdin
    assert process.stdout
    process.stdin.write(orjson.dumps(HELLO) + b"\n")
    process.stdin.flush()
    answer = orjson.loads(process.stdout.readline())
    assert answer["result"]["serverInfo"]["name"] == "em"
    yield process
    process.kill()
    process.communicate()


def test_tools_prompt_and_resource_of_the_one_user(module_home: Path) -> None:
    async def talk(client: Client) -> list[Any]:
        return [
            await client.call_tool("em_query", {"question": "Where does Torvald work?"}),
            await client.call_tool("em_add_facts", {"facts": [{"relation": "likes", "object": "x"}]}),
            await client.get_prompt("memory_instructions"),
            await client.read_resource("memory://bootstrap"),
        ]

    found, refused, prompt, start = talk_over_stdio(module_home, talk, "--user", "nora")
    assert "aquarium" in found.structured_content["hits"][0]["text"]
    assert "needs the scope write" in refused.content[0].text
    assert "experience_context" in prompt.messages[0].content.text
    assert start.contents[0].mime_type == "text/markdown"


@pytest.mark.slow
def test_a_token_tells_the_user_and_ends_with_its_revocation(module_home: Path) -> None:
    token = token_for(module_home, "ivo", TokenScope.READ)

    async def talk(client: Client) -> list[Any]:
        before = await client.call_tool("em_query", {"question": "Where do I live?"})
        book_of(module_home).revoke(token.split("_")[1])
        return [before, await client.call_tool("em_query", {"question": "Where do I live?"})]

    before, after = talk_over_stdio(module_home, talk, EM_MCP_TOKEN=token)
    assert "Narvik" in str(before.structured_content)
    assert after.is_error
    assert "expired or was revoked" in after.content[0].text


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_success_and_nothing_but_the_protocol(started: Any, how: signal.Signals) -> None:
    begun = time.monotonic()
    started.send_signal(how)
    assert started.wait(END_SECONDS) == 0
    assert time.monotonic() - begun < END_SECONDS
    assert started.stdout.read() == b""


@pytest.mark.slow
def test_the_end_of_its_input_ends_it_with_success(started: Any) -> None:
    started.stdin.write(b"this is no message\n")
    started.stdin.close()
    assert started.wait(END_SECONDS) == 0
    assert all(orjson.loads(line)["jsonrpc"] == "2.0" for line in started.stdout.read().splitlines())
    started.stdin = None


@pytest.mark.parametrize(
    ("options", "token", "said"),
    [
        ((), None, "give --user, or a token"),
        (("--user", "nora"), "emt_x", "not both"),
        ((), "emt_0123456789ab_" + "x" * 43, "not valid"),
        (("--user", ""), None, "user id"),
        (("--user", "nora", "--http"), None, "leave out --user"),
        (("--http", "--host", "0.0.0.0"), None, "clear text"),
        (("--http", "--host", "example.invalid", "--behind-tls"), None, "choose another"),
        (("--http", "--tls-cert", "missing.pem"), None, "both --tls-cert and --tls-key"),
        (("--http", "--tls-cert", "missing.pem", "--tls-key", "missing.pem"), None, "cannot be used"),
    ],
)  # fmt: skip
def test_wrong_use_is_said_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, options: tuple[str, ...], token: str | None, said: str
) -> None:
    from em_pipelines.interfaces.cli.app import main

    monkeypatch.setattr(logging.root, "handlers", [])  # the server sets its own, on a stream that ends with this test
    monkeypatch.setattr(sys, "argv", ["em", "mcp", "--home", str(tmp_path / "home"), *options])
    if token:
        monkeypatch.setenv("EM_MCP_TOKEN", token)
    with pytest.raises(SystemExit) as end:
        main()
    shown = capsys.readouterr()
    assert end.value.code == 2
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""
    assert "EM_MCP_TOKEN" not in os.environ
