"""Phrases that count from the day of writing or from another date, and those of years, decades and parts of a period:
`last Friday`, `in two weeks`, `the week before last`, `two days before Easter`, `in 2019`, `the 90s`, `mid-June`.
"""

import re
from dataclasses import replace
from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

from em_pipelines.language.dates.calendar_spans import (
    LENGTHS,
    WEEKEND,
    Days,
    Recurring,
    Tense,
    last_of,
    one_day,
    period,
)
from em_pipelines.language.dates.cursor import LEADS, in_digits
from em_pipelines.language.dates.grammar import Found, Grammar, recurring_at
from em_pipelines.language.dates.words import (
    DAY_WORDS,
    DECADES,
    HOLIDAYS,
    PARTS_OF_DAY,
    SIGNS,
    UNITS,
    WEEKDAYS,
    is_year,
    ordinal,
    recurring,
)

_OF_LAST_DAY = frozenset({"night", "evening"})
"""`Last night` and `last evening` are said, `last morning` is not."""
MOST_AGO = 60
"""Weekdays, months or seasons that are counted back at most."""
_NO_MORE = frozenset({"of", "from", "on"})
"""`In two weeks of rain` is no day."""


def day_word(grammar: Grammar, i: int) -> Found | None:
    """`yesterday`, `tomorrow morning`."""
    shift = DAY_WORDS.get(grammar.low(i))
    if shift is None:
        return None
    end = i + 1 + (grammar.low(i + 1) in PARTS_OF_DAY)
    return one_day(grammar.day + timedelta(days=shift)), end


def selected(grammar: Grammar, i: int) -> Found | None:
    """`last Friday`, `next month`, `this weekend`, `the past two weeks`."""
    which = grammar.low(i)
    if which not in SIGNS:
        return None
    if which == "this" and SIGNS.get(grammar.low(i + 1), 0):
        return _nearby(grammar, i + 1)
    if which == "this" and grammar.low(i + 1) in {"time", "day"}:
        return _this_time(grammar, i + 2)
    span = grammar.distance(i + 1) if grammar.low(i + 1) not in {"a", "an"} else None
    if span is not None:
        return (_rolling(grammar, span[0], SIGNS[which]), span[2]) if SIGNS[which] else None
    return _period(grammar, which, i + 1) or _chosen(grammar, which, i + 1)


def _period(grammar: Grammar, which: str, i: int) -> Found | None:
    """The part of a day, week, month or year that `last`, `this` or `next` means."""
    sign, low = SIGNS[which], grammar.low(i)
    if low in PARTS_OF_DAY:
        is_meant = not sign or (sign < 0 and low in _OF_LAST_DAY)
        return (one_day(grammar.day + timedelta(days=sign)), i + 1) if is_meant else None
    unit = UNITS.get(low)
    if unit != low or unit == "weekend":
        return None
    if which in {"following", "next"} and grammar.low(i - 2) == "the":
        return _after_previous(grammar, unit, i + 1)
    days = _rolling(grammar, LENGTHS[unit], sign) if which == "past" else period(unit, grammar.day, sign)
    return (days, i + 1) if unit != "day" else None


def _after_previous(grammar: Grammar, unit: str, end: int) -> Found | None:
    """`the next week`: after the days that were named before."""
    return (period(unit, grammar.previous.end, 1), end) if grammar.previous is not None else None


def _nearby(grammar: Grammar, i: int) -> Found | None:
    """`this coming Friday`, `this past weekend`: the nearest one."""
    found = recurring_at(grammar, i + 1)
    if found is None:
        return selected(grammar, i)
    rule = found[0]
    days = rule.previous(grammar.day) if SIGNS[grammar.low(i)] < 0 else rule.nearest(grammar.day, Tense.FUTURE)
    return (days, found[1]) if days is not None else None


def _this_time(grammar: Grammar, i: int) -> Found | None:
    """`this time last year`: the day itself, a year before."""
    sign, unit = SIGNS.get(grammar.low(i), 0), UNITS.get(grammar.low(i + 1))
    return (_shifted(grammar.day, LENGTHS[unit], unit, sign), i + 2) if sign and unit is not None else None


