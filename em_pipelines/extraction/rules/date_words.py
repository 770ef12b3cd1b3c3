"""Numbers, months and spans of time in words: what the grammar of dates is made of."""

import calendar
from dataclasses import dataclass
from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

from em_pipelines.extraction.rules.lexicon import in_order
from em_pipelines.extraction.rules.tokens import Token

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
DAY_WORDS = {"today": 0, "tonight": 0, "tomorrow": 1, "tmrw": 1, "tmr": 1, "yesterday": -1, "tonite": 0}


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date and how much of it was said: day, month or year."""

    day: date
    precision: str

    def iso(self) -> str:
        """`2026`, `2026-05` or `2026-05-29`."""
        return self.day.isoformat()[: {"year": 4, "month": 7}.get(self.precision, 10)]


Found = tuple[PartialDate, int]
"""A date and the token after it."""


def number_of(tokens: list[Token], i: int, stop: int) -> tuple[int, int] | None:
    """A whole number in digits or words up to 99, and the token after it."""
    low = tokens[i].low if i < stop else ""
    if low.isascii() and low.isdecimal() and len(low) <= 3:
        return int(low), i + 1
    if low in TENS:
        unit = NUMBERS.get(tokens[i + 1].low, 0) if i + 1 < stop else 0
        return (TENS[low] + unit, i + 2) if 1 <= unit <= 9 and len(tokens[i + 1].low) > 2 else (TENS[low], i + 1)
    if low not in {"a", "an", "couple"} and low in NUMBERS:
        return NUMBERS[low], i + 1
    return None


def read_span(tokens: list[Token], i: int, stop: int) -> tuple[int, str, int] | None:
    """`three days`, `a couple of weeks`, `12 years` → (3, days, end)."""
    if i + 1 >= stop:
        return None
    low = tokens[i].low
    number = int(low) if low.isdecimal() and len(low) <= 3 else NUMBERS.get(low)
    j = i + 1
    if low == "a" and tokens[j].low == "couple":
        number, j = 2, j + 1
    if j < stop and tokens[j].low == "of":
        j += 1
    if number is None or j >= stop:
        return None
    unit = tokens[j].low
    if unit in UNITS or unit in {"month", "months", "year", "years", "yrs"}:
        return number, unit, j + 1
    return None


def back_from(written_on: date, number: int, unit: str) -> PartialDate:
    if unit in UNITS:
        return PartialDate(written_on - timedelta(days=number * UNITS[unit]), "day")
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
    if i < stop and tokens[i].low == ",":
        i += 1
    if i < stop and tokens[i].low == "of":
        i += 1
    if i < stop and len(tokens[i].low) == 4 and tokens[i].low.isdecimal() and "1900" <= tokens[i].low <= "2099":
        return int(tokens[i].low), i + 1
    return None


def valid_date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def spoken_year(tokens: list[Token], i: int, stop: int, preposition: str) -> Found | None:
    """`in twenty eighteen`, `in nineteen ninety two`."""
    if preposition not in {"in", "since"} or i + 1 >= stop or tokens[i].low not in {"nineteen", "twenty"}:
        return None
    low = tokens[i + 1].low
    rest = TENS.get(low) or NUMBERS.get(low)
    if rest is None or rest < 10:
        return None
    end = i + 2
    unit = NUMBERS.get(tokens[end].low) if end < stop and low in TENS else None
    if unit is not None and 1 <= unit <= 9:
        rest, end = rest + unit, end + 1
    return PartialDate(date(NUMBERS[tokens[i].low] * 100 + rest, 1, 1), "year"), end
