"""The memory of one user for asyncio: the methods of `Memory`, awaited.

Reading has one thread and writing another, so that no question waits for what is being learned. Calls of a kind wait in
line, none of them holding a thread of the loop's. A call that is cancelled in line never begins; one that has begun
goes on to its end, for a write that stops half-way would be worse, and may be made again: nothing is stored twice.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, Self, TypeVar, overload

from em_pipelines.governance.corrections import Fact, Given
from em_pipelines.interfaces.agents.adding import Added, Facts, Messages
from em_pipelines.interfaces.agents.observations import Observation, Stored
from em_pipelines.interfaces.agents.opening import open_home
from em_pipelines.interfaces.memory import ORIGIN, RUN_WAIT_SECONDS, WAIT_SECONDS, Memory
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.documents import Hit

if TYPE_CHECKING:
    import pandas as pd

    from em_pipelines.governance.erasure.certificate import Certificate
    from em_pipelines.interfaces.agents.learning import Learned
    from em_pipelines.retrieval.context.block import Block
    from em_pipelines.retrieval.recall_gate import Reason

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


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

    async def add(  # noqa: PLR0913  (as its twin)
        self,
        messages: Messages = (),
        *,
        facts: Facts = (),
        session_id: str | None = None,
        timestamp: datetime | str | None = None,
        learn: bool = False,
        wait_seconds: float = WAIT_SECONDS,
    ) -> Added:
        """As `Memory.add`."""
        how: dict[str, Any] = {"session_id": session_id, "timestamp": timestamp, "wait_seconds": wait_seconds}
        return await self.write(self.writing.add, messages, facts=facts, learn=learn, **how)

    async def run(self, *, wait_seconds: float = RUN_WAIT_SECONDS) -> "Learned":
        """As `Memory.run`."""
        return await self.write(self.writing.run, wait_seconds=wait_seconds)

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

    async def retrieve_memories(self, query: str, **how: Any) -> list[Hit]:
        """As `Memory.retrieve_memories`."""
        return await self.read(self.reading.retrieve_memories, query, **how)

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

    async def context(
        self, text: str, *, is_group: bool = False, thread: Sequence[str] = (), as_of: date | str | None = None
    ) -> "Block":
        """As `Memory.context`."""
        return await self.read(self.reading.context, text, is_group=is_group, thread=thread, as_of=as_of)

    @overload
    async def list_observations(self, *, as_frame: Literal[False] = ..., **wanted: Any) -> list[Observation]: ...
    @overload
    async def list_observations(self, *, as_frame: Literal[True], **wanted: Any) -> "pd.DataFrame": ...
    async def list_observations(self, *, as_frame: bool = False, **wanted: Any) -> "list[Observation] | pd.DataFrame":
        """As `Memory.list_observations`."""
        if as_frame:
            return await self.read(lambda: self.reading.list_observations(as_frame=True, **wanted))
        return await self.read(lambda: self.reading.list_observations(**wanted))

    async def search_by_tag(self, tag: str, *, limit: int = 50) -> list[Observation]:
        """As `Memory.search_by_tag`."""
        return await self.read(self.reading.search_by_tag, tag, limit=limit)

    async def store_observation(self, content: str, *, session_id: str, **fields: Any) -> Stored:
        """As `Memory.store_observation`."""
        return await self.write(self.writing.store_observation, content, session_id=session_id, **fields)

    async def store_messages(self, session_id: str, messages: Sequence[Mapping[str, Any]]) -> Stored:
        """As `Memory.store_messages`."""
        return await self.write(self.writing.store_messages, session_id, messages)

    async def add_facts(
        self,
        facts: Sequence[Mapping[str, Any]],
        *,
        session_id: str | None = None,
        timestamp: datetime | None = None,
    ) -> str:
        """As `Memory.add_facts`."""
        return await self.write(self.writing.add_facts, facts, session_id=session_id, timestamp=timestamp)

    async def archive_observation(self, session_id: str, turn_number: int, *, is_archived: bool = True) -> str:
        """As `Memory.archive_observation`."""
        return await self.write(self.writing.archive_observation, session_id, turn_number, is_archived=is_archived)

    async def tell(self, feedback: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
        """As `Memory.tell`."""
        return await self.write(self.writing.tell, list(feedback))

    async def bootstrap(self, *, as_of: date | None = None, is_group: bool = False) -> str:
        """As `Memory.bootstrap`."""
        return await self.read(self.reading.bootstrap, as_of=as_of, is_group=is_group)

    async def gate(self, text: str, **situation: Any) -> "Reason":
        """As `Memory.gate`; it counts, so it waits in line with what writes."""
        return await self.write(self.writing.gate, text, **situation)

    async def correct(self, new_object: str, **fact: Any) -> Given:
        """As `Memory.correct`."""
        return await self.write(self.writing.correct, new_object, **fact)

    async def confirm(self, **fact: Any) -> Given:
        """As `Memory.confirm`."""
        return await self.write(self.writing.confirm, **fact)

    async def retract(self, **fact: Any) -> Given:
        """As `Memory.retract`."""
        return await self.write(self.writing.retract, **fact)

    async def merge(self, name: str, into: str) -> Given:
        """As `Memory.merge`."""
        return await self.write(self.writing.merge, name, into)

    async def forget(self, **scope: Any) -> "Certificate":
        """As `Memory.forget`."""
        return await self.write(self.writing.forget, **scope)
