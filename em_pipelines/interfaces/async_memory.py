"""The memory of one user for asyncio: the methods of `Memory`, awaited.

Reading has one thread and writing another, so that no question waits for what is being learned. Calls of a kind wait in
line, none of them holding a thread of the loop's. A call that is cancelled in line never begins; one that has begun
goes on to its end, for a write that stops half-way would be worse, and may be made again: nothing is stored twice.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, Self, TypeVar, overload

from em_pipelines.governance.corrections import Fact
from em_pipelines.interfaces.agents.observations import Observation
from em_pipelines.interfaces.agents.opening import open_home
from em_pipelines.interfaces.memory import ORIGIN, Memory
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.documents import Hit

if TYPE_CHECKING:
    import pandas as pd

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


def _reads(
    method: Callable[Concatenate[Memory, Asked], Answer],
) -> Callable[Concatenate["AsyncMemory", Asked], Coroutine[Any, Any, Answer]]:
    """The twin of a method that reads: the same arguments and answer, in line with all other reading."""

    @wraps(method)
    async def twin(self: "AsyncMemory", /, *given: Asked.args, **named: Asked.kwargs) -> Answer:
        return await self.read(method, self.reading, *given, **named)

    return twin


def _writes(
    method: Callable[Concatenate[Memory, Asked], Answer],
) -> Callable[Concatenate["AsyncMemory", Asked], Coroutine[Any, Any, Answer]]:
    """The twin of a method that writes, in line with all other writing."""

    @wraps(method)
    async def twin(self: "AsyncMemory", /, *given: Asked.args, **named: Asked.kwargs) -> Answer:
        return await self.write(method, self.writing, *given, **named)

    return twin


class AsyncMemory:
    """What one user's memory holds and takes in, for asyncio; arguments, answers and errors are those of `Memory`.

    Work for `read` may use `reading`, work for `write` `writing`: each is its thread's alone.

    Several may be open on one home, in one process or many: the home's locks hold between them. `async with`, or
    `aclose`, ends its threads when what they do is done.
    """

    def __init__(
        self,
        home: Pipeline | Path | str,
        user: str,
        *,
        actor: str = "user",
        origin: str = ORIGIN,
        domain: str | None = None,
    ) -> None:
        opened = home if isinstance(home, Pipeline) else open_home(home)
        self.reading, self.writing = (
            Memory(opened.another(), user, actor=actor, origin=origin, domain=domain) for _ in range(2)
        )
        self._reads = ThreadPoolExecutor(1, "memory-reads")
        self._writes = ThreadPoolExecutor(1, "memory-writes")

    @property
    def user(self) -> str:
        """Whose memory it is."""
        return self.reading.user

    @property
    def domain(self) -> str | None:
        """The domain that bounds it, if one does."""
        return self.reading.domain

    def __repr__(self) -> str:
        return f"Async{self.reading!r}"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Waits for calls that have begun, drops those in line, and ends the threads. It cannot be used afterwards."""
        for threads, memory in ((self._reads, self.reading), (self._writes, self.writing)):
            await asyncio.to_thread(threads.shutdown, cancel_futures=True)
            memory.close()

    async def read(self, work: Callable[Asked, Answer], /, *given: Asked.args, **named: Asked.kwargs) -> Answer:
        """Does work that reads, in line with all other reading."""
        return await asyncio.get_running_loop().run_in_executor(self._reads, partial(work, *given, **named))

    async def write(self, work: Callable[Asked, Answer], /, *given: Asked.args, **named: Asked.kwargs) -> Answer:
        """Does work that writes, in line with all other writing."""
        return await asyncio.get_running_loop().run_in_executor(self._writes, partial(work, *given, **named))

    @overload
    async def search(
        self, query: str, *, k: int | None = ..., as_frame: Literal[False] = ..., **how: Any
    ) -> list[Hit]: ...
    @overload
    async def search(
        self, query: str, *, k: int | None = ..., as_frame: Literal[True], **how: Any
    ) -> "pd.DataFrame": ...
    async def search(
        self, query: str, *, k: int | None = None, as_frame: bool = False, **how: Any
    ) -> "list[Hit] | pd.DataFrame":
        """As `Memory.search`."""
        if as_frame:
            return await self.read(lambda: self.reading.search(query, k=k, as_frame=True, **how))
        return await self.read(lambda: self.reading.search(query, k=k, **how))

    @overload
    async def facts(
        self,
        *,
        as_of: date | str | None = ...,
        known_at: date | str | None = ...,
        entity: str | None = ...,
        is_all: bool = ...,
        as_frame: Literal[False] = ...,
    ) -> list[Fact]: ...
    @overload
    async def facts(
        self,
        *,
        as_of: date | str | None = ...,
        known_at: date | str | None = ...,
        entity: str | None = ...,
        is_all: bool = ...,
        as_frame: Literal[True],
    ) -> "pd.DataFrame": ...
    async def facts(
        self,
        *,
        as_of: date | str | None = None,
        known_at: date | str | None = None,
        entity: str | None = None,
        is_all: bool = False,
        as_frame: bool = False,
    ) -> "list[Fact] | pd.DataFrame":
        """As `Memory.facts`."""
        asked = partial(self.reading.facts, as_of=as_of, known_at=known_at, entity=entity, is_all=is_all)
        if as_frame:
            return await self.read(lambda: asked(as_frame=True))
        return await self.read(asked)

    @overload
    async def list_observations(self, *, as_frame: Literal[False] = ..., **wanted: Any) -> list[Observation]: ...
    @overload
    async def list_observations(self, *, as_frame: Literal[True], **wanted: Any) -> "pd.DataFrame": ...
    async def list_observations(self, *, as_frame: bool = False, **wanted: Any) -> "list[Observation] | pd.DataFrame":
        """As `Memory.list_observations`."""
        if as_frame:
            return await self.read(lambda: self.reading.list_observations(as_frame=True, **wanted))
        return await self.read(lambda: self.reading.list_observations(**wanted))

    add = _writes(Memory.add)
    run = _writes(Memory.run)
    store_observation = _writes(Memory.store_observation)
    store_messages = _writes(Memory.store_messages)
    archive_observation = _writes(Memory.archive_observation)
    add_facts = _writes(Memory.add_facts)
    tell = _writes(Memory.tell)
    correct = _writes(Memory.correct)
    confirm = _writes(Memory.confirm)
    retract = _writes(Memory.retract)
    merge = _writes(Memory.merge)
    split = _writes(Memory.split)
    forget = _writes(Memory.forget)
    accept_imported = _writes(Memory.accept_imported)
    reject_imported = _writes(Memory.reject_imported)
    gate = _writes(Memory.gate)  # it counts
    probes = _writes(Memory.probes)  # what is handed out counts as asked
    starters = _writes(Memory.starters)
    retrieve_memories = _reads(Memory.retrieve_memories)
    search_by_tag = _reads(Memory.search_by_tag)
    list_imported = _reads(Memory.list_imported)
    context = _reads(Memory.context)
    bootstrap = _reads(Memory.bootstrap)
    faded = _reads(Memory.faded)
