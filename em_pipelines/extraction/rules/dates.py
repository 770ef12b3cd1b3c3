"""Dates in words, resolved against the moment a message was written: `next Tuesday`, `in May`, `three days ago`.

A guarded grammar of its own: what it does not understand is no date. The precision says how much of the date was
said; the first day stands for a month or a year.
"""

import calendar
from dataclasses import dataclass
from datetime import date, timedelta

from em_pipelines.extraction.rules.tokens import Token

_WEEKDAYS = {day.lower(): n for n, day in enumerate(calendar.day_name)} | {
    "mon": 0, "tue": 1, "tues": 1, "wed": 2, "thu": 3, "thur": 3, "thurs": 3, "fri": 4, "sat": 5, "sun": 6,
}  # fmt: skip
_MONTHS = {name.lower(): n for n, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.lower(): n for n, name in enumerate(calendar.month_abbr) if name} | {"sept": 9}
_AMBIGUOUS_MONTHS = frozenset({"may", "march", "mar", "jan", "sep", "dec"})
_NUMBERS = {word: n for n, word in enumerate(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty".split()
)} | {"a": 1, "an": 1, "couple": 2, "thirty": 30, "forty": 40, "fifty": 50}  # fmt: skip
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_ORDINALS = {word: n + 1 for n, word in enumerate(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth "
    "twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first".split()
)}  # fmt: skip
_UNITS = {"day": 1, "days": 1, "week": 7, "weeks": 7, "fortnight": 14}
_DAY_WORDS = {"today": 0, "tonight": 0, "tomorrow": 1, "tmrw": 1, "tmr": 1, "yesterday": -1}
_LEADING = frozenset({"on", "in", "at", "since", "from", "by", "the", "for", "this"})


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


def read_date(tokens: list[Token], i: int, stop: int, written_on: date) -> Found | None:
    """Reads the date that starts at token i, with or without its preposition; None when there is none."""
    preposition = ""
    while i < stop and tokens[i].low in _LEADING:
        if (
            tokens[i].low == "this"
            and i + 1 < stop
            and (tokens[i + 1].low in _WEEKDAYS or tokens[i + 1].low in {"month", "week", "year"})
        ):
            break
        preposition = tokens[i].low if tokens[i].low != "the" else preposition
        i += 1
    if i >= stop:
        return None
    low = tokens[i].low
    found: Found | None = None
    if low[0].isdigit():
        found = _numeric(tokens, i, stop, preposition, written_on)
    elif low in _DAY_WORDS:
        found = PartialDate(written_on + timedelta(days=_DAY_WORDS[low]), "day"), i + 1
    elif low in {"next", "last", "this", "coming", "past"}:
        found = _relative(tokens, i, stop, written_on)
    elif low in _WEEKDAYS and (len(low) > 3 or preposition):
        found = PartialDate(_coming_weekday(written_on, _WEEKDAYS[low]), "day"), i + 1
    elif low in _MONTHS and (
        tokens[i].is_capital or low not in _AMBIGUOUS_MONTHS or preposition in {"in", "since", "of", "by"}
    ):
        found = _month_first(tokens, i, stop, preposition, written_on)
    elif low in _ORDINALS:
        found = _day_first(tokens, i, stop, _ORDINALS[low], written_on)
    if found is None and (low in _NUMBERS or low[0].isdigit()):
        found = _distance(tokens, i, stop, preposition, written_on) or _spoken_year(tokens, i, stop, preposition)
    return found


def find_date(tokens: list[Token], start: int, stop: int, written_on: date) -> PartialDate | None:
    """The only date between two tokens; None when there is none, or more than one."""
    found: list[PartialDate] = []
    i = start
    while i < stop:
        here = read_date(tokens, i, stop, written_on)
        if here is None:
            i += 1
            continue
        found.append(here[0])
        i = here[1]
    return found[0] if len(found) == 1 else None


def find_since(tokens: list[Token], start: int, stop: int, written_on: date) -> PartialDate | None:
    """The date of `since 2019`, `for three years`, `for the last two years`."""
    for i in range(start, stop):
        low = tokens[i].low
        if low == "since" or (low == "of" and i > start and tokens[i - 1].low == "as"):
            i += low == "of"
            found = read_date(tokens, i, stop, written_on)
            if found:
                return _not_after(found[0], written_on)
        if low in {"for", "since"} and i + 1 < stop:
            j = i + 1
            while j < stop and tokens[j].low in {"the", "last", "past", "over", "about", "almost", "nearly"}:
                j += 1
            span = _span(tokens, j, stop)
            if span is not None:
                return _back(written_on, span[0], span[1])
    return None


