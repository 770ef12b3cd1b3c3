"""Formats are told by content; the name decides only what content leaves open."""

from pathlib import Path
from typing import Any

import pytest

from em_pipelines.landing.land import detect
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import RuleError
from em_pipelines.landing.settings import LandingSettings

NATIVE = '{"user_id": "a", "session_id": "s", "turn_number": 0, "role": "user", "content": "", "timestamp": "x"}'
FEEDBACK = '{"type": "forget", "user_id": "a", "timestamp": "x"}'
OPENAI = '{"messages": [{"role": "user", "content": "x"}]}'
CODE = '{"type": "user", "sessionId": "s", "message": {"content": "x"}}'


def detected(tmp_path: Path, name: str, data: str) -> str:
    path = tmp_path / name
    path.write_text(data, encoding="utf-8")
    return detect(InputFile(path, LandingSettings())).name


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (NATIVE, "native"),
        (f"{FEEDBACK}\n{NATIVE}", "native"),
        ("{broken\n" + NATIVE, "native"),
        ('{"kind": "world_event", "title": "x"}', "native"),
        (OPENAI, "openai"),
        ('{"type": "summary", "summary": "x"}\n' + CODE, "claude-code"),
        ('{"type": "summary", "summary": "x", "leafUuid": "y"}', "claude-code"),
        ('{"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}', "claude-code"),
        ('{"name": "Ivo", "type": "personal_chat", "id": 1, "messages": [{"id": 2}]}', "telegram"),
        ('{"about": "x", "personal_information": {"user_id": 1}, "chats": {"list": []}}', "telegram"),
        ('[{"header": "Gemini Apps", "title": "Prompted x", "time": "x", "products": []}]', "gemini"),
        ('{"runSettings": {"model": "x"}, "chunkedPrompt": {"chunks": []}}', "ai-studio"),
        ("[05.03.26, 18:20:11] Nora: user, text, date", "whatsapp"),
        ("\ufeff\u200e[3/5/26, 6:20:11\u202fPM] Nora: x", "whatsapp"),
        ("5/3/26, 6:20 PM - Nora: x", "whatsapp"),
        ('[{"title": "t", "mapping": {"a": {"message": null, "parent": null, "children": []}}}]', "chatgpt"),
        ('[\n {"uuid": "x", "chat_messages": []}\n]', "claude"),
        ('{\n "speaker_a": "A",\n "speaker_b": "B",\n "session_1": []}', "locomo"),
        ("user,text,date\na,b,c", "csv"),
        ("\ufeffUser;Message;Time\na;b;c", "csv"),
    ],
)
@pytest.mark.parametrize("file", ["data.json", "data.jsonl", "data.csv", "data"])
def test_content_decides_whatever_the_name(tmp_path: Path, data: str, name: str, file: str) -> None:
    assert detected(tmp_path, file, data) == name


@pytest.mark.parametrize(("file", "name"), [("x.jsonl", "native"), ("x.NDJSON", "native"), ("x.csv", "csv")])
def test_the_name_decides_what_content_leaves_open(tmp_path: Path, file: str, name: str) -> None:
    assert detected(tmp_path, file, "what is this") == name


def test_what_nobody_knows_is_refused_with_the_formats_there_are(tmp_path: Path) -> None:
    with pytest.raises(RuleError) as caught:
        detected(tmp_path, "x.json", '{"a": 1}')
    assert caught.value.reason == "unknown_format"
    assert "chatgpt" in caught.value.detail


def test_one_bad_file_among_good_ones_is_one_dead_letter(home: Any, message: Any) -> None:
    home.write("a.json", '{"a": 1}')
    home.write("b.jsonl", [message()])
    report = home.land(home.root / "in")
    assert report.n_landed == 1
    assert report.n_dead_letters == {"unknown_format": 1}
