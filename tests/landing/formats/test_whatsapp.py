"""Chats that WhatsApp has exported, of both kinds of phone and in the forms of several languages."""

import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from em_pipelines.landing.formats import whatsapp_lines
from em_pipelines.landing.formats.whatsapp_lines import content_of, entry_of
from em_pipelines.landing.reasons import Skip
from em_pipelines.landing.settings import LandingSettings

ANDROID = """\
05/03/2026, 18:20 - Messages and calls are end-to-end encrypted. No one outside of this chat can read them.
05/03/2026, 18:20 - Nora Lind: We moved to Bodø:
the boat came, too

and the cat
05/03/2026, 18:21 - Ivo: <Media omitted>
05/03/2026, 18:22 - Ivo: This message was deleted
13/03/2026, 18:22 - Ivo: I adopted a heron <This message was edited>
13/03/2026, 18:23 - Ivo: IMG-20260313-WA0001.jpg (file attached)
Her name is Miso
13/03/2026, 18:24 - Ivo: [14.03.26, 10:00:00] Ola: pasted from elsewhere
13/03/2026, 18:25 - Ivo changed his phone number to a new number. Tap to message or add the new number.
"""
IPHONE = """\
\u200e[3/5/26, 6:20:11\u202fPM] Ferry Club: \u200eMessages and calls are end-to-end encrypted.
[3/5/26, 6:20:12\u202fPM] Ferry Club: \u200eYlva created this group
[3/5/26, 6:20:15\u202fPM] ~\u202fYlva: Welcome, \u2068@Ola\u2069
\u200e[3/5/26, 6:20:19\u202fPM] Ola: \u200eimage omitted
\u200e[3/16/26, 12:20:19\u202fAM] Ola: look \u200e<attached: 00000012-PHOTO-2026-03-05-18-20-11.jpg>
[3/16/26, 12:21:19\u202fAM] Nora: \u200eYou deleted this message.
[3/16/26, 12:22:19\u202fPM] Nora: I row \u200e<This message was edited>
\u200e[3/16/26, 12:22:59\u202fPM] Nora: tides.pdf • \u200e4 pages \u200edocument omitted
\u200e[3/16/26, 12:23:10\u202fPM] Ola: \u200eMissed voice call
"""


def rows(home: Any) -> list[dict[str, Any]]:
    return sorted(home.landed(), key=lambda r: (r["session_id"], r["turn_number"]))


def accounted(report: Any) -> int:
    return report.n_rows + report.n_ignored


def test_a_chat_of_two_on_android(home: Any) -> None:
    report = home.land_data("WhatsApp Chat with Ivo.txt", ANDROID)
    assert [(r["session_id"], r["turn_number"], r["speaker"], r["subject"], r["content"]) for r in rows(home)] == [
        (
            "whatsapp/ivo/2026-03-05",
            1_100_001,
            "Nora Lind",
            "user",
            "We moved to Bodø:\nthe boat came, too\n\nand the cat",
        ),
        ("whatsapp/ivo/2026-03-05", 1_101_000, "Ivo", "Ivo", "[attachment]"),
        ("whatsapp/ivo/2026-03-13", 1_102_000, "Ivo", "Ivo", "I adopted a heron"),
        ("whatsapp/ivo/2026-03-13", 1_103_000, "Ivo", "Ivo", "[image]\nHer name is Miso"),
        ("whatsapp/ivo/2026-03-13", 1_104_000, "Ivo", "Ivo", "[14.03.26, 10:00:00] Ola: pasted from elsewhere"),
    ]
    first = rows(home)[0]
    assert (first["user_id"], first["role"], first["channel"]) == ("nora-lind", "user", "text")
    assert first["participants"] == ["Nora Lind", "Ivo"]
    assert report.n_skipped == {"deleted": 1, "system_line": 2}
    assert accounted(report) == len(re.findall(r"(?m)^\d\d/\d\d/2026, \d\d:\d\d - ", ANDROID))


