"""Dates in words, resolved against the moment a message was written: `next Tuesday`, `in May`, `three days ago`.

A guarded grammar of its own: what it does not understand is no date. The precision says how much of the date was said;
the first day stands for a month or a year. What is said only to the week gets the precision of its month, what is said
to the season that of its year.
"""

from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

from em_pipelines.extraction.rules.date_words import (
    AMBIGUOUS_MONTHS,
    DAY_WORDS,
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
    in_digits,
    is_year,
    month_of,
    read_by_library,
    read_span,
    read_year,
    spoken_year,
    valid_date,
    year_at,
)
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.tokens import ADV, MONTH, NOT_IN_PHRASE, NUMBER, WEEKDAY, Token, low_at, token_at

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
_LEADING = frozenset({"on", "in", "at", "since", "from", "by", "the", "for", "around", "about"})
_BEFORE_DAY = frozenset({",", "the"})
_OF_WHOLE = frozenset({"of", "-", "in", "the"})
_BEFORE_SPAN = frozenset({"the", "last", "past", "over", "about", "almost", "nearly"})
_YEARS = {"next": 1, "last": -1, "this": 0}
_VAGUE_PARTS = frozenset({"early", "late", "mid", "beginning", "end", "start", "middle"})


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


def relative(tokens: list[Token], i: int, stop: int, written_on: date) -> Found | None:
    """`next Tuesday`, `last week`, `this month`. The next weekday is that of the next week."""
    which, low = tokens[i].low, low_at(tokens, i + 1, stop)
    sign = SIGNS[which]
    if low in SEASONS:
        return season(tokens, i + 1, stop, written_on, sign=sign)
    if low in WEEKDAYS:
        value: PartialDate | None = PartialDate(_weekday_of(written_on, WEEKDAYS[low], which), "day")
    elif low in MONTHS and sign:
        value = PartialDate(date(_year_of(written_on, MONTHS[low], sign), MONTHS[low], 1), "month")
    else:
        value = _span_of(written_on, low, sign)
    return (value, i + 2) if value is not None else None


def _weekday_of(written_on: date, weekday: int, which: str) -> date:
    """The weekday of `next`, `this` or `last`."""
    day = coming_weekday(written_on, weekday)
    if which == "next" and day.isocalendar().week == written_on.isocalendar().week:
        day += timedelta(days=7)
    if SIGNS[which] < 0:
        day -= timedelta(days=7 if day != written_on + timedelta(days=7) else 14)
    return day


def _year_of(written_on: date, month: int, sign: int) -> int:
    """The year of the next or last such month, which is not the one of writing; without a sign this year."""
    passed = month <= written_on.month if sign > 0 else month >= written_on.month
    return written_on.year + (sign if passed else 0)


def _span_of(written_on: date, unit: str, sign: int) -> PartialDate | None:
    """The month, year, week, weekend or part of a day before, of or after the day of writing."""
    if unit == "month":
        return PartialDate(month_of(written_on + relativedelta(months=sign)), "month")
    if unit == "year":
        return PartialDate(date(written_on.year + sign, 1, 1), "year")
    if unit == "week":
        return PartialDate(month_of(written_on + timedelta(days=7 * sign)), "month")
    if unit == "weekend":
        day = coming_weekday(written_on - timedelta(days=1), _SATURDAY)
        return PartialDate(day - timedelta(days=7) if sign < 0 else day, "day")
    if unit == "night" and sign < 0:
        return PartialDate(written_on - timedelta(days=1), "day")
    return PartialDate(written_on, "day") if unit in _PARTS_OF_DAY and sign == 0 else None


