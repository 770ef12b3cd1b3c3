"""Chats that Telegram Desktop has exported: one of them, or all."""

from typing import Any

import orjson
import pytest

NORA, IVO = ("Nora Lind", "user99"), ("Ivo", "user4312")


def message(number: int, who: tuple[str | None, str], text: Any, **more: Any) -> dict[str, Any]:
    second = number % 50
    base = {"id": number, "type": "message", "date": f"2026-03-05T19:20:{second:02}", "from": who[0], "from_id": who[1]}
    return base | {"date_unixtime": str(1772734800 + second), "text": text, "text_entities": []} | more


def service(number: int, action: str) -> dict[str, Any]:
    return {
        "id": number,
        "type": "service",
        "date": "2026-03-05T19:00:00",
        "actor": "Ivo",
        "action": action,
        "text": "",
    }


LINK = {"type": "link", "text": "https://ferry.example"}
CHAT = {
    "name": "Ivo",
    "type": "personal_chat",
    "id": 4312,
    "messages": [
        service(1, "phone_call"),
        message(2, IVO, ["I adopted a ", {"type": "bold", "text": "heron"}, ", see ", LINK]),
        message(3, NORA, "We moved to Bodø.", reply_to_message_id=2, edited="2026-03-05T19:30:00"),
        message(4, NORA, "", photo="photos/photo_1.jpg", width=640, height=480),
        message(5, IVO, "", file="stickers/s.webp", media_type="sticker", sticker_emoji="🙂"),
        message(6, IVO, "I breed yaks.", forwarded_from="Ylva"),
        message(7, IVO, "the timetable", file="files/t.pdf", file_name="t.pdf", mime_type="application/pdf"),
        message(8, NORA, "", file="voice/v.ogg", media_type="voice_message", duration_seconds=4),
        message(9, NORA, ""),
    ],
}
GROUP = {
    "name": "Ferry Club",
    "type": "private_supergroup",
    "id": 77,
    "messages": [
        service(-999, "create_group"),
        message(-998, ("Ylva", "user5"), "Welcome"),
        message(2, ("Ivo", "user6"), "I row."),
        message(3, IVO, "I sail."),
        message(4, NORA, "I swim."),
        message(5, ("Ferry Club", "channel77"), "The club is open."),
        message(6, (None, "user8"), "Who am I?"),
    ],
}
CHANNEL = {
    "name": "Tides",
    "type": "public_channel",
    "id": 78,
    "messages": [message(2, ("Tides", "channel78"), "I love storms.")],
}
BOT = {
    "name": "Timer",
    "type": "bot_chat",
    "id": 500,
    "messages": [message(2, NORA, "/start"), message(3, ("Timer", "user500"), "I am a timer.")],
}
SAVED = {"type": "saved_messages", "id": 99, "messages": [message(2, NORA, "Buy oars")]}
LEFT = {"name": "Old", "type": "private_group", "id": 79, "messages": [message(2, IVO, "Bye")]}
ALL = {
    "about": "Here is the data you requested.",
    "personal_information": {"user_id": 99, "first_name": "Nora", "last_name": "Lind", "phone_number": "+47"},
    "contacts": {"about": "x", "list": [{"first_name": "Ivo"}]},
    "chats": {"about": "x", "list": [CHAT, GROUP, CHANNEL, BOT, SAVED]},
    "left_chats": {"about": "x", "list": [LEFT]},
}


def rows(home: Any) -> list[dict[str, Any]]:
    return sorted(home.landed(), key=lambda r: (r["session_id"], r["turn_number"]))


def n_messages(*chats: dict[str, Any]) -> int:
    return sum(len(chat["messages"]) for chat in chats)