def test_a_group_on_an_iphone(home: Any) -> None:
    report = home.land_data("_chat.txt", IPHONE, user_id="nora")
    assert [(r["turn_number"], r["timestamp"][:19], r["speaker"], r["content"]) for r in rows(home)] == [
        (1_100_002, "2026-03-05T18:20:15", "Ylva", "Welcome, @Ola"),
        (1_100_003, "2026-03-05T18:20:19", "Ola", "[image]"),
        (20_000, "2026-03-16T00:20:19", "Ola", "look [image]"),
        (742_000, "2026-03-16T12:22:19", "Nora", "I row"),
        (742_001, "2026-03-16T12:22:59", "Nora", "[file]"),
    ]
    assert {r["channel"] for r in rows(home)} == {"group"}
    assert {r["session_id"].rpartition("/")[0] for r in rows(home)} == {"whatsapp/ferry-club"}
    assert rows(home)[-1]["participants"] == ["Nora", "Ola"]
    assert report.n_skipped == {"deleted": 1, "system_line": 3}
    assert accounted(report) == IPHONE.count("/26, ")


def test_landing_a_longer_export_again_adds_what_is_new(home: Any) -> None:
    lines = IPHONE.splitlines(keepends=True)
    home.land_data("_chat.txt", "".join(lines[:4]), user_id="nora", settings=None)
    report = home.land_data("_chat.txt", IPHONE, user_id="nora")
    assert (report.n_duplicates, report.n_refused) == (0, 0)  # the first alone did not tell who Nora is: nothing landed
    cut = "".join([*lines[:2], *lines[4:], "[3/16/26, 2:00:00\u202fPM] ~\u202fYlva: Off we go\n"])
    report = home.land_data("_chat.txt", cut, user_id="nora")
    assert (report.n_landed, report.n_duplicates, report.n_refused) == (1, 3, 0)


@pytest.mark.parametrize(("begins", "sent_at"), [
    ("[05.03.26, 18:20:11] Nora: x", "2026-03-05T18:20:11"),
    ("5.3.2026 klo 18.20 - Nora: x", "2026-03-05T18:20:00"),
    ("05/03/2026 à 18:20 - Nora: x", "2026-03-05T18:20:00"),
    ("[2026-03-05, 18:20:11] Nora: x", "2026-03-05T18:20:11"),
    ("2026-03-05 18:20 – Nora: x", "2026-03-05T18:20:00"),
    ("05-03-2026 18:20 - Nora: x", "2026-03-05T18:20:00"),
    ("05/03/26, 6:20 pm - Nora: x", "2026-03-05T18:20:00"),
    ("05/03/26, 12:20 a. m. - Nora: x", "2026-03-05T00:20:00"),
    ("[05/03/26, 6:20:11\u00a0p.\u202fm.] Nora: x", "2026-03-05T18:20:11"),
    ("[2026/3/5 下午6:20:11] Nora: x", "2026-03-05T18:20:11"),
    ("2026년 3월 5일 오후 6:20 - Nora: x", "2026-03-05T18:20:00"),
    ("2026. 3. 5. 오후 6:20 - Nora : x", "2026-03-05T18:20:00"),
    ("15/03/2569 18:20 - Nora: x", "2026-03-15T18:20:00"),
    ("[٠٥\u200f/٠٣\u200f/٢٠٢٦، ٦:٢٠:١١ م] Nora: x", "2026-03-05T18:20:11"),
])  # fmt: skip
def test_dates_and_times_as_languages_write_them(home: Any, begins: str, sent_at: str) -> None:
    home.land_data("chat.txt", f"{begins}\n", user_id="nora")
    assert [(r["timestamp"][:19], r["speaker"], r["content"]) for r in home.landed()] == [(sent_at, "Nora", "x")]


