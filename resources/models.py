"""Everything that asks models, put together for one home: store, budget, breakers, client, gateway, batches."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from em_pipelines.home import ANSWERS, Home
from em_pipelines.models.answers import AnswerStore
from em_pipelines.models.batch_queue import BatchQueue
from em_pipelines.models.breakers import ModelBreakers
from em_pipelines.models.budget import Budget, BudgetUse
from em_pipelines.models.clock import Clock
from em_pipelines.models.gateway import ModelGateway
from em_pipelines.models.settings import LlmSettings
from resources.batch import BatchClient
from resources.chat_model import OpenAIChatModel
from resources.clock import SystemClock


@dataclass(frozen=True, slots=True)
class Models:
    """What asks models, over one answer store."""

    settings: LlmSettings
    clock: Clock
    store: AnswerStore
    budget: Budget
    breakers: ModelBreakers
    gateway: ModelGateway
    batches: BatchClient


def answers_path(home: Path) -> Path:
    """Where a home keeps the answers that were paid for."""
    return home / ANSWERS


def n_open_batches(home: Home) -> int:
    """Batches that have not been collected."""
    path = home.answers
    if not path.exists():
        return 0
    with AnswerStore(path) as store:
        return len(BatchQueue(store.database).open_batches())


@asynccontextmanager
async def open_models(
    home: Path,
    settings: LlmSettings,
    api_key: SecretStr,
    *,
    clock: Clock | None = None,
    breakers: ModelBreakers | None = None,
    on_warning: Callable[[BudgetUse], None] | None = None,
) -> AsyncIterator[Models]:
    """Opens the models of a home, and closes every connection and the store on leaving. One event loop, one opening.

    `on_warning(use)` hears of budgets that are nearly spent; `breakers` may outlive what is opened here.
    """
    clock = clock or SystemClock()
    with AnswerStore(answers_path(home)) as store:
        budget = Budget(store, settings.budget, clock, on_warning)
        breakers = breakers or ModelBreakers(settings, clock)
        async with (
            OpenAIChatModel(settings, api_key, clock) as model,
            BatchClient(settings, api_key, store, budget, clock) as batches,
            ModelGateway(model, store, budget, breakers, clock, settings, batches) as gateway,
        ):
            yield Models(settings, clock, store, budget, breakers, gateway, batches)
