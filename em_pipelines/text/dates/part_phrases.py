"""Dates in digits, years and decades, and parts of a period: `2026-05-29`, `in 2019`, `the 90s`, `mid-June`, `the
first week of October`."""

import re
from dataclasses import replace
from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

from em_pipelines.text.dates.calendar_spans import LENGTHS, Days, Recurring, last_of, period
from em_pipelines.text.dates.cursor import LEADS
from em_pipelines.text.dates.digits import in_digits
from em_pipelines.text.dates.grammar import Found, Grammar
from em_pipelines.text.dates.words import DECADES, UNITS, is_year, ordinal, recurring

_OPENED = frozenset({"in", "since", "from", "by", "of", "until", "till", "to", "during", "before", "after", "around",
                     "about", "year", "back", "between", "early", "late", "mid", "-", "–"})  # fmt: skip
"""Before a year that stands alone."""
_DECADE = re.compile(r"((?:19|20)?[0-9]0)s", re.ASCII)
THIRDS = {"early": 0, "mid": 1, "middle": 1, "late": 2, "beginning": -1, "start": -1, "end": -2}
_THIRD_OF = {"month": relativedelta(days=10), "season": relativedelta(months=1), "year": relativedelta(months=4)}


def numeric(grammar: Grammar, i: int) -> Found | None:
    """`2026-05-29`, `29.05.2026`; `29/5` and `29.5.` where a preposition makes a date of it."""
    value = in_digits(grammar.low(i), is_led=grammar.low(i - 1) in LEADS)
    return (value, i + 1) if value is not None else None


def nth(grammar: Grammar, i: int) -> Found | None:
    """`the first week of October`, `the last Friday of the month`, `the third quarter of 2023`."""
    number = -1 if grammar.low(i) == "last" else ordinal(grammar.low(i))
    low = grammar.low(i + 1)
    around = _whole_at(grammar, i + 3) if number and grammar.low(i + 2) in {"of", "in"} else None
    if number is None or around is None:
        return None
    rule, unit = recurring(low), "half" if low == "half" else UNITS.get(low)
    if rule is not None:
        inner = _nth_rule(rule, around[0], number)
    else:
        inner = _nth_unit(unit, around[0], number) if unit is not None else None
    return (inner, around[1]) if inner is not None else None


def _nth_rule(rule: Recurring, around: Days, number: int) -> Days | None:
    starts = rule.starts(around.start, around.end)
    n = number - 1 if number > 0 else number
    if not -len(starts) <= n < len(starts):
        return None
    return Days(starts[n], last_of(starts[n], rule.precision), rule.precision, is_relative=around.is_relative)


def _nth_unit(unit: str, around: Days, number: int) -> Days | None:
    length = LENGTHS[unit]
    start = around.start + length * (number - 1) if number > 0 else around.end + timedelta(days=1) - length
    end = last_of(start, unit)
    is_inside = around.start <= start and end <= around.end
    return Days(start, end, unit, is_relative=around.is_relative) if is_inside else None


def _whole_at(grammar: Grammar, i: int) -> tuple[Days, int] | None:
    """The month, year or other whole of which a part is said."""
    j = grammar.skip(i, "the")
    if j > i and grammar.low(j) in {"month", "year", "week"} and grammar.low(j + 1) not in {"before", "after", "of"}:
        return period(grammar.low(j), grammar.day), j + 1
    return grammar.days_at(j, is_bare=True)


def vague(grammar: Grammar, i: int) -> Found | None:
    """`early May`, `mid-June`, `the end of next month`: a third of it, its first or its last day."""
    which = THIRDS.get(grammar.low(i))
    if which is None:
        return None
    j = grammar.skip(i + 1, "-", "of", "in") if which >= 0 else i + 2
    if which < 0 and grammar.low(i + 1) != "of":
        return None
    around = _whole_at(grammar, j)
    if around is None or around[0].start == around[0].end:
        return None
    return _part_of(around[0], which), around[1]


def _part_of(whole: Days, which: int) -> Days:
    if whole.precision == "decade":
        first, last = ((0, 3), (4, 6), (7, 9), (7, 9), (0, 3))[which]
        return replace(whole, start=date(whole.start.year + first, 1, 1), end=date(whole.start.year + last, 12, 31))
    if which < 0 and whole.precision in LENGTHS.keys() - {"week", "weekend"}:
        day = whole.start if which == -1 else whole.end
        return replace(whole, start=day, end=day)
    third = _THIRD_OF.get(whole.precision)
    if third is None or which < 0:
        return whole
    start = whole.start + third * which
    return replace(whole, start=start, end=whole.end if which == 2 else start + third - timedelta(days=1))


def decade(grammar: Grammar, i: int) -> Found | None:
    """`the 90s`, `the 1990s`, `the nineties`; not `in her nineties`."""
    low = grammar.low(i)
    digits = _DECADE.fullmatch(low)
    year = int(digits[1]) if digits is not None else DECADES.get(low)
    is_led = grammar.low(i - 1) in {"the", "early", "mid", "late", "'", "-"}
    if year is None or (year < 100 and not is_led):
        return None
    if year < 100:
        year += grammar.day.year // 100 * 100
        year -= 100 if year > grammar.day.year else 0
    return Days(date(year, 1, 1), date(year + 9, 12, 31), "decade"), i + 1


def year(grammar: Grammar, i: int) -> Found | None:
    """`in 2019`, `in twenty eighteen`."""
    low = grammar.low(i)
    is_spoken = low in {"nineteen", "twenty", "'"} and grammar.low(i - 1) in {"in", "since"}
    if grammar.low(i - 1) not in _OPENED or not (is_year(low) or is_spoken):
        return None
    said = grammar.year_at(i)
    return (Days(date(said[0], 1, 1), date(said[0], 12, 31), "year"), said[1]) if said is not None else None


def definite(grammar: Grammar, i: int) -> Found | None:
    """What follows an article; the day that was named: `the same day`."""
    if grammar.low(i) == "the":
        return grammar.value(i + 1) if grammar.low(i + 1) != "the" else None
    is_same = grammar.low(i) == "same" and grammar.low(i + 1) in {"day", "week", "month", "year"}
    if not is_same or grammar.previous is None:
        return None
    return replace(period(grammar.low(i + 1), grammar.previous.start), is_relative=False), i + 2