def _chosen(grammar: Grammar, which: str, j: int) -> Found | None:
    """The one of what recurs that `last`, `this` or `next` means."""
    found = recurring_at(grammar, j)
    days = _one_of(grammar, which, found[0]) if found is not None else None
    return (replace(days, cycle="", is_relative=True), found[1]) if found is not None and days is not None else None


def _one_of(grammar: Grammar, which: str, rule: Recurring) -> Days | None:
    if which == "following":
        return rule.earliest(grammar.previous.end + timedelta(days=1)) if grammar.previous is not None else None
    if which in {"coming", "upcoming"}:
        return rule.nearest(grammar.day, Tense.FUTURE)
    if not SIGNS[which]:
        return rule.this(grammar.day, grammar.tense)
    return rule.previous(grammar.day) if SIGNS[which] < 0 else rule.next(grammar.day)


def _rolling(grammar: Grammar, length: relativedelta, sign: int) -> Days:
    """`the past two weeks`: up to the day itself."""
    other = grammar.day + length if sign > 0 else grammar.day - length
    return Days(min(grammar.day, other), max(grammar.day, other), "span", is_relative=True)


def recurs(grammar: Grammar, i: int) -> Found | None:
    """What recurs; `Saturday week` is a week after the next one."""
    found = recurring_at(grammar, i)
    if found is None or grammar.low(i) not in WEEKDAYS or grammar.low(found[1]) != "week":
        return found
    coming = found[0].nearest(grammar.day, Tense.FUTURE)
    return (_shifted(coming.start, LENGTHS["week"], "day", 1), found[1] + 1) if coming is not None else found


def related(grammar: Grammar, i: int) -> Found | None:
    """`the week before last`, `the day after tomorrow`, `the Friday before Christmas`, `the weekend of 3 June`."""
    noun = _noun_at(grammar, i)
    if noun is None:
        return None
    rule, unit, j = noun
    side = grammar.low(j)
    if f"{side} {grammar.low(j + 1)}" in {"before last", "after next"}:
        return _twice(grammar, rule, unit, side), j + 2
    is_around = side == "of" and (unit == "week" or (unit is None and rule is WEEKEND))
    if side not in {"before", "after"} and not is_around:
        return None
    anchor = grammar.days_at(grammar.skip(j + 1, "the"), is_bare=not is_around)
    if anchor is None or (unit in {"year", "decade"} and anchor[0].precision != unit):
        return None
    beside = _beside(rule, unit, anchor[0], side)
    return (beside, anchor[1]) if beside is not None else None


def _noun_at(grammar: Grammar, i: int) -> tuple[Recurring, str | None, int] | None:
    """A unit of time, of which parts of a day are days, or what recurs; and the word after it."""
    low = grammar.low(i)
    unit = "day" if low in PARTS_OF_DAY else UNITS.get(low)
    if unit is not None and unit != "weekend":
        return WEEKEND, unit, i + 1
    found = recurring_at(grammar, i)
    return (found[0], None, found[1]) if found is not None else None


def _twice(grammar: Grammar, rule: Recurring, unit: str | None, side: str) -> Days:
    """The last but one, the next but one."""
    sign = -1 if side == "before" else 1
    if unit is not None:
        return period(unit, grammar.day, 2 * sign)
    once = rule.previous(grammar.day) if sign < 0 else rule.next(grammar.day)
    twice = once and (rule.latest(once.start - timedelta(days=1)) if sign < 0 else
                      rule.earliest(once.end + timedelta(days=1), is_whole=True))  # fmt: skip
    return replace(twice or one_day(grammar.day), cycle="", is_relative=True)


def _beside(rule: Recurring, unit: str | None, days: Days, side: str) -> Days | None:
    """The day, week or other unit, or what recurs, before, after or around some days."""
    if side == "of":
        around = period(unit or "weekend", days.start)
        return replace(around, is_relative=days.is_relative)
    if unit is not None:
        beside = period(unit, days.start, -1) if side == "before" else period(unit, days.end, 1)
        return replace(beside, is_relative=days.is_relative)
    day = timedelta(days=1)
    found = rule.latest(days.start - day) if side == "before" else rule.earliest(days.end + day, is_whole=True)
    return replace(found, cycle="", is_relative=days.is_relative) if found is not None else None


