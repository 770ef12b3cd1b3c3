"""Which days a conversation has landed on: found without reading the log, and never missed."""

import os
import time
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from em_pipelines.landing.intake import FILE, SessionIndex
from em_pipelines.storage.landed_log import LandedLog

HOUR_NS = 3_600_000_000_000


def day(number: int) -> date:
    """day(3): the third of March 2026, and on from there."""
    return date(2026, 3, 1) + timedelta(days=number - 1)


def message(session: str, number: int, turn: int = 0) -> dict[str, Any]:
    return {
        "user_id": "nora", "session_id": session, "turn_number": turn, "role": "user", "content": "Hello.",
        "timestamp": f"{day(number)}T10:00:00.000000Z",
    }  # fmt: skip


def settle(root: Path) -> None:
    """Lets an hour pass over whatever changed since the last time."""
    for path in root.rglob("*"):
        stat = path.stat()
        if stat.st_mtime_ns > time.time_ns() - HOUR_NS // 2:
            os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns - HOUR_NS))


def days_of(root: Path, session: str) -> list[date]:
    """As a new process finds them."""
    return SessionIndex(LandedLog(root)).days([("nora", session)])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A log of three days that was indexed."""
    log = LandedLog(tmp_path / "log")
    log.append("interactions", day(1), [message("a", 1), message("b", 1)])
    log.append("interactions", day(2), [message("b", 2)])
    log.append("interactions", day(9), [message("c", 9)])
    settle(tmp_path / "log")
    assert days_of(tmp_path / "log", "b") == [day(1), day(2)]
    return tmp_path / "log"


def test_days_that_are_indexed_are_not_read(root: Path) -> None:
    for segment in (root / "interactions" / str(day(2))).iterdir():
        os.utime(segment, (0, 0))
        segment.write_bytes(b"not to be read")
    assert days_of(root, "b") == [day(1), day(2)]
    assert days_of(root, "a") == [day(1)]
    assert days_of(root, "nobody") == []


def test_it_holds_no_id_in_plain_and_is_no_part_of_the_log(root: Path) -> None:
    assert b"nora" not in (root / FILE).read_bytes()
    log = LandedLog(root)
    assert log.days("interactions") == [day(1), day(2), day(9)]
    assert sorted(path.name for path in root.iterdir()) == [FILE, "interactions"]


@pytest.mark.parametrize("is_settled", [True, False])
def test_what_is_appended_rewritten_or_removed_afterwards_is_seen(root: Path, is_settled: bool) -> None:
    log = LandedLog(root)
    log.append("interactions", day(2), [message("a", 2)])
    log.append("interactions", day(5), [message("c", 5)])
    log.rewrite("interactions", day(1), lambda record: None if record["session_id"] == "b" else record)
    log.rewrite("interactions", day(9), lambda _: None)
    if is_settled:
        settle(root)
    for _ in range(2):
        assert days_of(root, "a") == [day(1), day(2)]
        assert days_of(root, "b") == [day(2)]
        assert days_of(root, "c") == [day(5)]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"b46b8": []}', b'{"b46b8": "x"}', b'{"b46b8": [1]}', b"7"])
def test_a_damaged_file_is_as_good_as_none(root: Path, content: bytes) -> None:
    (root / FILE).write_bytes(content)
    assert days_of(root, "b") == [day(1), day(2)]
    assert len(orjson.loads((root / FILE).read_bytes().splitlines()[0])) == 3


def test_deleting_it_changes_nothing(root: Path) -> None:
    SessionIndex(LandedLog(root)).delete()
    SessionIndex(LandedLog(root)).delete()
    assert not (root / FILE).exists()
    assert days_of(root, "b") == [day(1), day(2)]


def test_asking_an_empty_log_makes_nothing(tmp_path: Path) -> None:
    assert days_of(tmp_path / "log", "a") == []
    assert not (tmp_path / "log").exists()


def test_a_log_on_an_object_store_is_read() -> None:
    log = LandedLog("memory://session-index/log")
    log.append("interactions", day(1), [message("a", 1)])
    index = SessionIndex(log)
    assert index.days([("nora", "a")]) == [day(1)]
    index.note(day(4), [message("a", 4)])
    assert index.days([("nora", "a")]) == [day(1), day(4)]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 4), st.booleans(), st.booleans()), max_size=12))
def test_it_knows_what_reading_the_log_would_find(said: list[tuple[str, int, bool, bool]]) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder) / "log"
        index = SessionIndex(LandedLog(root))
        for turn, (session, number, is_settled, is_asked) in enumerate(said):
            LandedLog(root).append("interactions", day(number), [message(session, number, turn)])
            index.note(day(number), [message(session, number, turn)])
            if is_settled:
                settle(root)
            if is_asked:
                days_of(root, session)
        for name in "abc":
            expected = sorted({day(number) for session, number, _, _ in said if session == name})
            assert days_of(root, name) == index.days([("nora", name)]) == expected
