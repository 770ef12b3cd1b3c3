"""Many clients at once over HTTP, bad ones among them: each gets their own answers, and nothing is left behind."""

import asyncio
import json
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.governance.token_scope import TokenScope
from tests.interfaces.agents.homes import IVOS_WORDS, make
from tests.interfaces.mcp.conftest import END_SECONDS, Served, serve, token_for

HOMES = {"nora": "Bergen", "ivo": "Narvik"}
"""Where each of the two lives, which the other's answers may not say."""
QUESTION = "Where do I live?"
ANSWER_SECONDS = 120
"""For one answer on a machine that is busy, while two hundred wait in a row."""
SETTLE_SECONDS = 60
SPARE_FILES = 8
SPARE_BYTES = 64 * 1024 * 1024
"""More than an allocator keeps of what was let go, and far less than what a minute of bodies that are kept would be."""


@dataclass
class Crowd:
    """A server, who asks it, and what became of that."""

    served: Served
    tokens: dict[str, str]
    end_at: float
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return asyncio.get_running_loop().time() > self.end_at

    @property
    def place(self) -> str:
        return self.served.url.split("/")[2]

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        host, port = self.place.split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            yield reader, writer
        finally:
            writer.transport.abort()
            with suppress(OSError):
                await writer.wait_closed()

    def look(self, user: str, mark: str, status: int, body: bytes) -> None:
        """Notes what is wrong with an answer to an honest question."""
        self.counts["honest"] += 1
        text, other = body.decode(), next(name for name in HOMES if name != user)
        if status != 200 or json.loads(text).get("id") != mark or HOMES[user] not in text:
            self.wrong.append(f"{mark}: {status} {text[:300]!r}")
        if HOMES[other] in text or (user == "nora" and any(word in text for word in IVOS_WORDS)):
            self.wrong.append(f"{mark} was told what is {other}'s")

    def request(self, user: str, number: str, *, token: str | None = None, body: bytes | None = None) -> bytes:
        asked = {"name": "em_query", "arguments": {"question": QUESTION}}
        call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": asked}
        data = json.dumps(call).encode() if body is None else body
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: {self.place}\r\nAuthorization: Bearer {token or self.tokens[user]}\r\n"
            f"Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(data)}\r\n\r\n"
        )
        return head.encode() + data


async def answered(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), ANSWER_SECONDS)
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
    body = await asyncio.wait_for(reader.readexactly(int(fields.get(b"content-length", b"0"))), ANSWER_SECONDS)
    return int(head.split(b" ")[1]), body


async def honest(crowd: Crowd, number: int) -> None:
    """Asks again and again, over one connection for a while, and looks at every answer."""
    user = list(HOMES)[number % 2]
    marks = (f"{user}-{number}-{turn}" for turn in count())
    while not crowd.is_over:
        async with crowd.connected() as (reader, writer):
            for mark in islice(marks, 5):
                writer.write(crowd.request(user, mark))
                status, body = await answered(reader)
                if status == 503:  # those who went away have left more to do than may wait
                    crowd.counts["told to come back"] += 1
                    await asyncio.sleep(0.5)
                    break
                crowd.look(user, mark, status, body)


async def with_a_wrong_token(crowd: Crowd, number: int) -> None:
    good = crowd.tokens["nora"]
    token = random.Random(number).choice([f"{good[:-1]}!", f"{good[:17]}{crowd.tokens['ivo'][17:]}", "x", "emt_"])
    async with crowd.connected() as (reader, writer):
        writer.write(crowd.request("nora", "wrong", token=token))
        status, body = await answered(reader)
        if status not in (401, 503) or b"nora" in body:
            crowd.wrong.append(f"a wrong token: {status} {body[:200]!r}")


async def with_noise(crowd: Crowd, number: int) -> None:
    async with crowd.connected() as (reader, writer):
        writer.write(random.Random(number).randbytes(2000))
        writer.write_eof()
        await asyncio.wait_for(reader.read(), ANSWER_SECONDS)


async def with_half_a_request(crowd: Crowd, number: int) -> None:
    """Goes away in the middle, at once or after a while."""
    whole = crowd.request("nora", "half")
    async with crowd.connected() as (reader, writer):
        writer.write(whole[: random.Random(number).randrange(1, len(whole))])
        await writer.drain()
        if number % 4 == 1:
            with suppress(TimeoutError):
                await asyncio.wait_for(reader.read(), 2)


