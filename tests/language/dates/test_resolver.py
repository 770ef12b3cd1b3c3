"""What dates in words mean: a table of forms, with the days that each means of the past and of what is ahead."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.language.dates.calendar_spans import Tense
from em_pipelines.language.dates.resolver import resolve

THURSDAY = date(2026, 3, 5)
NEW_YEAR = date(2026, 1, 1)
EITHER = (
    # Days that words count from the day of writing.
    ("today", "2026-03-05"),
    ("tonight", "2026-03-05"),
    ("tomorrow", "2026-03-06"),
    ("yesterday evening", "2026-03-04"),
    ("this morning", "2026-03-05"),
    ("last night", "2026-03-04"),
    ("the night before last", "2026-03-03"),
    ("the day before yesterday", "2026-03-03"),
    ("the day after tomorrow", "2026-03-07"),
    ("three days ago", "2026-03-02"),
    ("a couple of weeks ago", "2026-02-19"),
    ("twenty-one days ago", "2026-02-12"),
    ("a month ago", "2026-02-05"),
    ("2 years and 3 months ago", "2023-12-05"),
    ("a year and a half ago", "2024-09-05"),
    ("half a year ago", "2025-09-05"),
    ("a decade ago", "2016-03-05"),
    ("two weeks from now", "2026-03-19"),
    ("a week today", "2026-03-12"),
    ("a week last Tuesday", "2026-02-24"),
    ("two weeks next Monday", "2026-03-23"),
    ("a fortnight from tomorrow", "2026-03-20"),
    ("this time last year", "2025-03-05"),
    # Periods around it.
    ("last week", "2026-02-23", "2026-03-01"),
    ("next week", "2026-03-09", "2026-03-15"),
    ("the week before last", "2026-02-16", "2026-02-22"),
    ("the week after next", "2026-03-16", "2026-03-22"),
    ("last weekend", "2026-02-28", "2026-03-01"),
    ("next weekend", "2026-03-14", "2026-03-15"),
    ("two weekends ago", "2026-02-21", "2026-02-22"),
    ("last month", "2026-02-01", "2026-02-28"),
    ("the month before last", "2026-01-01", "2026-01-31"),
    ("this year", "2026-01-01", "2026-12-31"),
    ("last quarter", "2025-10-01", "2025-12-31"),
    ("the past two weeks", "2026-02-19", "2026-03-05"),
    ("the next three months", "2026-03-05", "2026-06-05"),
    # The last one and the next.
    ("last Monday", "2026-03-02"),
    ("last Thursday", "2026-02-26"),
    ("next Tuesday", "2026-03-10"),
    ("next Saturday", "2026-03-14"),
    ("this coming Friday", "2026-03-06"),
    ("this past Sunday", "2026-03-01"),
    ("the Monday before last", "2026-02-23"),
    ("two Fridays ago", "2026-02-20"),
    ("Friday next week", "2026-03-13"),
    ("Tuesday of last week", "2026-02-24"),
    ("a week from Friday", "2026-03-13"),
    ("Saturday week", "2026-03-14"),
    ("last June", "2025-06-01", "2025-06-30"),
    ("next January", "2027-01-01", "2027-01-31"),
    ("last summer", "2025-06-01", "2025-08-31"),
    ("next summer", "2026-06-01", "2026-08-31"),
    ("the summer before last", "2024-06-01", "2024-08-31"),
    ("last winter", "2025-12-01", "2026-02-28"),
    ("last Christmas", "2025-12-25"),
    ("next Easter", "2026-04-05"),
    ("the 3rd of next month", "2026-04-03"),
    ("the 28th of last month", "2026-02-28"),
    ("June next year", "2027-06-01", "2027-06-30"),
    ("last year in May", "2025-05-01", "2025-05-31"),
    ("in May two years ago", "2024-05-01", "2024-05-31"),
    ("the first of the month", "2026-03-01"),
    # With their year.
    ("2026-05-29", "2026-05-29"),
    ("2026/5/29", "2026-05-29"),
    ("29.05.2026", "2026-05-29"),
    ("05/29/2026", "2026-05-29"),
    ("29/05/26", "2026-05-29"),
    ("2026-05", "2026-05-01", "2026-05-31"),
    ("12 September 2025", "2025-09-12"),
    ("September 12th, 2025", "2025-09-12"),
    ("the twenty-first of June 2024", "2024-06-21"),
    ("Tuesday, 9 June 2026", "2026-06-09"),
    ("June 2026", "2026-06-01", "2026-06-30"),
    ("in May '19", "2019-05-01", "2019-05-31"),
    ("in 2019", "2019-01-01", "2019-12-31"),
    ("in twenty eighteen", "2018-01-01", "2018-12-31"),
    ("summer 2019", "2019-06-01", "2019-08-31"),
    ("winter 2024", "2024-12-01", "2025-02-28"),
    ("Christmas 2022", "2022-12-25"),
    ("Easter 2024", "2024-03-31"),
    ("Good Friday 2024", "2024-03-29"),
    ("Thanksgiving 2024", "2024-11-28"),
    ("Q3 2024", "2024-07-01", "2024-09-30"),
    ("the second half of 2024", "2024-07-01", "2024-12-31"),
    ("in the 90s", "1990-01-01", "1999-12-31"),
    ("in the nineties", "1990-01-01", "1999-12-31"),
    ("the 2010s", "2010-01-01", "2019-12-31"),
    # Parts.
    ("early May 2025", "2025-05-01", "2025-05-10"),
    ("mid-May 2025", "2025-05-11", "2025-05-20"),
    ("late May 2025", "2025-05-21", "2025-05-31"),
    ("the end of June 2027", "2027-06-30"),
    ("the beginning of next month", "2026-04-01"),
    ("the late 1980s", "1987-01-01", "1989-12-31"),
    ("the first week of May 2025", "2025-05-01", "2025-05-07"),
    ("the last Friday of May 2025", "2025-05-30"),
    ("the second weekend of May 2025", "2025-05-10", "2025-05-11"),
    ("the day after Christmas 2024", "2024-12-26"),
    ("two days before Easter 2024", "2024-03-29"),
    ("the Friday before Christmas 2024", "2024-12-20"),
    ("the week of 3 June 2025", "2025-06-02", "2025-06-08"),
    # Ranges.
    ("Jan 16 – Feb 15, 2024", "2024-01-16", "2024-02-15"),
    ("Dec 20 – Jan 3, 2024", "2023-12-20", "2024-01-03"),
    ("December 20, 2023 to January 3", "2023-12-20", "2024-01-03"),
    ("from 3 to 5 June 2027", "2027-06-03", "2027-06-05"),
    ("3rd-5th June 2027", "2027-06-03", "2027-06-05"),
    ("June 3–5, 2027", "2027-06-03", "2027-06-05"),
    ("between May and July 2024", "2024-05-01", "2024-07-31"),
    ("from May 2023 until June 2024", "2023-05-01", "2024-06-30"),
    ("Nov–Feb 2020", "2019-11-01", "2020-02-29"),
    ("2008–2012", "2008-01-01", "2012-12-31"),
    ("from 2008 to 2012", "2008-01-01", "2012-12-31"),
    ("Mon 26 – Wed 28 August 2024", "2024-08-26", "2024-08-28"),
    ("since 08/2019", "2019-08-01", "2026-03-05"),
    ("two Christmases ago", "2024-12-25"),
    ("from 2019 until now", "2019-01-01", "2026-03-05"),
)
"""Words, the first day and the last where it is another, whatever the tense."""
BY_TENSE = (
    ("on the 17th", "2026-02-17", "2026-03-17"),
    ("on the 3rd", "2026-03-03", "2026-04-03"),
    ("on the fifteenth", "2026-02-15", "2026-03-15"),
    ("on Monday", "2026-03-02", "2026-03-09"),
    ("on Thursday", "2026-02-26", "2026-03-12"),
    ("on Friday night", "2026-02-27", "2026-03-06"),
    ("this Tuesday", "2026-03-03", "2026-03-10"),
    ("Friday the 13th", "2026-02-13", "2026-03-13"),
    ("this Friday, the 13th", "2026-02-13", "2026-03-13"),
    ("on 3 January", "2026-01-03", "2027-01-03"),
    ("June 30th", "2025-06-30", "2026-06-30"),
    ("Tuesday, 9 June", "2020-06-09", "2026-06-09"),
    ("29 February", "2024-02-29", "2028-02-29"),
    ("on 29/5", "2025-05-29", "2026-05-29"),
    ("in May", "2025-05", "2026-05"),
    ("in March", "2026-03", "2026-03"),
    ("in December", "2025-12", "2026-12"),
    ("at the weekend", "2026-02-28/2026-03-01", "2026-03-07/2026-03-08"),
    ("this weekend", "2026-02-28/2026-03-01", "2026-03-07/2026-03-08"),
    ("in the summer", "2025-06-01/2025-08-31", "2026-06-01/2026-08-31"),
    ("in Q4", "2025-10-01/2025-12-31", "2026-10-01/2026-12-31"),
    ("at Christmas", "2025-12-25", "2026-12-25"),
    ("on New Year's Eve", "2025-12-31", "2026-12-31"),
    ("over Easter", "2025-04-20", "2026-04-05"),
    ("at Halloween", "2025-10-31", "2026-10-31"),
    ("two days after Christmas", "2025-12-27", "2026-12-27"),
    ("the first week of October", "2025-10-01/2025-10-07", "2026-10-01/2026-10-07"),
    ("mid-November", "2025-11-11/2025-11-20", "2026-11-11/2026-11-20"),
    ("from Friday to Tuesday", "2026-02-27/2026-03-03", "2026-03-06/2026-03-10"),
    ("the 28th to the 3rd", "2026-02-28/2026-03-03", "2026-03-28/2026-04-03"),
    ("from the 5th through the 9th", "2026-02-05/2026-02-09", "2026-03-05/2026-03-09"),
    ("between the 13th and the 16th", "2026-02-13/2026-02-16", "2026-03-13/2026-03-16"),
    ("June 3–5", "2025-06-03/2025-06-05", "2026-06-03/2026-06-05"),
    ("from Dec 27 to Jan 2", "2025-12-27/2026-01-02", "2026-12-27/2027-01-02"),
    ("between Christmas and New Year", "2025-12-25/2026-01-01", "2026-12-25/2027-01-01"),
    ("in two weeks", None, "2026-03-19"),
    ("in a year and two months", None, "2027-05-05"),
)
"""Words, and the days that they mean of what was, and of what is ahead; a slash where the last is another."""


def _shown(text: str, said_on: date, tense: Tense) -> list[tuple[str, str]]:
    return [(str(one.start), str(one.end)) for one in resolve(text, said_on, tense)]


@pytest.mark.parametrize("tense", Tense)
@pytest.mark.parametrize(("text", "days"), [(text, days) for text, *days in EITHER])
def test_words_that_say_which_date_mean_it_in_any_tense(text: str, days: list[str], tense: Tense) -> None:
    assert _shown(text, THURSDAY, tense) == [(days[0], days[-1])]


@pytest.mark.parametrize("tense", [Tense.PAST, Tense.FUTURE])
@pytest.mark.parametrize(("text", "past", "future"), BY_TENSE)
def test_dates_without_their_year_are_the_nearest_of_the_tense(
    text: str, past: str | None, future: str, tense: Tense
) -> None:
    wanted = past if tense is Tense.PAST else future
    found = resolve(text, THURSDAY, tense)
    if wanted is None:
        assert found == []
    elif "/" in wanted:
        assert [f"{one.start}/{one.end}" for one in found] == [wanted]
    else:
        assert [str(one.start)[: len(wanted)] for one in found] == [wanted]
        assert str(found[0].end).startswith(wanted)


@pytest.mark.parametrize("text", [text for text, past, _ in BY_TENSE if past and "from Friday" not in text])
def test_without_a_verb_a_date_is_ahead(text: str) -> None:
    assert _shown(text, THURSDAY, Tense.PRESENT) == _shown(text, THURSDAY, Tense.FUTURE)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("last year", "2025-01-01", "2025-12-31"),
        ("yesterday", "2025-12-31", "2025-12-31"),
        ("last week", "2025-12-22", "2025-12-28"),
        ("last month", "2025-12-01", "2025-12-31"),
        ("on the 30th", "2025-12-30", "2025-12-30"),
        ("in December", "2025-12-01", "2025-12-31"),
        ("on New Year's Eve", "2025-12-31", "2025-12-31"),
    ],
)
def test_on_new_years_day_what_was_is_of_the_old_year(text: str, start: str, end: str) -> None:
    assert _shown(text, NEW_YEAR, Tense.PAST) == [(start, end)]


def test_what_lasts_since_a_day_lasts_until_today() -> None:
    assert _shown("since 12 June", THURSDAY, Tense.PRESENT) == [("2025-06-12", "2026-03-05")]


def test_what_is_so_as_of_a_day_began_with_it() -> None:
    assert _shown("treasurer as of 12 June", THURSDAY, Tense.PRESENT) == [("2025-06-12", "2025-06-12")]
    assert _shown("treasurer as of 12 June", THURSDAY, Tense.FUTURE) == [("2026-06-12", "2026-06-12")]


def test_the_next_day_follows_the_date_before_it() -> None:
    found = _shown("on 3 May 2024; the next day; two weeks later", THURSDAY, Tense.PAST)
    assert [start for start, _ in found] == ["2024-05-03", "2024-05-04", "2024-05-18"]


@pytest.mark.parametrize(
    "text",
    [
        "31 February 2026", "03/04/2026", "12.3.2027", "2026-13-01", "may be", "the may pole", "in two minds",
        "the 14th floor", "the first Monday", "this cat", "half past two", "early riser", "the end of the film",
        "every Friday", "on Mondays", "Monday to Friday", "for three weeks", "in her nineties", "next to last",
        "the 21st century", "a few days ago", "the next day", "two weeks later", "Happy New Year!", "sat in the sun",
        "the following Friday", "the other Friday", "12 may be enough", "an hour ago", "3 to 5", "the second door",
        "99999 years ago", "999 decades ago",
    ],
)  # fmt: skip
def test_what_is_no_date_or_may_be_two_gives_none(text: str) -> None:
    assert _shown(text, THURSDAY, Tense.PRESENT) == []


@given(st.text(max_size=80), st.dates(date(1950, 1, 1), date(2090, 1, 1)), st.sampled_from(Tense))
def test_any_text_can_be_read_and_spans_are_in_order(text: str, said_on: date, tense: Tense) -> None:
    at = 0
    for one in resolve(text, said_on, tense):
        assert at <= one.span[0] < one.span[1] <= len(text)
        assert one.start <= one.end
        at = one.span[1]


_PIECES = ("the", "last", "next", "Friday", "May", "3", "5th", "of", "week", "before", "after", "two", "days", "ago",
           "from", "to", "–", "2024", ",", "in", "Christmas", "early", "end", "this", "first", "90s")  # fmt: skip


@given(st.lists(st.sampled_from(_PIECES), max_size=30), st.dates(date(1950, 1, 1), date(2090, 1, 1)))
def test_any_run_of_the_words_of_dates_can_be_read(words: list[str], said_on: date) -> None:
    for one in resolve(" ".join(words), said_on, Tense.PAST):
        assert one.start <= one.end


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("I moved on 03/04/2025 and left on 25/06/2025.", ["2025-04-03", "2025-06-25"]),
        ("I moved on 03/04/2025 and left on 06/25/2025.", ["2025-03-04", "2025-06-25"]),
        ("From 25.12.2025 to 03.01.2026.", ["2025-12-25"]),
        ("I moved on 03/04/2025, it was rainy.", []),
        ("On 03/04/2025, 25/06/2025 and 06/25/2025.", ["2025-06-25", "2025-06-25"]),
    ],
)
def test_day_and_month_come_in_the_order_that_another_date_of_the_text_shows(text: str, days: list[str]) -> None:
    assert [str(found.start) for found in resolve(text, THURSDAY)] == days
