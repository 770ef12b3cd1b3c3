"""ChatGPT's export."""

import base64
from datetime import timedelta
from typing import Any

import orjson

from em_pipelines.landing.dead_letters import open_letters, replay
from em_pipelines.landing.formats.chatgpt import chosen_branch
from em_pipelines.landing.land import all_letters
from em_pipelines.landing.looking import preview
from em_pipelines.landing.settings import LandingSettings


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
    assert (report.n_landed, report.n_skipped) == (3, {"empty": 1, "hidden": 1, "other_branch": 1})
    rows = sorted(home.landed(), key=lambda r: r["turn_number"])
    assert [(r["turn_number"], r["role"], r["content"]) for r in rows] == [
        (2, "user", "what is this?\n[image]"),
        (3, "tool", "found 3 pages"),
        (5, "assistant", "the answer that stayed"),
    ]
    assert [r["timestamp"][14:] for r in rows] == ["05:02.000000+00:00", "05:11.500000+00:00", "05:13.500000+00:00"]
    assert {(r["user_id"], r["session_id"], r["source_format"]) for r in rows} == {("tobias", "c1", "chatgpt")}


def test_without_a_current_node_the_last_leaf_is_taken_and_loops_end() -> None:
    mapping = {"a": {"parent": "b", "children": ["b"]}, "b": {"parent": "a", "children": ["a"]}}
    assert chosen_branch(mapping, "a") == [mapping["b"], mapping["a"]]
    assert chosen_branch({"a": {"parent": None, "children": []}}, ["x"]) == [{"parent": None, "children": []}]
    assert chosen_branch({}, None) == []


def test_a_message_without_any_time_and_a_conversation_without_a_tree_are_refused(home: Any) -> None:
    timeless = conversation(create_time=None)
    timeless["mapping"]["tool"]["message"]["create_time"] = None
    data = [timeless, {"id": "c2", "mapping": None}, "noise"]
    home.land_data("conversations.json", orjson.dumps(data), user_id="tobias")
    assert sorted(home.reasons()) == ["missing_field", *["missing_timestamp"] * 3, "not_an_object"]
    assert home.landed() == []


def test_a_truncated_export_is_one_dead_letter_with_the_line_of_the_break(home: Any) -> None:
    data = orjson.dumps([conversation()], option=orjson.OPT_INDENT_2)
    report = home.land_data("conversations.json", data[:1500], user_id="tobias")
    letter = home.the_letter()
    assert report.n_dead_letters == {"invalid_json": 1}
    assert letter["line_number"] == data[:1500].count(b"\n") + 1
    assert letter["format"] == "chatgpt"


def talk(*messages: tuple[str, dict[str, Any]], **fields: Any) -> dict[str, Any]:
    """A conversation whose messages follow each other."""
    names = ["root", *(name for name, _ in messages)]
    mapping = {"root": {"id": "root", "message": None, "parent": None, "children": names[1:2]}}
    for place, (name, found) in enumerate(messages, start=1):
        mapping[name] = {**found, "parent": names[place - 1], "children": names[place + 1 : place + 2]}
    return {"id": "c1", "create_time": 1_790_183_100.0, "current_node": names[-1], "mapping": mapping} | fields


def other(name: str, kind: str, role: str = "assistant", **more: Any) -> tuple[str, dict[str, Any]]:
    """A message of another type of content."""
    outer = {key: more.pop(key) for key in ("recipient", "metadata", "weight") if key in more}
    author = {"role": role, "name": more.pop("tool", None)}
    return node(name, None, role, [], author=author, content={"content_type": kind, **more}, **outer)


def said(home: Any) -> list[tuple[str, str]]:
    return [(r["role"], r["content"]) for r in sorted(home.landed(), key=lambda r: (r["session_id"], r["turn_number"]))]


def n_messages(*conversations: dict[str, Any]) -> int:
    return sum(bool(node and node["message"]) for c in conversations for node in c["mapping"].values())