def test_a_chat_of_two_tells_by_its_number_who_the_user_is(home: Any) -> None:
    report = home.land_data("result.json", orjson.dumps(CHAT, option=orjson.OPT_INDENT_2))
    assert [(r["turn_number"], r["speaker"], r["subject"], r["content"]) for r in rows(home)] == [
        (2, "Ivo", "Ivo", "I adopted a heron, see https://ferry.example"),
        (3, "Nora Lind", "user", "We moved to Bodø."),
        (4, "Nora Lind", "user", "[image]"),
        (5, "Ivo", "Ivo", "[sticker 🙂]"),
        (6, "Ivo", "Ivo", "[forwarded from Ylva]\n> I breed yaks."),
        (7, "Ivo", "Ivo", "[attachment: t.pdf]\nthe timetable"),
        (8, "Nora Lind", "user", "[audio]"),
    ]
    assert {r["session_id"] for r in rows(home)} == {"telegram/4312/2026-03-05"}
    assert {(r["user_id"], r["channel"], r["role"]) for r in rows(home)} == {("nora-lind", "text", "user")}
    assert rows(home)[0]["participants"] == ["Nora Lind", "Ivo"]
    assert rows(home)[0]["timestamp"] == "2026-03-05T18:20:02.000000+00:00"
    assert report.n_skipped == {"empty": 1, "system_line": 1}
    assert report.n_landed + report.n_ignored == n_messages(CHAT)


def test_all_chats_land_for_their_owner(home: Any) -> None:
    report = home.land_data("result.json", orjson.dumps(ALL))
    assert report.n_landed + report.n_ignored == n_messages(CHAT, GROUP, CHANNEL, BOT, SAVED, LEFT)
    assert {r["user_id"] for r in rows(home)} == {"nora-lind"}
    said = {(r["session_id"].split("/")[1], r["role"], r["speaker"], r["subject"], r["trust"]) for r in rows(home)}
    assert {s for s in said if s[0] != "4312"} == {
        ("77", "user", "Ylva", "Ylva", "trusted"),
        ("77", "user", "Ivo", "Ivo", "trusted"),
        ("77", "user", "Ivo (user4312)", "Ivo (user4312)", "trusted"),
        ("77", "user", "Nora Lind", "user", "trusted"),
        ("77", "tool", "Ferry Club", None, "trusted"),
        ("77", "user", "user8", "user8", "trusted"),
        ("78", "tool", "Tides", None, "untrusted"),
        ("500", "user", "Nora Lind", "user", "trusted"),
        ("500", "assistant", "Timer", None, "trusted"),
        ("99", "user", "Nora Lind", "user", "trusted"),
        ("79", "user", "Ivo", "Ivo", "trusted"),
    }
    group = [r for r in rows(home) if "/77/" in r["session_id"]]
    assert {r["channel"] for r in group} == {"group"}
    assert group[-1]["participants"] == ["Nora Lind", "Ylva"]  # the oldest, whose number is below zero
    assert len(group) == 6


def test_a_group_alone_asks_who_the_user_is_and_takes_the_answer(home: Any, settings: Any) -> None:
    path = home.write("result.json", orjson.dumps(GROUP))
    report = home.land(path, user_id="n7")
    assert (report.n_landed, report.n_dead_letters) == (0, {"missing_user": 6})
    assert any("--speaker" in note and "Ylva (1)" in note for note in report.notes)
    report = home.land(path, user_id="n7", settings=settings(speakers=("nora lind",)))
    assert (report.n_landed, report.n_ignored) == (6, 1)
    assert [r["speaker"] for r in home.landed() if r["subject"] == "user"] == ["Nora Lind"]


def test_an_export_of_a_part_agrees_with_the_whole(home: Any) -> None:
    home.land_data("result.json", orjson.dumps(CHAT | {"messages": CHAT["messages"][2:5]}))
    report = home.land_data("result.json", orjson.dumps(CHAT))
    assert (report.n_landed, report.n_duplicates, report.n_refused) == (4, 3, 0)


def test_older_exports_have_numbers_for_ids_and_no_unix_time(home: Any, settings: Any) -> None:
    old = [{k: v for k, v in m.items() if k != "date_unixtime"} for m in CHAT["messages"]]
    numbers = [m | {"from_id": int(m["from_id"][4:])} if "from_id" in m else m for m in old]
    path = home.write("result.json", orjson.dumps(CHAT | {"messages": numbers}))
    report = home.land(path)
    assert any("--time-zone" in note for note in report.notes)
    assert [(r["subject"], r["timestamp"][11:13]) for r in rows(home)][:2] == [("Ivo", "19"), ("user", "19")]
    assert home.land(path, settings=settings(time_zone="Europe/Oslo"), user_id="n7").notes == ()
    assert rows(home)[1]["timestamp"][11:13] == "18"


