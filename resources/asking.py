"""Everything that asking a model takes, put together: client, answer store, budgets, breakers, batches."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from em_pipelines.extraction.llm.extractor import Asking, OpenAsking
from em_pipelines.models.answers import AnswerStore
from em_pipelines.models.breakers import ModelBreakers
from em_pipelines.models.budget import Budget
from em_pipelines.models.clock import Clock
from em_pipelines.models.gateway import ModelGateway
from em_pipelines.settings import Settings
from resources.batch import BatchClient
from resources.chat_model import OpenAIChatModel
from resources.clock import SystemClock
from resources.endpoint import read_api_key


def asking_of(settings: Settings, answers: Path, clock: Clock | None = None) -> OpenAsking:
    """Returns what opens the way to the models of the settings, with the answers in the SQLite file `answers`.

    Breakers live as long as what is returned, so that one day's failures hold the next day back. Opening it raises
    SettingsError where no key is set.
    """
    clock = clock or SystemClock()
    llm = settings.llm
    breakers = ModelBreakers(llm, clock)

    @asynccontextmanager
    async def open_asking() -> AsyncIterator[Asking]:
        api_key = read_api_key(os.environ)
        with AnswerStore(answers) as store:
            budget = Budget(store, llm.budget, clock)
            async with (
                OpenAIChatModel(llm, api_key, clock) as model,
                BatchClient(llm, api_key, store, budget, clock) as batches,
                ModelGateway(model, store, budget, breakers, clock, llm, batches) as gateway,
            ):
                collect = batches.collect if llm.mode == "batch" else None
                yield Asking(gateway, store, clock, llm.ladder, collect)

    return open_asking
