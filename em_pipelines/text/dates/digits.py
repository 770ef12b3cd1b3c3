"""Dates and years in digits, read only where they can be read in one way."""

import re
from collections.abc import Sequence
from datetime import date

from em_pipelines.text.dates.calendar_spans import Days, Recurring, day_of_year, period
from em_pipelines.text.dates.words import NUMBERS, TENS, is_year

_DAY = re.compile(r"(\d{4})[-/](\d\d?)[-/](\d\d?)|(\d\d?)([./-])(\d\d?)\5(\d{4}|\d\d)")
_MONTH = re.compile(r"(?P<year>\d{4})-(?P<month>\d\d)|(?P<first>\d\d?)/(?P<last>(?:19|20)\d\d)")
_NO_YEAR = re.compile(r"(\d\d?)(?:/(\d\d?)|\.(\d\d?)\.)")
_MONTHS = range(1, 13)


def in_digits(low: str, *, is_led: bool) -> Days | Recurring | None:
    """`2026-05-29`, `2026-05`, `29.05.2026`, `29/5` after a preposition; None where day and month may be either."""
    if (whole := _DAY.fullmatch(low)) is not None:
        return _whole(whole)
    if (month := _MONTH.fullmatch(low)) is not None:
        first = valid_date(int(month["year"] or month["last"]), int(month["month"] or month["first"]), 1)
        return Days(first, period("month", first).end, "month") if first is not None else None
    short = _NO_YEAR.fullmatch(low) if is_led else None
    if short is None:
        return None
    order = _day_and_month(int(short[1]), int(short[2] or short[3]))
    return day_of_year(order[1], order[0]) if order is not None and valid_date(2000, *reversed(order)) else None


def _whole(match: re.Match[str]) -> Days | None:
    if match[1]:
        day = valid_date(int(match[1]), int(match[2]), int(match[3]))
    else:
        order = _day_and_month(int(match[4]), int(match[6]))
        year = int(match[7]) if len(match[7]) == 4 else 2000 + int(match[7])
        is_either = len(match[7]) == 2 and match[5] == "-"
        day = valid_date(year, order[1], order[0]) if order is not None and not is_either else None
    return Days(day, day, "day") if day is not None and 1900 <= day.year <= 2099 else None


def _day_and_month(first: int, second: int) -> tuple[int, int] | None:
    """Which of two numbers is the day and which the month; None where either may be both."""
    if first == second or (first > 12 and second in _MONTHS):
        return first, second
    return (second, first) if second > 12 and first in _MONTHS else None


def valid_date(year: int, month: int, day: int) -> date | None:
    """The date, None where the calendar has none of the kind."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def year_in(lows: Sequence[str], i: int, this_year: int) -> tuple[int, int] | None:
    """The year that three words begin with, of which the first stands at i, and the word after it: `2019`, `'19`,
    `twenty nineteen`, `nineteen ninety two`."""
    first, second, third = lows
    if is_year(first):
        return int(first), i + 1
    if first == "'" and len(second) == 2 and second.isdecimal() and second.isascii():
        year = 2000 + int(second)
        return (year if year <= this_year + 10 else year - 100), i + 2
    return _spoken(first, second, third, i) if first in {"nineteen", "twenty"} else None


def _spoken(first: str, second: str, third: str, i: int) -> tuple[int, int] | None:
    rest = TENS.get(second) or NUMBERS.get(second, 0)
    if rest < 10:
        return None
    unit = NUMBERS.get(third, 0) if second in TENS else 0
    is_unit = 1 <= unit <= 9
    return NUMBERS[first] * 100 + rest + (unit if is_unit else 0), i + 2 + is_unit
