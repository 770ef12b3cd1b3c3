"""Batches against a real server: sent once, collected once, whatever happens in between."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from pydantic import SecretStr

from em_pipelines.errors import (
    AnswerPendingError,
    LockedError,
    ModelRefusedError,
    ModelUnavailableError,
    RequestRefusedError,
    UnusableAnswerError,
)
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.batch_queue import BatchQueue
from em_pipelines.llm.breakers import ModelBreakers
from em_pipelines.llm.budget import Budget
from em_pipelines.llm.clock import ManualClock
from em_pipelines.llm.gateway import ModelGateway
from em_pipelines.llm.ladder import Climb, Outcome, climb
from em_pipelines.llm.protocol import ChatAnswer, ChatRequest
from em_pipelines.llm.settings import LlmSettings, ModelPrice
from resources.batch import BatchClient
from resources.batch_lines import Collected
from resources.chat_model import OpenAIChatModel
from tests.model_server.questions import question
from tests.model_server.script import Call, Step, answer, failed, truncated
from tests.model_server.server import ModelServer

KEY = SecretStr("k")
PRICES = {"small": ModelPrice(input_usd=1, output_usd=1)}


@dataclass
class World:
    """A server, a store and a clock; each call of `run` is a process of its own."""

    server: ModelServer
    store: AnswerStore
    clock: ManualClock

    def run(self, work: Callable[[ModelGateway, BatchClient], Any], **changes: Any) -> Any:
        settings = LlmSettings(
            **{"base_url": self.server.base_url, "small": "small", "mode": "batch", "prices": PRICES, **changes}
        )

        async def running() -> Any:
            budget = Budget(self.store, settings.budget, self.clock)
            async with (
                OpenAIChatModel(settings, KEY, self.clock) as model,
                BatchClient(settings, KEY, self.store, budget, self.clock) as batches,
                ModelGateway(
                    model, self.store, budget, ModelBreakers(settings, self.clock), self.clock, settings, batches
                ) as gateway,
            ):
                return await work(gateway, batches)

        return asyncio.run(running())

    def ask(self, *texts: str, **changes: Any) -> list[str]:
        """Asks for each text; returns answers, or the names of errors."""

        async def work(gateway: ModelGateway, _: BatchClient) -> list[str]:
            found = await asyncio.gather(*map(gateway.complete, map(question, texts)), return_exceptions=True)
            return [one.text if isinstance(one, ChatAnswer) else type(one).__name__ for one in found]

        answers: list[str] = self.run(work, **changes)
        return answers

    def flush(self, **changes: Any) -> int:
        return int(self.run(lambda gateway, _: gateway.flush(), **changes))

    def collect(self, **changes: Any) -> Collected:
        found: Collected = self.run(lambda _, batches: batches.collect(), **changes)
        return found

    @property
    def queue(self) -> BatchQueue:
        return BatchQueue(self.store.database)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with (
        ModelServer(lambda call: answer({"echo": call.messages[-1]["content"]})) as server,
        AnswerStore(tmp_path / "answers.sqlite") as store,
    ):
        yield World(server, store, ManualClock())


def test_questions_wait_are_sent_together_and_come_back_at_half_the_price(world: World) -> None:
    assert world.ask("a", "b", "c", "a") == ["AnswerPendingError"] * 4
    assert world.flush() == 3
    assert world.ask("a") == ["AnswerPendingError"]
    assert world.flush() == 0
    assert world.collect() == Collected(n_answered=3)
    assert world.ask("a", "b", "c") == ['{"echo": "a"}', '{"echo": "b"}', '{"echo": "c"}']
    assert world.server.duplicates == {}
    paid = [call for call in world.store.calls() if not call.is_cache_hit]
    assert len(paid) == 3
    for call in paid:
        assert call.cost_usd == pytest.approx((call.prompt_tokens + call.completion_tokens) / 1e6 / 2)


def test_a_batch_carries_its_key_and_its_lines_are_those_of_single_calls(world: World) -> None:
    world.ask("a")
    world.flush()
    (batch,) = world.server.batches.by_id.values()
    (known,) = world.queue.open_batches()
    assert (batch["metadata"], batch["completion_window"]) == ({"em_batch": known.batch_key}, "24h")
    (line,) = world.server.batches.lines(batch["id"])
    assert (line["custom_id"], line["url"]) == (question("a").key, "/v1/chat/completions")
    world.ask("b", mode="realtime")
    (call,) = world.server.calls
    single = {name: value for name, value in call.body.items() if name not in {"stream", "stream_options"}}
    assert {**line["body"], "messages": []} == {**single, "messages": []}


def test_a_batch_at_work_is_left_alone(world: World) -> None:
    world.server.batches.n_polls = 3
    world.ask("a")
    world.flush()
    assert [world.collect() for _ in range(3)] == [*[Collected(n_open=1)] * 2, Collected(n_answered=1)]


def test_prompts_and_answers_do_not_stay_at_the_endpoint(world: World) -> None:
    world.ask("a")
    world.flush()
    world.collect()
    assert world.server.batches.files == {}
    assert world.store.database.rows("SELECT * FROM batch_requests") == []


def test_lines_that_fail_come_back_as_errors_and_the_others_as_answers(world: World) -> None:
    def script(call: Call) -> Step:
        steps = {"b": failed(500), "c": failed(400), "d": truncated("abcd")}
        return steps.get(call.messages[-1]["content"], answer("fine"))

    world.server.script = script
    world.ask("a", "b", "c", "d")
    world.flush()
    assert world.collect() == Collected(n_answered=2, n_failed=2)
    expected = ["fine", ModelUnavailableError.__name__, RequestRefusedError.__name__, "ab"]
    assert world.ask("a", "b", "c", "d") == expected
    assert world.ask("b") == [AnswerPendingError.__name__], "an error is told once, then it is asked again"


@pytest.mark.parametrize("outcome", ["expired", "cancelled", "failed"])
def test_a_batch_that_ends_early_lets_go_of_what_it_did_not_answer(world: World, outcome: str) -> None:
    world.server.batches.outcome = outcome
    world.server.batches.answered_share = 0.5
    world.ask("a", "b", "c", "d")
    world.flush()
    n_answered = 0 if outcome == "failed" else 2
    assert world.collect() == Collected(n_answered=n_answered, n_released=4 - n_answered)
    world.server.batches.outcome = "completed"
    assert world.flush() == 4 - n_answered
    assert world.collect() == Collected(n_answered=4 - n_answered)
    assert world.server.duplicates == {}, "no line was answered twice"


def test_a_batch_that_the_endpoint_no_longer_knows_lets_go_of_all(world: World) -> None:
    world.ask("a")
    world.flush()
    world.server.batches.by_id.clear()
    assert world.collect() == Collected(n_released=1)


def test_a_batch_whose_making_nobody_heard_of_is_found_again_and_not_sent_twice(world: World) -> None:
    world.ask("a", "b")
    world.server.batches.is_lost_after_create = True
    with pytest.raises(ModelUnavailableError):
        world.flush()
    world.server.batches.is_lost_after_create = False
    assert world.ask("a") == ["AnswerPendingError"]
    assert world.flush() == 0
    assert len(world.server.batches.by_id) == 1
    assert world.collect() == Collected(n_answered=2)
    assert world.server.duplicates == {}


def test_a_crash_before_anything_was_sent_is_told_from_one_after_it(world: World) -> None:
    world.ask("a", "b")
    keys = [question("a").key, question("b").key]
    world.queue.intend("small", keys, world.clock.now())
    assert world.flush() == 0, "it may yet turn up"
    world.clock.advance(61)
    assert world.flush() == 2
    assert len(world.server.batches.by_id) == 1


def test_a_lost_batch_is_found_behind_many_others(world: World) -> None:
    for number in range(150):
        world.server.batches.create({"endpoint": "/v1/chat/completions", "input_file_id": "x",
                                     "completion_window": "24h", "metadata": {"of": str(number)}})  # fmt: skip
    world.ask("a")
    batch_key = world.queue.intend("small", [question("a").key], world.clock.now())
    file = world.server.batches.add_file("batch", world.run(_line_of_a))
    first = {"endpoint": "/v1/chat/completions", "input_file_id": file["id"], "completion_window": "24h",
             "metadata": {"em_batch": batch_key}}  # fmt: skip
    made = world.server.batches.create(first)
    later = {name: batch for name, batch in world.server.batches.by_id.items() if name != made["id"]}
    world.server.batches.by_id = {made["id"]: made, **later}
    assert world.collect() == Collected(n_answered=1)


async def _line_of_a(_: ModelGateway, batches: BatchClient) -> bytes:
    return batches._line(question("a"))


def test_a_refused_batch_leaves_its_questions_in_the_queue(world: World) -> None:
    world.ask("a")
    world.server.refuses_files = True
    with pytest.raises(ModelRefusedError, match="sending a batch for the model small: HTTP 401"):
        world.flush()
    world.server.refuses_files = False
    assert world.flush() == 1


def test_collecting_that_is_killed_half_way_counts_nothing_twice(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(BaseException):
        pass

    world.ask("a", "b", "c")
    world.flush()
    real, kept = BatchQueue.answered, []

    def dying(self: BatchQueue, request: ChatRequest, *more: Any) -> bool:
        if len(kept) == 2:
            raise Killed
        kept.append(request)
        return real(self, request, *more)

    monkeypatch.setattr(BatchQueue, "answered", dying)
    with pytest.raises(Killed):
        world.collect()
    monkeypatch.setattr(BatchQueue, "answered", real)
    assert world.collect() == Collected(n_answered=1)
    assert world.store.spent_in_night(world.clock.now()).n_calls == 3


def test_batches_keep_to_their_limits_of_lines_and_bytes(world: World) -> None:
    texts = [str(number) for number in range(5)]
    world.ask(*texts)
    assert world.flush(max_batch_requests=2) == 5
    assert [len(world.server.batches.lines(name)) for name in world.server.batches.by_id] == [2, 2, 1]
    world.server.batches.by_id.clear()
    world.ask(*(text * 2 for text in texts))
    size = len(world.run(_line_of_a))
    assert world.flush(max_batch_bytes=3 * size) == 5
    assert [len(world.server.batches.lines(name)) for name in world.server.batches.by_id] == [2, 2, 1]


def test_models_have_batches_of_their_own(world: World) -> None:
    for model in ("small", "large"):
        world.queue.add(question("a", model=model))
    assert world.flush() == 2
    models = [{line["body"]["model"] for line in world.server.batches.lines(n)} for n in world.server.batches.by_id]
    assert models == [{"large"}, {"small"}]


def test_what_the_budget_has_no_room_for_waits(world: World) -> None:
    budget = {"max_calls_a_night": 2, "max_tokens_a_day": None}
    world.ask("a", "b", "c")
    assert world.flush(budget=budget) == 2
    world.collect()
    assert world.flush(budget=budget) == 0
    world.clock.advance(24 * 3600)
    assert world.flush(budget=budget) == 1
    world.ask("d", "e")
    few_tokens = question("d").n_prompt_tokens + 1 + world.store.spent_on_day("small", world.clock.now()).n_tokens
    few_tokens += question("c").n_prompt_tokens
    assert world.flush(budget={"max_tokens_a_day": few_tokens}) == 1


def test_answers_for_whom_was_forgotten_are_not_kept(world: World) -> None:
    world.ask("a")
    world.flush()
    world.store.forget_user("ines")
    assert world.collect() == Collected()
    assert world.store.calls() == []


def test_a_new_prompt_takes_the_place_of_one_that_still_waits(world: World) -> None:
    world.queue.add(question("old prompt"))
    world.queue.add(question("new prompt", prompt_version="2"))
    assert world.flush() == 1
    (line,) = world.server.batches.lines("batch_1")
    assert line["body"]["messages"][-1]["content"] == "new prompt"


def test_one_process_at_a_time_sends_or_collects(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resources.batch.LOCK_SECONDS", 0)
    with FileLock(world.store.database.path.with_suffix(".batches.lock")), pytest.raises(LockedError):
        world.flush()


def test_whether_something_can_be_collected_is_asked_without_changing_anything(world: World) -> None:
    world.server.batches.n_polls = 2
    world.ask("a")
    world.flush()
    answers = [world.run(lambda _, batches: batches.has_ended()) for _ in range(2)]
    assert answers == [False, True]
    assert len(world.queue.open_batches()) == 1
    world.collect()
    assert world.run(lambda _, batches: batches.has_ended()) is False


def test_a_ladder_climbs_from_batch_to_batch_and_asks_less_each_time(world: World) -> None:
    world.server.script = lambda call: answer("fine") if "half" in call.messages[-1]["content"] else truncated("cut")

    async def work(gateway: ModelGateway, _: BatchClient) -> Climb[str]:
        rungs = [lambda c=c: question(c) for c in ("all", "all", "half", "none")]
        return await climb(
            rungs,
            read_whole,
            gateway=gateway,
            store=world.store,
            clock=world.clock,
            settings=LlmSettings(mode="batch").retries,
        )

    ends = []
    for _ in range(4):
        ends.append(world.run(work).outcome)
        world.flush()
        world.collect()
    assert ends == [Outcome.PENDING, Outcome.PENDING, Outcome.PENDING, Outcome.ANSWERED]
    assert [call.messages[-1]["content"] for call in world.server.calls] == ["all", "all", "half"]
    assert world.clock.slept == [0.0, 0.0], "between batches there is nothing to wait for"


def read_whole(found: ChatAnswer) -> str:
    if found.finish_reason != "stop":
        raise UnusableAnswerError("reading an answer: it was cut; ask again")
    return found.text
