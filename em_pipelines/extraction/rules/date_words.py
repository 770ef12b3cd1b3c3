"""Numbers, months and spans of time in words: what the grammar of dates is made of, and the library for the rest."""

import calendar
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any

from dateutil.relativedelta import relativedelta

from em_pipelines.extraction.rules.lexicon import in_order
from em_pipelines.extraction.rules.tokens import Token, low_at

WEEKDAYS = {day.lower(): n for n, day in enumerate(calendar.day_name)} | {
    "mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6,
}  # fmt: skip
MONTHS = {name.lower(): n for n, name in enumerate(calendar.month_name) if name}
MONTHS |= {name.lower(): n for n, name in enumerate(calendar.month_abbr) if name} | {"sept": 9}
AMBIGUOUS_MONTHS = frozenset({"may", "march", "mar", "jan", "sep", "dec"})
NUMBERS = {word: n for n, word in enumerate(in_order("words", "spoken_numbers"))}
NUMBERS |= {"a": 1, "an": 1, "couple": 2, "thirty": 30, "forty": 40, "fifty": 50}
TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
ORDINALS = {word: n + 1 for n, word in enumerate(in_order("words", "ordinals"))}
SEASONS = {"spring": 4, "summer": 7, "autumn": 10, "fall": 10, "winter": 1}
"""Seasons, with a month in their middle north of the equator, which only decides whether one has been this year."""
UNITS = {"day": 1, "days": 1, "week": 7, "weeks": 7, "wks": 7, "fortnight": 14}
_LONG_UNITS = frozenset({"month", "months", "year", "years", "yrs"})
_WEEKENDS = frozenset({"weekend", "weekends"})
_SATURDAY = 5
DAY_WORDS = {"today": 0, "tonight": 0, "tomorrow": 1, "tmrw": 1, "tmr": 1, "yesterday": -1, "tonite": 0}
_NOON = time(12)
_PRECISION = {"day": "day", "week": "day", "month": "month", "year": "year"}


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date and how much of it was said: day, month or year."""

    day: date
    precision: str

    def iso(self) -> str:
        """`2026`, `2026-05` or `2026-05-29`."""
        return self.day.isoformat()[: {"year": 4, "month": 7}.get(self.precision, 10)]

    def last_day(self) -> date:
        """The last day that it can mean: of a month or a year its end."""
        length = {"year": relativedelta(years=1), "month": relativedelta(months=1)}.get(self.precision)
        return self.day + length - timedelta(days=1) if length is not None else self.day


Found = tuple[PartialDate, int]
"""A date and the token after it."""


def number_of(tokens: list[Token], i: int, stop: int) -> tuple[int, int] | None:
    """A whole number in digits or words up to 99, and the token after it."""
    low = low_at(tokens, i, stop)
    if low.isascii() and low.isdecimal() and len(low) <= 3:
        return int(low), i + 1
    if low in TENS:
        following = low_at(tokens, i + 1, stop)
        unit = NUMBERS.get(following, 0)
        return (TENS[low] + unit, i + 2) if 1 <= unit <= 9 and len(following) > 2 else (TENS[low], i + 1)
    if low not in {"a", "an", "couple"} and low in NUMBERS:
        return NUMBERS[low], i + 1
    return None


def read_span(tokens: list[Token], i: int, stop: int) -> tuple[int, str, int] | None:
    """`three days`, `a couple of weeks`, `12 years` → (3, days, end)."""
    low = low_at(tokens, i, stop)
    number = int(low) if low.isdecimal() and len(low) <= 3 else NUMBERS.get(low)
    j = i + 1
    if low == "a" and low_at(tokens, j, stop) == "couple":
        number, j = 2, j + 1
    if low_at(tokens, j, stop) == "of":
        j += 1
    unit = low_at(tokens, j, stop)
    if number is None or (unit not in UNITS and unit not in _LONG_UNITS and unit not in _WEEKENDS):
        return None
    return number, unit, j + 1


def back_from(written_on: date, number: int, unit: str) -> PartialDate:
    if unit in UNITS:
        return PartialDate(written_on - timedelta(days=number * UNITS[unit]), "day")
    if unit in _WEEKENDS:
        return PartialDate(
            coming_weekday(written_on - timedelta(days=1), _SATURDAY) - timedelta(days=7 * number), "day"
        )
    if unit.startswith("month"):
        return PartialDate(month_of(written_on - relativedelta(months=number)), "month")
    return PartialDate(date(written_on.year - number, 1, 1), "year")


def month_of(day: date) -> date:
    return day.replace(day=1)


def coming_weekday(written_on: date, weekday: int) -> date:
    return written_on + timedelta(days=(weekday - written_on.weekday()) % 7 or 7)


def day_number(low: str) -> int | None:
    digits = low[:-2] if low[-2:] in {"st", "nd", "rd", "th"} else low
    return int(digits) if digits.isdecimal() and len(digits) <= 2 and 1 <= int(digits) <= 31 else ORDINALS.get(low)


def year_at(tokens: list[Token], i: int, stop: int) -> tuple[int, int] | None:
    if low_at(tokens, i, stop) == ",":
        i += 1
    if low_at(tokens, i, stop) == "of":
        i += 1
    low = low_at(tokens, i, stop)
    return (int(low), i + 1) if is_year(low) else None


def read_year(tokens: list[Token], i: int, stop: int) -> Found | None:
    """The year that `year_at` finds, as a date."""
    year = year_at(tokens, i, stop)
    return (PartialDate(date(year[0], 1, 1), "year"), year[1]) if year else None


def is_year(low: str) -> bool:
    """Whether a word is a year from 1900 to 2099 in digits."""
    return len(low) == 4 and low.isdecimal() and "1900" <= low <= "2099"


def valid_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def in_digits(low: str) -> PartialDate | None:
    """`2026-05-29`, `2026-05`; `29/05/2026` and `05/29/2026` only where they can be read in one way."""
    parts = _numbers_in(low)
    if len(parts) == 3:
        return _day_in_digits(*parts)
    if "-" not in low or [len(part) for part in parts] != [4, 2]:
        return None
    first = valid_date(int(parts[0]), int(parts[1]), 1)
    return PartialDate(first, "month") if first else None


def _numbers_in(low: str) -> list[str]:
    """The numbers between dashes, slashes or points; none where anything else stands there."""
    mark = "-" if "-" in low else "/" if "/" in low else "."
    parts = low.split(mark)
    return parts if all(part.isdecimal() and part.isascii() for part in parts) else []


def _day_in_digits(first: str, second: str, third: str) -> PartialDate | None:
    a, b, c = int(first), int(second), int(third)
    if len(first) == 4:
        day = valid_date(a, b, c)
    elif len(third) == 4 and (a > 12 or a == b):
        day = valid_date(c, b, a)
    elif len(third) == 4 and b > 12:
        day = valid_date(c, a, b)
    else:
        return None
    return PartialDate(day, "day") if day and 1900 <= day.year <= 2099 else None


def spoken_year(tokens: list[Token], i: int, stop: int, preposition: str) -> Found | None:
    """`in twenty eighteen`, `in nineteen ninety two`."""
    century = low_at(tokens, i, stop)
    if preposition not in {"in", "since"} or century not in {"nineteen", "twenty"}:
        return None
    low = low_at(tokens, i + 1, stop)
    rest = TENS.get(low) or NUMBERS.get(low)
    if rest is None or rest < 10:
        return None
    end = i + 2
    unit = NUMBERS.get(low_at(tokens, end, stop), 0) if low in TENS else 0
    if 1 <= unit <= 9:
        rest, end = rest + unit, end + 1
    return PartialDate(date(NUMBERS[century] * 100 + rest, 1, 1), "year"), end


MAX_DATE_WORDS = 8
"""Of the words of a date in another language, with what leads to it ("desde el 4 de mayo de 2024")."""


@lru_cache(maxsize=4096)
def find_day(words: str, written_on: date, language: str, *, is_past: bool = True) -> PartialDate | None:
    """The date that words of another language than English (ISO 639-1) stand for, their first few left out one by one
    until the rest is one; None where nothing is, or the library does not know the language. Without a year it is the
    last such date where `is_past`, else the next one."""
    from dateparser.date import DateDataParser  # type: ignore[import-untyped]  # noqa: PLC0415  (50 ms)

    settings = {
        "RELATIVE_BASE": datetime.combine(written_on, _NOON),
        "RETURN_AS_TIMEZONE_AWARE": False,
        "PREFER_DATES_FROM": "past" if is_past else "future",
        "PREFER_DAY_OF_MONTH": "first",
    }
    try:
        parser = DateDataParser(languages=[language], settings=settings)
    except ValueError:
        return None
    said = words.replace("،", " ").strip(" .,;:!?").split()[:MAX_DATE_WORDS]
    for first in range(len(said)):
        rest = " ".join(said[first:])
        # A lone number is a day of some month, and a lone word of two letters anything.
        if len(rest) > 2 and not (rest.isdigit() and len(rest) < 4) and (found := _partial(parser.get_date_data(rest))):
            return found
    return None


def _partial(found: Any) -> PartialDate | None:
    """What the library found, as far as it was said."""
    precision = _PRECISION.get(found.period)
    if found.date_obj is None or precision is None:
        return None
    day = found.date_obj.date()
    if precision == "day":
        return PartialDate(day, precision)
    return PartialDate(day.replace(day=1) if precision == "month" else day.replace(month=1, day=1), precision)


@lru_cache(maxsize=4096)
def read_by_library(words: str, written_on: date) -> PartialDate | None:
    """What `2 years and 3 months ago` or `3rd of next month` means on the day of writing; None where not certain.

    dateparser reads far more than may be believed (`may`, `12.6.2026`), so it gets only spans that the guards in
    `dates` have read over, never running text. A call takes about half a millisecond, so answers are cached.
    """
    from dateparser.date import DateDataParser  # noqa: PLC0415  (50 ms)

    parser = DateDataParser(
        languages=["en"],
        settings={"RELATIVE_BASE": datetime.combine(written_on, _NOON), "RETURN_AS_TIMEZONE_AWARE": False},
    )
    return _partial(parser.get_date_data(words))
