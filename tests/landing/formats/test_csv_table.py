"""CSV and TSV."""

from typing import Any

import pytest

from em_pipelines.errors import UsageError
from em_pipelines.landing.settings import LandingSettings

CSV = (
    "User,Conversation_ID,Sender,Text,Date\n"
    'ada,c1,human,"Hello, you\nthere ""friend""",2026-03-05T18:20:00+01:00\n'
    "\n"
    "ada,c1,assistant,Hi,1790063280\n"
    "bob,c2,user,Yo,2026-03-06 10:00:00\n"
)


def said(home: Any) -> list[tuple[Any, ...]]:
    rows = sorted(home.landed(), key=lambda r: (r["user_id"], r["session_id"], r["turn_number"]))
    return [(r["user_id"], r["session_id"], r["turn_number"], r["role"], r["content"]) for r in rows]


def test_columns_are_known_by_synonyms_and_cells_may_hold_anything(home: Any) -> None:
    home.land_data("chat.csv", CSV)
    assert said(home) == [
        ("ada", "c1", 0, "user", 'Hello, you\nthere "friend"'),
        ("ada", "c1", 1, "assistant", "Hi"),
        ("bob", "c2", 0, "user", "Yo"),
    ]
    assert {r["timestamp"][:16] for r in home.landed()} == {"2026-03-05T17:20", "2026-09-22T07:48", "2026-03-06T10:00"}


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_other_delimiters_are_seen_in_the_header(home: Any, delimiter: str) -> None:
    home.land_data(
        "x.log", delimiter.join(("text", "time", "user")) + "\n" + delimiter.join(("a", "1790063280", "ada"))
    )
    assert [r["content"] for r in home.landed()] == ["a"]


def test_an_explicit_mapping_wins_over_synonyms(home: Any) -> None:
    data = "text,what they said,when,who\nnote,hello,2026-03-05T18:20:00Z,ada\n"
    home.land_data(
        "x.csv", data, format="csv", mapping={"content": "What they said", "timestamp": "when", "user_id": "who"}
    )
    assert said(home) == [("ada", "x.csv/2026-03-05", 0, "user", "hello")]


@pytest.mark.parametrize("mapping", [{"content": "nowhere"}, {"mood": "text"}])
def test_a_mapping_that_does_not_fit_is_wrong_use(home: Any, mapping: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        home.land_data("x.csv", CSV, format="csv", mapping=mapping)


def test_without_a_session_there_is_one_a_user_and_day(home: Any) -> None:
    rows = ["user,text,time", "ada,a,2026-03-05T10:00:00Z", "bob,b,2026-03-05T11:00:00Z"]
    rows += ["ada,c,2026-03-05T12:00:00Z", "ada,d,2026-03-06T12:00:00Z"]
    home.land_data("x.csv", "\n".join(rows))
    assert [row[:3] for row in said(home)] == [
        ("ada", "x.csv/2026-03-05", 0),
        ("ada", "x.csv/2026-03-05", 1),
        ("ada", "x.csv/2026-03-06", 0),
        ("bob", "x.csv/2026-03-05", 0),
    ]


def test_rows_that_break_a_rule_are_dead_letters_with_their_line(home: Any) -> None:
    data = b"user,turn,text,time\nada,x,a,1790063280\nada,1,b,soon\nada,2,caf\xe9,1790063280\nada,3,c,1790063280\n"
    report = home.land_data("x.csv", data)
    assert report.n_landed == 1
    assert sorted(home.reasons()) == ["missing_timestamp", "not_utf8", "wrong_type"]


def test_an_open_quote_keeps_all_that_it_swallows_in_a_dead_letter(home: Any) -> None:
    home.land_data("x.csv", 'user,text,time\nada,fine,1790063280\nada,"open,1790063280\nada,lost,1790063280\n')
    letter = home.the_letter()
    assert (letter["reason"], letter["line_number"]) == ("invalid_csv", 3)
    assert b"lost" in letter["raw"]
    assert [r["content"] for r in home.landed()] == ["fine"]


def test_a_header_without_what_is_needed_says_how_to_map_it(home: Any) -> None:
    home.land_data("x.csv", "a,b\n1,2\n")
    assert home.the_letter()["reason"] == "missing_field"
    assert "content=COLUMN" in home.the_letter()["detail"]


def test_participants_are_a_list_in_json_or_with_commas(home: Any) -> None:
    rows = ["user,text,time,participants,speaker", 'ada,a,1790063280,"ada, Noor",Noor']
    rows.append('ada,b,1790063280,"[""ada"",""Piet""]",Piet')
    home.land_data("x.csv", "\n".join(rows))
    assert [(r["participants"], r["subject"]) for r in home.landed()] == [
        (["ada", "Noor"], "Noor"),
        (["ada", "Piet"], "Piet"),
    ]


def times(home: Any) -> list[str]:
    return sorted(record["timestamp"][:16] for record in home.landed())


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (["25/12/2026 17:40", "5/3/2026 8:05"], ["2026-03-05T08:05", "2026-12-25T17:40"]),
        (["12/25/2026 5:40 PM", "3/5/2026 12:05 AM"], ["2026-03-05T00:05", "2026-12-25T17:40"]),
        (["5/3/2026 8:05", "12/25/2026 5:40 PM"], ["2026-05-03T08:05", "2026-12-25T17:40"]),
        (["05.03.26, 08:05", "6.3.2026 09.15"], ["2026-03-05T08:05", "2026-03-06T09:15"]),
        (["2026/3/5 8:05:09", "2026-03-06"], ["2026-03-05T08:05", "2026-03-06T00:00"]),
        (["5 March 2026 17:40", "Mar 6, 2026, 5:40 PM"], ["2026-03-05T17:40", "2026-03-06T17:40"]),
        (["Thu, 5 Mar 2026 17:40:00 +0100", "1772437000"], ["2026-03-02T07:36", "2026-03-05T16:40"]),
    ],
)
def test_dates_are_read_in_the_order_that_the_file_tells(home: Any, written: list[str], expected: list[str]) -> None:
    home.now = home.now.replace(year=2027)
    data = "user,text,date\n" + "".join(f'ada,hi {n},"{at}"\n' for n, at in enumerate(written))
    report = home.land_data("x.csv", data)
    assert dict(report.n_dead_letters) == {}
    assert times(home) == expected


