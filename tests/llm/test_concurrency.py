"""How many calls are sent at once: simulated endpoints of one slot, of two, and of many."""

import asyncio
import heapq

import pytest

from em_pipelines.llm.concurrency import ConcurrencyLimit


def simulated(n_slots: int, n_calls: int, seconds: float = 10.0, max_calls: int = 8) -> list[int]:
    """The limits after each answer of an endpoint that answers `n_slots` calls at a time, in simulated time."""
    limit, now = ConcurrencyLimit(max_calls), 0.0
    at_work: list[tuple[float, float]] = []  # (end, begin)
    free_at = [0.0] * n_slots
    limits: list[int] = []
    while len(limits) < n_calls:
        while len(at_work) < limit.limit:
            begin = max(now, heapq.heappop(free_at))
            heapq.heappush(free_at, begin + seconds)
            heapq.heappush(at_work, (begin + seconds, now))
        limit.n_at_work = len(at_work)
        now, begun = heapq.heappop(at_work)
        limit.answered(now - begun, 2000, 300)
        limits.append(limit.limit)
    return limits


def test_one_slot_is_soon_asked_one_question_at_a_time() -> None:
    limits = simulated(1, 60)
    assert max(limits) <= 2
    assert limits.count(1) >= 0.8 * len(limits)


def test_many_slots_are_soon_all_used() -> None:
    limits = simulated(100, 30)
    assert limits[0] == 2
    assert limits[-1] == max(limits) == 8
    assert limits.index(8) < 14
    assert max(simulated(100, 60, max_calls=3)) == 3


def test_a_few_slots_are_found() -> None:
    limits = simulated(4, 200)
    assert 2 <= sum(limits[20:]) / len(limits[20:]) <= 6


def test_a_rate_limit_halves_it_and_it_grows_back_by_one() -> None:
    limit = ConcurrencyLimit(8)
    for _ in range(20):
        limit.answered(1, 100, 10)
    assert limit.limit == 8
    limit.overloaded()
    limit.overloaded()
    assert limit.limit == 2
    for _ in range(60):
        limit.answered(1, 100, 10)
    assert 3 <= limit.limit <= 8


def test_calls_wait_for_a_slot_and_a_cancelled_one_takes_none() -> None:
    limit = ConcurrencyLimit(8)
    order: list[str] = []

    async def call(name: str, done: asyncio.Event) -> None:
        async with limit.slot():
            order.append(name)
            await done.wait()

    async def calling() -> None:
        done = asyncio.Event()
        first, second, third = (asyncio.create_task(call(name, done)) for name in "abc")
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        assert order == ["a"]
        done.set()
        await asyncio.gather(first, third)
        with pytest.raises(asyncio.CancelledError):
            await second

    asyncio.run(calling())
    assert order == ["a", "c"]
    order.clear()
    asyncio.run(calling())  # in another loop


def test_who_is_cancelled_as_a_slot_comes_free_leaves_it_to_the_next() -> None:
    limit = ConcurrencyLimit(8)

    async def calling() -> None:
        entered = asyncio.Event()

        async def wait() -> None:
            async with limit.slot():
                entered.set()

        async with limit.slot():
            one, other = asyncio.create_task(wait()), asyncio.create_task(wait())
            await asyncio.sleep(0)
        one.cancel()
        await asyncio.wait_for(other, 5)
        assert entered.is_set()

    asyncio.run(calling())
