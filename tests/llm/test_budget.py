"""Budgets: what counts, when a warning comes, when calls stop."""

import pytest

from em_pipelines.errors import BudgetSpentError
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.batch_queue import BatchQueue
from em_pipelines.llm.budget import Budget, BudgetUse
from em_pipelines.llm.clock import ManualClock
from em_pipelines.llm.protocol import ChatAnswer
from em_pipelines.llm.settings import BudgetSettings
from tests.model_server.questions import question

NO_LIMIT = {"max_tokens_a_day": None, "max_calls_a_night": None, "max_usd_a_night": None}


def spend(store: AnswerStore, clock: ManualClock, n_tokens: int, *, model: str = "small", usd: float = 0.0) -> None:
    request = question(f"{n_tokens} {model} {usd} {len(store.calls())}", model=model)
    store.save(request, ChatAnswer(request.key, "{}", "stop", n_tokens - 1, 1, 1.0, usd), clock.now())


def budget(store: AnswerStore, clock: ManualClock, warned: list[BudgetUse] | None = None, **limits: object) -> Budget:
    heard = warned if warned is not None else []
    return Budget(store, BudgetSettings(**{**NO_LIMIT, **limits}), clock, heard.append)  # type: ignore[arg-type]


def test_tokens_of_a_day_are_counted_for_each_model_and_begin_anew_at_midnight(
    store: AnswerStore, clock: ManualClock
) -> None:
    small = budget(store, clock, max_tokens_a_day=100)
    spend(store, clock, 100)
    with pytest.raises(BudgetSpentError, match=r"100 tokens a day of small is spent \(2026-01-01: 100\); the work"):
        small.check("small")
    small.check("large")
    clock.advance(24 * 3600)
    small.check("small")


def test_calls_and_dollars_of_a_night_are_counted_over_all_models_until_noon(
    store: AnswerStore, clock: ManualClock
) -> None:
    spend(store, clock, 10, model="small", usd=0.6)
    spend(store, clock, 10, model="large", usd=0.5)
    budget(store, clock, max_calls_a_night=3, max_usd_a_night=1.2).check("small")
    with pytest.raises(BudgetSpentError, match="2 calls a night"):
        budget(store, clock, max_calls_a_night=2).check("small")
    with pytest.raises(BudgetSpentError, match=r"1\.1 dollars a night"):
        budget(store, clock, max_usd_a_night=1.1).check("small")
    clock.advance(11.9 * 3600)
    with pytest.raises(BudgetSpentError):
        budget(store, clock, max_calls_a_night=2).check("small")
    clock.advance(0.1 * 3600)
    budget(store, clock, max_calls_a_night=2, max_usd_a_night=1.1).check("small")


def test_a_warning_comes_once_a_period_at_nine_tenths(store: AnswerStore, clock: ManualClock) -> None:
    warned: list[BudgetUse] = []
    watched = budget(store, clock, warned, max_tokens_a_day=100)
    spend(store, clock, 89)
    watched.check("small")
    assert warned == []
    spend(store, clock, 2)
    for _ in range(3):
        watched.check("small")
    assert warned == [BudgetUse("tokens a day of small", "2026-01-01", 91, 100)]
    clock.advance(24 * 3600)
    spend(store, clock, 95)
    watched.check("small")
    assert [use.period for use in warned] == ["2026-01-01", "2026-01-02"]


def test_the_call_that_reaches_the_mark_warns_when_it_ends(store: AnswerStore, clock: ManualClock) -> None:
    warned: list[BudgetUse] = []
    watched = budget(store, clock, warned, max_calls_a_night=1)
    with watched.calling(question()):
        spend(store, clock, 10)
    assert [use.name for use in warned] == ["calls a night"]


def test_calls_at_work_count(store: AnswerStore, clock: ManualClock) -> None:
    shared = budget(store, clock, max_calls_a_night=2)
    with (
        shared.calling(question("one")),
        shared.calling(question("two")),
        pytest.raises(BudgetSpentError),
        shared.calling(question("three")),
    ):
        pytest.fail("a third call was made")
    with shared.calling(question("three")):
        pass


def test_requests_in_batches_count_and_tell_how_much_room_is_left(store: AnswerStore, clock: ManualClock) -> None:
    queue = BatchQueue(store.database)
    requests = [question(str(number)) for number in range(3)]
    for request in requests:
        queue.add(request)
    shared = budget(store, clock, max_calls_a_night=10, max_tokens_a_day=1000)
    assert shared.room("small") == (10, 1000)
    queue.intend("small", [requests[0].key, requests[1].key], clock.now())
    assert shared.room("small") == (8, 1000 - 2 * requests[0].n_prompt_tokens)
    assert shared.room("large") == (8, 1000)
    assert budget(store, clock).room("small") == (float("inf"), float("inf"))


def test_no_limit_of_zero_lets_anything_through(store: AnswerStore, clock: ManualClock) -> None:
    with pytest.raises(BudgetSpentError):
        budget(store, clock, max_usd_a_night=0).check("small")
    assert budget(store, clock, max_usd_a_night=0).room("small") == (0.0, 0.0)
