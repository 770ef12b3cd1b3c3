"""The words of a text, with what is read in them whatever it is part of: dates in digits, numbers, lengths, years."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from dateutil.relativedelta import relativedelta

from em_pipelines.language.dates.calendar_spans import LENGTHS, Days, Recurring, Tense, day_of_year, period
from em_pipelines.language.dates.words import (
    ALSO_WORDS,
    MONTHS,
    NUMBERS,
    SIGNS,
    TENS,
    UNITS,
    WEEKDAYS,
    Word,
    day_number,
    is_year,
)

_DAY = re.compile(r"(\d{4})[-/](\d\d?)[-/](\d\d?)|(\d\d?)([./-])(\d\d?)\5(\d{4}|\d\d)")
_MONTH = re.compile(r"(?P<year>\d{4})-(?P<month>\d\d)|(?P<first>\d\d?)/(?P<last>(?:19|20)\d\d)")
_NO_YEAR = re.compile(r"(\d\d?)(?:/(\d\d?)|\.(\d\d?)\.)")
_MONTHS = range(1, 13)


Order = Literal["dmy", "mdy"]
"""Whether the day or the month comes first where the year is last."""
TellOrder = Callable[[], Order | None]
"""Tells the order of the dates around one; called where either number may be the day."""


def in_digits(low: str, *, is_led: bool, order: TellOrder = lambda: None) -> Days | Recurring | None:
    """`2026-05-29`, `2026-05`, `29.05.2026`, `29/5` after a preposition; None where day and month may be either and
    `order` does not tell."""
    if (whole := _DAY.fullmatch(low)) is not None:
        return _whole(whole, order)
    if (month := _MONTH.fullmatch(low)) is not None:
        return _month(month)
    short = _NO_YEAR.fullmatch(low)
    return _of_any_year(short, order) if is_led and short is not None else None


def order_of(lows: Iterable[str]) -> Order | None:
    """The order of day and month that the dates among words show; None where none shows one, or they differ."""
    shown: set[Order] = set()
    for match in filter(None, map(_DAY.fullmatch, lows)):
        first, second = (int(match[n] or 0) for n in (4, 6))
        if first != second and (found := _day_and_month(first, second)) is not None:
            shown.add("dmy" if found == (first, second) else "mdy")
    return shown.pop() if len(shown) == 1 else None


def _month(match: re.Match[str]) -> Days | None:
    first = valid_date(int(match["year"] or match["last"]), int(match["month"] or match["first"]), 1)
    return Days(first, period("month", first).end, "month") if first is not None else None


def _of_any_year(short: re.Match[str], order: TellOrder) -> Recurring | None:
    day = _day_and_month(int(short[1]), int(short[2] or short[3]), order)
    return day_of_year(day[1], day[0]) if day is not None and valid_date(2000, *reversed(day)) else None


def _whole(match: re.Match[str], order: TellOrder) -> Days | None:
    if match[1]:
        day = valid_date(int(match[1]), int(match[2]), int(match[3]))
    else:
        found = _day_and_month(int(match[4]), int(match[6]), order)
        year = int(match[7]) if len(match[7]) == 4 else 2000 + int(match[7])
        is_either = len(match[7]) == 2 and match[5] == "-"
        day = valid_date(year, found[1], found[0]) if found is not None and not is_either else None
    return Days(day, day, "day") if day is not None and 1900 <= day.year <= 2099 else None


def _day_and_month(first: int, second: int, order: TellOrder = lambda: None) -> tuple[int, int] | None:
    """Which of two numbers is the day and which the month; None where either may be both and `order` does not tell."""
    if first == second or (first > 12 and second in _MONTHS):
        return first, second
    if second > 12:
        return (second, first) if first in _MONTHS else None
    return {"dmy": (first, second), "mdy": (second, first), None: None}[order()]


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


LEADS = frozenset({"in", "on", "at", "since", "of", "by", "until", "till", "from", "to", "during", "before", "after",
                   "around", "about", "for", "over", "through", "between", "back", "year", "early", "mid", "late",
                   "-", "–", "("})  # fmt: skip
"""Before a name of a month or day that may be another word, a year, or a quarter."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The words of a text up to `stop`, as of a day, in a tense. `previous` are the days that were named before: `two
    days later`."""

    words: Sequence[Word]
    day: date
    tense: Tense
    previous: Days | None
    stop: int
    order: TellOrder = lambda: None

    def low(self, i: int) -> str:
        """The word at i, empty where there is none."""
        return self.words[i].low if 0 <= i < self.stop else ""

    def skip(self, i: int, *lows: str) -> int:
        while i < self.stop and self.low(i) in lows:
            i += 1
        return i

    def year_at(self, i: int) -> tuple[int, int] | None:
        """A year that belongs to the words before it: `2019`, `'19`, `twenty nineteen`."""
        return year_in([self.low(k) for k in range(i, i + 3)], i, self.day.year)

    def is_led(self, i: int) -> bool:
        """Whether a name that may be another word is meant as a date."""
        low, before = self.words[i].low, self.low(i - 1)
        if low not in ALSO_WORDS:
            return True
        leads = LEADS - {"in", "about", "over"} if low in WEEKDAYS else LEADS | {"and"}
        if before in leads | SIGNS.keys() or day_number(before) is not None:
            return True
        after = self.low(self.skip(i + 1, ",", ".", "-", "–", "the"))
        return day_number(after) is not None or is_year(after) or (after in MONTHS and self.low(i + 1) in {"-", "–"})

    def number(self, i: int) -> tuple[int, int] | None:
        """A whole number up to 999 and the word after it: `12`, `twenty-one`, `a`, `a couple of`."""
        low = self.low(i)
        if low in {"a", "an", "couple"}:
            j = self.skip(i, "a", "an")
            return (2, self.skip(j + 1, "of")) if self.low(j) == "couple" else (1, i + 1)
        if low.isdecimal() and low.isascii() and len(low) <= 3:
            return int(low), i + 1
        if low in TENS:
            j = self.skip(i + 1, "-")
            unit = NUMBERS.get(self.low(j), 0)
            return (TENS[low] + unit, j + 1) if 1 <= unit <= 9 else (TENS[low], i + 1)
        return (NUMBERS[low], i + 1) if low in NUMBERS else None

    def distance(self, i: int) -> tuple[relativedelta, str, int] | None:
        """How long, in which unit (the largest), and the word after: `2 years and 3 months`, `a year and a half`."""
        if self.low(i) == "half" and self.low(i + 1) == "a" and self.low(i + 2) == "year":
            return relativedelta(months=6), "month", i + 3
        first = self._part(i)
        if first is None:
            return None
        length, unit, j = first
        if [self.low(k) for k in range(j, j + 3)] == ["and", "a", "half"] and unit == "year":
            return length + relativedelta(months=6), "month", j + 3
        while (more := self._part(self.skip(j, "and", ","))) is not None:
            length, unit, j = length + more[0], more[1], more[2]
        return length, unit, j

    def _part(self, i: int) -> tuple[relativedelta, str, int] | None:
        number = self.number(i)
        if number is None:
            return None
        low = self.low(number[1])
        if low in {"fortnight", "fortnights"}:
            return relativedelta(weeks=2 * number[0]), "week", number[1] + 1
        unit = UNITS.get(low)
        return (LENGTHS[unit] * number[0], unit, number[1] + 1) if unit not in {None, "weekend"} else None