def _not_after(value: PartialDate, written_on: date) -> PartialDate:
    """`since December`, written in May: the one that has been."""
    if value.day > written_on and value.precision != "year":
        return PartialDate(_safe(value.day.year - 1, value.day.month, value.day.day) or value.day, value.precision)
    return value


def past_of(value: PartialDate, written_on: date) -> PartialDate:
    """Reads a date of something that has happened: without a year it is the last such date."""
    if value.precision == "day" and 0 < (value.day - written_on).days <= 7:
        return PartialDate(value.day - timedelta(days=7), "day")
    return _not_after(value, written_on)


def _safe(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _coming_weekday(written_on: date, weekday: int) -> date:
    return written_on + timedelta(days=(weekday - written_on.weekday()) % 7 or 7)


def _year_at(tokens: list[Token], i: int, stop: int) -> tuple[int, int] | None:
    if i < stop and tokens[i].low == ",":
        i += 1
    if i < stop and tokens[i].low == "of":
        i += 1
    if i < stop and len(tokens[i].low) == 4 and tokens[i].low.isdecimal() and "1900" <= tokens[i].low <= "2099":
        return int(tokens[i].low), i + 1
    return None


def _year_for(tokens: list[Token], i: int, stop: int, month: int, day: int, written_on: date) -> tuple[int, int]:
    """The year said, or the one in which the date comes next."""
    said = _year_at(tokens, i, stop)
    if said:
        return said
    if i + 1 < stop and tokens[i].low in {"next", "last", "this"} and tokens[i + 1].low == "year":
        return written_on.year + {"next": 1, "last": -1, "this": 0}[tokens[i].low], i + 2
    return written_on.year + ((month, day) < (written_on.month, written_on.day)), i


def _day_number(low: str) -> int | None:
    digits = low[:-2] if low[-2:] in {"st", "nd", "rd", "th"} else low
    return int(digits) if digits.isdecimal() and len(digits) <= 2 and 1 <= int(digits) <= 31 else _ORDINALS.get(low)


def _numeric(tokens: list[Token], i: int, stop: int, preposition: str, written_on: date) -> Found | None:
    low = tokens[i].low
    parts = low.split("-") if "-" in low else low.split("/") if "/" in low else low.split(".")
    if len(parts) == 3 and all(p.isdecimal() and p.isascii() for p in parts):
        return _dashed(parts, i)
    if len(parts) == 2 and "-" in low and len(parts[0]) == 4 and all(p.isdecimal() and p.isascii() for p in parts):
        day = _safe(int(parts[0]), int(parts[1]), 1) if len(parts[1]) == 2 else None
        return (PartialDate(day, "month"), i + 1) if day else None
    number = _day_number(low)
    if number is not None:
        return _day_first(tokens, i, stop, number, written_on)
    year = _year_at(tokens, i, stop)
    if year and preposition in {"in", "since", "from", "by", "of"}:
        return PartialDate(date(year[0], 1, 1), "year"), year[1]
    return None


def _dashed(parts: list[str], i: int) -> Found | None:
    """2026-05-29; 29/05/2026 and 05/29/2026 only where they can be read in one way."""
    a, b, c = (int(p) for p in parts)
    if len(parts[0]) == 4:
        day = _safe(a, b, c)
    elif len(parts[2]) == 4 and (a > 12 or a == b):
        day = _safe(c, b, a)
    elif len(parts[2]) == 4 and b > 12:
        day = _safe(c, a, b)
    else:
        return None
    return (PartialDate(day, "day"), i + 1) if day and 1900 <= day.year <= 2099 else None


def _day_first(tokens: list[Token], i: int, stop: int, number: int, written_on: date) -> Found | None:
    """`12 September 2025`, `3rd of May`."""
    j = i + 1
    if j < stop and tokens[j].low == "of":
        j += 1
    if j >= stop or tokens[j].low not in _MONTHS:
        return None
    month = _MONTHS[tokens[j].low]
    year, end = _year_for(tokens, j + 1, stop, month, number, written_on)
    day = _safe(year, month, number)
    return (PartialDate(day, "day"), end) if day else None


def _month_first(tokens: list[Token], i: int, stop: int, preposition: str, written_on: date) -> Found | None:
    """`September 12, 2025`, `in May`, `June 2026`, `in June next year`."""
    month = _MONTHS[tokens[i].low]
    j = i + 1
    if j < stop and tokens[j].low == ".":
        j += 1
    if j < stop and tokens[j].low == "the":
        j += 1
    number = _day_number(tokens[j].low) if j < stop else None
    if number is not None:
        year, end = _year_for(tokens, j + 1, stop, month, number, written_on)
        day = _safe(year, month, number)
        return (PartialDate(day, "day"), end) if day else None
    said = _year_for(tokens, i + 1, stop, month, 31, written_on)
    if said[1] == i + 1 and not preposition:
        return None
    return PartialDate(date(said[0], month, 1), "month"), said[1]


def _relative(tokens: list[Token], i: int, stop: int, written_on: date) -> Found | None:
    """`next Tuesday`, `last week`, `this month`. The next weekday is the coming one, never that of the week after."""
    if i + 1 >= stop:
        return None
    which, low = tokens[i].low, tokens[i + 1].low
    sign = {"next": 1, "coming": 1, "last": -1, "past": -1, "this": 0}[which]
    if low in _WEEKDAYS:
        day = _coming_weekday(written_on, _WEEKDAYS[low])
        return PartialDate(
            day if sign >= 0 else day - timedelta(days=7 if day != written_on + timedelta(days=7) else 14), "day"
        ), i + 2
    if low == "month":
        n = written_on.year * 12 + written_on.month - 1 + sign
        return PartialDate(date(n // 12, n % 12 + 1, 1), "month"), i + 2
    if low == "year":
        return PartialDate(date(written_on.year + sign, 1, 1), "year"), i + 2
    if low in _MONTHS and sign:
        month = _MONTHS[low]
        passed = month <= written_on.month if sign > 0 else month >= written_on.month
        return PartialDate(date(written_on.year + (sign if passed else 0), month, 1), "month"), i + 2
    return None


def number_of(tokens: list[Token], i: int, stop: int) -> tuple[int, int] | None:
    """A whole number in digits or words up to 99, and the token after it."""
    low = tokens[i].low if i < stop else ""
    if low.isascii() and low.isdecimal() and len(low) <= 3:
        return int(low), i + 1
    if low in _TENS:
        unit = _NUMBERS.get(tokens[i + 1].low, 0) if i + 1 < stop else 0
        return (_TENS[low] + unit, i + 2) if 1 <= unit <= 9 and len(tokens[i + 1].low) > 2 else (_TENS[low], i + 1)
    if low not in {"a", "an", "couple"} and low in _NUMBERS:
        return _NUMBERS[low], i + 1
    return None


def _span(tokens: list[Token], i: int, stop: int) -> tuple[int, str, int] | None:
    """`three days`, `a couple of weeks`, `12 years` → (3, days, end)."""
    if i + 1 >= stop:
        return None
    low = tokens[i].low
    number = int(low) if low.isdecimal() and len(low) <= 3 else _NUMBERS.get(low)
    j = i + 1
    if low == "a" and tokens[j].low == "couple":
        number, j = 2, j + 1
    if j < stop and tokens[j].low == "of":
        j += 1
    if number is None or j >= stop:
        return None
    unit = tokens[j].low
    if unit in _UNITS or unit in {"month", "months", "year", "years"}:
        return number, unit, j + 1
    return None


def _distance(tokens: list[Token], i: int, stop: int, preposition: str, written_on: date) -> Found | None:
    """`in two weeks`, `three days ago`."""
    span = _span(tokens, i, stop)
    if span is None:
        return None
    number, unit, end = span
    if end < stop and tokens[end].low == "ago":
        return _back(written_on, number, unit), end + 1
    if preposition == "in":
        return _back(written_on, -number, unit), end
    return None


def _back(written_on: date, number: int, unit: str) -> PartialDate:
    if unit in _UNITS:
        return PartialDate(written_on - timedelta(days=number * _UNITS[unit]), "day")
    if unit.startswith("month"):
        n = written_on.year * 12 + written_on.month - 1 - number
        return PartialDate(date(n // 12, n % 12 + 1, 1), "month")
    return PartialDate(date(written_on.year - number, 1, 1), "year")


def _spoken_year(tokens: list[Token], i: int, stop: int, preposition: str) -> Found | None:
    """`in twenty eighteen`, `in nineteen ninety two`."""
    if preposition not in {"in", "since"} or i + 1 >= stop or tokens[i].low not in {"nineteen", "twenty"}:
        return None
    low = tokens[i + 1].low
    rest = _TENS.get(low) or _NUMBERS.get(low)
    if rest is None or rest < 10:
        return None
    end = i + 2
    unit = _NUMBERS.get(tokens[end].low) if end < stop and low in _TENS else None
    if unit is not None and 1 <= unit <= 9:
        rest, end = rest + unit, end + 1
    return PartialDate(date(_NUMBERS[tokens[i].low] * 100 + rest, 1, 1), "year"), end
