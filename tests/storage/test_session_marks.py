"""A conversation that crosses midnight is one: untrusted and pasted as a whole, whichever day says so, and when."""

import os
import time
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.interfaces.memory import Memory
from em_pipelines.storage.landed_log import LandedLog
from em_pipelines.storage.session_marks import FILE, SessionMarks
from tests.interfaces.agents.homes import run

BEFORE, AFTER = datetime(2026, 3, 2, 23, 50, tzinfo=UTC), datetime(2026, 3, 3, 0, 10, tzinfo=UTC)
LATER = datetime(2026, 4, 20, 9, 0, tzinfo=UTC)
PASTED = "From: Ole\nTo: all\nSubject: news\n> the ferry is late\n> and so are we\n\nI own a kayak."
Say = Callable[..., None]


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return Memory(tmp_path / "home", "ida")


def say(memory: Memory, turn: int, content: str, at: datetime, **fields: Any) -> None:
    memory.store_observation(content, session_id="s1", turn_number=turn, timestamp=at, **fields)


def known(memory: Memory) -> dict[str, float]:
    run(memory.home.path)
    opened = Memory(memory.home.path, "ida")
    return {fact["object"]: fact["confidence"] for fact in opened.facts(as_of=LATER.date())}


@pytest.mark.parametrize(
    "untrusted_at", [AFTER, pytest.param(LATER, marks=pytest.mark.slow)], ids=["past midnight", "weeks later"]
)
def test_an_untrusted_turn_makes_the_days_before_untrusted_too(memory: Memory, untrusted_at: datetime) -> None:
    say(memory, 0, "I live in Bergen.", BEFORE)
    assert "Bergen" in known(memory)
    say(memory, 1, "Here is what the page says.", untrusted_at, trust="untrusted", role="tool")
    assert known(memory) == {}


def test_an_untrusted_turn_makes_the_days_after_untrusted_too(memory: Memory) -> None:
    say(memory, 0, "Here is what the page says.", BEFORE, trust="untrusted", role="tool")
    say(memory, 1, "I live in Bergen.", AFTER)
    assert known(memory) == {}


@pytest.mark.slow
def test_another_conversation_on_the_same_days_is_not_concerned(memory: Memory) -> None:
    say(memory, 0, "Here is what the page says.", BEFORE, trust="untrusted", role="tool")
    memory.store_observation("I live in Bergen.", session_id="s2", timestamp=AFTER)
    assert "Bergen" in known(memory)


@pytest.mark.parametrize("is_pasted_first", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_blocks_pasted_on_one_day_keep_the_other_below_the_ceiling(memory: Memory, is_pasted_first: bool) -> None:
    said = [(0, PASTED, BEFORE), (1, "I live in Bergen.", AFTER)]
    if not is_pasted_first:
        said = [(0, "I live in Bergen.", BEFORE), (1, PASTED, AFTER)]
    for turn, content, at in said:
        say(memory, turn, content, at)
    run(memory.home.path)
    facts = {f["object"]: f["confidence"] for f in Memory(memory.home.path, "ida").facts(as_of=AFTER.date())}
    assert facts["Bergen"] <= 0.84


@pytest.mark.slow
def test_one_run_and_a_run_a_day_give_the_same(memory: Memory, tmp_path: Path) -> None:
    at_once = Memory(tmp_path / "at-once", "ida")
    said = [(0, "I live in Bergen.", BEFORE, {}), (1, PASTED, AFTER, {}),
            (2, "See this page.", LATER, {"trust": "untrusted"})]  # fmt: skip
    for turn, content, at, fields in said[:2]:
        say(memory, turn, content, at, **fields)
        run(memory.home.path)
        say(at_once, turn, content, at, **fields)
    assert known(memory) == known(at_once) != {}
    say(memory, *said[2][:3], **said[2][3])
    assert known(memory) == {}


def test_the_index_is_read_and_made_again_and_deleted(memory: Memory) -> None:
    say(memory, 0, "I live in Bergen.", BEFORE)
    say(memory, 1, "See this page.", AFTER, trust="untrusted")
    root = Path(memory.home.path, "log")
    for day in (root / "interactions").iterdir():
        an_hour_ago = time.time() - 3600
        os.utime(day, (an_hour_ago, an_hour_ago))
    log = LandedLog(root)
    first = dict(SessionMarks(log).of(date(2026, 3, 2)))
    assert list(first.values()) == [1]
    assert not SessionMarks(log).of(date(2026, 3, 3))
    assert (root / FILE).exists()
    for damage in (b"", b"[]", b'{"b3e12": 7}', b"\xff"):
        (root / FILE).write_bytes(damage)
        assert SessionMarks(log).of(date(2026, 3, 2)) == first
    assert "ida" not in (root / FILE).read_text()
    memory.forget(session_id="s1")
    assert not (root / FILE).exists() or not SessionMarks(log).of(date(2026, 3, 2))
