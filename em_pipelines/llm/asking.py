"""The way to models, as whoever asks them gets it: opened when something is to be asked, and closed after."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.clock import Clock
from em_pipelines.llm.gateway import ModelGateway
from em_pipelines.llm.settings import LadderSettings


@dataclass(frozen=True, slots=True)
class Asking:
    """What asking takes: the gateway, what it remembers, a clock, and how often to try."""

    gateway: ModelGateway
    store: AnswerStore
    clock: Clock
    ladder: LadderSettings
    collect: Callable[[], Awaitable[object]] | None = None
    """Fetches what batches have answered in the meantime."""


OpenAsking = Callable[[], AbstractAsyncContextManager[Asking]]