def season(tokens: list[Token], i: int, stop: int, written_on: date, *, sign: int | None) -> Found | None:
    """`summer 2019`, `spring of next year`, and with a sign `last summer`: the year alone, for hemispheres differ."""
    j = i + 1 + (low_at(tokens, i + 1, stop) == "of")
    low = low_at(tokens, j, stop)
    if is_year(low):
        return PartialDate(date(int(low), 1, 1), "year"), j + 1
    if low in SIGNS and low_at(tokens, j + 1, stop) == "year":
        return PartialDate(date(written_on.year + SIGNS[low], 1, 1), "year"), j + 2
    if sign is None or tokens[i].low == "winter":
        return None
    month = SEASONS[tokens[i].low] + (sign < 0)  # the last summer is not the one that it is
    return PartialDate(date(_year_of(written_on, month, sign), 1, 1), "year"), i + 1


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
    j = _past_distance(tokens, i, min(stop, i + _MAX_LIBRARY_WORDS))
    is_past = low_at(tokens, j, stop) == "ago"
    if j - i < 4 or not (is_past or preposition == "in"):
        return None
    run = " ".join(token.low for token in tokens[i:j])
    value = read_by_library(f"{run} ago" if is_past else f"in {run}", written_on)
    return (value, j + is_past) if value else None


def _past_distance(tokens: list[Token], i: int, stop: int) -> int:
    while i < stop and (tokens[i].low in _DISTANCE_WORDS or tokens[i].low.isdecimal()):
        i += 1
    return i


def day_of_month(tokens: list[Token], i: int, stop: int, number: int, written_on: date) -> Found | None:
    """`the 14th`, of this month or the next; `the 3rd of next month`. Not `the 14th floor`."""
    j = i + 1
    is_of_month = low_at(tokens, j, stop) == "of" and low_at(tokens, j + 2, stop) == "month"
    if is_of_month and tokens[j + 1].low in SIGNS:
        value = read_by_library(" ".join(token.low for token in tokens[i : j + 3]), written_on)
        return (value, j + 3) if value else None
    following = token_at(tokens, j, stop)
    if following is not None and not _may_follow_day(following):
        return None
    month = written_on if number >= written_on.day else written_on + relativedelta(months=1)
    day = valid_date(month.year, month.month, number)
    return (PartialDate(day, "day"), i + 1) if day else None


def _may_follow_day(token: Token) -> bool:
    """Whether a day of the month is complete before a word: `floor` says that it is none."""
    return bool(token.bits & (NOT_IN_PHRASE | ADV | NUMBER | WEEKDAY | MONTH)) and token.low not in {"of", "century"}


def read_date(tokens: list[Token], i: int, stop: int, written_on: date) -> Found | None:
    """Reads the date that starts at token i, with or without its preposition; None when there is none."""
    i, preposition = _past_prepositions(tokens, i, stop)
    if i >= stop:
        return None
    if tokens[i].low in _VAGUE_PARTS:
        return _part_of(tokens, i, stop, written_on)
    return (
        _by_first_word(tokens, i, stop, preposition, written_on)
        or _by_number(tokens, i, stop, preposition, written_on)
        or _by_day(tokens, i, stop, written_on)
    )


def _past_prepositions(tokens: list[Token], i: int, stop: int) -> tuple[int, str]:
    """The token after prepositions and articles, and the last of the prepositions."""
    preposition = ""
    while i < stop and tokens[i].low in _LEADING:
        preposition = tokens[i].low if tokens[i].low != "the" else preposition
        i += 1
    return i, preposition


def _past_any(tokens: list[Token], i: int, stop: int, lows: frozenset[str]) -> int:
    while i < stop and tokens[i].low in lows:
        i += 1
    return i


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
    if low in MONTHS and _is_month(tokens[i], preposition):
        return _month_first(tokens, i, stop, preposition, written_on)
    if low in ORDINALS:
        return _day_first(tokens, i, stop, ORDINALS[low], written_on)
    return named_day(tokens, i, stop, written_on)


def _by_number(tokens: list[Token], i: int, stop: int, preposition: str, written_on: date) -> Found | None:
    low = tokens[i].low
    if low not in NUMBERS and not low[0].isdigit():
        return None
    return distance(tokens, i, stop, preposition, written_on) or spoken_year(tokens, i, stop, preposition)


def _by_day(tokens: list[Token], i: int, stop: int, written_on: date) -> Found | None:
    """`the 14th`, which says no month."""
    low = tokens[i].low
    is_ordinal = low[0].isdigit() and low[-1].isalpha()
    number = day_number(low) if is_ordinal and i > 0 and tokens[i - 1].low == "the" else None
    return day_of_month(tokens, i, stop, number, written_on) if number else None