@pytest.mark.parametrize(("dates", "first"), [
    (["5/3/26", "13/3/26"], "2026-03-05"),  # a thirteenth month there is not
    (["5/3/26", "5/13/26"], "2026-05-03"),
    (["10/3/26", "11/3/26", "1/4/26"], "2026-03-10"),  # the other order would run backwards
    (["3/10/26", "3/11/26", "4/1/26"], "2026-03-10"),
])  # fmt: skip
def test_the_order_of_dates_is_read_off_the_whole_file(home: Any, dates: list[str], first: str) -> None:
    report = home.land_data("chat.txt", "".join(f"{d}, 18:20 - Nora: x\n" for d in dates), user_id="nora")
    assert (report.n_landed, home.landed()[0]["timestamp"][:10]) == (len(dates), first)
    assert not any("ambiguous" in note for note in report.notes)


@pytest.mark.parametrize(("begins", "day"), [("05/03/26, 18:20", "2026-03-05"), ("5/3/26, 6:20 PM", "2026-05-03")])
def test_where_only_the_form_tells_the_order_it_is_said(home: Any, begins: str, day: str) -> None:
    report = home.land_data("chat.txt", f"{begins} - Nora: x\n", user_id="nora")
    assert home.landed()[0]["timestamp"][:10] == day
    assert sum("ambiguous" in note and "--date-order" in note for note in report.notes) == 1


def test_where_nothing_tells_the_order_it_is_asked_for_and_nothing_lands(home: Any, settings: Any) -> None:
    path = home.write("chat.txt", "5/3/26, 18:20 - Nora: x\n")
    report = home.land(path, user_id="nora")
    assert (report.n_landed, report.n_dead_letters) == (0, {"invalid_field": 1})
    assert "--date-order" in home.the_letter()["detail"]
    report = home.land(path, user_id="nora", settings=settings(date_order="mdy"))
    assert (report.n_landed, home.landed()[0]["timestamp"][:10]) == (1, "2026-05-03")


def test_a_date_that_there_is_not_is_a_dead_letter(home: Any) -> None:
    text = "05/03/2026, 18:20 - Nora: x\n31/03/2026, 18:20 - Nora: y\n31/02/2026, 18:20 - Nora: z\n"
    report = home.land_data("chat.txt", text, user_id="nora")
    assert (report.n_landed, report.n_dead_letters) == (2, {"missing_timestamp": 1})


def test_times_are_of_the_time_zone_that_is_set_and_without_one_it_is_said(home: Any, settings: Any) -> None:
    path = home.write("chat.txt", "15/07/2026, 18:20 - Nora: x\n")
    report = home.land(path, user_id="nora", settings=settings(time_zone="Europe/Oslo"))
    assert (home.landed()[0]["timestamp"][:16], report.notes) == ("2026-07-15T16:20", ())
    other = home.land(path, user_id="ola-and-nora", settings=settings(speakers=("Nora",)))
    assert "--time-zone" in other.notes[0]


@pytest.mark.parametrize(("name", "user_id", "speakers", "user"), [
    ("chat.txt", None, ("nora lind",), "nora-lind"),
    ("chat.txt", "nora", (), "nora"),
    ("chat.txt", "x7", ("Nora",), "x7"),
    ("WhatsApp-Chat mit Ivo.txt", None, (), "nora-lind"),
    ("WhatsApp Chat with Ivo (1).txt", "x7", (), "x7"),
    ("WhatsApp Chat - Ivo.zip!/_chat.txt", "x7", (), "x7"),
    ("chat.txt", "x7", (), None),
    ("chat.txt", None, ("Ylva",), None),
])  # fmt: skip
def test_who_the_user_is(home: Any, settings: Any, name: str, user_id: str, speakers: Any, user: str) -> None:
    path = home.write(name, "15/07/2026, 18:20 - Nora Lind: x\n15/07/2026, 18:20 - Ivo: y\n")
    report = home.land(path, user_id=user_id, settings=settings(speakers=speakers))
    asked = [note for note in report.notes if note.endswith("--speaker NAME")]
    if user:
        assert [(r["user_id"], r["subject"]) for r in rows(home)] == [(user, "user"), (user, "Ivo")]
        assert asked == []
    else:
        assert (report.n_landed, report.n_dead_letters) == (0, {"missing_user": 2})
        assert len(asked) == 1
        assert "was written by Nora Lind (1), Ivo (1), and nothing says who of them is the user" in asked[0]


