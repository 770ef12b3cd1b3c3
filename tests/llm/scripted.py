"""A chat model that answers by script, for tests of what stands before it. No network, no time."""

import asyncio
from collections.abc import Callable

from em_pipelines.errors import ModelError
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.breakers import ModelBreakers
from em_pipelines.llm.budget import Budget
from em_pipelines.llm.clock import ManualClock
from em_pipelines.llm.gateway import BatchSender, ModelGateway
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest
from em_pipelines.llm.settings import LlmSettings

Reply = str | ModelError
SETTINGS = LlmSettings(small="small", large="large")


class ScriptedModel:
    """Answers what a function makes of the request, or of a list the next; keeps every request."""

    def __init__(self, replies: Callable[[ChatRequest], Reply] | list[Reply]) -> None:
        self._replies = replies
        self.asked: list[ChatRequest] = []
        self.n_at_once = 0
        self.max_at_once = 0

    async def complete(self, request: ChatRequest) -> ChatAnswer:
        self.asked.append(request)
        reply = self._replies(request) if callable(self._replies) else self._replies.pop(0)
        self.n_at_once += 1
        self.max_at_once = max(self.max_at_once, self.n_at_once)
        try:
            await asyncio.sleep(0)
        finally:
            self.n_at_once -= 1
        if isinstance(reply, ModelError):
            raise reply
        return ChatAnswer(request.key, reply, "stop", 10, 5, 1.0, 0.0)


def gateway_to(
    model: ScriptedModel,
    store: AnswerStore,
    clock: ManualClock,
    settings: LlmSettings = SETTINGS,
    batches: BatchSender | None = None,
) -> ModelGateway:
    """A gateway with everything in it real but the model and the clock."""
    budget = Budget(store, settings.budget, clock)
    return ModelGateway(model, store, budget, ModelBreakers(settings, clock), clock, settings, batches)