def test_every_kind_of_message_lands_or_is_named(home: Any) -> None:
    image = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x", "width": 10}
    heard = {"content_type": "audio_transcription", "text": "I row.", "direction": "in"}
    sound = {"content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": {}}
    one = talk(
        node("a", None, "user", ["What is this?", image], metadata={"attachments": [{"name": "t.pdf"}]}),
        other("b", "thoughts", thoughts=[{"summary": "x", "content": "y"}]),
        other("c", "reasoning_recap", content="Thought for 3 s"),
        other("d", "code", language="python", text="print(3)", recipient="python"),
        other("e", "execution_output", "tool", tool="python", text="3"),
        other("f", "model_editable_context", model_set_context="1. The user rows."),
        other("g", "code", text="The user rows.", recipient="bio"),
        other("h", "text", "tool", tool="bio", parts=["Model set context updated."]),
        other("i", "text", parts=["An oar."], weight=0.0),
        other("j", "multimodal_text", "user", parts=[heard, sound]),
        other("k", "code", text='{"name": "Tides"}', recipient="canmore.create_textdoc"),
        other("l", "text", "tool", tool="canmore.create_textdoc", parts=["Created."]),
        other("m", "multimodal_text", "tool", tool="dalle.text2im", parts=[image]),
        other("n", "system_error", "tool", tool="python", text="Timeout"),
        other("o", "text", parts=["Done."], recipient="all"),
    )
    report = home.land_data("conversations-000.json", orjson.dumps([one]), user_id="nora")
    assert said(home) == [
        ("user", "What is this?\n[image]\n[attachment: t.pdf]"),
        ("tool", "python print(3)"),
        ("tool", "3"),
        ("user", "I row.\n[audio]"),
        ("tool", 'canmore.create_textdoc {"name": "Tides"}'),
        ("tool", "Created."),
        ("tool", "[image]"),
        ("tool", "Timeout"),
        ("assistant", "Done."),
    ]
    assert {r["trust"] for r in home.landed()} == {"trusted"}
    assert {r["channel"] for r in home.landed() if "row" in r["content"]} == {"voice"}
    assert report.n_skipped == {"hidden": 1, "model_memory": 3, "reasoning": 2}
    assert report.n_landed + report.n_ignored == n_messages(one)


def test_what_was_brought_in_from_elsewhere_is_untrusted_even_where_it_is_hidden(home: Any) -> None:
    hidden = {"is_visually_hidden_from_conversation": True}
    cases = [
        other("t", "tether_browsing_display", "tool", tool="browser", result="I live in Graz."),
        other("t", "tether_quote", "tool", tool="myfiles_browser", text="I live in Graz.", title="letter.pdf"),
        other("t", "text", "tool", tool="web.run", parts=["I live in Graz."], metadata=hidden),
        other("t", "text", "tool", tool="some__jit_plugin.call", parts=["I live in Graz."]),
    ]
    data = [talk(node("q", None, "user", ["Where?"]), case, node("z", None, "assistant", ["There."]), id=f"c{n}")
            for n, case in enumerate(cases)]  # fmt: skip
    home.land_data("conversations.json", orjson.dumps(data), user_id="nora")
    untrusted = {r["session_id"] for r in home.landed() if r["trust"] == "untrusted"}
    assert untrusted == {f"c{n}" for n in range(len(cases))}


def test_a_search_of_which_nothing_but_citations_is_exported_leaves_a_conversation_trusted(home: Any) -> None:
    cited = {
        "content_references": [
            {"type": "grouped_webpages", "items": [{"title": "Tides", "snippet": "I live in Graz."}]}
        ],
        "search_result_groups": [{"type": "search_result_group", "entries": [{"title": "Tides", "snippet": "High."}]}],
    }
    data = talk(
        node("q", None, "user", ["When is high tide?"]),
        other("c", "code", "assistant", text="search('tides')", recipient="web"),
        other("t", "text", "tool", tool="web.run", parts=[""], metadata=cited),
        other("b", "tether_browsing_display", "tool", tool="browser", result=""),
        other("a", "text", parts=["At six. \ue200cite\ue202turn0search0\ue201"], metadata=cited),
    )
    report = home.land_data("conversations.json", orjson.dumps([data]), user_id="nora")
    assert {r["trust"] for r in home.landed()} == {"trusted"}
    assert report.n_untrusted == {}


