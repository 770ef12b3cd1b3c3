"""Questions and openings as agents get them in Python: handed out once, the others kept back with a reason."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from em_pipelines.interfaces.async_memory import AsyncMemory
from em_pipelines.interfaces.memory import Memory
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings

NEVER_QUIET = {"quiet_from_hour": 0, "quiet_until_hour": 0}
TEXTS = (
    "I live in Graz.", "I work at Fjordbank.", "I have a dog called Bosse.", "My sister Dana lives in Vienna.",
    "I'm planning a trip to Lisbon.",
)  # fmt: skip


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    home = Pipeline(load_settings(home=tmp_path / "home", proactive=NEVER_QUIET))
    made = Memory(home, "ines")
    yesterday = datetime.now(UTC) - timedelta(days=1)
    said = [{"role": "user", "content": text} for text in TEXTS]
    assert made.add(said, session_id="s0", timestamp=yesterday, learn=True).is_learned
    home.refresh_proactive()
    return made


def test_one_question_a_conversation_and_two_a_day_are_handed_out(memory: Memory) -> None:
    (first,) = memory.probes(session_id="s1", turn_number=5).rows
    again = memory.probes(session_id="s1", turn_number=6)
    assert [row["probe_id"] for row in again.rows] == [first["probe_id"]]  # who asks twice gets the same
    assert {one.why_not for one in again.kept_back} == {"frequency_limit"}
    (second,) = memory.probes(session_id="s2", turn_number=5).rows
    assert second["probe_id"] != first["probe_id"]
    third = memory.probes(session_id="s3", turn_number=5)
    assert (third.rows, third.why_none) == ((), "frequency_limit")


@pytest.mark.slow
def test_nothing_is_asked_among_others_too_early_or_of_whom_nothing_is_known(memory: Memory) -> None:
    assert memory.probes(is_group=True).why_none == "group_conversation"
    assert memory.probes(session_id="s1", turn_number=0).why_none == "too_early_in_conversation"
    nobody = Memory(memory.home, "otto").probes()
    assert (nobody.rows, nobody.why_none) == ((), "nothing_waits")


@pytest.mark.slow
def test_openings_say_why_there_are_none(memory: Memory) -> None:
    found = memory.starters(limit=3)
    assert len(found.rows) <= 1 or found.why_none is None
    assert found.rows or found.why_none is not None


@pytest.mark.slow
def test_the_same_without_blocking(memory: Memory) -> None:
    async def ask() -> tuple[int, str | None]:
        async with AsyncMemory(memory.home, "ines") as told:
            asked = await told.probes(session_id="s1", turn_number=5)
            early = await told.probes(session_id="s2", turn_number=0)
            return len(asked.rows), early.why_none

    assert asyncio.run(ask()) == (1, "too_early_in_conversation")


@pytest.mark.slow
def test_the_block_asks_after_the_answer_and_counts_it_in_a_session_alone(memory: Memory) -> None:
    text = "What should I pack for my trip to Lisbon?"
    looked = [memory.context(text, turn_number=4) for _ in range(2)]
    assert looked[0].probe_ids == looked[1].probe_ids
    assert len(looked[0].probe_ids) == 1
    assert 'ask="after answering"' in looked[0].text
    assert memory.context(text, is_group=True).probe_ids == ()
    assert memory.context(text, as_of=datetime.now(UTC).date()).probe_ids == ()
    asked = memory.context(text, session_id="s1", turn_number=4)
    assert asked.probe_ids == looked[0].probe_ids
    for session in ("s2", "s3"):
        later = memory.context(text, session_id=session, turn_number=4).probe_ids
    assert later == ()  # two a day, and both were asked