def counted(grammar: Grammar, i: int) -> Found | None:
    """`three days ago`, `in two weeks`, `a week from Friday`, `two days before Easter`, `two weeks later`."""
    span = grammar.distance(i)
    if span is None:
        return _weekdays_ago(grammar, i)
    length, unit, j = span
    if grammar.low(j) in {"ago", "back"}:
        return _shifted(grammar.day, length, unit, -1), j + 1
    if (grammar.low(j), grammar.low(j + 1)) == ("'", "time"):
        return _shifted(grammar.day, length, unit, 1), j + 2
    found = _counted_from(grammar, j, length, unit) or _counted_on(grammar, j, length, unit)
    if found is not None or grammar.tense is Tense.PAST:
        return found
    lead = grammar.low(i - 2) if grammar.low(i - 1) in {"about", "around", "just", "another"} else grammar.low(i - 1)
    return (_shifted(grammar.day, length, unit, 1), j) if lead == "in" and grammar.low(j) not in _NO_MORE else None


def _counted_from(grammar: Grammar, j: int, length: relativedelta, unit: str) -> Found | None:
    """`from Friday`, `before Easter`, `today`, and with weeks `last Tuesday`, after a length of time."""
    side = grammar.low(j)
    if unit == "week" and SIGNS.get(side) and grammar.low(j + 1) in WEEKDAYS:
        day = grammar.days_at(j)
        return (_shifted(day[0].start, length, "day", SIGNS[side]), day[1]) if day is not None else None
    if side not in {"from", "after", "before", "today", "tomorrow", "on"}:
        return None
    sign = -1 if side == "before" else 1
    k = j if side in {"today", "tomorrow"} else grammar.skip(j + 1, "the")
    if grammar.low(k) == "now":
        return _shifted(grammar.day, length, unit, sign), k + 1
    ahead = replace(grammar, tense=Tense.FUTURE) if side in {"from", "on"} else grammar
    anchor = ahead.days_at(k)
    if anchor is None or (side == "on" and anchor[0].precision != "day"):
        return None
    return _shifted(anchor[0].start if sign < 0 else anchor[0].end, length, "day", sign), anchor[1]


def _counted_on(grammar: Grammar, j: int, length: relativedelta, unit: str) -> Found | None:
    """`later`, after a length of time: from the days that were named before."""
    side = grammar.low(j)
    if side not in {"later", "earlier", "after", "before"} or grammar.previous is None:
        return None
    is_back = side in {"earlier", "before"}
    start = grammar.previous.start if is_back else grammar.previous.end
    return _shifted(start, length, unit, -1 if is_back else 1), j + 1


def _shifted(day: date, length: relativedelta, unit: str, sign: int) -> Days:
    return one_day(day + length if sign > 0 else day - length, unit)


def _weekdays_ago(grammar: Grammar, i: int) -> Found | None:
    """`two Fridays ago`, `three summers ago`, `two weekends ago`."""
    number = grammar.number(i)
    if number is None or grammar.low(number[1] + 1) != "ago" or not 1 <= number[0] <= MOST_AGO:
        return None
    low = grammar.low(number[1])
    rule = recurring(low.removesuffix("s")) or HOLIDAYS.get((low.removesuffix("es"),))
    found = rule.previous(grammar.day) if rule is not None else None
    for _ in range(number[0] - 1):
        found = rule.latest(found.start - timedelta(days=1)) if rule is not None and found is not None else None
    return (replace(found, cycle="", is_relative=True), number[1] + 2) if found is not None else None


_OPENED = frozenset({"in", "since", "from", "by", "of", "until", "till", "to", "during", "before", "after", "around",
                     "about", "year", "back", "between", "early", "late", "mid", "-", "–"})  # fmt: skip
"""Before a year that stands alone."""
_DECADE = re.compile(r"((?:19|20)?[0-9]0)s", re.ASCII)
THIRDS = {"early": 0, "mid": 1, "middle": 1, "late": 2, "beginning": -1, "start": -1, "end": -2}
_THIRD_OF = {"month": relativedelta(days=10), "season": relativedelta(months=1), "year": relativedelta(months=4)}


def numeric(grammar: Grammar, i: int) -> Found | None:
    """`2026-05-29`, `29.05.2026`; `29/5` and `29.5.` where a preposition makes a date of it; `03/04/2026` in the order
    of day and month that another date near it shows."""
    value = in_digits(grammar.low(i), is_led=grammar.low(i - 1) in LEADS, order=grammar.order)
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
