"""Phrases that count from the day of writing, or from another date: `last Friday`, `in two weeks`, `the week before
last`, `two days before Easter`."""

from dataclasses import replace
from datetime import date, timedelta

from dateutil.relativedelta import relativedelta

from em_pipelines.text.dates.calendar_spans import LENGTHS, WEEKEND, Days, Recurring, Tense, one_day, period
from em_pipelines.text.dates.grammar import Found, Grammar
from em_pipelines.text.dates.recurring_phrases import recurring_at
from em_pipelines.text.dates.words import DAY_WORDS, PARTS_OF_DAY, SIGNS, UNITS, WEEKDAYS, recurring


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
    is_over = sign < 0 and low in {"night", "evening"}
    if low in PARTS_OF_DAY and (not sign or is_over):
        return one_day(grammar.day + timedelta(days=sign)), i + 1
    if low not in UNITS or low.endswith("s") or low == "weekend":
        return None
    if which in {"following", "next"} and grammar.low(i - 2) == "the":
        return (period(UNITS[low], grammar.previous.end, 1), i + 1) if grammar.previous is not None else None
    if which == "past":
        return _rolling(grammar, LENGTHS[UNITS[low]], sign), i + 1
    return (period(UNITS[low], grammar.day, sign), i + 1) if low != "day" else None


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
    if found is None:
        return None
    rule, sign = found[0], SIGNS[which]
    if which == "following":
        days = rule.earliest(grammar.previous.end + timedelta(days=1)) if grammar.previous is not None else None
    elif which in {"coming", "upcoming"}:
        days = rule.nearest(grammar.day, Tense.FUTURE)
    else:
        days = rule.this(grammar.day, grammar.tense) if not sign else None
        days = (rule.previous(grammar.day) if sign < 0 else rule.next(grammar.day)) if sign else days
    return (replace(days, cycle="", is_relative=True), found[1]) if days is not None else None


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
    rule, unit, j = WEEKEND, UNITS.get(grammar.low(i)), i + 1
    unit = "day" if grammar.low(i) in PARTS_OF_DAY else unit
    if unit in {None, "weekend"}:
        found = recurring_at(grammar, i)
        if found is None:
            return None
        (rule, j), unit = found, None
    side, other = grammar.low(j), grammar.low(j + 1)
    if (side, other) in {("before", "last"), ("after", "next")}:
        return _twice(grammar, rule, unit, side), j + 2
    if side not in {"before", "after", "of"} or (side == "of" and unit != "week" and rule is not WEEKEND):
        return None
    k = grammar.skip(j + 1, "the")
    anchor = grammar.value(k, is_bare=side != "of")
    days = grammar.days(anchor[0]) if anchor is not None else None
    if anchor is None or days is None or (unit in {"year", "decade"} and days.precision != unit):
        return None
    beside = _beside(rule, unit, days, side)
    return (beside, anchor[1]) if beside is not None else None


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
    side = grammar.low(j)
    if side in {"ago", "back"}:
        return _shifted(grammar.day, length, unit, -1), j + 1
    if grammar.low(j) == "'" and grammar.low(j + 1) == "time":
        return _shifted(grammar.day, length, unit, 1), j + 2
    if side in {"from", "after", "before", "today", "tomorrow", "on"}:
        found = _counted_from(grammar, j, length, unit)
        if found is not None or side in {"from", "today", "tomorrow", "on"}:
            return found
    if side in {"later", "earlier", "after", "before"} and grammar.previous is not None:
        is_back = side in {"earlier", "before"}
        start = grammar.previous.start if is_back else grammar.previous.end
        return _shifted(start, length, unit, -1 if is_back else 1), j + 1
    lead = grammar.low(i - 2) if grammar.low(i - 1) in {"about", "around", "just", "another"} else grammar.low(i - 1)
    is_ahead = lead == "in" and grammar.tense is not Tense.PAST and side not in {"of"}
    return (_shifted(grammar.day, length, unit, 1), j) if is_ahead else None


def _counted_from(grammar: Grammar, j: int, length: relativedelta, unit: str) -> Found | None:
    side = grammar.low(j)
    sign = -1 if side == "before" else 1
    k = j if side in {"today", "tomorrow"} else grammar.skip(j + 1, "the")
    if grammar.low(k) == "now":
        return _shifted(grammar.day, length, unit, sign), k + 1
    anchor = grammar.value(k)
    ahead = replace(grammar, tense=Tense.FUTURE) if side in {"from", "on"} else grammar
    days = ahead.days(anchor[0]) if anchor is not None else None
    if anchor is None or days is None or (side == "on" and days.precision != "day"):
        return None
    return _shifted(days.start if sign < 0 else days.end, length, "day", sign), anchor[1]


def _shifted(day: date, length: relativedelta, unit: str, sign: int) -> Days:
    return one_day(day + length if sign > 0 else day - length, unit)


def _weekdays_ago(grammar: Grammar, i: int) -> Found | None:
    """`two Fridays ago`, `three summers ago`, `two weekends ago`."""
    number = grammar.number(i)
    low = grammar.low(number[1]) if number is not None else ""
    rule = recurring(low.removesuffix("s")) if low.endswith("s") or (number and number[0] == 1) else None
    if number is None or rule is None or grammar.low(number[1] + 1) != "ago" or not 1 <= number[0] <= 60:
        return None
    found = rule.previous(grammar.day)
    for _ in range(number[0] - 1):
        found = rule.latest(found.start - timedelta(days=1)) if found is not None else None
    return (replace(found, cycle="", is_relative=True), number[1] + 2) if found is not None else None
