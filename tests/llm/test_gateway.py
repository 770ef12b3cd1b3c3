"""The gateway: what reaches the model, how often, and what is kept of it."""

import asyncio

import pytest

from em_pipelines.errors import (
    AnswerPendingError,
    BreakerOpenError,
    BudgetSpentError,
    ModelRefusedError,
    ModelUnavailableError,
)
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.batch_queue import BatchQueue
from em_pipelines.llm.clock import ManualClock
from em_pipelines.llm.protocol import ChatAnswer
from tests.llm.scripted import SETTINGS, Reply, ScriptedModel, gateway_to
from tests.model_server.questions import question

DOWN = ModelUnavailableError("asking: HTTP 500; try again")


def test_an_answer_is_kept_at_once_and_never_asked_for_again(store: AnswerStore, clock: ManualClock) -> None:
    model = ScriptedModel(["one"])
    gateway = gateway_to(model, store, clock)
    assert asyncio.run(gateway.complete(question())).text == "one"
    again = asyncio.run(gateway.complete(question()))
    assert (again.text, again.is_cache_hit) == ("one", True)
    assert len(model.asked) == 1


def test_equal_questions_at_once_are_one_call(store: AnswerStore, clock: ManualClock) -> None:
    model = ScriptedModel(lambda _: "one")
    gateway = gateway_to(model, store, clock)

    async def ask() -> list[ChatAnswer]:
        asked = [question(reference=f"seg_{number % 2}") for number in range(6)]
        return await asyncio.gather(*(gateway.complete(request) for request in asked))

    assert [answer.is_cache_hit for answer in asyncio.run(ask())] == [False, *[True] * 5]
    assert len(model.asked) == 1
    assert store.forget_reference("ines", "seg_1") == 1


def test_equal_questions_at_once_fail_together(store: AnswerStore, clock: ManualClock) -> None:
    model = ScriptedModel([DOWN])
    gateway = gateway_to(model, store, clock)

    async def ask() -> list[ChatAnswer | BaseException]:
        return await asyncio.gather(*(gateway.complete(question()) for _ in range(3)), return_exceptions=True)

    assert [type(found) for found in asyncio.run(ask())] == [ModelUnavailableError] * 3
    assert len(model.asked) == 1


def test_a_call_that_nobody_waits_for_any_longer_is_still_kept(store: AnswerStore, clock: ManualClock) -> None:
    model = ScriptedModel(["one"])

    async def give_up() -> None:
        gateway = gateway_to(model, store, clock)
        waiting = asyncio.create_task(gateway.complete(question()))
        await asyncio.sleep(0)
        waiting.cancel()
        for _ in range(5):
            await asyncio.sleep(0)

    asyncio.run(give_up())
    assert store.answer(question(), clock.now()) is not None


def test_leaving_it_ends_the_calls_at_work(store: AnswerStore, clock: ManualClock) -> None:
    async def leave() -> type[BaseException]:
        async with gateway_to(ScriptedModel(["one"]), store, clock) as gateway:
            waiting = asyncio.create_task(gateway.complete(question()))
            await asyncio.sleep(0)
        (found,) = await asyncio.gather(waiting, return_exceptions=True)
        return type(found)

    assert asyncio.run(leave()) is asyncio.CancelledError
    assert store.answer(question(), clock.now()) is None


def test_no_more_calls_than_allowed_are_at_work_in_each_loop(store: AnswerStore, clock: ManualClock) -> None:
    model = ScriptedModel(lambda request: request.reference)
    gateway = gateway_to(model, store, clock, SETTINGS.model_copy(update={"max_concurrent_calls": 3}))

    async def ask(name: str) -> None:
        await asyncio.gather(*(gateway.complete(question(f"{name} {number}")) for number in range(20)))

    asyncio.run(ask("first loop"))
    asyncio.run(ask("second loop"))
    assert (model.max_at_once, len(model.asked)) == (3, 40)


def test_a_spent_budget_refuses_calls_but_not_what_is_kept(store: AnswerStore, clock: ManualClock) -> None:
    model = ScriptedModel(lambda _: "one")
    budget = SETTINGS.budget.model_copy(update={"max_calls_a_night": 2})
    gateway = gateway_to(model, store, clock, SETTINGS.model_copy(update={"budget": budget}))

    async def ask() -> list[type]:
        asked = [question(text) for text in "abcda"]
        return [type(found) for found in await asyncio.gather(*map(gateway.complete, asked), return_exceptions=True)]

    assert asyncio.run(ask()) == [ChatAnswer, ChatAnswer, BudgetSpentError, BudgetSpentError, ChatAnswer]
    assert len(model.asked) == 2
    clock.advance(24 * 3600)
    assert asyncio.run(ask())[:4] == [ChatAnswer] * 4


def test_an_open_breaker_refuses_once_its_trials_have_failed(store: AnswerStore, clock: ManualClock) -> None:
    model = ScriptedModel(["fine", *[DOWN] * 20])
    gateway = gateway_to(model, store, clock)

    async def ask() -> list[type]:
        found = [await asyncio.gather(gateway.complete(question(str(n))), return_exceptions=True) for n in range(10)]
        return [type(one) for (one,) in found]

    assert asyncio.run(ask()) == [ChatAnswer, *[ModelUnavailableError] * 5, *[BreakerOpenError] * 4]
    assert clock.slept == [15, 15], "each trial was waited for"
    assert len(model.asked) == 6


