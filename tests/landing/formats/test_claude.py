"""Claude.ai's export."""

import base64
from typing import Any

import orjson

from em_pipelines.guard.passages import has_pasted_block
from em_pipelines.landing.land import all_letters

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


ROOT = "00000000-0000-4000-8000-000000000000"


def message(name: str, sender: str, *blocks: dict[str, Any], parent: str | None = None, **more: Any) -> dict[str, Any]:
    minute = int(name[1:]) if name[1:].isdigit() else 0
    base = {"uuid": name, "sender": sender, "text": "", "created_at": f"2026-03-05T18:{minute:02}:00Z"}
    return base | {"content": list(blocks), "attachments": [], "files": [], "parent_message_uuid": parent} | more


def text(said: str, **more: Any) -> dict[str, Any]:
    return {"type": "text", "text": said, "citations": []} | more


def land(home: Any, *messages: dict[str, Any], **fields: Any) -> Any:
    data = [{"uuid": "c1", "name": "", "created_at": "2026-03-05T18:00:00Z", "chat_messages": list(messages)} | fields]
    report = home.land_data("conversations.json", orjson.dumps(data), user_id="nora")
    assert report.n_rows + report.n_ignored == len(messages)
    return report


def test_every_kind_of_block_lands_or_is_named(home: Any) -> None:
    search = {"type": "tool_use", "name": "web_search", "input": {"query": "tides"}}
    found = {"type": "tool_result", "name": "web_search", "content": [{"type": "text", "text": "High at six."}]}
    drawn = {"type": "tool_result", "name": "artifacts", "content": "OK"}
    report = land(
        home,
        message("m1", "human", text("When is high tide?")),
        message("m2", "assistant", {"type": "thinking", "thinking": "hm"}, search, found, text("At six.")),
        message("m3", "assistant", {"type": "thinking", "thinking": "hm"}),
        message("m4", "assistant", {"type": "tool_use", "name": "artifacts", "input": {"id": "x"}}, drawn,
                text="```\nThis block is not supported on your current device yet.\n```"),
        message("m5", "human", {"type": "voice_note", "text": "I row."}, files=[{"file_name": "a.png"}]),
        message("m6", "human", text=""),
    )  # fmt: skip
    assert [(r["turn_number"], r["role"], r["content"], r["trust"]) for r in home.landed()] == [
        (0, "user", "When is high tide?", "trusted"),
        (1, "assistant", "At six.", "untrusted"),
        (3, "tool", 'artifacts {"id":"x"}\nOK', "trusted"),
        (4, "user", "I row.\n[image]", "trusted"),
    ]
    assert report.n_skipped == {"empty": 1, "reasoning": 1}


def test_citations_without_what_was_found_leave_a_conversation_trusted(home: Any) -> None:
    search = {"type": "tool_use", "name": "web_search", "input": {"query": "tides"}}
    page = {"type": "knowledge", "title": "Tides", "url": "https://example.org", "text": ""}
    cited = text("At six.", citations=[{"url": "https://example.org", "title": "Tides"}])
    bare = [{"type": "tool_result", "name": "web_search", "content": found} for found in ([], None, "", [page])]
    land(home, *(message(f"m{n}", "assistant", search, found, cited) for n, found in enumerate(bare)))
    assert {r["trust"] for r in home.landed()} == {"trusted"}
    found = {"type": "tool_result", "name": "web_search", "content": [page | {"text": "High at six."}]}
    land(home, message("m1", "assistant", search, found, cited), uuid="c2")
    assert [r["trust"] for r in home.landed() if r["session_id"] == "c2"] == ["untrusted"]


def test_pasted_text_is_a_quotation_and_nobodys_word(home: Any) -> None:
    pasted = {
        "file_name": "letter.txt",
        "file_size": 60,
        "extracted_content": f"I live in Graz.\n\nI own a {'x' * 4500}",
    }
    nameless = {"file_name": "", "extracted_content": "I breed yaks."}
    land(home, message("m1", "human", text("Answer this."), attachments=[pasted, nameless]))
    (row,) = home.landed()
    lines = row["content"].split("\n")
    assert lines[:5] == ["Answer this.", "[attachment: letter.txt]", "> I live in Graz.", "> ", lines[4]]
    assert all(line.startswith("> ") and len(line) < 4000 for line in lines[4:7])
    assert lines[7:] == ["[attachment]", "> I breed yaks."]
    assert has_pasted_block(row["content"])


def test_the_branch_that_was_written_last_stands(home: Any) -> None:
    tree = [
        message("m1", "human", text("I row in Oslo."), parent=ROOT),
        message("m2", "assistant", text("Nice."), parent="m1"),
        message("m3", "human", text("I row in Bergen."), parent=ROOT),
        message("m4", "assistant", text("First."), parent="m3"),
        message("m5", "assistant", text("Second."), parent="m3"),
    ]
    report = land(home, *tree)
    assert [(r["turn_number"], r["content"]) for r in home.landed()] == [(2, "I row in Bergen."), (4, "Second.")]
    assert report.n_skipped == {"other_branch": 3}
    (letter,) = all_letters(home.log).values()
    assert (letter["reason"], letter["status"]) == ("other_branch", "discarded")
    assert "I row in Oslo." in base64.b64decode(letter["raw"]).decode()


def test_the_branch_that_is_open_stands_where_the_export_says_which(home: Any) -> None:
    tree = [message("m1", "human", text("a"), parent=ROOT), message("m2", "assistant", text("b"), parent="m1"),
            message("m3", "assistant", text("c"), parent="m1")]  # fmt: skip
    land(home, *tree, current_leaf_message_uuid="m2")
    assert [r["content"] for r in home.landed()] == ["a", "b"]


def test_a_message_whose_parent_is_not_there_is_not_lost(home: Any) -> None:
    land(home, message("m1", "human", text("a"), parent=ROOT), message("m3", "human", text("b"), parent="m2"))
    assert [r["content"] for r in home.landed()] == ["a", "b"]


def test_words_in_a_form_that_is_not_known_are_counted_as_such(home: Any) -> None:
    report = land(
        home,
        message("m1", "human", {"type": "brand_new", "words": "I row."}),
        message("m2", "assistant", {"type": "token_budget", "left": 3}),
    )
    assert report.n_skipped == {"empty": 1, "unknown_content": 1}
