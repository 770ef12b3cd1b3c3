"""iCalendar: folded lines, escapes, time zones, recurrence, and what cannot be read of a calendar."""

from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.landing.formats.base import Ignored, Parsed, Rejected, Source
from em_pipelines.landing.formats.ical import convert
from em_pipelines.landing.formats.seeds import one_line
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.settings import LandingSettings
from tests.landing.conftest import NOW

VIENNA = """BEGIN:VTIMEZONE
TZID:Europe/Vienna
BEGIN:STANDARD
DTSTART:19701025T030000
RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:19700329T020000
RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
END:DAYLIGHT
END:VTIMEZONE
"""


def calendar(*events: str, more: str = "") -> str:
    """A calendar of events, each of its lines without BEGIN and END, as programs write them."""
    body = "".join(f"BEGIN:VEVENT\nUID:e{n}\n{event.strip()}\nEND:VEVENT\n" for n, event in enumerate(events))
    return f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//EN\n{VIENNA}{more}{body}END:VCALENDAR\n".replace("\n", "\r\n")


def statements(home: Any) -> list[str]:
    return [orjson.loads(record["payload"]).get("statement", "") for record in home.landed("feedback")]


def test_an_event_ahead_is_scheduled_and_one_that_is_past_happened(home: Any) -> None:
    home.land_data(
        "c.ics",
        calendar(
            "SUMMARY:Kiln\\, first\n  firing\\; 窯 🔥\nDTSTART:20261212T093000Z\nLOCATION:Studio Linz",
            "SUMMARY:Harbour walk\nDTSTART;VALUE=DATE:20261003\nDTEND;VALUE=DATE:20261005",
            "SUMMARY:Long ago\nDTSTART;VALUE=DATE:20191003",
            "SUMMARY:Busy\nDTSTART;VALUE=DATE:20261213",
        ),
        user_id="ada",
    )
    assert home.facts() == [
        ("Kiln, first firing; 窯 🔥", "scheduled_for", "2026-12-12"),
        ("Kiln, first firing; 窯 🔥", "located_in", "Studio Linz"),
        ("Harbour walk", "happened_on", "2026-10-03"),
    ]
    assert statements(home)[0] == "Kiln, first firing; 窯 🔥 is on 2026-12-12 at 09:30"
    assert statements(home)[2] == "Harbour walk was on 2026-10-03 to 2026-10-04"


def test_a_series_is_one_event_with_its_next_dates(home: Any) -> None:
    data = calendar(
        "SUMMARY:Choir\nDTSTART;TZID=Europe/Vienna:20260901T180000\nDTEND;TZID=Europe/Vienna:20260901T193000\n"
        "RRULE:FREQ=WEEKLY;BYDAY=TU\nEXDATE;TZID=Europe/Vienna:20261208T180000"
    )
    home.land_data("c.ics", data, user_id="ada")
    assert home.facts() == [
        ("Choir", "scheduled_for", "2026-12-01"),
        ("Choir", "recurrence", "every week on Tuesday"),
    ]
    said = statements(home)[0]
    assert said.startswith("Choir is on 2026-12-01 at 18:00, every week on Tuesday; then 2026-12-15, 2026-12-22")


def test_an_occurrence_that_was_moved_or_cancelled_is_where_it_was_put(home: Any) -> None:
    series = "UID:s\nSUMMARY:Choir\nDTSTART;TZID=Europe/Vienna:20260901T180000\nRRULE:FREQ=WEEKLY"
    moved = (
        "UID:s\nSUMMARY:Choir\nRECURRENCE-ID;TZID=Europe/Vienna:20261201T180000\n"
        "DTSTART;TZID=Europe/Vienna:20261203T190000"
    )
    off = (
        "UID:s\nSUMMARY:Choir\nRECURRENCE-ID;TZID=Europe/Vienna:20261208T180000\nSTATUS:CANCELLED\n"
        "DTSTART;TZID=Europe/Vienna:20261208T180000"
    )
    body = "".join(f"BEGIN:VEVENT\n{event}\nEND:VEVENT\n" for event in (series, moved, off))
    home.land_data("c.ics", calendar(more=body), user_id="ada")
    assert home.facts()[0] == ("Choir", "scheduled_for", "2026-12-03")
    assert "at 19:00" in statements(home)[0] and "2026-12-08" not in statements(home)[0]


