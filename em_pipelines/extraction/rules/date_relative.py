"""Dates that lean on the day of writing: `next Tuesday`, `a week from Friday`, `the 14th`, `last summer`.

What is said only to the week gets the precision of its month, what is said to the season that of its year.
"""

from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

from em_pipelines.extraction.rules.date_library import read_by_library
from em_pipelines.extraction.rules.date_words import (
    DAY_WORDS,
    MONTHS,
    SEASONS,
    WEEKDAYS,
    Found,
    PartialDate,
    back_from,
    coming_weekday,
    month_of,
    read_span,
    valid_date,
)
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.word_classes import ADV, MONTH, NOT_IN_PHRASE, NUMBER, WEEKDAY

SIGNS = {"next": 1, "coming": 1, "following": 1, "upcoming": 1, "last": -1, "past": -1, "previous": -1, "this": 0}
_PARTS_OF_DAY = {"morning": 0, "afternoon": 0, "evening": 0, "night": 0, "lunchtime": 0}
_HOLIDAYS = {
    "christmas": {"eve": (12, 24), "day": (12, 25)},
    "boxing": {"day": (12, 26)},
    "halloween": {"": (10, 31)},
    "valentine's": {"day": (2, 14)},
}
_SATURDAY = 5
_TIME_WORDS = frozenset({"now", "today", "tomorrow"})
_DISTANCE_WORDS = (
    words("words", "time_spans")
    | words("words", "numbers")
    | {"a", "an", "and", "of", "couple", "half", "next", "last", "this", "fortnight"}
)
_MAX_LIBRARY_WORDS = 8


def named_day(tokens: list[Token], i: int, stop: int, written_on: date) -> Found | None:
    """`today`, `the day after tomorrow`, `Christmas Eve`, `Friday`."""
    low = tokens[i].low
    if low in DAY_WORDS:
        return PartialDate(written_on + timedelta(days=DAY_WORDS[low]), "day"), i + 1
    if low == "day" and i + 2 < stop and tokens[i + 1].low in {"after", "before"}:
        moved = {("after", "tomorrow"): 2, ("before", "yesterday"): -2}.get((tokens[i + 1].low, tokens[i + 2].low))
        return (PartialDate(written_on + timedelta(days=moved), "day"), i + 3) if moved else None
    for wanted, (month, day) in _HOLIDAYS.get(low, {}).items():
        if not wanted or (i + 1 < stop and tokens[i + 1].low == wanted):
            year = written_on.year + ((month, day) < (written_on.month, written_on.day))
            return PartialDate(date(year, month, day), "day"), i + 1 + bool(wanted)
    return None


def relative(tokens: list[Token], i: int, stop: int, written_on: date) -> Found | None:  # noqa: PLR0911, one return a unit
    """`next Tuesday`, `last week`, `this month`. The next weekday is that of the next week."""
    if i + 1 >= stop:
        return None
    which, low = tokens[i].low, tokens[i + 1].low
    sign = SIGNS[which]
    if low in WEEKDAYS:
        day = coming_weekday(written_on, WEEKDAYS[low])
        if which == "next" and day.isocalendar().week == written_on.isocalendar().week:
            day += timedelta(days=7)
        if sign < 0:
            day -= timedelta(days=7 if day != written_on + timedelta(days=7) else 14)
        return PartialDate(day, "day"), i + 2
    if low == "month":
        return PartialDate(month_of(written_on + relativedelta(months=sign)), "month"), i + 2
    if low == "year":
        return PartialDate(date(written_on.year + sign, 1, 1), "year"), i + 2
    if low == "week":
        return PartialDate(month_of(written_on + timedelta(days=7 * sign)), "month"), i + 2
    if low == "weekend":
        day = coming_weekday(written_on - timedelta(days=1), _SATURDAY)
        return PartialDate(day - timedelta(days=7) if sign < 0 else day, "day"), i + 2
    if low == "night" and sign < 0:
        return PartialDate(written_on - timedelta(days=1), "day"), i + 2
    if low in _PARTS_OF_DAY and sign == 0:
        return PartialDate(written_on, "day"), i + 2
    if low in SEASONS:
        return season(tokens, i + 1, stop, written_on, sign=sign)
    if low in MONTHS and sign:
        month = MONTHS[low]
        passed = month <= written_on.month if sign > 0 else month >= written_on.month
        return PartialDate(date(written_on.year + (sign if passed else 0), month, 1), "month"), i + 2
    return None


