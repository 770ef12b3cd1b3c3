"""A date as a fact holds it: a day, and how much of it was said; and such dates in other languages than English.

`find_day` is dateparser's work, in a language that is known; it gets a few words, never running text.
"""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Any

from em_pipelines.language.dates.calendar_spans import LENGTHS, Days, period

_NOON = time(12)
_LIBRARY_PRECISION = {"day": "day", "week": "day", "month": "month", "year": "year"}
_PRECISION = {
    "day": "day", "weekend": "day", "month": "month", "quarter": "year", "season": "year", "half": "year",
    "year": "year",
}  # fmt: skip
"""Unit in which a date was said → how exact a fact holds it. There is no finer honest value for a season."""
MAX_DATE_WORDS = 8
"""Of the words of a date in another language, with what leads to it ("desde el 4 de mayo de 2024")."""


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date and how much of it was said: day, month or year."""

    day: date
    precision: str

    def iso(self) -> str:
        """`2026`, `2026-05` or `2026-05-29`."""
        return self.day.isoformat()[: {"year": 4, "month": 7}.get(self.precision, 10)]

    def last_day(self) -> date:
        """The last day that it can mean: of a month or a year its end."""
        return self.day + LENGTHS[self.precision] - timedelta(days=1)


def partial(days: Days) -> PartialDate | None:
    """The start of some days as far as it was said; None where a fact cannot hold it, such as a decade.

    A week has the precision of its month; what is counted in weeks that of a day.
    """
    if days.precision == "week":
        return PartialDate(days.start, "day") if days.start == days.end else PartialDate(month_of(days.start), "month")
    precision = _PRECISION.get(days.precision)
    if days.precision == "season" and days.start.year != days.end.year and (days.cycle or days.is_relative):
        return None  # `last winter` is of two years
    return PartialDate(period(precision, days.start).start, precision) if precision is not None else None


def month_of(day: date) -> date:
    """The first day of its month."""
    return day.replace(day=1)


@lru_cache(maxsize=4096)
def find_day(words: str, written_on: date, language: str, *, is_past: bool = True) -> PartialDate | None:
    """The date that words of another language than English (ISO 639-1) stand for, their first few left out one by one
    until the rest is one; None where nothing is, or the library does not know the language. Without a year it is the
    last such date where `is_past`, else the next one."""
    from dateparser.date import DateDataParser  # type: ignore[import-untyped]  # noqa: PLC0415  (50 ms)

    settings = {
        "RELATIVE_BASE": datetime.combine(written_on, _NOON),
        "RETURN_AS_TIMEZONE_AWARE": False,
        "PREFER_DATES_FROM": "past" if is_past else "future",
        "PREFER_DAY_OF_MONTH": "first",
    }
    try:
        parser = DateDataParser(languages=[language], settings=settings)
    except ValueError:
        return None
    said = words.replace("،", " ").strip(" .,;:!?").split()[:MAX_DATE_WORDS]
    for first in range(len(said)):
        rest = " ".join(said[first:])
        # A lone number is a day of some month, and a lone word of two letters anything.
        if (
            len(rest) > 2
            and not (rest.isdigit() and len(rest) < 4)
            and (found := _of_library(parser.get_date_data(rest)))
        ):
            return found
    return None


def _of_library(found: Any) -> PartialDate | None:
    """What the library found, as far as it was said."""
    precision = _LIBRARY_PRECISION.get(found.period)
    if found.date_obj is None or precision is None:
        return None
    return PartialDate(period(precision, found.date_obj.date()).start, precision)