def _is_month(token: Token, preposition: str) -> bool:
    """Whether the name of a month is meant as one: `may` and `march` are words, too."""
    return token.is_capital or token.low not in AMBIGUOUS_MONTHS or preposition in {"in", "since", "of", "by"}


def _weekday(tokens: list[Token], i: int, stop: int, written_on: date) -> Found | None:
    """`Friday`, `Friday next week`, and `Tuesday, 9 June`, where the date says more than the day."""
    weekday = WEEKDAYS[tokens[i].low]
    if low_at(tokens, i + 1, stop) == "next" and low_at(tokens, i + 2, stop) == "week":
        monday = written_on + timedelta(days=7 - written_on.weekday())
        return PartialDate(monday + timedelta(days=weekday), "day"), i + 3
    j = _past_any(tokens, i + 1, stop, _BEFORE_DAY)
    low = low_at(tokens, j, stop)
    if low in MONTHS or low in ORDINALS or low[:1].isdigit():
        full = read_date(tokens, j, stop, written_on)
        if full is not None and full[0].precision == "day":
            return full
    return PartialDate(coming_weekday(written_on, weekday), "day"), i + 1


def _part_of(tokens: list[Token], i: int, stop: int, written_on: date) -> Found | None:
    """`early May`, `the end of June 2027`: the month or year that it is a part of."""
    j = _past_any(tokens, i + 1, stop, _OF_WHOLE)
    low = low_at(tokens, j, stop)
    whole: Found | None = None
    if low in MONTHS:
        whole = _month_first(tokens, j, stop, "in", written_on)
    elif low in SIGNS:
        whole = read_date(tokens, j, stop, written_on)
    elif low.isdecimal():
        whole = read_year(tokens, j, stop)
    return whole if whole is not None and whole[0].precision != "day" else None


def find_date(tokens: list[Token], start: int, stop: int, written_on: date) -> PartialDate | None:
    """The only date between two tokens; None when there is none, or more than one."""
    dates: list[PartialDate] = []
    i = start
    while i < stop:
        here = read_date(tokens, i, stop, written_on)
        if here is None:
            i += 1
            continue
        dates.append(here[0])
        i = here[1]
    return dates[0] if len(dates) == 1 else None


def find_since(tokens: list[Token], start: int, stop: int, written_on: date) -> PartialDate | None:
    """The date of `since 2019`, `for three years`, `for the last two years`."""
    for i in range(start, stop):
        low = tokens[i].low
        if low == "since" or (low == "of" and i > start and tokens[i - 1].low == "as"):
            since = read_date(tokens, i + (low == "of"), stop, written_on)
            if since:
                return _not_after(since[0], written_on)
        if low in {"for", "since"}:
            span = read_span(tokens, _past_any(tokens, i + 1, stop, _BEFORE_SPAN), stop)
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


def _year_for(
    tokens: list[Token], i: int, stop: int, month_and_day: tuple[int, int], written_on: date
) -> tuple[int, int]:
    """The year said, or the one in which the date comes next; and the token after it."""
    said = year_at(tokens, i, stop)
    if said:
        return said
    if low_at(tokens, i, stop) in _YEARS and low_at(tokens, i + 1, stop) == "year":
        return written_on.year + _YEARS[tokens[i].low], i + 2
    return written_on.year + (month_and_day < (written_on.month, written_on.day)), i


def _numeric(tokens: list[Token], i: int, stop: int, preposition: str, written_on: date) -> Found | None:
    value = in_digits(tokens[i].low)
    if value is not None:
        return value, i + 1
    number = day_number(tokens[i].low)
    if number is not None:
        return _day_first(tokens, i, stop, number, written_on)
    return read_year(tokens, i, stop) if preposition in {"in", "since", "from", "by", "of"} else None


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
    year, end = _year_for(tokens, j + 1, stop, (month, number), written_on)
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
        year, end = _year_for(tokens, j + 1, stop, (month, number), written_on)
        day = valid_date(year, month, number)
        return (PartialDate(day, "day"), end) if day else None
    said = _year_for(tokens, i + 1, stop, (month, 31), written_on)
    if said[1] == i + 1 and not preposition:
        return None
    return PartialDate(date(said[0], month, 1), "month"), said[1]