def test_single_dates_of_a_series_count_too(home: Any) -> None:
    event = "SUMMARY:Market\nDTSTART;VALUE=DATE:20261010\nRDATE;VALUE=DATE:20261219,20270116"
    home.land_data("c.ics", calendar(event), user_id="ada")
    assert home.facts() == [("Market", "scheduled_for", "2026-12-19")]
    assert statements(home) == ["Market is on 2026-12-19; then 2027-01-16"]


@pytest.mark.parametrize(
    ("start", "day", "clock"),
    [
        ("DTSTART;TZID=Europe/Vienna:20261224T003000", "2026-12-24", "00:30"),
        ("DTSTART:20261224T233000Z", "2026-12-24", "23:30"),
        ("DTSTART:20261224T003000", "2026-12-24", "00:30"),
        ("DTSTART;TZID=W. Europe Standard Time:20261224T003000", "2026-12-24", "00:30"),
        ("DTSTART;TZID=Nowhere/At All:20261224T003000", "2026-12-24", "00:30"),
    ],
)
def test_the_day_is_that_of_the_events_own_clock(home: Any, start: str, day: str, clock: str) -> None:
    home.land_data("c.ics", calendar(f"SUMMARY:Supper\n{start}"), user_id="ada")
    assert home.facts() == [("Supper", "scheduled_for", day)]
    assert statements(home)[0].endswith(f"at {clock}")


def test_a_cancelled_event_is_none(home: Any) -> None:
    report = home.land_data("c.ics", calendar("SUMMARY:X\nSTATUS:CANCELLED\nDTSTART:20261224T003000Z"), user_id="ada")
    assert (report.n_rows, report.n_ignored, home.facts()) == (0, 1, [])


@pytest.mark.parametrize(
    "title", ["Dana Marin's birthday", "🎂 Dana Marin’s Birthday", "Geburtstag von Dana Marin", "Dana Marinの誕生日"]
)
def test_a_calendar_of_birthdays_gives_birthdays(home: Any, title: str) -> None:
    home.land_data("c.ics", calendar(f"SUMMARY:{title}\nDTSTART;VALUE=DATE:20260412\nRRULE:FREQ=YEARLY"), user_id="ada")
    assert home.facts() == [("Dana Marin", "has_birthday", "04-12")]


def test_a_birthday_of_the_29th_of_february_is_one_in_every_year(home: Any) -> None:
    home.land_data(
        "c.ics", calendar("SUMMARY:Zoë's birthday\nDTSTART;VALUE=DATE:20240229\nRRULE:FREQ=YEARLY"), user_id="ada"
    )
    assert home.facts() == [("Zoë", "has_birthday", "02-29")]


def test_a_birthday_party_has_its_hour_and_is_an_event(home: Any) -> None:
    home.land_data(
        "c.ics", calendar("SUMMARY:Zoë's birthday\nDTSTART:20261212T190000Z\nDTEND:20261213T020000Z"), user_id="ada"
    )
    assert home.facts() == [("Zoë's birthday", "scheduled_for", "2026-12-12")]
    assert statements(home) == ["Zoë's birthday is on 2026-12-12 at 19:00 to 2026-12-13"]


def test_events_of_one_title_are_told_apart_by_their_days(home: Any) -> None:
    dentist = "SUMMARY:Dentist\nDTSTART:202612{}T080000Z"
    home.land_data("c.ics", calendar(dentist.format("04"), dentist.format("11")), user_id="ada")
    assert [fact[0] for fact in home.facts()] == ["Dentist on 2026-12-04", "Dentist on 2026-12-11"]


