"""The date parser for what our own grammar leaves to it: compound distances, days of `next month`.

dateparser reads far more than may be believed (`may`, `12.6.2026`), so it gets only spans that the guards in
`date_relative` found, never running text. A call takes about half a millisecond, so answers are cached.
"""

from datetime import date, datetime, time
from functools import lru_cache

from dateparser.date import DateDataParser  # type: ignore[import-untyped]

from em_pipelines.extraction.rules.date_words import PartialDate

_NOON = time(12)
_PRECISION = {"day": "day", "week": "day", "month": "month", "year": "year"}


@lru_cache(maxsize=4096)
def read_by_library(words: str, written_on: date) -> PartialDate | None:
    """What `2 years and 3 months ago` or `3rd of next month` means on the day of writing; None where not certain."""
    parser = DateDataParser(
        languages=["en"],
        settings={"RELATIVE_BASE": datetime.combine(written_on, _NOON), "RETURN_AS_TIMEZONE_AWARE": False},
    )
    found = parser.get_date_data(words)
    precision = _PRECISION.get(found.period)
    if found.date_obj is None or precision is None:
        return None
    day = found.date_obj.date()
    if precision == "day":
        return PartialDate(day, precision)
    return PartialDate(day.replace(day=1) if precision == "month" else day.replace(month=1, day=1), precision)
