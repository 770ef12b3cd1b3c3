"""The words of a text, with what is read in them whatever it is part of: numbers, lengths of time, years."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from dateutil.relativedelta import relativedelta

from em_pipelines.text.dates.calendar_spans import LENGTHS, Days, Tense
from em_pipelines.text.dates.digits import year_in
from em_pipelines.text.dates.words import (
    ALSO_WORDS,
    MONTHS,
    NUMBERS,
    SIGNS,
    TENS,
    UNITS,
    WEEKDAYS,
    Word,
    day_number,
    is_year,
)

LEADS = frozenset({"in", "on", "at", "since", "of", "by", "until", "till", "from", "to", "during", "before", "after",
                   "around", "about", "for", "over", "through", "between", "back", "year", "early", "mid", "late",
                   "-", "–", "("})  # fmt: skip
"""Before a name of a month or day that may be another word, a year, or a quarter."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The words of a text up to `stop`, as of a day, in a tense. `previous` are the days that were named before: `two
    days later`."""

    words: Sequence[Word]
    day: date
    tense: Tense
    previous: Days | None
    stop: int

    def low(self, i: int) -> str:
        """The word at i, empty where there is none."""
        return self.words[i].low if 0 <= i < self.stop else ""

    def skip(self, i: int, *lows: str) -> int:
        while i < self.stop and self.low(i) in lows:
            i += 1
        return i

    def year_at(self, i: int) -> tuple[int, int] | None:
        """A year that belongs to the words before it: `2019`, `'19`, `twenty nineteen`."""
        return year_in([self.low(k) for k in range(i, i + 3)], i, self.day.year)

    def is_led(self, i: int) -> bool:
        """Whether a name that may be another word is meant as a date."""
        low, before = self.words[i].low, self.low(i - 1)
        if low not in ALSO_WORDS:
            return True
        leads = LEADS - {"in", "about", "over"} if low in WEEKDAYS else LEADS | {"and"}
        if before in leads | SIGNS.keys() or day_number(before) is not None:
            return True
        after = self.low(self.skip(i + 1, ",", ".", "-", "–", "the"))
        return day_number(after) is not None or is_year(after) or (after in MONTHS and self.low(i + 1) in {"-", "–"})

    def number(self, i: int) -> tuple[int, int] | None:
        """A whole number up to 999 and the word after it: `12`, `twenty-one`, `a`, `a couple of`."""
        low = self.low(i)
        if low in {"a", "an", "couple"}:
            j = self.skip(i, "a", "an")
            return (2, self.skip(j + 1, "of")) if self.low(j) == "couple" else (1, i + 1)
        if low.isdecimal() and low.isascii() and len(low) <= 3:
            return int(low), i + 1
        if low in TENS:
            j = self.skip(i + 1, "-")
            unit = NUMBERS.get(self.low(j), 0)
            return (TENS[low] + unit, j + 1) if 1 <= unit <= 9 else (TENS[low], i + 1)
        return (NUMBERS[low], i + 1) if low in NUMBERS else None

    def distance(self, i: int) -> tuple[relativedelta, str, int] | None:
        """How long, in which unit (the largest), and the word after: `2 years and 3 months`, `a year and a half`."""
        if self.low(i) == "half" and self.low(i + 1) == "a" and self.low(i + 2) == "year":
            return relativedelta(months=6), "month", i + 3
        first = self._part(i)
        if first is None:
            return None
        length, unit, j = first
        if [self.low(k) for k in range(j, j + 3)] == ["and", "a", "half"] and unit == "year":
            return length + relativedelta(months=6), "month", j + 3
        while (more := self._part(self.skip(j, "and", ","))) is not None:
            length, unit, j = length + more[0], more[1], more[2]
        return length, unit, j

    def _part(self, i: int) -> tuple[relativedelta, str, int] | None:
        number = self.number(i)
        if number is None:
            return None
        low = self.low(number[1])
        if low in {"fortnight", "fortnights"}:
            return relativedelta(weeks=2 * number[0]), "week", number[1] + 1
        unit = UNITS.get(low)
        return (LENGTHS[unit] * number[0], unit, number[1] + 1) if unit not in {None, "weekend"} else None
