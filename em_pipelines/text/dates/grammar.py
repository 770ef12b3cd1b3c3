"""The grammar of dates: a phrase is days, or a date that recurs; what follows may say within which year, month or week.

By recursive descent, and guarded: what it does not understand is no date. The phrases themselves are in
`relative_phrases` and `part_phrases`, what recurs is in `recurring_phrases`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import date

from em_pipelines.text.dates.calendar_spans import CYCLES, Days, Recurring, period
from em_pipelines.text.dates.cursor import LEADS, Cursor
from em_pipelines.text.dates.recurring_phrases import recurring_at
from em_pipelines.text.dates.words import MONTHS

Value = Days | Recurring
Found = tuple[Value, int]
"""What a phrase means, and the word after it."""
_FREQUENCIES = {unit: frequency for frequency, unit in CYCLES.items()}


@dataclass(frozen=True, slots=True)
class Grammar(Cursor):
    """Reads phrases by `readers`, of which the first counts that understands the words at a place."""

    readers: Sequence[Callable[["Grammar", int], Found | None]]
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
