"""ChatGPT's export."""

from typing import Any

import orjson

from em_pipelines.landing.formats.chatgpt import chosen_branch


def node(name: str, parent: str | None, role: str, parts: list[Any], **more: Any) -> tuple[str, dict[str, Any]]:
    message = {
        "id": f"m-{name}",
        "author": {"role": role},
        "create_time": None,
        "content": {"content_type": "text", "parts": parts},
        "metadata": {},
    }
    return name, {"id": name, "message": message | more, "parent": parent, "children": []}


def conversation(**fields: Any) -> dict[str, Any]:
    mapping = dict(
        [
            ("root", {"id": "root", "message": None, "parent": None, "children": ["sys"]}),
            node("sys", "root", "system", ["hidden"], metadata={"is_visually_hidden_from_conversation": True}),
            node("q", "sys", "user", ["what is this?", {"content_type": "image_asset_pointer"}]),
            node("old", "q", "assistant", ["an answer that was regenerated"]),
            node("tool", "q", "tool", ["found 3 pages"], create_time=1_790_183_111.5),
            node("empty", "tool", "assistant", [""]),
            node("new", "empty", "assistant", ["the answer that stayed"]),
        ]
    )
    mapping["root"]["children"] = ["sys"]
    base = {"id": "c1", "title": "t", "create_time": 1_790_183_100.0, "current_node": "new", "mapping": mapping}
    return base | fields


def test_the_branch_that_was_chosen_is_landed(home: Any) -> None:
    report = home.land_data("conversations.json", orjson.dumps([conversation()]), user_id="tobias")
    assert (report.n_landed, report.n_ignored) == (3, 2)
    rows = sorted(home.landed(), key=lambda r: r["turn_number"])
    assert [(r["turn_number"], r["role"], r["content"]) for r in rows] == [
        (2, "user", "what is this?\n[image]"),
        (3, "tool", "found 3 pages"),
        (5, "assistant", "the answer that stayed"),
    ]
    assert [r["timestamp"][14:] for r in rows] == ["05:02.000000+00:00", "05:11.500000+00:00", "05:05.000000+00:00"]
    assert {(r["user_id"], r["session_id"], r["source_format"]) for r in rows} == {("tobias", "c1", "chatgpt")}


def test_without_a_current_node_the_last_leaf_is_taken_and_loops_end() -> None:
    mapping = {"a": {"parent": "b", "children": ["b"]}, "b": {"parent": "a", "children": ["a"]}}
    assert chosen_branch(mapping, "a") == [mapping["b"], mapping["a"]]
    assert chosen_branch({"a": {"parent": None, "children": []}}, ["x"]) == [{"parent": None, "children": []}]
    assert chosen_branch({}, None) == []


def test_a_message_without_any_time_and_a_conversation_without_a_tree_are_refused(home: Any) -> None:
    data = [conversation(create_time=None), {"id": "c2", "mapping": None}, "noise"]
    home.land_data("conversations.json", orjson.dumps(data), user_id="tobias")
    assert sorted(home.reasons()) == ["missing_field", "missing_timestamp", "missing_timestamp", "not_an_object"]
    assert len(home.landed()) == 1


def test_a_truncated_export_is_one_dead_letter_with_the_line_of_the_break(home: Any) -> None:
    data = orjson.dumps([conversation()], option=orjson.OPT_INDENT_2)
    report = home.land_data("conversations.json", data[:1500], user_id="tobias")
    letter = home.the_letter()
    assert report.n_dead_letters == {"invalid_json": 1}
    assert letter["line_number"] == data[:1500].count(b"\n") + 1
    assert letter["format"] == "chatgpt"