@pytest.mark.parametrize(("fields", "content"), [
    ({"text": [{"type": "pre", "text": "a = 1", "language": "python"}]}, "\n```python\na = 1\n```\n"),
    ({"text": [{"type": "blockquote", "text": "I row."}, "You do?"]}, "> I row.\nYou do?"),
    ({"text": [{"type": "custom_emoji", "text": "🙂", "document_id": "x"}, 7, {"type": "x"}]}, "🙂"),
    ({"text": "", "text_entities": [{"type": "plain", "text": "I row."}]}, "I row."),
    ({"photo": "(File not included. Change data exporting settings.)", "text": "I row."}, "[image]\nI row."),
    ({"text": "x", "via_bot": "@gif"}, "[via @gif]\n> x"),
    ({"text": "I row.", "forwarded_from": "Nora Lind"}, "I row."),
    ({"text": "I row.", "forwarded_from": None}, "[forwarded]\n> I row."),
    ({"media_type": "animation", "file": "x"}, "[GIF]"),
    ({"media_type": "audio_file", "file": "x", "title": "Oars"}, "[audio: Oars]"),
    ({"contact_information": {"first_name": "Ylva", "last_name": "", "phone_number": "+47"}}, "[contact: Ylva]"),
    ({"location_information": {"latitude": 1.0, "longitude": 2.0}, "place_name": "Pier"}, "[location: Pier]"),
    ({"poll": {"question": "When?", "answers": [{"text": "now"}, {"text": "later"}]}}, "[poll: When? (now / later)]"),
    ({"file": "(File exceeds maximum size)"}, "[attachment]"),
])  # fmt: skip
def test_what_a_message_may_hold(home: Any, fields: dict[str, Any], content: str) -> None:
    said = message(2, NORA, "") | fields
    home.land_data("result.json", orjson.dumps(CHAT | {"messages": [message(1, IVO, "x"), said]}), user_id="nora")
    assert [r["content"] for r in rows(home)][1:] == [content.strip("\n")]


def test_what_is_no_message_is_a_dead_letter(home: Any) -> None:
    timeless = {k: v for k, v in message(3, NORA, "x").items() if not k.startswith("date")}
    data = ALL | {"chats": {"list": [CHAT | {"messages": ["x", timeless]}, {"name": "y", "messages": None}]}}
    home.land_data("result.json", orjson.dumps(data))
    assert sorted(home.reasons()) == ["missing_field", "missing_timestamp", "not_an_object"]


def test_what_is_broken_costs_itself_alone_however_large_the_export(home: Any, settings: Any) -> None:
    many = [message(n, (IVO, NORA)[n % 2], f"I have {n} oars" + ' in "messages": [') for n in range(1, 400)]
    text = orjson.dumps(CHAT | {"messages": many}).replace(b"I have 7 oars", b"I have 7 \xff oars")
    small = settings(max_document_bytes=2000, max_conversation_bytes=2000)
    report = home.land_data("result.json", text, settings=small)
    assert (report.n_landed, report.n_dead_letters) == (398, {"not_utf8": 1})


def test_chats_are_read_one_at_a_time_wherever_they_stand(home: Any, settings: Any) -> None:
    turned = {"left_chats": ALL["left_chats"], **ALL, "other_data": {"list": [LEFT]}}
    report = home.land_data("result.json", orjson.dumps(turned))
    assert report.n_landed + report.n_ignored == n_messages(CHAT, GROUP, CHANNEL, BOT, SAVED, LEFT)
    path = home.write("result.json", orjson.dumps(ALL | {"other_data": {"list": [LEFT]}}))
    small = home.land(path, settings=settings(max_document_bytes=1500), user_id="n7")
    assert small.n_dead_letters == {"document_too_large": 1}
    assert small.n_landed + small.n_ignored == n_messages(GROUP, CHANNEL, BOT, SAVED, LEFT)