async def with_a_huge_body(crowd: Crowd, number: int) -> None:
    async with crowd.connected() as (reader, writer):
        head = crowd.request("nora", "huge", token=None if number % 4 == 1 else "x", body=b"")
        writer.write(head.replace(b"Content-Length: 0", b"Content-Length: 50000000"))
        for _ in range(100):
            writer.write(b"x" * 100_000)
            await writer.drain()
        status, _ = await answered(reader)
        if status not in (400, 401, 408, 413, 503):
            crowd.wrong.append(f"a huge body: {status}")


async def with_a_huge_header(crowd: Crowd, number: int) -> None:
    async with crowd.connected() as (reader, writer):
        writer.write(b"POST /mcp HTTP/1.1\r\nX: " + b"a" * 1_000_000)
        await asyncio.wait_for(reader.read(), ANSWER_SECONDS)


async def without_waiting(crowd: Crowd, number: int) -> None:
    """Asks, in one breath, as the one and as the other, and reads nothing of the answers."""
    async with crowd.connected() as (_, writer):
        for user in HOMES:
            writer.write(crowd.request(user, "gone"))
        await writer.drain()


Client = Callable[[Crowd, int], Coroutine[Any, Any, None]]
BAD: tuple[Client, ...] = (
    with_a_wrong_token, with_noise, with_half_a_request, with_a_huge_body, with_a_huge_header, without_waiting,
)  # fmt: skip


async def again_and_again(crowd: Crowd, client: Client, number: int) -> None:
    while not crowd.is_over:
        with suppress(OSError, asyncio.IncompleteReadError):  # cut off by the server, as is its right
            await client(crowd, number)
        crowd.counts[client.__name__] += 1
        await asyncio.sleep(0.2)


async def gather(served: Served, tokens: dict[str, str], n_clients: int, seconds: float) -> Crowd:
    """Lets half of the clients be honest and the others not, for so long."""
    crowd = Crowd(served, tokens, asyncio.get_running_loop().time() + seconds)
    async with asyncio.TaskGroup() as group:
        for number in range(n_clients):
            if number % 2:
                group.create_task(again_and_again(crowd, BAD[number // 2 % len(BAD)], number))
            else:
                group.create_task(honest(crowd, number // 2))
    return crowd


def n_files(served: Served) -> int:
    return sum(1 for _ in Path(f"/proc/{served.process.pid}/fd").iterdir())


def n_bytes(served: Served) -> int:
    return int(Path(f"/proc/{served.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture
def crowded(tmp_path: Path) -> Iterator[tuple[Served, dict[str, str]]]:
    home = make(tmp_path / "home")
    tokens = {user: token_for(home, user, TokenScope.READ) for user in HOMES}
    served = serve(home)
    yield served, tokens
    if served.process.poll() is None:
        served.end(signal.SIGKILL)


async def settled(served: Served, most: int) -> int:
    """The open files once no more than so many are, or time is up."""
    end = asyncio.get_running_loop().time() + SETTLE_SECONDS
    while n_files(served) > most and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(0.5)
    return n_files(served)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="open files and memory are read from /proc")
@pytest.mark.parametrize(
    ("n_clients", "seconds"),
    [
        pytest.param(40, 4, id="some, for seconds", marks=pytest.mark.slow),
        pytest.param(200, 60, id="200, for a minute", marks=pytest.mark.faults),
    ],
)
def test_in_a_crowd_each_gets_their_own_answers_and_nothing_is_left_behind(
    crowded: tuple[Served, dict[str, str]], n_clients: int, seconds: float
) -> None:
    served, tokens = crowded

    async def all_of_it() -> None:
        await gather(served, tokens, 4, 0.1)
        files = n_files(served)  # with what is kept open of each of the two
        first = await gather(served, tokens, n_clients, seconds / 3)  # whatever is kept once is made by now
        assert not first.wrong, first.wrong[:5]
        before = n_bytes(served)
        crowd = await gather(served, tokens, n_clients, seconds)
        assert not crowd.wrong, crowd.wrong[:5]
        assert crowd.counts["honest"] >= n_clients
        assert all(crowd.counts[client.__name__] for client in BAD)
        assert await settled(served, files + SPARE_FILES) <= files + SPARE_FILES
        assert n_bytes(served) < before + SPARE_BYTES
        alone = await gather(served, tokens, 4, 0.5)
        assert alone.counts["honest"] >= 1
        assert not alone.wrong

    asyncio.run(all_of_it())
    served.process.send_signal(signal.SIGTERM)
    assert served.process.communicate(timeout=END_SECONDS) == ("", ""), "nobody can fill a log by going away"
    assert served.process.returncode == 0