def test_what_is_private_in_the_calendar_is_private_here(home: Any) -> None:
    home.land_data("c.ics", calendar("SUMMARY:Interview\nCLASS:PRIVATE\nDTSTART:20261224T003000Z"), user_id="ada")
    (record,) = home.landed("feedback")
    assert orjson.loads(record["payload"])["privacy_floor"] == "L3"


@pytest.mark.parametrize(
    ("event", "why"),
    [
        ("SUMMARY:X\nDTSTART:20261324T003000Z", "DTSTART"),
        ("SUMMARY:X", "no DTSTART"),
        ("SUMMARY:X\nDTSTART:20261224T003000Z\nRRULE:FREQ=SECONDLY", "every hour or oftener"),
        ("SUMMARY:X\nDTSTART:20261224T003000Z\nRRULE:FREQ=WEE\n KLY;BYMINUTE=1,2,3", "every hour or oftener"),
        ("SUMMARY:X\nDTSTART:20261224T003000Z\nRRULE:FREQ=SOMETIMES", "RRULE"),
        ("SUMMARY:X\nDTSTART:20261224T003000Z\nRRULE:COUNT=3", ""),
        ("SUMMARY:X\nDTSTART:20261224T003000Z\nEXDATE:never", "EXDATE"),
    ],
)
def test_an_event_that_cannot_be_read_is_refused_alone_and_says_why(home: Any, event: str, why: str) -> None:
    home.land_data("c.ics", calendar(event, "SUMMARY:Supper\nDTSTART:20261224T190000Z"), user_id="ada")
    assert home.facts() == [("Supper", "scheduled_for", "2026-12-24")]
    letter = home.the_letter()
    assert letter["reason"] == "invalid_event" and why in letter["detail"]
    assert letter["raw"].startswith(b"BEGIN:VCALENDAR")


def test_an_event_without_end_costs_no_other(home: Any) -> None:
    data = calendar("SUMMARY:Supper\nDTSTART:20261224T190000Z", more="BEGIN:VEVENT\nSUMMARY:Lost\n")
    home.land_data("c.ics", data, user_id="ada")
    assert home.facts() == [("Supper", "scheduled_for", "2026-12-24")]
    assert home.reasons() == ["invalid_event"]


def test_landing_again_adds_nothing(home: Any) -> None:
    data = calendar("SUMMARY:Supper\nDTSTART:20261224T190000Z")
    home.land_data("c.ics", data, user_id="ada")
    assert home.land_data("c.ics", data, user_id="ada").n_landed == 0


TITLES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs", "M"]), min_size=1, max_size=60)
DAYS = st.dates(date(2026, 12, 1), date(2027, 11, 30))


@given(TITLES, DAYS, st.integers(min_value=20, max_value=75))
def test_whatever_is_written_by_the_rules_is_read_or_refused_with_a_reason(title: str, day: date, width: int) -> None:
    lines = [
        "BEGIN:VCALENDAR", "BEGIN:VEVENT", "UID:1", f"DTSTART;VALUE=DATE:{day:%Y%m%d}",
        "SUMMARY:" + title.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,"), "END:VEVENT", "END:VCALENDAR",
    ]  # fmt: skip
    data = b"".join(folded(line, width) + b"\r\n" for line in lines)
    file = InputFile(Path("c.ics"), LandingSettings(), data)
    found = list(convert(file, Source("c.ics", "ada", landed_at=NOW)))
    assert not any(isinstance(item, Rejected) for item in found)
    said = [item.fields for item in found if isinstance(item, Parsed)]
    if said:
        assert (said[0]["subject"], said[0]["object"]) == (one_line(title), day.isoformat())
    else:
        assert isinstance(found[0], Ignored)


def folded(line: str, width: int) -> bytes:
    """Folded after so many bytes, characters whole."""
    parts: list[bytes] = [b""]
    for char in line:
        if len(parts[-1]) + len(char.encode()) > width:
            parts.append(b" ")
        parts[-1] += char.encode()
    return b"\r\n".join(parts)