def test_a_user_with_two_names_is_one(home: Any, settings: Any) -> None:
    text = "15/07/2026, 18:20 - Nora: x\n15/07/2026, 18:20 - Nora Lind: y\n15/07/2026, 18:21 - Ivo: z\n"
    home.land_data("chat.txt", text, settings=settings(speakers=("Nora", "Nora Lind")))
    assert [(r["speaker"], r["subject"]) for r in rows(home)] == [("Nora", "user"), ("Nora", "user"), ("Ivo", "Ivo")]
    assert {r["channel"] for r in home.landed()} == {"text"}


def test_a_line_of_the_program_with_a_colon_is_nobodys() -> None:
    found = entry_of(1, "05/03/2026, 18:20 - Ylva changed the group name from “Ferry: May” to “Ferry: June”")
    assert found
    assert found.speaker is None
    said = entry_of(1, "05/03/2026, 18:20 - Ylva: they renamed it “Ferry: June”")
    assert said
    assert said.speaker == "Ylva"


@pytest.mark.parametrize(("text", "content"), [
    ("<Medien ausgeschlossen>", "[attachment]"),
    ("<Plików pominięto>", "[attachment]"),
    ("Fähre.pdf (Datei angehängt)", "[attachment: Fähre.pdf]"),
    ("<3", "<3"),
    ("<joke>", "<joke>"),
    ("\u200e<Anhang: 00000005-AUDIO-2026-01-13-09-16-11.opus>", "[audio]"),
    ("I <3 you <3", "I <3 you <3"),
    ("see a.pdf (it is long)", "see a.pdf (it is long)"),
    ("\u200eVIDEO-2026.mp4 (archivo adjunto)", "[video]"),
    ("Sie haben diese Nachricht gelöscht", "Sie haben diese Nachricht gelöscht"),
    ("Diese Nachricht wurde gelöscht.", Skip.DELETED),
    ("", Skip.EMPTY),
])  # fmt: skip
def test_media_and_deletions_in_other_languages(text: str, content: str | Skip) -> None:
    assert content_of(text, is_iphone=False) == content


def test_every_phrase_of_the_program_is_known_for_what_it_is() -> None:
    path = Path(whatsapp_lines.__file__).parents[1] / "data/whatsapp.yaml"
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    for phrase in (*data["deleted"], *data["deleted_by_me"]):
        assert content_of(f"\u200e{phrase.capitalize()}.", is_iphone=True) is Skip.DELETED
    for phrase in data["edited"]:
        assert content_of(f"I row <{phrase.capitalize()}>", is_iphone=False) == "I row"
    for phrase in data["attached"]:
        assert content_of(f"My tides.pdf ({phrase})", is_iphone=False) == "[attachment: My tides.pdf]"
    for kind, phrases in data["omitted"].items():
        assert {content_of(f"\u200e{phrase.capitalize()}", is_iphone=True) for phrase in phrases} == {f"[{kind}]"}
    for half, hour in ((data["before_noon"], 6), (data["after_noon"], 18)):
        for word in half:
            found = entry_of(1, f"5/3/26, 6:20 {word} - Nora: x")
            assert found
            assert found.sent_at("dmy").hour == hour


def test_what_cannot_be_read_and_what_stands_before_the_first_message_is_named(home: Any) -> None:
    data = b"Exported chat\n15/07/2026, 18:20 - Nora: x\n" + b"\xff\xfe bad\n" + b"end\n"
    report = home.land_data("chat.txt", data, user_id="nora")
    assert report.n_skipped == {"preamble": 1}
    assert (report.n_landed, report.n_dead_letters) == (1, {"not_utf8": 1})
    assert home.landed()[0]["content"] == "x\nend"


