"""Ranges: `from 3 to 5 June`, `Jan 16 – Feb 15, 2024`, `between May and July`, `2008–2012`.

What the end says of the year counts for the start, which is the last such date before it: `Dec 20 – Jan 3, 2024` starts
in 2023.
"""

from dataclasses import replace
from datetime import date, timedelta

from dateutil.rrule import WEEKLY

from em_pipelines.text.dates.calendar_spans import Days, Recurring, Tense, day_of_year, one_day
from em_pipelines.text.dates.grammar import Found, Grammar, Value
from em_pipelines.text.dates.words import WEEKDAYS, day_number, is_year

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
