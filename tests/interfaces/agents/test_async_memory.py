"""Memory for asyncio: what is concurrent, what is in line, and what becomes of a call that is cancelled."""

import asyncio
import inspect
import threading
from pathlib import Path

import pytest

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.async_memory import AsyncMemory
from em_pipelines.interfaces.memory import Memory

N_TURNS = 12


def test_it_has_every_method_of_memory() -> None:
    public = {name for name, _ in inspect.getmembers(Memory, callable) if not name.startswith("_")}
    assert public - {"close"} <= {name for name in dir(AsyncMemory) if not name.startswith("_")}


@pytest.mark.slow
def test_methods_answer_as_those_of_memory_do(nora: Memory) -> None:
    async def ask() -> None:
        async with AsyncMemory(nora.home.path, "nora") as memory:
            assert repr(memory) == f"AsyncMemory({str(nora.home.path)!r}, 'nora')"
            assert await memory.facts() == nora.facts()
            assert await memory.search("cloudberries") == nora.search("cloudberries")
            assert (await memory.context("Where do I live?")).text == nora.context("Where do I live?").text
            assert await memory.list_observations() == nora.list_observations()
            assert list(await memory.facts(as_frame=True)) == list(nora.facts(as_frame=True))
            added = await memory.add("I work at Nordlys.", session_id="s7", learn=True)
            assert added.is_learned
            assert "Nordlys" in {fact["object"] for fact in await memory.facts()}
            await memory.retract(relation="works_at", object="Nordlys")
            assert "Nordlys" not in {fact["object"] for fact in await memory.facts()}
            with pytest.raises(UsageError):
                await memory.archive_observation("s7", 9)
            assert (await memory.forget(session_id="s7")).result == "erased"

    asyncio.run(ask())


@pytest.mark.slow
def test_tasks_and_memories_of_one_home_lose_nothing(home: Path) -> None:
    async def talk(memory: AsyncMemory, session_id: str) -> None:
        for n in range(N_TURNS):
            await memory.add(f"I saw bird {n}.", session_id=session_id, learn=n == N_TURNS // 2)
            await memory.facts()

    async def meet() -> list[list[int]]:
        async with AsyncMemory(home, "nora") as one, AsyncMemory(home, "nora") as other:
            await asyncio.gather(talk(one, "a"), talk(one, "b"), talk(other, "a"), talk(other, "c"))
            return [
                [said.turn_number for said in await one.list_observations(session_id=name)] for name in ("a", "b", "c")
            ]

    assert asyncio.run(meet()) == [[*range(N_TURNS)][::-1]] * 3


def test_reading_does_not_wait_for_writing(home: Path) -> None:
    async def both() -> None:
        async with AsyncMemory(home, "nora") as memory:
            goes_on = threading.Event()
            writing = asyncio.create_task(memory.write(goes_on.wait, 60))
            assert await asyncio.wait_for(memory.facts(), 60)
            assert not writing.done()
            goes_on.set()
            assert await writing

    asyncio.run(both())


def test_a_call_that_is_cancelled_in_line_never_begins_and_one_that_has_begun_ends(home: Path) -> None:
    async def cancel() -> None:
        async with AsyncMemory(home, "nora") as memory:
            began, goes_on = threading.Event(), threading.Event()

            def slow() -> None:
                began.set()
                goes_on.wait(60)
                memory.writing.add("I saw a crane.", session_id="begun")

            begun = asyncio.create_task(memory.write(slow))
            in_line = asyncio.create_task(memory.add("I saw a heron.", session_id="in line"))
            await asyncio.to_thread(began.wait, 60)
            for task in (begun, in_line):
                task.cancel()
            await asyncio.gather(begun, in_line, return_exceptions=True)
            assert begun.cancelled()
            assert in_line.cancelled()
            goes_on.set()
            assert (await memory.add("I saw a crane.", session_id="begun")).skipped == 1
            assert [one.session_id for one in await memory.list_observations(limit=1)] == ["begun"]

    asyncio.run(cancel())
    assert not Memory(home, "nora").list_observations(session_id="in line")


def test_it_may_be_used_by_one_loop_after_the_other(home: Path) -> None:
    memory = AsyncMemory(home, "nora")
    first = asyncio.run(memory.facts())
    assert asyncio.run(memory.facts()) == first
    asyncio.run(memory.aclose())
    with pytest.raises(RuntimeError):
        asyncio.run(memory.facts())


def test_learning_inside_a_loop_is_no_matter(nora: Memory) -> None:
    async def cell() -> bool:
        return nora.add("I work at Nordlys.", session_id="s7", learn=True).is_learned

    assert asyncio.run(cell())
