"""`--trust`, and what is said of conversations into which tools brought text of others."""

from pathlib import Path
from typing import Any

import orjson

PAGE = {"type": "tool_result", "name": "web_fetch", "content": [{"type": "text", "text": "Rain at noon."}]}
AT = "2026-03-05T18:00:00Z"


def export(path: Path) -> Path:
    asked = {"sender": "human", "text": "I live in Bergen. Will it rain?", "created_at": AT}
    told = {"sender": "assistant", "content": [PAGE, {"type": "text", "text": "At noon."}], "created_at": AT}
    path.write_bytes(orjson.dumps([{"uuid": "c1", "created_at": AT, "chat_messages": [asked, told]}]))
    return path


def test_the_summary_says_how_many_conversations_are_untrusted_and_why(em: Any, tmp_path: Path) -> None:
    path, home = export(tmp_path / "conversations.json"), tmp_path / "home"
    assert "untrusted: 1 conversation (tools brought in text" in em("land", path, "--user-id", "a", "--dry-run").stdout
    done = em("land", path, "--user-id", "ada", "--home", home)
    assert "untrusted: 1 conversation (tools brought in text" in done.stdout
    assert "--trust" in done.stdout
    again = em("land", path, "--user-id", "ada", "--trust", "--home", home)
    assert "1 message had landed as untrusted and stays so" in again.stdout
    trusted = em("land", path, "--user-id", "ada", "--trust", "--home", tmp_path / "other")
    assert (trusted.returncode, "untrusted" in trusted.stdout) == (0, False)
