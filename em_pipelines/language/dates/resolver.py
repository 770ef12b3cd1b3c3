"""The one way from a text to its dates: which days each phrase means, as of the day on which it was written.

In are a text, the local date of its writing, and the tense that it tells in; out are spans of characters with the days
that they mean. Whoever has a text cut into words already takes `date_at`. Of a range (`Dec 20 – Jan 3, 2024`) what the
end says of the year counts for the start, which is the last such date before it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache

from dateutil.rrule import WEEKLY

from em_pipelines.language.dates.calendar_spans import Days, Recurring, Tense, day_of_year, one_day
from em_pipelines.language.dates.cursor import TellOrder, order_of
from em_pipelines.language.dates.grammar import Found, Grammar, Value
from em_pipelines.language.dates.phrases import (
    THIRDS,
    counted,
    day_word,
    decade,
    definite,
    nth,
    numeric,
    recurs,
    related,
    selected,
    vague,
    year,
)
from em_pipelines.language.dates.words import (
    DAY_WORDS,
    DECADES,
    HOLIDAYS,
    MONTHS,
    NUMBERS,
    ORDINALS,
    SEASONS,
    SIGNS,
    UNITS,
    WEEKDAYS,
    Word,
    day_number,
    is_year,
    ordinal,
    words_of,
)

LONGEST_TEXT = 20_000
"""Characters of a text in which dates are looked for."""
_JOINTS = frozenset({"to", "-", "–", "—", "until", "till", "til", "through", "thru"})


def range_at(grammar: Grammar, i: int) -> tuple[Days | None, int] | None:
    """The range that begins at a word, and the word after it; None where there is none. One of no week in particular,
    `I work Monday to Friday`, has no days."""
    opener = grammar.low(i)
    start = i + (opener in {"from", "between"})
    first = _endpoint(grammar, start)
    if first is None:
        return None
    joint = grammar.low(first[1])
    if joint not in _JOINTS and not (joint == "and" and "between" in {opener, grammar.low(i - 1)}):
        return None
    last = _last(grammar, first, first[1] + 1)
    if last is None:
        return None
    if _is_timetable(grammar, first[0], last[0]):
        return None, last[1]
    opened = _start(first, last[0])
    days = _joined(grammar, opened, last[0]) if opened is not None else None
    return (days, last[1]) if days is not None else None


def _endpoint(grammar: Grammar, i: int) -> tuple[Value | int, int] | None:
    """A date, a year, or a number that is the day of a month which the other end names."""
    j = i + (grammar.low(i) == "the")
    if grammar.low(i) in WEEKDAYS and (number := day_number(grammar.low(i + 1))) and grammar.low(i + 2) in _JOINTS:
        return number, i + 2
    found = grammar.value(j, is_bare=True)
    if found is not None:
        return found
    if is_year(grammar.low(i)):
        return Days(date(int(grammar.low(i)), 1, 1), date(int(grammar.low(i)), 12, 31), "year"), i + 1
    number = day_number(grammar.low(j)) if grammar.low(j)[:1].isdigit() else None
    return (number, j + 1) if number is not None else None


def _last(grammar: Grammar, first: tuple[Value | int, int], i: int) -> Found | None:
    """The end; `5` after `June 3` is the 5th of June."""
    now = grammar.skip(i, "the")
    if grammar.low(now) in {"now", "present"}:
        return one_day(grammar.day), now + 1
    found = _endpoint(grammar, i)
    if found is None:
        return None
    value, end = found
    number = value if isinstance(value, int) else _day_only(value)
    month = _month_of_day(first[0])
    if number is not None and month is not None:
        return grammar.within(day_of_year(month, number), end)
    return None if isinstance(value, int) else (value, end)


def _day_only(value: Value) -> int | None:
    """The day of a month that is not said."""
    by = dict(value.by) if isinstance(value, Recurring) else {}
    number = by.get("bymonthday")
    return number if isinstance(number, int) and "bymonth" not in by else None


def _month_of_day(value: Value | int) -> int | None:
    """The month of a day."""
    if isinstance(value, Days):
        return value.start.month if value.precision == "day" and not value.is_relative else None
    month = dict(value.by).get("bymonth") if isinstance(value, Recurring) and value.precision == "day" else None
    return month if isinstance(month, int) else None


def _start(first: tuple[Value | int, int], last: Value) -> Value | None:
    """The start; `3` before `5 June` is the 3rd of June."""
    value = first[0]
    if not isinstance(value, int):
        return value
    month = _month_of_day(last)
    return day_of_year(month, value) if month is not None else None


def _joined(grammar: Grammar, first: Value, last: Value) -> Days | None:
    """From the start of the one to the end of the other, each near the other."""
    if isinstance(first, Days) or (isinstance(last, Recurring) and grammar.tense is Tense.FUTURE):
        start = grammar.days(first)
        end = _after(start, last) if start is not None else None
    else:
        end = grammar.days(last)
        start = first.latest(end.start) if end is not None else None
    if start is None or end is None or start.start > end.end:
        return None
    return replace(start, end=end.end, cycle=start.cycle if end.cycle else "")


def _after(start: Days, last: Value) -> Days | None:
    return last if isinstance(last, Days) else last.earliest(start.end + timedelta(days=1), is_whole=True)


def _is_timetable(grammar: Grammar, *ends: Value | int) -> bool:
    """Whether both are weekdays in the present tense, which says what is always so."""
    return grammar.tense is Tense.PRESENT and all(isinstance(e, Recurring) and e.frequency == WEEKLY for e in ends)


LONGEST_PHRASE = 20
"""Words of a date that are read at most."""
TenseAt = Callable[[int], Tense]
"""The tense that is told in at a position of a text."""
_READERS = (definite, numeric, day_word, nth, related, selected, vague, recurs, counted, decade, year)
_FIRST = frozenset({"the", "a", "an", "half", "couple", "fortnight", "q", "h", "same", "'"}).union(
    *(SIGNS, DAY_WORDS, MONTHS, WEEKDAYS, NUMBERS, ORDINALS, UNITS, DECADES, THIRDS, SEASONS),
    *(name[:1] for name in HOLIDAYS),
)
_REPEATED = frozenset({"every", "each", "per", "following", "other"})
"""After these a date is one of many, or counts from a day that is not known."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When words were written, by the local date, and in which tense; `is_bare` lets the name of a month alone be one,
    as in questions, and a day that no calendar has its month; `order` tells that of day and month around."""

    said_on: date
    tense: Tense | TenseAt = Tense.PRESENT
    is_bare: bool = False
    order: TellOrder = lambda: None


@dataclass(frozen=True, slots=True)
class DateSpan:
    """The days from `start` to `end`, both included, that the characters of `span` mean. `precision` is the unit in
    which it was said: day, weekend, week, month, quarter, season, half, year, decade; span for `the past two days`."""

    span: tuple[int, int]
    start: date
    end: date
    precision: str


def resolve(text: str, said_on: date, tense: Tense | TenseAt = Tense.PRESENT) -> list[DateSpan]:
    """The dates of a text in order, as of the local date on which it was written. What began `since` a day lasts until
    that date."""
    words = words_of(text)
    found = []
    order = cache(lambda: order_of(word.low for word in words))
    for days, i, j in find(words, Moment(said_on, tense, order=order)):
        is_since = i > 0 and words[i - 1].low == "since" and days.start <= said_on
        end = max(said_on, days.start) if is_since else days.end
        found.append(DateSpan((words[i].start, words[j - 1].end), days.start, end, days.precision))
    return found


def find(words: Sequence[Word], moment: Moment) -> Iterator[tuple[Days, int, int]]:
    """The dates of words in order, each with the word it begins with and the one after it."""
    i, previous = 0, None
    while i < len(words):
        found = date_at(words, i, moment, previous)
        if found is not None and found[0] is not None:
            yield found[0], i, found[1]
            previous = found[0]
        i = found[1] if found is not None else i + 1


def date_at(
    words: Sequence[Word], i: int, moment: Moment, previous: Days | None = None
) -> tuple[Days | None, int] | None:
    """The days that the phrase at a word means, and the word after it; None where no date begins there. The days are
    None of a phrase of time that means none in particular. `previous` are those that were named before."""
    opens = words[i].low in {"from", "between"} and i + 1 < len(words)
    if not _may_begin(words, i + opens):
        return None
    tense, stop = _tense_at(words, i, moment.tense), min(len(words), i + LONGEST_PHRASE)
    grammar = Grammar(words, moment.said_on, tense, previous, stop, moment.order, _READERS)
    try:
        found = range_at(grammar, i)
        if found is not None or opens:
            return found
        value = grammar.value(i, is_bare=moment.is_bare)
        days = grammar.days(value[0]) if value is not None else None
    except (ValueError, OverflowError):  # beyond the calendar
        return None
    is_date = value is not None and (days is not None or not moment.is_bare)
    return (days, value[1]) if value is not None and is_date else None


def _may_begin(words: Sequence[Word], i: int) -> bool:
    """Whether a date may begin at a word; cheap, for most words begin none."""
    low = words[i].low
    before = words[i - 1].low if i else ""
    return (low in _FIRST or low[0].isdecimal()) and before not in _REPEATED and ordinal(before) is None


def _tense_at(words: Sequence[Word], i: int, tense: Tense | TenseAt) -> Tense:
    """The tense at a word; what has been so `since` a day is past, whatever the verb, and what is so `as of` one."""
    before = [word.low for word in words[max(0, i - 2) : i]]
    if before[-1:] == ["since"]:
        return Tense.PAST
    here = tense if isinstance(tense, Tense) else tense(words[i].start)
    return Tense.PAST if before == ["as", "of"] and here is Tense.PRESENT else here