def test_a_model_that_never_answers_is_left_alone_after_three_tries_that_all_share(
    store: AnswerStore, clock: ManualClock
) -> None:
    model = ScriptedModel(lambda _: DOWN)
    gateway = gateway_to(model, store, clock)

    async def ask() -> list[type]:
        asked = [question(str(number)) for number in range(40)]
        return [type(found) for found in await asyncio.gather(*map(gateway.complete, asked), return_exceptions=True)]

    assert asyncio.run(ask()) == [ModelUnavailableError] * 3 + [BreakerOpenError] * 37
    assert clock.slept == [1, 5], "once, whoever asks"
    assert len(model.asked) == 3


def test_a_model_that_comes_up_between_the_first_tries_is_asked_by_all(store: AnswerStore, clock: ManualClock) -> None:
    model = ScriptedModel([DOWN, DOWN, *["fine"] * 40])
    gateway = gateway_to(model, store, clock)

    async def ask() -> list[type]:
        asked = [question(str(number)) for number in range(40)]
        return [type(found) for found in await asyncio.gather(*map(gateway.complete, asked), return_exceptions=True)]

    assert asyncio.run(ask()) == [ModelUnavailableError] * 2 + [ChatAnswer] * 38


def test_who_waits_for_a_trial_goes_on_when_it_succeeds(store: AnswerStore, clock: ManualClock) -> None:
    replies: list[Reply] = ["fine", DOWN, DOWN, DOWN, *["fine"] * 20]
    model = ScriptedModel(replies)
    gateway = gateway_to(model, store, clock)

    async def ask() -> list[type]:
        await gateway.complete(question("first"))
        asked = [question(str(number)) for number in range(20)]
        return [type(found) for found in await asyncio.gather(*map(gateway.complete, asked), return_exceptions=True)]

    found = asyncio.run(ask())
    assert found.count(ModelUnavailableError) == 3
    assert found.count(ChatAnswer) == 17


def test_without_patience_an_open_breaker_refuses_at_once(store: AnswerStore, clock: ManualClock) -> None:
    model = ScriptedModel(["fine", *[DOWN] * 20])
    gateway = gateway_to(model, store, clock, SETTINGS.model_copy(update={"n_awaited_trials": 0}))
    asyncio.run(gateway.complete(question("first")))
    for number in range(3):
        with pytest.raises(ModelUnavailableError):
            asyncio.run(gateway.complete(question(str(number))))
    with pytest.raises(BreakerOpenError):
        asyncio.run(gateway.complete(question("more")))
    assert clock.slept == []
    clock.advance(15)
    with pytest.raises(ModelUnavailableError):
        asyncio.run(gateway.complete(question("the trial")))


def test_the_breaker_of_one_model_does_not_stop_the_other(store: AnswerStore, clock: ManualClock) -> None:
    model = ScriptedModel(lambda request: DOWN if request.model == "large" else "fine")
    gateway = gateway_to(model, store, clock, SETTINGS.model_copy(update={"n_awaited_trials": 0}))
    for expected in (ModelUnavailableError, ModelUnavailableError, BreakerOpenError):
        with pytest.raises(expected):
            asyncio.run(gateway.complete(question(model="large")))
    assert asyncio.run(gateway.complete(question())).text == "fine"


def test_failures_are_kept_as_calls_with_their_latency(store: AnswerStore, clock: ManualClock) -> None:
    class Slow(ScriptedModel):
        async def complete(self, request):  # type: ignore[no-untyped-def]
            clock.advance(1.5)
            return await super().complete(request)

    gateway = gateway_to(Slow([ModelRefusedError("asking: HTTP 401; check the key")]), store, clock)
    with pytest.raises(ModelRefusedError):
        asyncio.run(gateway.complete(question()))
    (call,) = store.calls()
    assert (call.outcome, call.error_type, call.latency_ms) == ("failed", "ModelRefusedError", 1500)


class Sender:
    n_sent = 0

    async def submit(self) -> int:
        self.n_sent += 1
        return 7


def test_in_batch_mode_questions_are_queued_once_and_sent_when_flushed(store: AnswerStore, clock: ManualClock) -> None:
    model, sender = ScriptedModel([]), Sender()
    gateway = gateway_to(model, store, clock, SETTINGS.model_copy(update={"mode": "batch"}), sender)
    for _ in range(2):
        with pytest.raises(AnswerPendingError):
            asyncio.run(gateway.complete(question()))
    assert BatchQueue(store.database).queued("small", 10) == [question()]
    assert asyncio.run(gateway.flush()) == 7
    assert model.asked == []


def test_a_question_that_is_out_in_a_batch_is_not_asked_in_realtime(store: AnswerStore, clock: ManualClock) -> None:
    queue = BatchQueue(store.database)
    queue.add(question("queued"))
    queue.add(question("out"))
    queue.intend("small", [question("out").key], clock.now())
    gateway = gateway_to(ScriptedModel(["one"]), store, clock)
    with pytest.raises(AnswerPendingError):
        asyncio.run(gateway.complete(question("out")))
    assert asyncio.run(gateway.complete(question("queued"))).text == "one"
    assert queue.queued("small", 10) == [], "what was answered in the meantime is not sent"
    assert asyncio.run(gateway.flush()) == 0


def test_a_question_that_failed_in_its_batch_says_so_once(store: AnswerStore, clock: ManualClock) -> None:
    queue = BatchQueue(store.database)
    queue.add(question())
    queue.failed(question(), "ModelUnavailableError", clock.now())
    gateway = gateway_to(ScriptedModel([]), store, clock, SETTINGS.model_copy(update={"mode": "batch"}))
    with pytest.raises(ModelUnavailableError, match="asking in a batch"):
        asyncio.run(gateway.complete(question()))
    with pytest.raises(AnswerPendingError):
        asyncio.run(gateway.complete(question()))
