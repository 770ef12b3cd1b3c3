"""Where calls are worked on: one reader and one writer at a time, so that no erasure keeps a question waiting.

Calls come in on threads of their own, while a pipeline is one thread's. Reading and writing have one each; what they
share lies on disk, and there the home's locks hold, as between processes.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from em_pipelines.governance.access_tokens import TokenBook
from em_pipelines.interfaces.mcp.callers import Caller
from em_pipelines.interfaces.memory import Memory
from em_pipelines.pipeline import OpenModels, Pipeline
from em_pipelines.retrieval.scoring import Embedder
from em_pipelines.settings import Settings

ORIGIN = "mcp"
ACTOR = "agent"
KEPT_MEMORIES = 64


def _open_embedder(settings: Settings) -> Embedder:
    """Its client takes a second to import, which only those who search by vectors pay."""
    from resources.embedders import open_embedder  # noqa: PLC0415

    return open_embedder(settings)


class Desk:
    """The memories of one home, for the calls of one server. Raises SaltError where no token could be told from
    another."""

    def __init__(self, settings: Settings, open_models: OpenModels | None) -> None:
        self._homes = [Pipeline(settings, open_models, _open_embedder) for _ in range(2)]
        self._homes[0].salt.verify()
        self._locks = [threading.Lock() for _ in range(2)]
        self._memories: list[dict[tuple[str, str | None], Memory]] = [{}, {}]
        self._n_busy = 0
        self._counting = threading.Lock()

    @property
    def tokens(self) -> TokenBook:
        """Who may call."""
        return TokenBook(self._homes[0].record, self._homes[0].salt)

    @contextmanager
    def reading(self, caller: Caller) -> Iterator[Memory]:
        """The caller's memory, to read from."""
        with self._at_work(0, caller) as memory:
            yield memory

    @contextmanager
    def writing(self, caller: Caller) -> Iterator[Memory]:
        """The caller's memory, to write to."""
        with self._at_work(1, caller) as memory:
            yield memory

    def wait_until_idle(self, seconds: float) -> bool:
        """Waits for calls that are at work; whether none is left."""
        end = time.monotonic() + seconds
        while self._n_busy and time.monotonic() < end:
            time.sleep(0.02)
        return not self._n_busy

    @contextmanager
    def _at_work(self, side: int, caller: Caller) -> Iterator[Memory]:
        with self._counting:
            self._n_busy += 1
        try:
            with self._locks[side]:
                known, key = self._memories[side], (caller.user_id, caller.domain)
                if key not in known:
                    while len(known) >= KEPT_MEMORIES:
                        known.pop(next(iter(known)))
                    known[key] = Memory(
                        self._homes[side], caller.user_id, actor=ACTOR, origin=ORIGIN, domain=caller.domain
                    )
                yield known[key]
        finally:
            with self._counting:
                self._n_busy -= 1
