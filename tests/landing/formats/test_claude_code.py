"""Transcripts of Claude Code."""

from typing import Any


def event(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    base = {"type": kind, "sessionId": "s1", "uuid": "u", "timestamp": "2026-09-25T08:12:11.901Z"}
    return base | {"message": {"role": kind, "content": content}} | more


def test_text_calls_and_results_are_messages_and_the_rest_is_counted_as_ignored(home: Any) -> None:
    call = {"type": "tool_use", "name": "Bash", "input": {"command": "pytest"}}
    result = {"type": "tool_result", "content": [{"type": "text", "text": "3 failed"}]}
    lines = [
        {"type": "summary", "summary": "x", "leafUuid": "y"},
        event("user", "it is flaky"),
        event("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I run it."}, call]),
        event("user", [result]),
        event("user", "<meta>", isMeta=True),
        event("assistant", "sub-agent", isSidechain=True),
        {"type": "file-history-snapshot", "snapshot": {}},
        event("assistant", [{"type": "thinking", "thinking": "hm"}]),
        event("user", "in another", sessionId="s2"),
    ]
    report = home.land_data("session.jsonl", lines, user_id="ada")
    assert (report.n_landed, report.n_ignored, report.n_refused) == (5, 5, 0)
    assert [(r["session_id"], r["turn_number"], r["role"], r["content"]) for r in home.landed()] == [
        ("s1", 0, "user", "it is flaky"),
        ("s1", 1, "assistant", "I run it."),
        ("s1", 2, "tool", 'Bash {"command":"pytest"}'),
        ("s1", 3, "tool", "3 failed"),
        ("s2", 0, "user", "in another"),
    ]
    assert {r["trust"] for r in home.landed()} == {"trusted"}


def test_events_without_time_or_message_are_dead_letters(home: Any) -> None:
    lines = [event("user", "x", timestamp=None), event("user", "y") | {"message": "z"}]
    home.land_data("session.jsonl", lines, user_id="ada")
    assert sorted(home.reasons()) == ["missing_field", "missing_timestamp"]
