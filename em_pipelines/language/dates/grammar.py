"""The grammar of dates: a phrase is days, or a date that recurs; what follows may say within which year, month or week.

By recursive descent, and guarded: what it does not understand is no date. What recurs is named here (`May 5`, `Tuesday,
9 June`, `Christmas Eve`, `the 17th`, `Q3`, `the weekend`); phrases that count or say a part are in `phrases`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from em_pipelines.language.dates.calendar_spans import (
    CYCLES,
    Days,
    Recurring,
    day_of_month,
    day_of_year,
    from_month,
    period,
)
from em_pipelines.language.dates.cursor import LEADS, Cursor
from em_pipelines.language.dates.words import (
    HOLIDAYS,
    LONGEST_HOLIDAY,
    MONTHS,
    ORDINALS,
    PARTS_OF_DAY,
    SIGNS,
    TENS,
    UNITS,
    WEEKDAYS,
    day_number,
    is_year,
    ordinal,
    recurring,
)

_MAY_FOLLOW_DAY = frozenset({
    "i", "we", "he", "she", "they", "it", "you", "my", "our", "his", "her", "their", "the", "a", "an", "and", "or",
    "but", "so", "because", "that", "which", "when", "if", "at", "in", "on", "for", "with", "to", "by", "from", "about",
    "not", "is", "was", "will", "before", "after", "until", "till", "through", "as", "then", "too", "this", "next",
    "last",
})  # fmt: skip
"""A day of the month is complete before these, and before marks: `floor` says that it is none."""
_BEFORE_DAY = frozenset({"the", "on", "to", "-", "–", "until", "till", "from", "through", "between", "and", ","})
_BEFORE_SEASON = SIGNS.keys() | {
    "the", "in", "by", "since", "until", "early", "late", "mid", "-", "of", "over", "during",
}  # fmt: skip


def recurring_at(cursor: Cursor, i: int) -> tuple[Recurring, int] | None:
    """What recurs and begins at a word, and the word after it."""
    for reader in (_holiday, _weekday, _month_first, _day_first, _named, _quarter, _nth_day):
        found = reader(cursor, i)
        if found is not None:
            return found
    return None


def _holiday(cursor: Cursor, i: int) -> tuple[Recurring, int] | None:
    """`Christmas Eve`, `New Year's Day`."""
    said: list[str] = []
    best: tuple[Recurring, int] | None = None
    j = i
    while j < cursor.stop and len(said) < LONGEST_HOLIDAY:
        said.append(cursor.low(j))
        j = cursor.skip(j + 1, "'s", "'")
        if tuple(said) in HOLIDAYS:
            best = HOLIDAYS[tuple(said)], j
    if best is None:
        return None
    is_day, low_new = cursor.low(best[1]) == "day", cursor.low(i) == "new"
    is_wish = low_new and cursor.low(i - 1) not in LEADS | SIGNS.keys() | {"and", "the"}  # "Happy new year!"
    is_wish = is_wish and not is_day and best[1] == i + 2 and cursor.year_at(best[1]) is None
    return None if is_wish else (best[0], best[1] + is_day)


def _weekday(cursor: Cursor, i: int) -> tuple[Recurring, int] | None:
    """`Friday`, `Friday night`, `Tuesday, 9 June`, `Friday the 13th`."""
    low = cursor.low(i)
    if low not in WEEKDAYS or not cursor.is_led(i):
        return None
    rule = recurring(low)
    assert rule is not None
    j = cursor.skip(i + 1, ".", ",", "the")
    for reader in (_month_first, _day_first, _nth_day):
        full = reader(cursor, j)
        if full is not None and full[0].precision == "day":
            both = replace(full[0], by=(*full[0].by, *rule.by))
            return (both if both.nearest(cursor.day, cursor.tense) else full[0]), full[1]
    return rule, i + 1 + (cursor.low(i + 1) in PARTS_OF_DAY)


def _month_first(cursor: Cursor, i: int) -> tuple[Recurring, int] | None:
    """`May 5`, `May the 5th`, `May`."""
    month = MONTHS.get(cursor.low(i))
    if month is None or not cursor.is_led(i):
        return None
    j = cursor.skip(i + 1, ".", "the")
    number = day_number(cursor.low(j)) if cursor.low(j + 1) not in {":", "%"} else None
    if number is not None and UNITS.get(cursor.low(j + 1)) is None and cursor.low(j) not in {"second"}:
        return day_of_year(month, number), j + 1
    return from_month(month, "month"), i + 1 + (cursor.low(i + 1) == "." and is_year(cursor.low(i + 2)))


def _day_first(cursor: Cursor, i: int) -> tuple[Recurring, int] | None:
    """`5 May`, `the 5th of May`, `twenty-first of June`."""
    number, j = day_number(cursor.low(i)), i + 1
    tens = TENS.get(cursor.low(i))
    if tens is not None and (unit := ordinal(cursor.low(cursor.skip(j, "-")))) is not None and unit < 10:
        number, j = tens + unit, cursor.skip(j, "-") + 1
    j = cursor.skip(j, "of", "-")
    month = MONTHS.get(cursor.low(j))
    is_verb = cursor.low(j) == "may" and cursor.low(j + 1) in {"be", "have", "not"}
    if number is None or not 1 <= number <= 31 or month is None or is_verb:
        return None
    return day_of_year(month, number), j + 1


def _nth_day(cursor: Cursor, i: int) -> tuple[Recurring, int] | None:
    """`the 17th` of a month; not `the 17th floor`."""
    number = _ordinal_day(cursor, i)
    if number is None or not (cursor.low(i - 1) in _BEFORE_DAY or cursor.low(i - 1) in WEEKDAYS):
        return None
    after = cursor.low(i + 1)
    if after == "of":
        is_whole = cursor.low(cursor.skip(i + 2, "the", *SIGNS)) == "month"
    else:
        is_whole = not after.isalnum() or after in _MAY_FOLLOW_DAY or after in PARTS_OF_DAY or after in MONTHS
    return (day_of_month(number), i + 1) if is_whole else None


def _ordinal_day(cursor: Cursor, i: int) -> int | None:
    """The day of `17th`; of `fifteenth` after `on the` or before `of`: in words most ordinals count other things."""
    low = cursor.low(i)
    if low in ORDINALS:
        is_day = cursor.low(i - 1) == "the" and (cursor.low(i - 2) == "on" or cursor.low(i + 1) == "of")
        return ORDINALS[low] if is_day else None
    return day_number(low) if low[:1].isdigit() and low[-1:].isalpha() else None


def _named(cursor: Cursor, i: int) -> tuple[Recurring, int] | None:
    """A season, the weekend."""
    low = cursor.low(i)
    rule = recurring(low)
    if rule is None or low in WEEKDAYS or low in MONTHS:
        return None
    is_meant = cursor.low(i - 1) in _BEFORE_SEASON
    is_meant = is_meant or cursor.year_at(cursor.skip(i + 1, "of", ",")) is not None
    return (rule, i + 1) if is_meant else None


def _quarter(cursor: Cursor, i: int) -> tuple[Recurring, int] | None:
    """`Q3`, `H1`."""
    unit = {"q": "quarter", "h": "half"}.get(cursor.low(i))
    low = cursor.low(i + 1)
    if unit is None or low not in {"1", "2", "3", "4"} or cursor.words[i].end != cursor.words[i + 1].start:
        return None
    months = 3 if unit == "quarter" else 6
    number = int(low)
    return (from_month((number - 1) * months + 1, unit), i + 2) if number * months <= 12 else None


Value = Days | Recurring
Found = tuple[Value, int]
"""What a phrase means, and the word after it."""
_FREQUENCIES = {unit: frequency for frequency, unit in CYCLES.items()}


@dataclass(frozen=True, slots=True)
class Grammar(Cursor):
    """Reads phrases by `readers`, of which the first counts that understands the words at a place."""

    readers: Sequence[Callable[["Grammar", int], Found | None]] = ()
    known: dict[tuple[int, bool], Found | None] = field(default_factory=dict, compare=False)

    def days(self, value: Value) -> Days | None:
        """The days that a value means by the tense."""
        return value.nearest(self.day, self.tense) if isinstance(value, Recurring) else value

    def days_at(self, i: int, *, is_bare: bool = False) -> tuple[Days, int] | None:
        """The days that the phrase at a word means by the tense, and the word after it."""
        found = self.value(i, is_bare=is_bare)
        days = self.days(found[0]) if found is not None else None
        return (days, found[1]) if found is not None and days is not None else None

    def value(self, i: int, *, is_bare: bool = False) -> Found | None:
        """The phrase that begins at a word; `is_bare` lets a month alone be one, as in `May to July`."""
        key = i, is_bare
        if key not in self.known:
            self.known[key] = None  # a phrase is no part of itself
            self.known[key] = self._value(i, is_bare) if i < self.stop else None
        return self.known[key]

    def _value(self, i: int, is_bare: bool) -> Found | None:
        for reader in self.readers:
            found = reader(self, i)
            if found is not None:
                whole = self.within(*found)
                is_month = isinstance(whole[0], Recurring) and whole[1] == i + 1 and self.low(i) in MONTHS
                return None if is_month and not is_bare and self.low(i - 1) not in LEADS else whole
        return None

    def within(self, value: Value, end: int) -> Found:
        """The value in what follows: `May last year`, `the 3rd of next month`, `last year in May`."""
        if isinstance(value, Days):
            return self._then(value, end)
        unit = CYCLES[value.frequency]
        j = self.skip(end, ",", "of", "in", "back", "the")
        around = self.container(j, unit)
        inner = value.within(around[0]) if around is not None else None
        if around is None or inner is None:
            return value, end
        return inner, around[1]

    def _then(self, days: Days, end: int) -> Found:
        j = self.skip(end, ",")
        if self.low(j) not in {"in", "on", "at", "over", "around", "during"} or days.precision not in _FREQUENCIES:
            return days, end
        found = recurring_at(self, self.skip(j + 1, "the"))
        if found is None or found[0].frequency != _FREQUENCIES[days.precision]:
            return days, end
        inner = found[0].within(period(days.precision, days.start))
        return (inner, found[1]) if inner is not None else (days, end)

    def container(self, i: int, unit: str) -> tuple[Days, int] | None:
        """The year, month or week that begins at a word."""
        if unit == "year" and (said := self.year_at(i)) is not None:
            return Days(date(said[0], 1, 1), date(said[0], 12, 31), "year"), said[1]
        for reader in self.readers:
            found = reader(self, i)
            if found is not None and isinstance(found[0], Days) and found[0].precision == unit:
                return period(unit, found[0].start), found[1]
        is_own = self.low(i - 1) == "the" and self.low(i - 2) == "of" and self.low(i) == unit
        return (period(unit, self.day), i + 1) if is_own else None
