"""An embedder that is down costs a question seconds once, and nothing for as long as that is known."""

import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from em_pipelines.errors import BreakerOpenError, ModelUnavailableError
from em_pipelines.settings import Settings, load_settings
from resources.embedders import NOTE, RemoteEmbedder, open_embedder, within
from tests.model_server.server import ModelServer

ROUNDS = 10


class SilentServer:
    """Takes connections, counts them and answers nothing, or a byte at a time."""

    def __init__(self, drip: bytes = b"") -> None:
        self.n_connections = 0
        self._drip = drip
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._kept: list[socket.socket] = []
        self.base_url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        while True:
            try:
                taken, _ = self._socket.accept()
            except OSError:
                return
            self.n_connections += 1
            self._kept.append(taken)
            if self._drip:
                threading.Thread(target=self._trickle, args=(taken,), daemon=True).start()

    def _trickle(self, taken: socket.socket) -> None:
        try:
            taken.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n")
            for _ in range(1000):
                taken.sendall(self._drip)
                time.sleep(0.05)
        except OSError:
            return

    def close(self) -> None:
        for one in (self._socket, *self._kept):
            one.close()


@pytest.fixture(params=[b"", b" "], ids=["silent", "trickling"])
def silent(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[SilentServer]:
    monkeypatch.setenv("EM_LLM_API_KEY", "k")
    server = SilentServer(request.param)
    yield server
    server.close()


def settings_of(home: Path, base_url: str, **llm: object) -> Settings:
    return load_settings(home=home, embedder="openai:tiny", llm={"base_url": base_url, "embedder_seconds": 0.3, **llm})


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def test_a_question_gives_up_once_and_the_next_do_not_try(home: Path, silent: SilentServer) -> None:
    settings = settings_of(home, silent.base_url)
    with pytest.raises(ModelUnavailableError, match=r"within 0\.3 s|the time was over"):
        open_embedder(settings).ask("Where?")
    for _ in range(ROUNDS):  # as each `em search` opens its own
        with pytest.raises(BreakerOpenError, match="not tried"):
            open_embedder(settings).ask("Where?")
    assert silent.n_connections == 1


def test_in_a_home_that_cannot_be_written_to_one_process_asks_once(tmp_path: Path, silent: SilentServer) -> None:
    embedder = open_embedder(settings_of(tmp_path / "nowhere", silent.base_url))
    with pytest.raises(ModelUnavailableError):
        embedder.ask("Where?")
    for _ in range(ROUNDS):
        with pytest.raises(BreakerOpenError):
            embedder.ask("Where?")
    assert silent.n_connections == 1
    assert not (tmp_path / "nowhere").exists()


def test_it_is_tried_again_after_a_while_and_found_there(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EM_LLM_API_KEY", "k")
    (home / NOTE).parent.mkdir()
    (home / NOTE).touch()
    with ModelServer() as server:
        server.vectors = lambda texts: [[1.0, 0.0] for _ in texts]
        settings = settings_of(home, server.base_url, embedder_seconds=20)
        with pytest.raises(BreakerOpenError):
            open_embedder(settings).ask("Where?")
        for age in (31, -31):  # noted long ago, or by a clock that ran ahead
            os.utime(home / NOTE, (time.time() - age,) * 2)
            assert list(open_embedder(settings).ask("Where?")) == [1.0, 0.0]
        (home / NOTE).touch()
        assert open_embedder(settings).embed(["tea"]).shape == (1, 2), "a run tries whatever questions have found"
        assert not (home / NOTE).exists()


@pytest.mark.slow
def test_one_endpoint_that_is_down_is_not_asked_for_the_vectors_of_every_user(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EM_LLM_API_KEY", "k")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    embedder = open_embedder(settings_of(home, f"http://127.0.0.1:{port}/v1"))
    with pytest.raises(ModelUnavailableError):
        embedder.embed(["tea"])
    with pytest.raises(BreakerOpenError):
        embedder.embed(["coffee"])
    assert isinstance(embedder, RemoteEmbedder)


def test_what_work_raises_or_returns_in_time_passes() -> None:
    assert within(20, lambda: 7) == 7
    with pytest.raises(KeyError):
        within(20, lambda: {}["x"])