def test_words_for_the_half_of_the_day_that_are_not_known_are_told(home: Any) -> None:
    text = "15/07/26, 9:15 ante - Nora: x\n15/07/26, 9:15 post - Nora: y\n"
    report = home.land_data("chat.txt", text, user_id="nora")
    assert any("ante, post" in note for note in report.notes)
    report = home.land_data("chat.txt", "15/07/26 kl. 9:15 - Nora: x\n", user_id="ola")
    assert not any("24 hours" in note for note in report.notes)


def test_an_export_that_begins_in_the_middle_of_a_day_and_a_fuller_one_agree(home: Any) -> None:
    lines = [f"05/03/2026, 18:{n // 2 + 10} - {'Nora' if n % 2 else 'Ivo'}: It is message {n}\n" for n in range(8)]
    report = home.land_data("WhatsApp Chat with Ivo.txt", "".join(lines[4:]), user_id="nora")
    assert (report.n_landed, report.n_refused) == (4, 0)
    report = home.land_data("WhatsApp Chat with Ivo.txt", "".join(lines), user_id="nora")
    assert (report.n_landed, report.n_duplicates, report.n_refused) == (4, 4, 0)
    assert [r["content"] for r in rows(home)] == [f"It is message {n}" for n in range(8)]


def test_another_time_zone_is_no_conflict_and_changes_nothing_that_has_landed(home: Any) -> None:
    home.land_data("WhatsApp Chat with Ivo.txt", ANDROID)
    landed = rows(home)
    for zone in ("Europe/Oslo", "Asia/Kathmandu"):
        again = home.land_data("WhatsApp Chat with Ivo.txt", ANDROID, settings=LandingSettings(time_zone=zone))
        assert (again.n_landed, again.n_refused, again.n_read_otherwise) == (0, 0, {"time zone": len(landed)})
    assert rows(home) == landed
    other = home.land_data("WhatsApp Chat with Ivo.txt", ANDROID.replace("We moved", "We did not move"),
                           settings=LandingSettings(time_zone="Europe/Oslo"))  # fmt: skip
    assert (other.n_dead_letters, other.n_read_otherwise) == ({"key_conflict": 1}, {"time zone": len(landed) - 1})


BEFORE = """\
05/03/2026, 18:20 - Messages and calls are end-to-end encrypted.
05/03/2026, 18:20 - Nora: I moved to Bodø.
05/03/2026, 18:22 - +47 900 11 222: I build violas.
05/03/2026, 18:22 - +47 900 11 222: Small ones.
"""
AFTER = BEFORE.replace("+47 900 11 222", "Ivo") + "06/03/2026, 09:00 - Ivo: I have a boat.\n"
OLD_NAME, NEW_NAME = "WhatsApp Chat with +47 900 11 222.txt", "WhatsApp Chat with Ivo.txt"


def test_a_chat_exported_again_after_its_contact_was_saved_lands_what_is_new(home: Any) -> None:
    home.land_data(OLD_NAME, BEFORE, user_id="nora")
    report = home.land_data(NEW_NAME, AFTER, user_id="nora")
    assert (report.n_landed, report.n_duplicates, report.n_refused) == (1, 3, 0)
    assert {r["session_id"].rpartition("/")[0] for r in rows(home)} == {"whatsapp/47-900-11-222"}
    said = "\n".join(report.notes)
    assert "has landed before as whatsapp/47-900-11-222" in said
    assert '`em merge --user nora "+47 900 11 222" "Ivo"`' in said
    again = home.land_data(NEW_NAME, AFTER, user_id="nora")
    assert (again.n_landed, again.n_duplicates, again.n_refused) == (0, 4, 0)


def test_a_renamed_chat_in_one_landing_and_in_another_zone_is_known_again(home: Any) -> None:
    report = home.land(home.write(OLD_NAME, BEFORE), home.write(NEW_NAME, AFTER), user_id="nora")
    assert (report.n_landed, report.n_duplicates, report.n_refused) == (4, 3, 0)
    settings = LandingSettings(time_zone="Europe/Oslo")
    report = home.land(home.write("WhatsApp Chat with Ivo B.txt", AFTER.replace("Ivo", "Ivo B")), user_id="nora",
                       settings=settings)  # fmt: skip
    assert (report.n_landed, report.n_duplicates, report.n_refused) == (0, 4, 0)


