"""Dates in words, resolved against the moment a message was written: `next Tuesday`, `in May`, `three days ago`.

A guarded grammar of its own: what it does not understand is no date. The precision says how much of the date was
said; the first day stands for a month or a year.
"""

from datetime import date, timedelta

from em_pipelines.extraction.rules.date_relative import (
    SIGNS,
    day_of_month,
    distance,
    named_day,
    relative,
    season,
)
from em_pipelines.extraction.rules.date_words import (
    AMBIGUOUS_MONTHS,
    MONTHS,
    NUMBERS,
    ORDINALS,
    SEASONS,
    WEEKDAYS,
    Found,
    PartialDate,
    back_from,
    coming_weekday,
    day_number,
    read_span,
    spoken_year,
    valid_date,
    year_at,
)
from em_pipelines.extraction.rules.tokens import Token

_LEADING = frozenset({"on", "in", "at", "since", "from", "by", "the", "for", "this", "around", "about"})
_VAGUE_PARTS = frozenset({"early", "late", "mid", "beginning", "end", "start", "middle"})


def read_date(tokens: list[Token], i: int, stop: int, written_on: date) -> Found | None:
    """Reads the date that starts at token i, with or without its preposition; None when there is none."""
    preposition = ""
    while i < stop and tokens[i].low in _LEADING:
        if tokens[i].low == "this":
            break
        preposition = tokens[i].low if tokens[i].low != "the" else preposition
        i += 1
    if i < stop and tokens[i].low in _VAGUE_PARTS:
        return _part_of(tokens, i, stop, written_on)
    if i >= stop:
        return None
    found = _by_first_word(tokens, i, stop, preposition, written_on)
    low = tokens[i].low
    if found is None and (low in NUMBERS or low[0].isdigit()):
        found = distance(tokens, i, stop, preposition, written_on) or spoken_year(tokens, i, stop, preposition)
    if found is None and i > 0 and tokens[i - 1].low == "the" and low[0].isdigit() and low[-1].isalpha():
        number = day_number(low)
        found = day_of_month(tokens, i, stop, number, written_on) if number else None
    return found


def _by_first_word(  # noqa: PLR0911, one return a kind of word
    tokens: list[Token], i: int, stop: int, preposition: str, written_on: date
) -> Found | None:
    low = tokens[i].low
    if low[0].isdigit():
        return _numeric(tokens, i, stop, preposition, written_on)
    if low in SIGNS:
        return relative(tokens, i, stop, written_on)
    if low in WEEKDAYS and (len(low) > 3 or preposition):
        return _weekday(tokens, i, stop, written_on)
    if low in SEASONS:
        return season(tokens, i, stop, written_on, sign=None)
    if low in MONTHS and (
        tokens[i].is_capital or low not in AMBIGUOUS_MONTHS or preposition in {"in", "since", "of", "by"}
    ):
        return _month_first(tokens, i, stop, preposition, written_on)
    if low in ORDINALS:
        return _day_first(tokens, i, stop, ORDINALS[low], written_on)
    return named_day(tokens, i, stop, written_on)


def _weekday(tokens: list[Token], i: int, stop: int, written_on: date) -> Found | None:
    """`Friday`, `Friday next week`, and `Tuesday, 9 June`, where the date says more than the day."""
    day = coming_weekday(written_on, WEEKDAYS[tokens[i].low])
    j = i + 1
    if j + 1 < stop and tokens[j].low == "next" and tokens[j + 1].low == "week":
        monday = written_on + timedelta(days=7 - written_on.weekday())
        return PartialDate(monday + timedelta(days=WEEKDAYS[tokens[i].low]), "day"), j + 2
    while j < stop and tokens[j].low in {",", "the"}:
        j += 1
    if j < stop and (tokens[j].low in MONTHS or tokens[j].low[0].isdigit() or tokens[j].low in ORDINALS):
        full = read_date(tokens, j, stop, written_on)
        if full is not None and full[0].precision == "day":
            return full
    return PartialDate(day, "day"), i + 1


def _part_of(tokens: list[Token], i: int, stop: int, written_on: date) -> Found | None:
    """`early May`, `the end of June 2027`: the month or year that it is a part of."""
    j = i + 1
    while j < stop and tokens[j].low in {"of", "-", "in", "the"}:
        j += 1
    if j >= stop or (tokens[j].low not in MONTHS and tokens[j].low not in SIGNS and not tokens[j].low.isdecimal()):
        return None
    found = read_date(tokens, j, stop, written_on) if tokens[j].low in SIGNS else None
    if tokens[j].low in MONTHS:
        found = _month_first(tokens, j, stop, "in", written_on)
    elif found is None:
        year = year_at(tokens, j, stop)
        found = (PartialDate(date(year[0], 1, 1), "year"), year[1]) if year else None
    return found if found is not None and found[0].precision != "day" else None


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
            found = read_date(tokens, i + (low == "of"), stop, written_on)
            if found:
                return _not_after(found[0], written_on)
        if low in {"for", "since"} and i + 1 < stop:
            j = i + 1
            while j < stop and tokens[j].low in {"the", "last", "past", "over", "about", "almost", "nearly"}:
                j += 1
            span = read_span(tokens, j, stop)
            if span is not None:
                return back_from(written_on, span[0], span[1])
    return None


