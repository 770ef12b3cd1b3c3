"""OpenAI-style messages."""

from typing import Any

CREATED = 1_790_063_280
MESSAGES = [
    {"role": "developer", "content": "Be short."},
    {"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "x"}}]},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "t"}]},
    {"role": "tool", "content": "42"},
    {"role": "assistant", "content": "It is 42.", "timestamp": "2026-09-22T09:50:08+02:00"},
]


def test_messages_are_landed_with_roles_turns_and_times(home: Any) -> None:
    report = home.land_data("a.jsonl", [{"id": "c1", "user": "ada", "created": CREATED, "messages": MESSAGES}])
    assert (report.n_landed, report.n_ignored) == (4, 1)
    rows = sorted(home.landed(), key=lambda r: r["turn_number"])
    assert [(r["turn_number"], r["role"], r["content"]) for r in rows] == [
        (0, "system", "Be short."),
        (1, "user", "look\n[image]"),
        (3, "tool", "42"),
        (4, "assistant", "It is 42."),
    ]
    assert [r["timestamp"][11:19] for r in rows] == ["07:48:00", "07:48:01", "07:48:03", "07:50:08"]
    assert {(r["user_id"], r["session_id"], r["source_format"]) for r in rows} == {("ada", "c1", "openai")}


def test_times_may_be_seconds_parts_of_them_or_iso_under_any_usual_name(home: Any) -> None:
    times = [
        {"created": CREATED},
        {"created_at": CREATED * 1000},
        {"created": CREATED * 10**6},
        {"created": str(CREATED * 10**9)},
        {"created": f"{CREATED}.0"},
        {"create_time": "2026-09-22T07:48:00Z"},
    ]
    said = [{"role": "user", "content": "x", **time} for time in times]
    home.land_data("a.jsonl", [{"user_id": "ada", "messages": said}])
    assert {r["timestamp"] for r in home.landed()} == {"2026-09-22T07:48:00.000000+00:00"}


def test_a_message_without_any_time_is_refused_and_says_what_to_add(home: Any) -> None:
    home.land_data("a.jsonl", [{"user_id": "ada", "messages": [{"role": "user", "content": "x"}]}])
    letter = home.the_letter()
    assert letter["reason"] == "missing_timestamp"
    assert "`timestamp`" in letter["detail"]
    assert letter["format"] == "native"


def test_the_user_is_the_callers_word_else_the_records_else_the_folders(home: Any) -> None:
    def line(name: str, **said: Any) -> None:
        home.write(name, [{"id": name, "created": CREATED, "messages": [{"role": "user", "content": "x"}], **said}])

    line("bob/a.jsonl")
    line("bob/deeper/b.jsonl", metadata={"user_id": "cy"})
    line("top.jsonl")
    root = home.root / "in"
    home.land(root)
    assert {r["session_id"]: r["user_id"] for r in home.landed()} == {"bob/a.jsonl": "bob", "bob/deeper/b.jsonl": "cy"}
    assert home.the_letter()["reason"] == "missing_user"
    assert "--user-id" in home.the_letter()["detail"]
    report = home.land(root, user_id="dee")
    assert report.n_landed == 3
    assert {r["user_id"] for r in home.landed()} == {"bob", "cy", "dee"}


def test_a_line_without_messages_is_kept_whole(home: Any) -> None:
    home.land_data("a.jsonl", [{"messages": [{"role": "user", "content": "x"}]}, {"id": 7}], format="openai")
    assert sorted(home.reasons()) == ["missing_field", "missing_timestamp"]


def test_every_message_lands_or_is_named(home: Any) -> None:
    call = [{"id": "t", "type": "function", "function": {"name": "tides", "arguments": "{}"}}]
    messages = [
        {"role": "developer", "content": [{"type": "input_text", "text": "Be short."}]},
        {"role": "user", "content": [{"type": "input_text", "text": "look"}, {"type": "input_file", "file_id": "x"}]},
        {"role": "assistant", "content": None, "tool_calls": call},
        {"role": "assistant", "content": "", "tool_calls": call},
        {"role": "assistant", "content": "I look.", "tool_calls": call},
        {"role": "assistant", "content": None, "function_call": {"name": "tides"}},
        {"role": "function", "name": "tides", "content": "six"},
        {"role": "tool", "content": [{"type": "text", "text": "seven"}]},
        {"role": "assistant", "content": None, "refusal": "No."},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "Never."}]},
        {"role": "assistant", "content": None, "audio": {"id": "a", "transcript": "At six."}},
        {"role": "assistant", "content": None},
        {"role": "user", "content": ""},
        {"role": "user"},
        {"role": "robot", "content": "x"},
        7,
    ]
    report = home.land_data("a.jsonl", [{"id": "c1", "user": "ada", "created": CREATED, "messages": messages}],
                            format="openai")  # fmt: skip
    assert [(r["role"], r["content"]) for r in sorted(home.landed(), key=lambda r: r["turn_number"])] == [
        ("system", "Be short."),
        ("user", "look\n[file]"),
        ("assistant", "I look."),
        ("tool", "six"),
        ("tool", "seven"),
        ("assistant", "No."),
        ("assistant", "Never."),
        ("assistant", "At six."),
        ("user", ""),
    ]
    assert report.n_skipped == {"empty": 1, "tool_call": 3}
    assert report.n_dead_letters == {"missing_field": 1, "invalid_field": 1, "not_an_object": 1}
    assert report.n_rows + report.n_ignored == len(messages)