def test_dates_that_leave_the_order_open_are_refused_and_it_can_be_said(home: Any) -> None:
    data = "user,text,date\nada,hi,05/03/2026 17:40\nada,ho,06/03/2026 17:40\n"
    report = home.land_data("x.csv", data)
    assert dict(report.n_dead_letters) == {"missing_timestamp": 2}
    home.land_data("x.csv", data, settings=LandingSettings(date_order="dmy"))
    assert times(home) == ["2026-03-05T17:40", "2026-03-06T17:40"]


def test_times_without_an_offset_are_of_the_zone_that_is_asked_for(home: Any) -> None:
    data = "user,text,date\nada,a,2026-07-05 17:40\nada,b,2026-01-05 17:40\nada,c,2026-01-05T17:40:00Z\n"
    home.land_data("x.csv", data, settings=LandingSettings(time_zone="Europe/Oslo"))
    assert times(home) == ["2026-01-05T16:40", "2026-01-05T17:40", "2026-07-05T15:40"]


def test_a_first_line_that_says_the_delimiter_is_no_header(home: Any) -> None:
    home.land_data("x.csv", "sep=;\nuser;text;date\nada;hello;2026-03-05T17:40:00Z\n")
    assert [r["content"] for r in home.landed()] == ["hello"]


def test_in_a_folder_a_mapping_that_does_not_fit_a_file_costs_that_file(home: Any) -> None:
    home.write("a.csv", "Body,Sent at,user\nhello,2026-03-05T17:40:00Z,ada\n")
    home.write("b.csv", CSV)
    report = home.land(home.root / "in", mapping={"content": "Body", "timestamp": "Sent at"})
    assert (report.n_landed, dict(report.n_dead_letters)) == (1, {"missing_field": 1})
    assert "'Body' is no column; there are User, Conversation_ID" in home.the_letter()["detail"]


@pytest.mark.parametrize("rows", [
    "Date,Time,Message\n2026-03-05,17:40,hi\n",
    "date;time;text\n05/03/2026;5:40 PM;hi\n25/03/2026;5:41 PM;ho\n",
    "time,date,text\n2026-03-05T17:40:00Z,5 March,hi\n",
    "time,date,text\n,2026-03-05 17:40,hi\n",
])  # fmt: skip
def test_the_day_and_the_clock_may_stand_in_two_columns(home: Any, rows: str) -> None:
    report = home.land_data("table.csv", rows, user_id="nora")
    assert (report.n_refused, report.notes) == (0, ())
    assert home.landed()[0]["timestamp"].startswith("2026-03-05T17:40:00")
