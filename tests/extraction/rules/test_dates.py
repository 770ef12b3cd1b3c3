from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.language.en.dates import find_date, find_since, read_date
from em_pipelines.language.en.tokens import tokenise

THURSDAY = date(2026, 3, 5)


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2026-05-29", "2026-05-29"),
        ("on 12 September 2025", "2025-09-12"),
        ("September 12, 2025", "2025-09-12"),
        ("the 3rd of May", "2026-05-03"),
        ("on 3 January", "2027-01-03"),
        ("today", "2026-03-05"),
        ("tomorrow", "2026-03-06"),
        ("yesterday", "2026-03-04"),
        ("next Tuesday", "2026-03-10"),
        ("next Saturday", "2026-03-14"),
        ("a week today", "2026-03-12"),
        ("on Monday", "2026-03-09"),
        ("this Saturday", "2026-03-07"),
        ("last Monday", "2026-03-02"),
        ("in two weeks", "2026-03-19"),
        ("three days ago", "2026-03-02"),
        ("in May", "2026-05"),
        ("in June next year", "2027-06"),
        ("next month", "2026-04"),
        ("last year", "2025"),
        ("in 2019", "2019"),
        ("in twenty eighteen", "2018"),
        ("25/12/2026", "2026-12-25"),
        ("the day after tomorrow", "2026-03-07"),
        ("a week from Friday", "2026-03-13"),
        ("on the 14th", "2026-03-14"),
        ("on the 3rd", "2026-04-03"),
        ("the 3rd of next month", "2026-04-03"),
        ("last summer", "2025"),
        ("next summer", "2026"),
        ("in the summer of 2019", "2019"),
        ("last week", "2026-02"),
        ("this weekend", "2026-03-07"),
        ("last night", "2026-03-04"),
        ("two weekends ago", "2026-02-21"),
        ("early May", "2026-05"),
        ("the end of June 2027", "2027-06"),
        ("Tuesday, 9 June", "2026-06-09"),
        ("Friday next week", "2026-03-13"),
        ("from 3 to 5 June", "2026-06-03"),
        ("2 years and 3 months ago", "2023-12"),
        ("in a year and two months", "2027-05"),
        ("two weeks from now", "2026-03-19"),
        ("Christmas Eve", "2026-12-24"),
    ],
)
def test_dates_in_words_are_resolved_against_the_message(text: str, iso: str) -> None:
    tokens = tokenise(text)
    found = read_date(tokens, 0, len(tokens), THURSDAY)
    assert found is not None
    assert found[0].iso() == iso


@pytest.mark.parametrize(
    "text",
    [
        "31 February 2026",
        "03/04/2026",
        "may be",
        "2026-13-01",
        "the may pole",
        "in two minds",
        "the 14th floor",
        "the first Monday",
        "this cat",
        "half past two",
        "early riser",
        "12.3.2027",
    ],
)
def test_what_is_no_date_or_can_be_read_in_two_ways_gives_none(text: str) -> None:
    tokens = tokenise(text)
    assert read_date(tokens, 0, len(tokens), THURSDAY) is None


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("there since 2019", "2019"),
        ("there since December", "2025-12"),
        ("there for three years", "2023"),
        ("there for the last two months", "2026-01"),
        ("boss as of 1 February 2026", "2026-02-01"),
    ],
)
def test_since_and_for_give_the_start(text: str, iso: str) -> None:
    tokens = tokenise(text)
    found = find_since(tokens, 0, len(tokens), THURSDAY)
    assert found is not None
    assert found.iso() == iso


def test_day_and_month_come_in_the_order_of_another_date_of_the_message() -> None:
    tokens = tokenise("Oslo on 25/06/2024, Bergen on 03/04/2025")
    place = next(n for n, token in enumerate(tokens) if token.low == "bergen")
    found = read_date(tokens, place + 1, len(tokens), THURSDAY)
    assert found is not None
    assert found[0].iso() == "2025-04-03"


def test_two_dates_are_no_date() -> None:
    tokens = tokenise("on 3 May 2026 or 4 May 2026")
    assert find_date(tokens, 0, len(tokens), THURSDAY) is None


@given(st.text(max_size=60), st.dates(min_value=date(1950, 1, 1), max_value=date(2090, 1, 1)))
def test_reading_dates_never_fails(text: str, written_on: date) -> None:
    tokens = tokenise(text)
    for i in range(len(tokens)):
        read_date(tokens, i, len(tokens), written_on)
