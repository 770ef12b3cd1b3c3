"""Everything that asks models, put together for one home: store, budget, breakers, client, gateway, batches."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import SecretStr

from em_pipelines.home import ANSWERS
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.batch_queue import BatchQueue
from em_pipelines.llm.breakers import ModelBreakers
from em_pipelines.llm.budget import Budget, BudgetUse
from em_pipelines.llm.clock import Clock
from em_pipelines.llm.concurrency import ConcurrencyLimit
from em_pipelines.llm.endpoint_profiles import EndpointProfiles
from em_pipelines.llm.gateway import ModelGateway
from em_pipelines.llm.settings import LlmSettings
from em_pipelines.pipeline import Pipeline
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


def n_open_batches(home: Pipeline) -> int:
    """Batches that have not been collected."""
    path = home.answers
    if not path.exists():
        return 0
    with AnswerStore(path) as store:
        return len(BatchQueue(store.database).open_batches())


@dataclass(frozen=True, slots=True)
class Watch:
    """What is kept from one opening to the next: breakers, how many calls are
    sent at once, and who hears of budgets nearly spent."""

    breakers: ModelBreakers | None = None
    on_warning: Callable[[BudgetUse], None] | None = None
    limits: dict[str, ConcurrencyLimit] = field(default_factory=dict)


@asynccontextmanager
async def open_models(
    home: Path, settings: LlmSettings, api_key: SecretStr, *, clock: Clock | None = None, watch: Watch | None = None
) -> AsyncIterator[Models]:
    """Opens the models of a home, and closes every connection and the store on leaving. One event loop, one opening."""
    clock, watch = clock or SystemClock(), watch or Watch()
    with AnswerStore(answers_path(home), settings.address) as store:
        profiles = EndpointProfiles(settings.address, store.database)
        budget = Budget(store, settings.budget, clock, watch.on_warning)
        breakers = watch.breakers or ModelBreakers(settings, clock)
        async with (
            OpenAIChatModel(settings, api_key, clock, profiles) as model,
            BatchClient(settings, api_key, store, budget, clock) as batches,
            ModelGateway(model, store, budget, breakers, clock, settings, batches, watch.limits) as gateway,
        ):
            yield Models(settings, clock, store, budget, breakers, gateway, batches)
