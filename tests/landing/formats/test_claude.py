"""Claude.ai's export."""

from typing import Any

import orjson

CONVERSATION = {
    "uuid": "c1",
    "name": "Trip",
    "created_at": "2026-03-05T18:00:00.123456Z",
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "hi", "created_at": "2026-03-05T18:20:00Z", "content": []},
        {
            "uuid": "m2",
            "sender": "assistant",
            "text": "",
            "content": [{"type": "text", "text": "hello"}, {"type": "tool_use"}, {"type": "text", "text": "again"}],
        },
        {"uuid": "m3", "sender": "human", "text": " ", "content": None},
        {"uuid": "m4", "sender": "human", "text": "see", "attachments": [{"file_name": "a.pdf"}, 7]},
    ],
}


def test_messages_are_landed_with_roles_times_and_attachments(home: Any) -> None:
    report = home.land_data("conversations.json", orjson.dumps([CONVERSATION]), user_id="ada")
    assert (report.n_landed, report.n_ignored) == (3, 1)
    rows = sorted(home.landed(), key=lambda r: r["turn_number"])
    assert [(r["turn_number"], r["role"], r["content"], r["source_id"]) for r in rows] == [
        (0, "user", "hi", "m1"),
        (1, "assistant", "hello\nagain", "m2"),
        (3, "user", "see\n[attachment: a.pdf]", "m4"),
    ]
    assert rows[1]["timestamp"] == "2026-03-05T18:00:01.123456+00:00"


def test_what_is_no_message_is_a_dead_letter(home: Any) -> None:
    broken = CONVERSATION | {"created_at": None, "chat_messages": ["x", {"sender": "robot", "text": "y"}]}
    data = [broken, {"uuid": "c2", "chat_messages": {}}]
    home.land_data("conversations.json", orjson.dumps(data), user_id="ada")
    assert sorted(home.reasons()) == ["missing_field", "missing_timestamp", "not_an_object"]
