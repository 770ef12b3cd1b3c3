"""Spans of days, dates that recur, and the choice among their occurrences by tense.

A date without its year, or its month, is a recurrence rule of dateutil: `May 5`, `the 17th`, `Friday`, `summer`,
`Easter` and `Q3` differ in the rule and in their length alone. Nothing here knows any words.
"""

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any, Literal

from dateutil.relativedelta import relativedelta
from dateutil.rrule import MONTHLY, WEEKLY, YEARLY, rrule


class Tense(StrEnum):
    """What a clause tells of. `present` is also for what has no verb: it is taken to be ahead, or under way."""

    PAST = "past"
    PRESENT = "present"
    FUTURE = "future"


LENGTHS = {
    "day": relativedelta(days=1),
    "weekend": relativedelta(days=2),
    "week": relativedelta(weeks=1),
    "month": relativedelta(months=1),
    "quarter": relativedelta(months=3),
    "season": relativedelta(months=3),
    "half": relativedelta(months=6),
    "year": relativedelta(years=1),
    "decade": relativedelta(years=10),
}
"""Precision → length of the calendar period."""
CYCLES = {YEARLY: "year", MONTHLY: "month", WEEKLY: "week"}
"""Frequency of a rule → the period that holds one occurrence."""
_SEARCHED = {
    WEEKLY: relativedelta(weeks=2),
    MONTHLY: relativedelta(years=1, months=2),
    YEARLY: relativedelta(years=9),
}
"""How far from a day an occurrence is looked for: 29 February may be eight years away."""
_SATURDAY = 5


@dataclass(frozen=True, slots=True)
class Days:
    """The days from `start` to `end`, both included. `precision` is the unit in which it was said: of `two months ago`
    the month, though it is one day. `cycle` is what the words leave open: which `year`, `month` or `week`; empty where
    they name it, or count from the day of writing."""

    start: date
    end: date
    precision: str
    cycle: str = ""
    is_relative: bool = False
    """Counted from the day of writing: `last May`, not `May 2019`."""

    def __contains__(self, day: date) -> bool:
        return self.start <= day <= self.end


def one_day(day: date, precision: str = "day", *, is_relative: bool = True) -> Days:
    """A single day, said in days unless `precision` says otherwise."""
    return Days(day, day, precision, is_relative=is_relative)


