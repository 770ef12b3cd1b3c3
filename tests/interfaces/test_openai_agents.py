"""Memory as a session of OpenAI's Agents SDK: the SDK's own runner, a scripted model, and what becomes of the log."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from agents.memory import Session, SessionSettings
from agents.run_internal.session_persistence import rewind_session_items
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from em_pipelines.errors import UsageError
from em_pipelines.interfaces.async_memory import AsyncMemory
from em_pipelines.interfaces.memory import Memory
from em_pipelines.interfaces.openai_agents import MemorySession

CALL = "call_aB3dE5fG7hI9jK1lM3nO5pQ7"
QUIET = RunConfig(tracing_disabled=True)


class Scripted(Model):
    """Answers with what the script says, in order, and notes what it was asked."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.asked: list[list[Any]] = []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        self.asked.append(input if isinstance(input, list) else [input])
        return ModelResponse(output=[self.script.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def says(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(
        id="msg_68af4a9b2c7c8190a2b3", content=[part], role="assistant", status="completed", type="message"
    )


def calls(name: str, arguments: str) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(call_id=CALL, name=name, arguments=arguments, type="function_call", id="fc_68af4a")


@function_tool
def tram(place: str) -> str:
    """When the next tram goes."""
    return f"At 8:15 to {place}."


def words(items: Sequence[Any]) -> list[Any]:
    return [item.get("content", item.get("type")) for item in items]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def test_the_runner_goes_on_where_it_left_and_facts_are_learned(home: Path) -> None:
    model = Scripted(says("Noted."), calls("tram", '{"place": "Linz"}'), says("At 8:15."), says("Graz, you said."))
    agent = Agent("helper", model=model, tools=[tram])

    async def talk() -> list[Any]:
        for said in ("My sister Dana lives in Graz.", "When does the tram to Linz go?"):
            await Runner.run(agent, said, session=MemorySession("s1", home, "nora"), run_config=QUIET)
        session = MemorySession("s1", home, "nora", learn=True)
        await Runner.run(agent, "Where does Dana live?", session=session, run_config=QUIET)
        return list(await session.get_items())

    items = asyncio.run(talk())
    assert model.asked[-1] == items[:-1]
    assert [item.get("type", item.get("role")) for item in items] == [
        "user", "message", "user", "function_call", "function_call_output", "message", "user", "message"
    ]  # fmt: skip
    assert items[3]["call_id"] == items[4]["call_id"] == CALL
    assert items[-1]["id"] == "msg_68af4a9b2c7c8190a2b3"
    memory = Memory(home, "nora")
    assert ("Dana", "lives_in", "Graz") in {(f["subject"], f["relation"], f["object"]) for f in memory.facts()}
    assert "Graz, you said." in {one.content for one in memory.list_observations()}


ITEMS: list[Any] = [
    {"role": "user", "content": "Hallo, grüß dich! 🌍"},
    {"role": "user", "content": "Hallo, grüß dich! 🌍"},
    {"role": "developer", "content": "Be brief."},
    {"role": "user", "content": [{"type": "input_text", "text": "Look."}, {"type": "input_image", "image_url": "x"}]},
    {"type": "reasoning", "id": "rs_68af4a9b2c7c8190a2b3c4d5", "summary": [{"type": "summary_text", "text": "Hm."}]},
    {"type": "function_call", "call_id": CALL, "name": "tram", "arguments": "{}", "id": "fc_1234"},
    {"type": "function_call_output", "call_id": CALL, "output": "At 8:15."},
    {"role": "assistant", "content": ""},
    {"role": "assistant", "content": "Bye.", "status": "completed"},
]


def test_items_come_back_as_they_went_in(home: Path) -> None:
    async def keep() -> None:
        session = MemorySession("s1", home, "nora")
        assert isinstance(session, Session)
        assert await session.get_items() == []
        assert await session.pop_item() is None
        await session.clear_session()
        await session.add_items([])
        await session.add_items(ITEMS[:3])
        await session.add_items(ITEMS[3:])
        assert await session.get_items() == ITEMS
        assert await session.get_items(limit=2) == ITEMS[-2:]
        assert await session.get_items(limit=0) == []
        assert await session.get_items(limit=99) == ITEMS
        limited = MemorySession("s1", session.memory, session_settings=SessionSettings(limit=1))
        assert await limited.get_items() == ITEMS[-1:]
        assert await MemorySession("s2", home, "nora").get_items() == []
        assert await MemorySession("s1", home, "ivo").get_items() == []

    asyncio.run(keep())


def test_what_is_popped_is_told_no_more_and_what_comes_then_stands(home: Path) -> None:
    async def pop() -> None:
        session = MemorySession("s1", home, "nora")
        await session.add_items(ITEMS)
        assert [await session.pop_item() for _ in ITEMS[4:]] == ITEMS[:3:-1]
        assert await session.get_items() == ITEMS[:4]
        await session.add_items(ITEMS[8:])
        assert await session.get_items() == [*ITEMS[:4], ITEMS[8]]

    asyncio.run(pop())
    memory = Memory(home, "nora")
    assert "At 8:15." not in repr(memory.list_observations())
    assert "At 8:15." in repr(memory.list_observations(is_archived=True))


def test_the_sdk_can_rewind_what_it_wrote(home: Path) -> None:
    async def rewind() -> None:
        session = MemorySession("s1", home, "nora")
        await session.add_items(ITEMS)
        await rewind_session_items(session, ITEMS[5:])
        assert await session.get_items() == ITEMS[:5]

    asyncio.run(rewind())


@pytest.mark.slow
@pytest.mark.parametrize("erases", [False, True])
def test_a_cleared_conversation_is_empty_and_goes_on(home: Path, erases: bool) -> None:
    async def clear() -> None:
        session = MemorySession("s1", home, "nora", learn=True, erases=erases)
        await session.add_items([{"role": "user", "content": "I live in Graz."}])
        await MemorySession("s2", session.memory).add_items([{"role": "user", "content": "I like rye."}])
        await session.clear_session()
        assert await session.get_items() == []
        await session.add_items([{"role": "user", "content": "Hello again."}])
        assert words(await session.get_items()) == ["Hello again."]
        assert words(await MemorySession("s2", session.memory).get_items()) == ["I like rye."]

    asyncio.run(clear())
    said = {(fact["relation"], fact["object"]) for fact in Memory(home, "nora").facts()}
    assert (("lives_in", "Graz") in said) is not erases
    raw = b"".join(path.read_bytes() for path in (home / "log").rglob("*.jsonl"))
    assert (b"I live in Graz." in raw) is not erases


def test_what_strangers_wrote_makes_a_conversation_untrusted(home: Path) -> None:
    async def browse() -> None:
        session = MemorySession("s1", home, "nora", learn=True)
        await session.add_items([{"type": "web_search_call", "id": "ws_1234", "status": "completed"}])
        await session.add_items([{"role": "user", "content": "I live in Graz."}])

    asyncio.run(browse())
    assert not Memory(home, "nora").facts()


def test_secrets_come_back_masked(home: Path) -> None:
    async def tell() -> list[Any]:
        session = MemorySession("s1", home, "nora")
        await session.add_items([{"role": "user", "content": "my password is hunter2secret!"}])
        await session.add_items(
            [{"type": "function_call_output", "call_id": CALL, "output": "password: hunter2secret!"}]
        )
        return list(await session.get_items())

    assert "hunter2secret" not in repr(asyncio.run(tell()))
    assert not [p for p in home.rglob("*") if p.is_file() and b"hunter2secret" in p.read_bytes()]


@pytest.mark.slow
def test_an_erased_name_leaves_no_item_that_says_it(home: Path) -> None:
    Memory(home, "nora").add("My friend Torvald lives in Bergen.", session_id="s0", learn=True)
    said = [
        {"role": "user", "content": "Call Torvald."},
        {"type": "function_call_output", "call_id": CALL, "output": "Torvald is out."},
        {"role": "assistant", "content": "Torvald is out. Anything else?", "status": "completed"},
        {"role": "user", "content": "No."},
    ]

    async def forget() -> list[Any]:
        session = MemorySession("s1", home, "nora")
        await session.add_items(said)  # type: ignore[arg-type]
        await session.memory.forget(entity="Torvald")
        return list(await session.get_items())

    items = asyncio.run(forget())
    assert "Torvald" not in repr(items)
    assert items[-1] == said[-1]
    assert not [p for p in home.rglob("*") if p.is_file() and b"Torvald" in p.read_bytes()]


def test_messages_of_other_ways_in_are_in_the_conversation(home: Path) -> None:
    Memory(home, "nora").add(["Hello.", {"role": "tool", "content": "{}"}], session_id="s1")
    assert asyncio.run(MemorySession("s1", home, "nora").get_items()) == [{"role": "user", "content": "Hello."}]


def test_tasks_of_two_memories_lose_nothing(home: Path) -> None:
    async def both() -> list[Any]:
        sessions = [MemorySession("s1", AsyncMemory(home, "nora")) for _ in range(2)]
        said = [[{"role": "user", "content": f"{n} of {who}"}] for who in range(2) for n in range(5)]
        await asyncio.gather(*(sessions[n % 2].add_items(items) for n, items in enumerate(said)))
        return words(await sessions[0].get_items())

    assert sorted(asyncio.run(both())) == sorted(f"{n} of {who}" for who in range(2) for n in range(5))


@pytest.mark.parametrize("wrong", [{}, "Hello.", {"type": "x", "value": {1, 2}}, {"role": "user", "content": "\ud800"}])
def test_what_is_no_item_is_refused_with_all_that_came_with_it(home: Path, wrong: Any) -> None:
    async def keep() -> None:
        session = MemorySession("s1", home, "nora")
        with pytest.raises(UsageError):
            await session.add_items([{"role": "user", "content": "Fine."}, wrong])
        assert await session.get_items() == []

    asyncio.run(keep())
    with pytest.raises(UsageError, match="whose"):
        MemorySession("s1", home)