def _not_after(value: PartialDate, written_on: date) -> PartialDate:
    """`since December`, written in May: the one that has been."""
    if value.day > written_on and value.precision != "year":
        return PartialDate(valid_date(value.day.year - 1, value.day.month, value.day.day) or value.day, value.precision)
    return value


def past_of(value: PartialDate, written_on: date) -> PartialDate:
    """Reads a date of something that has happened: without a year it is the last such date."""
    if value.precision == "day" and 0 < (value.day - written_on).days <= 7:
        return PartialDate(value.day - timedelta(days=7), "day")
    return _not_after(value, written_on)


def _year_for(tokens: list[Token], i: int, stop: int, month: int, day: int, written_on: date) -> tuple[int, int]:
    """The year said, or the one in which the date comes next."""
    said = year_at(tokens, i, stop)
    if said:
        return said
    if i + 1 < stop and tokens[i].low in {"next", "last", "this"} and tokens[i + 1].low == "year":
        return written_on.year + {"next": 1, "last": -1, "this": 0}[tokens[i].low], i + 2
    return written_on.year + ((month, day) < (written_on.month, written_on.day)), i


def _numeric(tokens: list[Token], i: int, stop: int, preposition: str, written_on: date) -> Found | None:
    low = tokens[i].low
    parts = low.split("-") if "-" in low else low.split("/") if "/" in low else low.split(".")
    if len(parts) == 3 and all(p.isdecimal() and p.isascii() for p in parts):
        return _dashed(parts, i)
    if len(parts) == 2 and "-" in low and len(parts[0]) == 4 and all(p.isdecimal() and p.isascii() for p in parts):
        day = valid_date(int(parts[0]), int(parts[1]), 1) if len(parts[1]) == 2 else None
        return (PartialDate(day, "month"), i + 1) if day else None
    number = day_number(low)
    if number is not None:
        return _day_first(tokens, i, stop, number, written_on)
    year = year_at(tokens, i, stop)
    if year and preposition in {"in", "since", "from", "by", "of"}:
        return PartialDate(date(year[0], 1, 1), "year"), year[1]
    return None


def _dashed(parts: list[str], i: int) -> Found | None:
    """2026-05-29; 29/05/2026 and 05/29/2026 only where they can be read in one way."""
    a, b, c = (int(p) for p in parts)
    if len(parts[0]) == 4:
        day = valid_date(a, b, c)
    elif len(parts[2]) == 4 and (a > 12 or a == b):
        day = valid_date(c, b, a)
    elif len(parts[2]) == 4 and b > 12:
        day = valid_date(c, a, b)
    else:
        return None
    return (PartialDate(day, "day"), i + 1) if day and 1900 <= day.year <= 2099 else None


def _day_first(tokens: list[Token], i: int, stop: int, number: int, written_on: date) -> Found | None:
    """`12 September 2025`, `3rd of May`."""
    j = i + 1
    if j < stop and tokens[j].low == "of":
        j += 1
    if j + 2 < stop and tokens[j].low in {"to", "-", "–", "and"} and day_number(tokens[j + 1].low):
        j += 2
        if tokens[j].low == "of":
            j += 1
    if j >= stop or tokens[j].low not in MONTHS:
        return None
    month = MONTHS[tokens[j].low]
    year, end = _year_for(tokens, j + 1, stop, month, number, written_on)
    day = valid_date(year, month, number)
    return (PartialDate(day, "day"), end) if day else None


def _month_first(tokens: list[Token], i: int, stop: int, preposition: str, written_on: date) -> Found | None:
    """`September 12, 2025`, `in May`, `June 2026`, `in June next year`."""
    month = MONTHS[tokens[i].low]
    j = i + 1
    if j < stop and tokens[j].low == ".":
        j += 1
    if j < stop and tokens[j].low == "the":
        j += 1
    number = day_number(tokens[j].low) if j < stop else None
    if number is not None:
        year, end = _year_for(tokens, j + 1, stop, month, number, written_on)
        day = valid_date(year, month, number)
        return (PartialDate(day, "day"), end) if day else None
    said = _year_for(tokens, i + 1, stop, month, 31, written_on)
    if said[1] == i + 1 and not preposition:
        return None
    return PartialDate(date(said[0], month, 1), "month"), said[1]
