"""The verifier that searches the web: cache, budget of the night, breaker and retries around `resources.web_search`.

Nothing here is opened unless `revision.is_enabled` is set; then a missing key is an error and not a night in silence.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pydantic import SecretStr

from em_pipelines.environment import environment
from em_pipelines.errors import (
    BudgetSpentError,
    ModelUnavailableError,
    RequestRefusedError,
    SettingsError,
    UnusableAnswerError,
)
from em_pipelines.lifecycle.revision.answer import read_finding
from em_pipelines.lifecycle.revision.model import (
    NO_USABLE_ANSWER,
    FactQuestion,
    Finding,
    NullVerifier,
    Outcome,
    Verifier,
)
from em_pipelines.lifecycle.revision.prompt import TASK, request_of
from em_pipelines.lifecycle.revision.revisable_home import NightSettings, RevisableHome
from em_pipelines.lifecycle.revision.settings import RevisionSettings
from em_pipelines.llm.answers import AnswerStore, Spend
from em_pipelines.llm.breakers import ModelBreakers
from em_pipelines.llm.budget import Budget
from em_pipelines.llm.clock import Clock
from em_pipelines.llm.gateway import ModelGateway
from em_pipelines.llm.ladder import Outcome as ClimbOutcome
from em_pipelines.llm.ladder import climb
from em_pipelines.llm.settings import LlmSettings
from em_pipelines.llm.spending import spent_on_task
from resources.clock import SystemClock
from resources.endpoint import KEY_VARIABLES, read_api_key
from resources.models import answers_path
from resources.web_search import WebSearchModel

KEY_VARIABLE = "EM_REVISION_API_KEY"


class NightlyBudget(Budget):
    """The budget of all models, and within it what the night's revision may take: calls and US dollars."""

    def __init__(self, store: AnswerStore, llm: LlmSettings, revision: RevisionSettings, clock: Clock) -> None:
        super().__init__(store, llm.budget, clock)
        self._revision = revision
        self._spent_store = store
        self._night_clock = clock

    @property
    def spent(self) -> Spend:
        """What the revision took in this night, whichever run or process asked."""
        return spent_on_task(self._spent_store.database, TASK, self._night_clock.now())

    def check(self, model: str) -> None:
        """Raises BudgetSpentError where one of the budgets is used up."""
        spent, limits = self.spent, self._revision
        if spent.n_calls >= limits.max_calls_per_night:
            raise BudgetSpentError(
                f"looking facts up: the {limits.max_calls_per_night} calls of the night are spent; the rest is "
                "deferred to the next one, or raise revision.max_calls_per_night"
            )
        if limits.max_cost_usd is not None and spent.cost_usd >= limits.max_cost_usd:
            raise BudgetSpentError(
                f"looking facts up: the {limits.max_cost_usd:g} US dollars of the night are spent "
                f"({spent.cost_usd:g}); the rest is deferred to the next one, or raise revision.max_cost_usd"
            )
        super().check(model)


@dataclass(frozen=True, slots=True)
class Searching:
    """The way to a model that searches: `settings` are those of its endpoint, `store` keeps its answers."""

    gateway: ModelGateway
    store: AnswerStore
    clock: Clock
    settings: LlmSettings


class WebVerifier:
    """A `Verifier` over a model that searches. Answers are kept, so that the same night asks nothing twice."""

    def __init__(self, searching: Searching, budget: NightlyBudget, revision: RevisionSettings) -> None:
        self.name = searching.settings.small
        self._searching = searching
        self._budget = budget
        self._revision = revision
        self._spent_before = budget.spent.cost_usd

    @property
    def cost_usd(self) -> float:
        """US dollars since it was opened."""
        return self._budget.spent.cost_usd - self._spent_before

    async def verify(self, question: FactQuestion) -> Finding:
        """Looks one fact up; one that gets no usable answer in any attempt is unknown."""
        request = request_of(question, self.name, self._revision)
        end = await climb(
            [lambda: request] * self._revision.n_attempts,
            lambda answer: read_finding(answer, question),
            gateway=self._searching.gateway,
            store=self._searching.store,
            clock=self._searching.clock,
            settings=self._searching.settings.retries,
        )
        if end.value is not None:
            return end.value
        if end.outcome is ClimbOutcome.EXHAUSTED and end.error_type == UnusableAnswerError.__name__:
            return Finding(Outcome.UNKNOWN, reason=NO_USABLE_ANSWER)
        if end.error is not None:
            raise end.error
        # Exhausted in an earlier run of the night, of which the name of the error is left.
        kind = RequestRefusedError if end.error_type == RequestRefusedError.__name__ else ModelUnavailableError
        raise kind(f"looking a fact up with {self.name}: it failed in this night before; the next night tries again")


def endpoint_settings(settings: NightSettings) -> LlmSettings:
    """The settings of the verifier's endpoint and model: those of `llm`, with what `revision` says otherwise.

    Raises SettingsError where dollars are limited and nothing says what the model's tokens cost.
    """
    revision, llm = settings.revision, settings.llm
    model = revision.model or llm.model_of("large")
    if revision.max_cost_usd is not None and model not in llm.prices:
        raise SettingsError(f"reading settings: revision.max_cost_usd needs the price of {model}; add it to llm.prices")
    changes = {
        "base_url": revision.base_url or llm.base_url,
        "small": model,
        "large": None,
        "mode": "realtime",
        "timeout_seconds": revision.timeout_seconds,
        "max_concurrent_calls": 1,
    }
    return llm.model_copy(update=changes)


def read_verifier_key(environment: Mapping[str, str]) -> SecretStr:
    """The key of the verifier's endpoint, that of `llm` where it has none of its own; raises SettingsError."""
    if environment.get(KEY_VARIABLE, "").strip():
        return SecretStr(environment[KEY_VARIABLE].strip())
    try:
        return read_api_key(environment)
    except SettingsError:
        raise SettingsError(
            "opening the verifier: revision.is_enabled is set, and no key is: "
            f"set {', '.join((KEY_VARIABLE, *KEY_VARIABLES[:-1]))} or {KEY_VARIABLES[-1]}, or switch the revision off"
        ) from None


@asynccontextmanager
async def open_verifier(home: RevisableHome, clock: Clock | None = None) -> AsyncIterator[Verifier]:
    """Opens the verifier of the settings and closes its connections and store on leaving.

    Where `revision.is_enabled` is not set, that is the one that asks nobody. Raises SettingsError where no key is set.
    """
    settings = home.settings
    if not settings.revision.is_enabled:
        yield NullVerifier()
        return
    key, llm, clock = read_verifier_key(environment()), endpoint_settings(settings), clock or SystemClock()
    with AnswerStore(answers_path(home.path)) as store:
        budget = NightlyBudget(store, llm, settings.revision, clock)
        async with (
            WebSearchModel(llm, settings.revision, key, clock) as model,
            ModelGateway(model, store, budget, ModelBreakers(llm, clock), clock, llm) as gateway,
        ):
            yield WebVerifier(Searching(gateway, store, clock, llm), budget, settings.revision)
