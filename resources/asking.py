"""The way to models for the llm extractor: opened when something is to be asked, closed when its event loop ends."""

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from em_pipelines.extraction.llm.extractor import Asking, OpenAsking
from em_pipelines.models.breakers import ModelBreakers
from em_pipelines.models.budget import BudgetUse
from em_pipelines.models.clock import Clock
from em_pipelines.settings import Settings
from resources.clock import SystemClock
from resources.endpoint import read_api_key
from resources.models import open_models

_LOGGER = logging.getLogger(__name__)


def asking_of(settings: Settings, clock: Clock | None = None) -> OpenAsking:
    """Returns what opens the way to the models of the settings; opening raises SettingsError where no key is set.

    Breakers live as long as what is returned, so that one day's failures hold the next day back.
    """
    clock = clock or SystemClock()
    breakers = ModelBreakers(settings.llm, clock)

    @asynccontextmanager
    async def open_asking() -> AsyncIterator[Asking]:
        key = read_api_key(os.environ)
        opened = open_models(
            settings.home, settings.llm, key, clock=clock, breakers=breakers, on_warning=_warn_of_budget
        )
        async with opened as models:
            collect = models.batches.collect if settings.llm.mode == "batch" else None
            yield Asking(models.gateway, models.store, models.clock, settings.llm.retries, collect)

    return open_asking


def _warn_of_budget(use: BudgetUse) -> None:
    _LOGGER.warning("the budget of %s for %s is used to %.0f %%: %g of %g", use.name, use.period, use.share * 100,
                    use.used, use.limit)  # fmt: skip