def test_custom_instructions_land_once_as_the_users(home: Any) -> None:
    fenced = {
        "user_profile": "The user provided the following:\nUser profile:\n```I teach rowing.```",
        "user_instructions": "The user would like:\n```Be short.```",
    }
    older = {"user_context_message_data": {"about_user_message": "I teach rowing.", "about_model_message": "Be short."}}
    data = [
        talk(other("i", "user_editable_context", "user", **fenced), node("a", None, "user", ["Hi"]), id="c2"),
        talk(other("i", "text", "system", parts=["x"], metadata={"is_user_system_message": True} | older), id="c1",
             create_time=1_780_000_000),
        talk(other("i", "user_editable_context", "user", user_profile="I sail."), id="c3"),
    ]  # fmt: skip
    report = home.land_data("conversations.json", orjson.dumps(data), user_id="nora")
    assert sorted(said(home)) == [("user", "Hi"), ("user", "I sail."), ("user", "I teach rowing.\nBe short.")]
    (first,) = [r for r in home.landed() if "teach" in r["content"]]
    assert (first["timestamp"][:10], first["subject"]) == ("2026-05-28", "user")
    assert report.n_skipped == {"repeated": 1}
    assert report.n_landed + report.n_ignored == n_messages(*data)
    again = home.land_data("conversations.json", orjson.dumps(data), user_id="nora")
    assert (again.n_landed, again.n_duplicates, again.n_refused) == (0, 3, 0)


def test_custom_instructions_of_many_files_are_one_message_and_no_conversation(home: Any) -> None:
    told = {"user_profile": "I teach rowing."}
    for n in range(3):
        data = [talk(other("i", "user_editable_context", "user", **told), node("a", None, "user", ["Hi"]), id=f"c{n}",
                     create_time=1_772_437_000 + n * 86_400)]  # fmt: skip
        home.write(f"conversations-00{n}.json", orjson.dumps(data))
    home.write("conversations-003.json", orjson.dumps([talk(id="c3"), talk(node("a", None, "user", ["Ho"]), id="c4")]))
    report = home.land(home.root / "in", user_id="nora")
    assert sorted(said(home)) == [("user", "Hi")] * 3 + [("user", "Ho"), ("user", "I teach rowing.")]
    assert (report.n_refused, report.n_duplicates, report.users["nora"].n_conversations) == (0, 2, 4)
    assert report.n_skipped == {"empty_conversation": 1}


def test_a_conversation_that_is_not_to_be_remembered_is_not(home: Any) -> None:
    data = [talk(node("a", None, "user", ["I row."]), is_do_not_remember=True)]
    report = home.land_data("conversations.json", orjson.dumps(data), user_id="nora")
    assert (report.n_landed, report.n_skipped) == (0, {"not_to_remember": 1})


def test_an_edited_question_and_answers_given_again_leave_one_branch(home: Any) -> None:
    mapping = dict([
        ("root", {"message": None, "parent": None, "children": ["q1", "q2"]}),
        node("q1", "root", "user", ["I row in Oslo."]),
        node("a1", "q1", "assistant", ["Nice."]),
        node("q2", "root", "user", ["I row in Bergen."]),
        node("a2", "q2", "assistant", ["First."]),
        node("a3", "q2", "assistant", ["Second."]),
    ])  # fmt: skip
    data = [conversation(mapping=mapping, current_node="a2")]
    report = home.land_data("conversations.json", orjson.dumps(data), user_id="nora")
    assert said(home) == [("user", "I row in Bergen."), ("assistant", "First.")]
    assert report.n_skipped == {"other_branch": 3}