def period(unit: str, day: date, shift: int = 0) -> Days:
    """The calendar period of a unit that holds a day, or the one `shift` periods later. Weeks begin on Monday."""
    day = day + LENGTHS[unit] * shift
    months = {"month": 1, "quarter": 3, "half": 6, "year": 12}.get(unit)
    if months:
        start = day.replace(day=1, month=(day.month - 1) // months * months + 1)
    elif unit == "decade":
        start = date(day.year // 10 * 10, 1, 1)
    elif unit in {"week", "weekend"}:
        start = day - timedelta(days=day.weekday())
        start += timedelta(days=_SATURDAY if unit == "weekend" else 0)
    else:
        start = day
    return Days(start, last_of(start, unit), unit, is_relative=True)


def last_of(start: date, unit: str) -> date:
    """The last day of a period that starts on a day."""
    return start + LENGTHS[unit] - timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Recurring:
    """A date that recurs: `by` are the keywords of a dateutil rule, as pairs; `precision` its length."""

    frequency: Literal[0, 1, 2]
    precision: str
    by: tuple[tuple[str, object], ...]

    def starts(self, first: date, last: date) -> list[date]:
        """The first days of the occurrences that start from `first` to `last`, in order."""
        return list(_starts(self, first, last))

    def within(self, days: Days) -> Days | None:
        """The first occurrence that starts in a span of days."""
        found = self.starts(days.start, days.end)
        return replace(self._from(found[0]), cycle="", is_relative=days.is_relative) if found else None

    def latest(self, until: date) -> Days | None:
        """The last occurrence that starts up to a day."""
        found = self.starts(_moved(until, _SEARCHED[self.frequency], -1), until)
        return self._from(found[-1]) if found else None

    def earliest(self, since: date, *, is_whole: bool = False) -> Days | None:
        """The first occurrence that ends on a day or later; `is_whole`: that starts then."""
        start = since if is_whole else _moved(since, LENGTHS[self.precision], -1)
        found = self.starts(start, _moved(since, _SEARCHED[self.frequency], 1))
        return next((days for days in map(self._from, found) if days.end >= since), None)

    def nearest(self, day: date, tense: Tense) -> Days | None:
        """The occurrence that a clause of a tense means: the last of what was, else the next. A weekday is never the
        day itself, which is called today."""
        own = timedelta(days=self.frequency == WEEKLY and self.precision == "day")
        return self.latest(day - own) if tense is Tense.PAST else self.earliest(day + own)

    def this(self, day: date, tense: Tense) -> Days | None:
        """`this Friday`, `this summer`: the one under way, of the same week or year, or the nearest by tense."""
        under_way = self.latest(day)
        if under_way is not None and day in under_way:
            return under_way
        is_of_week, is_past = self.frequency == WEEKLY, tense is Tense.PAST
        if self.frequency == MONTHLY:  # `this Friday, the 6th`
            return self.nearest(day, tense)
        around = self.within(period("week" if is_of_week else "year", day))
        if around is None or (is_past and around.start > day) or (is_of_week and not is_past and around.end < day):
            return self.nearest(day, tense)
        return around

    def previous(self, day: date) -> Days | None:
        """The last one that was over before a day: the last summer is not the one that it is."""
        found = self.latest(day)
        return self.latest(found.start - timedelta(days=1)) if found is not None and found.end >= day else found

    def next(self, day: date) -> Days | None:
        """The next one that starts after a day; of a weekday or weekend that of the next week."""
        if self.frequency == WEEKLY:
            return self.within(period("week", day, 1))
        return self.earliest(day + timedelta(days=1), is_whole=True)

    def _from(self, start: date) -> Days:
        return Days(start, last_of(start, self.precision), self.precision, CYCLES[self.frequency])


@lru_cache(maxsize=4096)
def _starts(rule: Recurring, first: date, last: date) -> tuple[date, ...]:
    by: dict[str, Any] = dict(rule.by)
    found = rrule(rule.frequency, dtstart=datetime.combine(first, time()), until=datetime.combine(last, time()), **by)
    return tuple(at.date() for at in found)


def _moved(day: date, by: relativedelta, sign: int) -> date:
    return day + by if sign > 0 else day - by


def weekday(n: int) -> Recurring:
    """A day of the week, Monday 0."""
    return Recurring(WEEKLY, "day", (("byweekday", n),))


def day_of_month(n: int) -> Recurring:
    """A day of any month."""
    return Recurring(MONTHLY, "day", (("bymonthday", n),))


def day_of_year(month: int, day: int) -> Recurring:
    """A day of a month of any year."""
    return Recurring(YEARLY, "day", (("bymonth", month), ("bymonthday", day)))


def month_of_year(n: int) -> Recurring:
    """A month of any year."""
    return from_month(n, "month")


def from_month(n: int, precision: str) -> Recurring:
    """What begins with a month, every year: a month, a quarter, a season."""
    return Recurring(YEARLY, precision, (("bymonth", n), ("bymonthday", 1)))


def nth_weekday(month: int, day: int, n: int) -> Recurring:
    """The n-th weekday of a month, of every year; from the end where n is negative."""
    return Recurring(YEARLY, "day", (("bymonth", month), ("byweekday", day), ("bysetpos", n)))


def from_easter(days: int) -> Recurring:
    """A day counted from Easter Sunday, of every year."""
    return Recurring(YEARLY, "day", (("byeaster", days),))


WEEKEND = Recurring(WEEKLY, "weekend", (("byweekday", _SATURDAY),))