def season(tokens: list[Token], i: int, stop: int, written_on: date, *, sign: int | None) -> Found | None:
    """`summer 2019`, `spring of next year`, and with a sign `last summer`: the year alone, for hemispheres differ."""
    j = i + 1
    if j < stop and tokens[j].low == "of":
        j += 1
    if j < stop and len(tokens[j].low) == 4 and tokens[j].low.isdecimal() and "1900" <= tokens[j].low <= "2099":
        return PartialDate(date(int(tokens[j].low), 1, 1), "year"), j + 1
    if j + 1 < stop and tokens[j].low in SIGNS and tokens[j + 1].low == "year":
        return PartialDate(date(written_on.year + SIGNS[tokens[j].low], 1, 1), "year"), j + 2
    if sign is None or tokens[i].low == "winter":
        return None
    middle = SEASONS[tokens[i].low]
    passed = middle <= written_on.month if sign > 0 else middle >= written_on.month
    return PartialDate(date(written_on.year + (sign if passed else 0), 1, 1), "year"), i + 1


def distance(tokens: list[Token], i: int, stop: int, preposition: str, written_on: date) -> Found | None:
    """`in two weeks`, `three days ago`, `a week from Friday`; compound ones are the library's."""
    span = read_span(tokens, i, stop)
    if span is not None:
        number, unit, end = span
        following = tokens[end].low if end < stop else ""
        if following in {"ago", "back"}:
            return back_from(written_on, number, unit), end + 1
        if following in {"from", "after"} and end + 1 < stop:
            return _counted_from(tokens, end + 1, written_on, number, unit)
        if following in {"today", "tomorrow"}:
            return _counted_from(tokens, end, written_on, number, unit)
        if preposition == "in" and following != "and":
            return back_from(written_on, -number, unit), end
    return _by_library(tokens, i, stop, preposition, written_on)


def _counted_from(tokens: list[Token], i: int, written_on: date, number: int, unit: str) -> Found | None:
    """`a week from Friday`, `two weeks from now`."""
    low = tokens[i].low
    if low in WEEKDAYS:
        base = coming_weekday(written_on, WEEKDAYS[low])
    elif low in _TIME_WORDS:
        base = written_on + timedelta(days=DAY_WORDS.get(low, 0))
    else:
        return None
    return back_from(base, -number, unit), i + 1


def _by_library(tokens: list[Token], i: int, stop: int, preposition: str, written_on: date) -> Found | None:
    """A run of nothing but numbers and units of time, which `ago` closes or `in` opens."""
    j = i
    while j < stop and j - i < _MAX_LIBRARY_WORDS and (tokens[j].low in _DISTANCE_WORDS or tokens[j].low.isdecimal()):
        j += 1
    is_past = j < stop and tokens[j].low == "ago"
    if j - i < 4 or not (is_past or preposition == "in"):
        return None
    run = " ".join(token.low for token in tokens[i:j])
    found = read_by_library(f"{run} ago" if is_past else f"in {run}", written_on)
    return (found, j + is_past) if found else None


def day_of_month(tokens: list[Token], i: int, stop: int, number: int, written_on: date) -> Found | None:
    """`the 14th`, of this month or the next; `the 3rd of next month`. Not `the 14th floor`."""
    j = i + 1
    if j + 2 < stop and tokens[j].low == "of" and tokens[j + 1].low in SIGNS and tokens[j + 2].low == "month":
        run = " ".join(token.low for token in tokens[i : j + 3])
        found = read_by_library(run, written_on)
        return (found, j + 3) if found else None
    following = tokens[j] if j < stop else None
    if following is not None and not following.bits & (NOT_IN_PHRASE | ADV | NUMBER | WEEKDAY | MONTH):
        return None
    if following is not None and following.low in {"of", "century"}:
        return None
    month = written_on if number >= written_on.day else written_on + relativedelta(months=1)
    day = valid_date(month.year, month.month, number)
    return (PartialDate(day, "day"), i + 1) if day else None
