"""The home that pages look at. One request is at work at a time on each side, reading and writing: steps keep what they
read, and are of one thread."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from em_pipelines.governance.access_tokens import TokenBook
from em_pipelines.pipeline import OpenEmbedder, OpenModels, Pipeline
from em_pipelines.settings import Settings


class Desk:
    """Two openings of one home, so that reading waits for no erasure."""

    def __init__(self, settings: Settings, open_models: OpenModels | None, open_embedder: OpenEmbedder | None) -> None:
        self._homes = [Pipeline(settings, open_models, open_embedder) for _ in range(2)]
        self._locks = [threading.Lock() for _ in range(2)]

    @property
    def tokens(self) -> TokenBook:
        """Who may look, where a token is asked for. Raises SaltError where no token could be told from another."""
        self._homes[0].salt.verify()
        return TokenBook(self._homes[0].record, self._homes[0].salt)

    @contextmanager
    def opened(self, *, to_write: bool) -> Iterator[Pipeline]:
        """The home, for one request."""
        with self._locks[to_write]:
            yield self._homes[to_write]