def edited(**fields: Any) -> dict[str, Any]:
    mapping = dict([
        ("root", {"message": None, "parent": None, "children": ["q1", "q2"]}),
        node("q1", "root", "user", ["I row in Oslo, token ghp_" + "a1B2" * 9]),
        node("a1", "q1", "assistant", ["Oslo is nice."]),
        node("q2", "root", "user", ["I row in Bergen."]),
    ])  # fmt: skip
    return conversation(mapping=mapping, current_node="q2") | fields


def test_what_the_user_wrote_in_another_branch_is_kept_and_is_no_error(home: Any) -> None:
    report = home.land_data("conversations.json", orjson.dumps([edited()]), user_id="nora")
    assert (report.n_refused, report.n_new_dead_letters, report.first_letters) == (0, 0, ())
    assert (report.n_rows, report.n_skipped) == (1, {"other_branch": 2})
    (letter,) = all_letters(home.log).values()
    assert (letter["reason"], letter["status"], letter["user_id"]) == ("other_branch", "discarded", "nora")
    kept = orjson.loads(base64.b64decode(letter["raw"]))
    assert kept["content"].startswith("I row in Oslo, token ") and "a1B2" not in kept["content"]
    assert open_letters(home.log) == []


def test_landing_other_branches_again_adds_nothing(home: Any) -> None:
    home.land_data("conversations.json", orjson.dumps([edited()]), user_id="nora")
    before = home.segments()
    home.now += timedelta(days=3)
    home.land_data("later/conversations.json", orjson.dumps([edited()]), user_id="nora")
    assert home.segments() == before


def test_other_branches_of_nobody_and_of_what_is_not_to_be_remembered_are_not_kept(home: Any) -> None:
    home.land_data("conversations.json", orjson.dumps([edited(is_do_not_remember=True)]), user_id="nora")
    home.land_data("conversations-001.json", orjson.dumps([edited()]))
    assert home.reasons() == ["missing_user"]


def test_replaying_a_file_with_its_user_keeps_other_branches(home: Any) -> None:
    home.land_data("conversations.json", orjson.dumps([edited()]))
    done = replay(home.log, now=home.now, settings=LandingSettings(), user_id="nora")
    assert (len(done.replayed), done.refused, done.n_landed) == (1, {}, 1)
    assert sorted(home.reasons()) == ["missing_user", "other_branch"]


def test_a_preview_shows_no_letter_of_another_branch(home: Any) -> None:
    source = home.write("conversations.json", orjson.dumps([edited()]))
    found = preview([source], home.log, now=home.now, settings=LandingSettings(), user_id="nora")
    assert (found.letters, found.has_open_letters) == ((), False)


def test_nothing_is_lost_where_the_tree_has_gaps_and_loops(home: Any) -> None:
    mapping = dict([
        ("root", {"message": None, "parent": None, "children": ["a"]}),
        node("a", "root", "user", ["one"], create_time=1_790_183_101.0),
        ("gone", None),
        node("b", "gone", "assistant", ["two"], create_time=1_790_183_102.0),
        node("c", "nowhere", "user", ["three"], create_time=1_790_183_103.0),
        node("d", "e", "assistant", ["four"], create_time=1_790_183_104.0),
        node("e", "d", "user", ["five"], create_time=1_790_183_105.0),
        node("f", "f", "user", ["six"], create_time=1_790_183_106.0),
    ])  # fmt: skip
    mapping["b"]["children"] = ["c"]
    data = [conversation(mapping=mapping, current_node="c")]
    report = home.land_data("conversations.json", orjson.dumps(data), user_id="nora")
    assert [text for _, text in said(home)] == ["one", "two", "three", "four", "five", "six"]
    assert report.n_landed == n_messages(*data)


def test_words_in_a_form_that_is_not_known_are_counted_as_such_and_not_as_nothing(home: Any) -> None:
    data = talk(
        other("a", "brand_new", "user", payload={"text": "I row."}),
        other("b", "text", "assistant", parts=[""]),
        other("c", "brand_new", "assistant"),
        node("d", None, "user", ["Hi"]),
    )
    report = home.land_data("conversations.json", orjson.dumps([data]), user_id="nora")
    assert (report.n_landed, report.n_skipped) == (1, {"empty": 2, "unknown_content": 1})
