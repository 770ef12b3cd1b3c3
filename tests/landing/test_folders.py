"""Which folders are called after users, and which are of the export that lies in them."""

from typing import Any

import orjson
import pytest

CLAUDE = orjson.dumps([{"uuid": "c1", "created_at": "2026-03-05T18:00:00Z", "chat_messages": [
    {"sender": "human", "text": "I row.", "created_at": "2026-03-05T18:00:00Z"}]}])  # fmt: skip
CHATGPT = orjson.dumps([{"id": "c2", "create_time": 1772437000, "mapping": {
    "a": {"message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["I row."]}},
          "parent": None, "children": []}}}])  # fmt: skip
GEMINI = orjson.dumps([{"header": "Gemini Apps", "title": "Prompted I row.", "time": "2026-03-05T18:00:00Z",
                        "products": ["Gemini Apps"], "safeHtmlItem": [{"html": "<p>Far?</p>"}]}])  # fmt: skip
TELEGRAM = orjson.dumps({"name": "Ivo", "type": "personal_chat", "id": 4, "messages": [
    {"id": 7, "type": "message", "date_unixtime": "1772734811", "from": "Nora", "from_id": "user9", "text": "I row."},
    {"id": 8, "type": "message", "date_unixtime": "1772734821", "from": "Ivo", "from_id": "user4", "text": "Far?"}
]})  # fmt: skip
NATIVE = orjson.dumps({"session_id": "s", "turn_number": 0, "role": "user", "content": "I row.",
                       "timestamp": "2026-03-05T18:00:00Z"})  # fmt: skip


@pytest.mark.parametrize("files", [
    {"Gemini Apps/MyActivity.json": GEMINI},
    {"My Activity/Gemini Apps/MyActivity.json": GEMINI},
    {"Meine Aktivitäten/Gemini-Apps/MyActivity.json": GEMINI},
    {"Takeout/My Activity/Gemini Apps/MyActivity.json": GEMINI, "Takeout/archive_browser.html": b"<html>"},
    {"77cf1-2026/conversations.json": CHATGPT, "77cf1-2026/chat.html": b"<html>", "77cf1-2026/user.json": b"{}"},
    {"chat.html": b"<html>", "conversations-000.json": CHATGPT, "old/conversations-001.json": CHATGPT},
    {"User Online Activity/conversations.json": CHATGPT},
    {"my talks/conversations.json": CLAUDE, "my talks/users.json": b"[]"},
    {"claude/conversations.json": CLAUDE},
])  # fmt: skip
def test_folders_of_an_export_name_nobody(home: Any, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        home.write(name, data)
    report = home.land(home.root / "in")
    assert (home.landed(), set(report.n_dead_letters)) == ([], {"missing_user"})
    assert sum(report.n_nobodys.values()) == report.n_refused > 0
    home.land(home.root / "in", user_id="nora")
    assert {r["user_id"] for r in home.landed()} == {"nora"}


def test_of_an_export_of_telegram_it_is_whose_the_chat_is_and_not_the_folder(home: Any) -> None:
    home.write("DataExport_2026-03-05/result.json", TELEGRAM)
    home.land(home.root / "in")
    assert {r["user_id"] for r in home.landed()} == {"nora"}


@pytest.mark.parametrize("files", [
    {"nora/conversations.json": CLAUDE},
    {"nora/export/conversations.json": CLAUDE, "nora/export/users.json": b"[]"},
    {"nora/Takeout/My Activity/Gemini Apps/MyActivity.json": GEMINI},
    {"nora/a.jsonl": NATIVE, "nora/settings.json": b"{}"},
])  # fmt: skip
def test_folders_above_an_export_are_called_after_users(home: Any, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        home.write(name, data)
    home.land(home.root / "in")
    assert {r["user_id"] for r in home.landed()} == {"nora"}


def test_logs_of_an_agent_may_have_a_user_called_like_a_program(home: Any) -> None:
    home.write("claude/a.jsonl", NATIVE)
    home.land(home.root / "in")
    assert [r["user_id"] for r in home.landed()] == ["claude"]
