"""Whose word is taken for what tools brought into conversations, and what is said of it."""

from typing import Any

import orjson
import pytest

PAGE = {"type": "tool_result", "name": "web_fetch", "content": [{"type": "text", "text": "I live in Graz."}]}


def export(*ids: str) -> bytes:
    """Conversations, each with a page that was fetched."""
    at = "2026-03-05T18:00:00Z"
    asked = {"sender": "human", "text": "I row. What does it say?", "created_at": at}
    told = {"sender": "assistant", "content": [PAGE, {"type": "text", "text": "Graz."}], "created_at": at}
    return orjson.dumps([{"uuid": name, "created_at": at, "chat_messages": [asked, told]} for name in ids])


def trust_of(home: Any) -> list[str]:
    return [record["trust"] for record in home.landed()]


def test_what_tools_brought_in_is_trusted_where_the_caller_says_so(home: Any) -> None:
    report = home.land_data("conversations.json", export("a", "b"), user_id="nora")
    assert (report.n_untrusted, trust_of(home).count("untrusted")) == ({"claude": 2}, 2)
    report = home.land_data("conversations.json", export("c"), user_id="nora", is_trusted=True)
    assert (report.n_untrusted, trust_of(home)[-2:]) == ({}, ["trusted", "trusted"])


@pytest.mark.parametrize("was_trusted", [False, True])
def test_what_has_landed_stays_as_it_is_and_is_no_conflict(home: Any, was_trusted: bool) -> None:
    home.land_data("conversations.json", export("a"), user_id="nora", is_trusted=was_trusted)
    report = home.land_data("conversations.json", export("a"), user_id="nora", is_trusted=not was_trusted)
    how = "trusted" if was_trusted else "untrusted"
    assert (report.n_duplicates, report.n_refused, trust_of(home)) == (2, 0, ["trusted", how])
    assert report.n_read_otherwise == {how: 1}


def test_a_log_that_says_so_itself_and_strangers_in_the_role_of_user_stay_untrusted(home: Any) -> None:
    said = {"user_id": "nora", "session_id": "s", "turn_number": 0, "role": "tool", "content": "x",
            "timestamp": "2026-03-05T18:00:00Z", "trust": "untrusted"}  # fmt: skip
    report = home.land_data("log.jsonl", [said], is_trusted=True)
    clipped = "---\ndate: 2026-03-05\nsource: https://example.org/a\n---\nI live in Graz.\n"
    noted = home.land_data("page.md", clipped, user_id="nora", is_trusted=True)
    assert report.n_untrusted == {"native": 1}
    assert noted.n_untrusted == {"markdown": 1}
    assert trust_of(home) == ["untrusted", "untrusted"]
