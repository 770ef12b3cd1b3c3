"""The dates of whole sentences: verb and clause say whether a date is behind or ahead."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.language.en.dates import resolve_dates

SAID_AT = datetime.fromisoformat("2026-03-05T21:30:00-05:00")
"""A Thursday evening; in UTC it is Friday."""


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("I toured the mint on the 17th.", "2026-02-17"),
        ("I'm touring the mint on the 17th.", "2026-03-17"),
        ("The inspection is on the 17th.", "2026-03-17"),
        ("We adopted the goat on Tuesday and she already owns the barn.", "2026-03-03"),
        ("On Monday I was ill, but I'll be back on Wednesday.", "2026-03-02 2026-03-11"),
        ("I quit the choir in November.", "2025-11-01/2025-11-30"),
        ("She's starting a course in November.", "2026-11-01/2026-11-30"),
        ("We cut the ribbon on Saturday.", "2026-02-28"),
        ("Passed the exam on Monday!", "2026-03-02"),
        ("Kayak lesson on Monday", "2026-03-09"),
        ("I've been on leave since Monday.", "2026-03-02/2026-03-05"),
        ("I'm on leave since Monday.", "2026-03-02/2026-03-05"),
        ("We decided to move in June.", "2026-06-01/2026-06-30"),
        ("I booked the hall for the 22nd of June.", "2026-06-22"),
        ("They moved the hearing to the 12th.", "2026-03-12"),
        ("I went home for the weekend.", "2026-02-28/2026-03-01"),
        ("I went to see her on Saturday.", "2026-02-28"),
        ("I promised to call on Sunday.", "2026-03-08"),
        ("I will have been here ten years in August.", "2026-08-01/2026-08-31"),
        ("I should have gone on Friday.", "2026-02-27"),
        ("The sale ended on January 31.", "2026-01-31"),
        ("The storm hit on the night of February 28.", "2026-02-28"),
        ("Halloween I dressed up as a kettle.", "2025-10-31"),
        ("I worked Monday to Wednesday.", "2026-03-02/2026-03-04"),
        ("I work Monday to Friday.", ""),
        ("She crept home on Tuesday.", "2026-03-03"),
        ("We broke up over New Year's", "2026-01-01"),
        ("I finished it in two weeks.", ""),
        ("I'll finish it in two weeks.", "2026-03-19"),
        ("My lease runs Jan 16 – Feb 15, 2024.", "2024-01-16/2024-02-15"),
        ("Yesterday I adopted a newt.", "2026-03-04"),
    ],
)
def test_the_clause_says_which_date_is_meant(text: str, days: str) -> None:
    found = [
        f"{one.start}/{one.end}" if one.end != one.start else f"{one.start}" for one in resolve_dates(text, SAID_AT)
    ]
    assert " ".join(found) == days


def test_the_month_before_january_is_of_the_year_before() -> None:
    (month,) = resolve_dates("I started at the mill last month.", datetime.fromisoformat("2023-01-03T08:00:00+00:00"))
    assert (str(month.start), str(month.end)) == ("2022-12-01", "2022-12-31")


def test_the_day_is_that_of_the_writers_clock() -> None:
    eve = datetime.fromisoformat("2025-12-31T20:00:00-08:00")
    assert [str(one.start) for one in resolve_dates("I retired this year, on Monday.", eve)] == [
        "2025-01-01",
        "2025-12-29",
    ]


@given(st.text(max_size=100))
def test_any_text_can_be_read(text: str) -> None:
    for one in resolve_dates(text, SAID_AT):
        assert one.start <= one.end
