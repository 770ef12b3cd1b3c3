"""The way to models for the llm extractor: opened when something is to be asked, closed when its event loop ends."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

from em_pipelines.environment import environment
from em_pipelines.llm.asking import Asking, OpenAsking
from em_pipelines.llm.breakers import ModelBreakers, OnState
from em_pipelines.llm.budget import BudgetUse
from em_pipelines.llm.clock import Clock
from em_pipelines.llm.settings import LlmSettings
from em_pipelines.storage.outage import OutageNote
from resources.clock import SystemClock
from resources.endpoint import read_api_key
from resources.models import Watch, open_models

_LOGGER = logging.getLogger(__name__)


class AskingSettings(Protocol):
    """Where answers are kept, and how models are asked."""

    @property
    def home(self) -> Path: ...
    @property
    def llm(self) -> LlmSettings: ...


def asking_of(settings: AskingSettings, clock: Clock | None = None) -> OpenAsking:
    """Returns what opens the way to the models of the settings; opening raises SettingsError where no key is set.

    Breakers live as long as what is returned, so that one day's failures hold the next day back.
    """
    clock = clock or SystemClock()
    watch = Watch(ModelBreakers(settings.llm, clock, _noting(settings)), _warn_of_budget)

    @asynccontextmanager
    async def open_asking() -> AsyncIterator[Asking]:
        key = read_api_key(environment())
        async with open_models(settings.home, settings.llm, key, clock=clock, watch=watch) as models:
            collect = models.batches.collect if settings.llm.mode == "batch" else None
            yield Asking(models.gateway, models.store, models.clock, settings.llm.retries, collect)

    return open_asking


def _noting(settings: AskingSettings) -> OnState:
    """What notes in the home that a model is left alone, for whoever asks how it goes; nobody waits for it."""
    llm = settings.llm
    open_seconds = {"llm_small": llm.small_breaker.open_seconds, "llm_large": llm.large_breaker.open_seconds}
    notes = {name: OutageNote(settings.home / "locks" / f"{name}.down", left) for name, left in open_seconds.items()}

    def note(name: str, is_open: bool) -> None:
        (notes[name].put if is_open else notes[name].clear)()

    return note


def _warn_of_budget(use: BudgetUse) -> None:
    _LOGGER.warning("the budget of %s for %s is used to %.0f %%: %g of %g", use.name, use.period, use.share * 100,
                    use.used, use.limit)  # fmt: skip
