"""Content in every form that programs write it in: no words are lost, whatever the format."""

from typing import Any

import orjson
import pytest

AT = "2026-03-02T08:00:00Z"
FORMS = {
    "a string": "I row.",
    "strings": ["I row.", "I ski."],
    "parts": [{"type": "text", "text": "I row."}],
    "parts of another program": [{"type": "input_text", "text": "I row."}],
    "a string and a part": ["I row.", {"type": "text", "text": "I ski."}],
    "one part": {"type": "text", "text": "I row."},
    "text with notes": [{"type": "text", "text": {"value": "I row.", "annotations": []}}],
}


def of_openai(content: Any) -> tuple[str, Any]:
    return "a.jsonl", {"id": "c", "created": 1772437000, "messages": [{"role": "user", "content": content}]}


def of_claude(content: Any) -> tuple[str, Any]:
    message = {"sender": "human", "content": content, "created_at": AT}
    return "conversations.json", [{"uuid": "c", "created_at": AT, "chat_messages": [message]}]


def of_older_claude(content: Any) -> tuple[str, Any]:
    message = {"sender": "human", "text": content, "created_at": AT}
    return "conversations.json", [{"uuid": "c", "created_at": AT, "chat_messages": [message]}]


def of_chatgpt(content: Any) -> tuple[str, Any]:
    node = {"message": {"author": {"role": "user"}, "content": content}, "parent": None, "children": []}
    return "conversations.json", [{"id": "c", "create_time": 1772437000, "current_node": "a", "mapping": {"a": node}}]


def of_claude_code(content: Any) -> tuple[str, Any]:
    message = {"role": "user", "content": content}
    return "s.jsonl", {"type": "user", "sessionId": "s", "timestamp": AT, "message": message}


def of_ai_studio(content: Any) -> tuple[str, Any]:
    chunk = {"role": "user", "text": content, "createTime": AT}
    return "a.json", {"runSettings": {"model": "m"}, "chunkedPrompt": {"chunks": [chunk]}}


def of_gemini_api(content: Any) -> tuple[str, Any]:
    return "a.json", {"contents": [{"role": "user", "parts": content, "createTime": AT}]}


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize(
    "written", [of_openai, of_claude, of_older_claude, of_chatgpt, of_claude_code, of_ai_studio, of_gemini_api]
)
def test_the_words_land_in_whatever_form_their_content_is(home: Any, written: Any, content: Any) -> None:
    name, document = written(content)
    report = home.land_data(name, orjson.dumps(document), user_id="ada")
    said = "I row.\nI ski." if isinstance(content, list) and len(content) > 1 else "I row."
    assert ([record["content"] for record in home.landed()], report.n_refused) == ([said], 0)


@pytest.mark.parametrize("content", [None, [], ""])
@pytest.mark.parametrize("written", [of_claude, of_chatgpt, of_claude_code, of_ai_studio])
def test_content_without_words_is_skipped(home: Any, written: Any, content: Any) -> None:
    name, document = written(content)
    report = home.land_data(name, orjson.dumps(document), user_id="ada")
    assert (report.n_landed, report.n_refused) == (0, 0)


def test_what_is_no_text_says_nothing_for_the_user(home: Any) -> None:
    content = [
        {"type": "tool_use", "name": "f", "input": {"text": "I live in Toolville."}},
        {"type": "text", "text": "Hm."},
    ]
    name, document = of_claude(content)
    home.land_data(name, orjson.dumps(document), user_id="ada")
    assert [record["content"] for record in home.landed() if record["role"] == "user"] == ["Hm."]
