"""Breakers: when they open, what they let through, what counts."""

import asyncio

import pytest

from em_pipelines.errors import BreakerOpenError, ModelRefusedError, ModelUnavailableError
from em_pipelines.llm.breakers import Breaker, BreakerState, ModelBreakers
from em_pipelines.llm.clock import ManualClock
from em_pipelines.llm.settings import BreakerSettings, LlmSettings

FIGURES = BreakerSettings(n_failures=3, window_seconds=60, open_seconds=15)


def fail(breaker: Breaker, error: type[Exception] = ModelUnavailableError) -> None:
    with pytest.raises(error), breaker.calling():
        raise error("calling: failed; try again")


def succeed(breaker: Breaker) -> None:
    with breaker.calling():
        pass


@pytest.fixture
def breaker(clock: ManualClock) -> Breaker:
    return Breaker("graph_store", FIGURES, clock)


def test_it_opens_after_so_many_failures_in_the_window_and_says_until_when(
    breaker: Breaker, clock: ManualClock
) -> None:
    for _ in range(2):
        fail(breaker)
        clock.advance(20)
    assert breaker.state is BreakerState.CLOSED
    fail(breaker)
    assert breaker.state is BreakerState.OPEN
    clock.advance(5)
    with (
        pytest.raises(BreakerOpenError, match="left alone for a while, since 3 calls in a row") as refused,
        breaker.calling(),
    ):
        pytest.fail("was called")
    assert refused.value.retry_after_seconds == 10


def test_failures_older_than_the_window_do_not_count(breaker: Breaker, clock: ManualClock) -> None:
    for _ in range(5):
        fail(breaker)
        clock.advance(31)
    assert breaker.state is BreakerState.CLOSED


def test_a_success_in_between_shows_that_the_service_is_there(breaker: Breaker) -> None:
    for _ in range(5):
        fail(breaker)
        fail(breaker)
        succeed(breaker)
    assert breaker.state is BreakerState.CLOSED


def test_errors_that_say_nothing_of_the_service_do_not_count(breaker: Breaker) -> None:
    fail(breaker)
    fail(breaker)
    for _ in range(5):
        fail(breaker, ModelRefusedError)
    assert breaker.state is BreakerState.CLOSED
    fail(breaker)
    assert breaker.state is BreakerState.OPEN


def test_a_service_that_fails_slowly_is_as_down_as_one_that_fails_at_once(breaker: Breaker, clock: ManualClock) -> None:
    for wait in (0, 1, 5):
        clock.advance(wait)
        with pytest.raises(ModelUnavailableError), breaker.calling():
            clock.advance(300)
            raise ModelUnavailableError("asking: nothing came")
    with pytest.raises(BreakerOpenError, match="asking: nothing came; it is left alone for a while"), breaker.calling():
        pytest.fail("a call was let through")


def opened(breaker: Breaker, clock: ManualClock) -> None:
    for _ in range(3):
        fail(breaker)
    clock.advance(15)


def test_half_open_lets_one_call_through_and_closes_when_it_succeeds(breaker: Breaker, clock: ManualClock) -> None:
    opened(breaker, clock)
    assert breaker.state is BreakerState.HALF_OPEN
    with breaker.calling():
        assert breaker.state is BreakerState.HALF_OPEN
        with pytest.raises(BreakerOpenError), breaker.calling():
            pytest.fail("a second call was let through")
    assert breaker.state is BreakerState.CLOSED
    assert breaker.n_failed_trials == 0


def test_half_open_opens_again_when_the_trial_fails(breaker: Breaker, clock: ManualClock) -> None:
    opened(breaker, clock)
    fail(breaker)
    assert breaker.state is BreakerState.OPEN
    assert breaker.n_failed_trials == 1
    clock.advance(14)
    assert breaker.state is BreakerState.OPEN
    clock.advance(1)
    succeed(breaker)
    assert breaker.state is BreakerState.CLOSED


def test_a_trial_that_was_given_up_makes_room_for_the_next(breaker: Breaker, clock: ManualClock) -> None:
    opened(breaker, clock)
    with pytest.raises(KeyboardInterrupt), breaker.calling():
        raise KeyboardInterrupt
    assert breaker.state is BreakerState.HALF_OPEN
    succeed(breaker)
    assert breaker.state is BreakerState.CLOSED


def test_calls_from_before_it_opened_say_nothing_when_they_end(breaker: Breaker, clock: ManualClock) -> None:
    with breaker.calling():
        opened(breaker, clock)
    assert breaker.state is BreakerState.HALF_OPEN


def test_whoever_waits_hears_of_the_end_of_the_trial(breaker: Breaker, clock: ManualClock) -> None:
    async def wait() -> BreakerState:
        with breaker.calling():
            waiting = asyncio.create_task(breaker.trial_ended())
            await asyncio.sleep(0)
            assert not waiting.done()
        await waiting
        await breaker.trial_ended()
        return breaker.state

    opened(breaker, clock)
    assert asyncio.run(wait()) is BreakerState.CLOSED


def test_small_and_large_models_have_figures_of_their_own(clock: ManualClock) -> None:
    breakers = ModelBreakers(LlmSettings(small="s", large="l"), clock)
    found = {name: (breakers.of(name).name, breakers.of(name).settings) for name in ("s", "l")}
    assert {name: (title, f.n_failures, f.window_seconds, f.open_seconds) for name, (title, f) in found.items()} == {
        "s": ("llm_small", 3, 60, 15),
        "l": ("llm_large", 2, 60, 60),
    }
    assert breakers.of("s") is breakers.of("s")
    only = ModelBreakers(LlmSettings(small="s", large="s"), clock)
    assert only.of("s").name == "llm_small"