def test_a_member_of_a_group_may_be_saved_under_another_name(home: Any) -> None:
    group = BEFORE + "05/03/2026, 18:30 - Signe: Me too.\n"
    home.land_data("WhatsApp Chat with Luthiers.txt", group, user_id="nora")
    report = home.land_data("WhatsApp Chat with Luthiers.txt", group.replace("+47 900 11 222", "Ivo"), user_id="nora")
    assert (report.n_landed, report.n_duplicates, report.n_refused) == (0, 4, 0)
    assert any("em merge" in note for note in report.notes)


def test_the_same_words_to_two_people_are_two_chats(home: Any) -> None:
    sent = "".join(f"01/01/2026, 00:0{n} - Nora: Happy new year {n}!\n" for n in range(4))
    home.land_data("WhatsApp Chat with Ivo.txt", sent + "01/01/2026, 00:05 - Ivo: And you.\n", user_id="nora")
    report = home.land_data("WhatsApp Chat with Ola.txt", sent + "01/01/2026, 00:07 - Ola: Same.\n", user_id="nora")
    assert (report.n_landed, report.n_duplicates) == (5, 0)


def test_the_user_is_not_renamed_by_landing_as_another(home: Any, settings: Any) -> None:
    home.land_data(NEW_NAME, AFTER, user_id="x", settings=settings(speakers=("Nora",)))
    report = home.land_data(NEW_NAME, AFTER, user_id="x", settings=settings(speakers=("Ivo",)))
    assert report.n_dead_letters == {"key_conflict": 4}


AUTUMN = """\
25/10/2026, 01:58 - Nora: one
25/10/2026, 02:50 - Nora: two
25/10/2026, 02:59 - Ivo: three
25/10/2026, 02:10 - Ivo: four
25/10/2026, 02:10 - Ivo: five
25/10/2026, 02:50 - Nora: six
25/10/2026, 03:00 - Nora: seven
"""


@pytest.mark.parametrize(("zone", "shift"), [("Europe/Oslo", 0), ("Europe/London", -1), ("America/New_York", 7)])
def test_the_hour_that_comes_twice_in_autumn_is_in_the_order_of_the_file(home: Any, zone: str, shift: int) -> None:
    text = AUTUMN if not shift else re.sub(r"(\d\d):(\d\d) -", lambda m: f"{int(m[1]) - 1:02}:{m[2]} -", AUTUMN)
    text = text.replace("25/10/2026", "01/11/2026") if shift > 0 else text
    settings = LandingSettings(time_zone=zone, date_order="dmy")
    report = home.land_data(NEW_NAME, text, user_id="nora", settings=settings)
    assert (report.n_landed, report.n_refused) == (7, 0)
    said = rows(home)
    assert [r["content"] for r in said] == ["one", "two", "three", "four", "five", "six", "seven"]
    assert [r["timestamp"] for r in said] == sorted(r["timestamp"] for r in said)
    sent = [datetime.fromisoformat(r["timestamp"]) for r in said]
    assert [(at - sent[0]).total_seconds() / 60 for at in sent] == [0, 52, 61, 72, 72, 112, 122]
    longer = text + text.splitlines()[-1].replace("seven", "eight") + "\n"
    again = home.land_data(NEW_NAME, longer, user_id="nora", settings=settings)
    assert (again.n_landed, again.n_duplicates, again.n_refused) == (1, 7, 0)


def test_a_message_a_minute_out_of_order_sets_no_clock_back(home: Any) -> None:
    text = "25/10/2026, 02:31 - Nora: a\n25/10/2026, 02:30 - Ivo: b\n25/10/2026, 02:32 - Nora: c\n"
    home.land_data(NEW_NAME, text, user_id="nora", settings=LandingSettings(time_zone="Europe/Oslo"))
    assert {r["timestamp"][11:13] for r in rows(home)} == {"00"}
