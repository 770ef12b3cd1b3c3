"""Times as tables write them: ISO 8601, Unix time, numbers in the order of a country, names of months.

    05/03/2026 17:40    5.3.26, 17:40    3/5/2026 5:40 PM    2026-03-05 17:40    5 March 2026 17:40

What names no offset is of the zone that is asked for. Whether the day or the month comes first is read off the other
rows; where none tells, nothing is guessed.
"""

import re
import warnings
from collections.abc import Iterable
from datetime import datetime
from zoneinfo import ZoneInfo

from dateutil import parser
from dateutil.parser import UnknownTimezoneWarning

from em_pipelines.landing.formats.base import instant_of
from em_pipelines.landing.settings import DateOrder
from em_pipelines.language.values import parse_instant

_NUMERIC = re.compile(
    r"(?P<a>\d{1,4})(?P<mark>[./-])(?P<b>\d{1,2})(?P=mark)(?P<c>\d{1,4})\.?"
    r"(?:[\s,T]+(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2})(?:\.\d+)?)?\s*(?P<half>[AaPp]\.?[Mm]\.?)?)?"
)
_UNIX = re.compile(r"-?\d{9,13}(?:\.\d{1,9})?")
_MIDNIGHT = datetime(2000, 1, 1)  # noqa: DTZ001  (what a date leaves open)
_CENTURY_FROM = 69  # POSIX: two digits below are of this century


def date_order(texts: Iterable[str]) -> DateOrder | None:
    """The order in which dates are written, as far as any of them tells: by a year or a day that can be nothing else,
    or by dots between the numbers, which stand behind the day alone."""
    for text in texts:
        match = _NUMERIC.fullmatch(text.strip())
        if not match:
            continue
        first, second = int(match["a"]), int(match["b"])
        if len(match["a"]) == 4:
            return "ymd"
        if first > 12 or match["mark"] == ".":
            return "dmy"
        if second > 12:
            return "mdy"
    return None


def instant(text: str, zone: ZoneInfo, order: DateOrder | None) -> datetime | None:
    """A time as written, with its offset; None for what is none, or could be two."""
    text = text.strip()
    if _UNIX.fullmatch(text):
        return instant_of(text)
    found = _iso(text) or _numeric(text, order) or _named(text)
    if found is None:
        return None
    try:
        found = found if found.tzinfo else found.replace(tzinfo=zone)
        return found if parse_instant(found) else None
    except (ValueError, OverflowError):
        return None


def is_open(text: str) -> bool:
    """Whether it is a date of which only the order of its numbers is not known."""
    return _NUMERIC.fullmatch(text.strip()) is not None


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _numeric(text: str, order: DateOrder | None) -> datetime | None:
    match = _NUMERIC.fullmatch(text)
    order = order or date_order([text])
    if not match or not order:
        return None
    parts = dict(zip(order, (match["a"], match["b"], match["c"]), strict=True))
    day = (_year(parts["y"]), int(parts["m"]), int(parts["d"]))
    try:
        return datetime(*day, _hour(match), int(match["minute"] or 0), int(match["second"] or 0))  # noqa: DTZ001  (the caller's)
    except ValueError:
        return None


def _year(digits: str) -> int:
    """The year, of the century that two digits stand for."""
    year = int(digits)
    if len(digits) == 2:
        year += 1900 if year >= _CENTURY_FROM else 2000
    return year


def _hour(match: re.Match[str]) -> int:
    """The hour of 24."""
    hour = int(match["hour"] or 0)
    if match["half"]:
        hour = hour % 12 + (12 if match["half"][0] in "pP" else 0)
    return hour


def _named(text: str) -> datetime | None:
    """A date with the name of its month, in English. One with a zone by letters that could be anybody's is none."""
    if not re.search(r"[A-Za-z]{3}", text) or not re.search(r"\d{4}", text):
        return None
    try:
        with warnings.catch_warnings(action="error"):
            return parser.parse(text, default=_MIDNIGHT)
    except (ValueError, OverflowError, UnknownTimezoneWarning):
        return None
