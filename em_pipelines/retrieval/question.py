"""What a question asks for: words, one person, spans of time, and the kind of answer."""

import re
from dataclasses import dataclass
from datetime import date, timedelta

from em_pipelines.retrieval.signals import MONTHS
from em_pipelines.retrieval.words import plain_words

_DAY_FIRST = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({'|'.join(MONTHS)})\b(?:,? (\d{{4}}))?", re.IGNORECASE
)
_MONTH_FIRST = re.compile(rf"\b({'|'.join(MONTHS)}) (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}}))?", re.IGNORECASE)
_MONTH = re.compile(
    rf"\b(?:(in|of|during|early|late|mid|since|until|by) )?({'|'.join(MONTHS)})\b(?:,? (\d{{4}}))?", re.IGNORECASE
)
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_ISO_MONTH = re.compile(r"\b(\d{4})-(\d{2})\b(?!-)")
_YEAR = re.compile(r"\b((?:19|20)\d{2})\b")
_RELATIVE = re.compile(r"\b(last|this|past) (week|weekend|month|year)\b|\b(yesterday|today)\b", re.IGNORECASE)
_AGO = re.compile(r"\b(a|one|two|three|four|five|six|\d{1,2}) (day|week|month|year)s? ago\b", re.IGNORECASE)
_COUNTS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_DAYS = {"day": 1, "week": 7, "weekend": 7, "month": 30, "year": 365}
_WHEN = re.compile(r"^\s*(?:when|since when|how long|what (?:day|date|year|month|time))\b", re.IGNORECASE)
_NUMBER = re.compile(r"^\s*how (?:many|much|often|old)\b", re.IGNORECASE)
_PLACE = re.compile(r"^\s*where\b|\b(?:which|what) (?:country|city|place|state|town)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Span:
    """Days from `first` to `last` that a question speaks of; without a year those of any year."""

    first: date
    last: date
    is_any_year: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """A question taken apart. `speaker` is the one person it names, folded; `answer` is the signal that its answer
    shows, or ""."""

    text: str
    speaker: str
    spans: tuple[Span, ...]
    answer: str


def analyse(text: str, speakers: frozenset[str], today: date) -> Question:
    """Takes a question apart; `speakers` are the names, in lower case, of who speaks in the log."""
    words = set(plain_words(text))
    named = [name for name in speakers if set(plain_words(name)) & words]
    answer = "time_said" if _WHEN.search(text) else "number_said" if _NUMBER.search(text) else ""
    answer = answer or ("name_said" if _PLACE.search(text) else "")
    return Question(text, named[0] if len(named) == 1 else "", tuple(_spans(text, today)), answer)


def window(text: str, today: date) -> tuple[date, date] | None:
    """From the first to the last day of the times that a text names; None where it names none.

    A day or month without a year is the last one of the name up to today.
    """
    ends = [_latest(span, today) if span.is_any_year else span for span in _spans(text, today)]
    return (min(span.first for span in ends), max(span.last for span in ends)) if ends else None


def _latest(span: Span, today: date) -> Span:
    for year in range(today.year, today.year - 8, -1):
        try:
            own = Span(span.first.replace(year=year), span.last.replace(year=year))
        except ValueError:  # 29 February
            continue
        if own.first <= today:
            return own
    return span


def _iso_month(match: re.Match[str]) -> Span | None:
    number = int(match[2])
    return _month(MONTHS[number - 1], match[1]) if 1 <= number <= 12 else None


def _spans(text: str, today: date) -> list[Span]:
    found = [_day(m[1], m[2], m[3]) for m in _DAY_FIRST.finditer(text)]
    found += [_day(m[2], m[1], m[3]) for m in _MONTH_FIRST.finditer(text)]
    found += [_iso(m) for m in _ISO.finditer(text)]
    days = [span for span in found if span]
    if days:
        return days
    months = [_month(m[2], m[3]) for m in _MONTH.finditer(text) if m[1] or m[3] or m[2].casefold() != "may"]
    months += [span for m in _ISO_MONTH.finditer(text) if (span := _iso_month(m))]
    if months:
        return months
    years = [Span(date(int(m[1]), 1, 1), date(int(m[1]), 12, 31)) for m in _YEAR.finditer(text)]
    return years or _relative(text, today)


def _day(day: str, month: str, year: str | None) -> Span | None:
    try:
        found = date(int(year or 2000), MONTHS.index(month.casefold()) + 1, int(day))
    except ValueError:
        return None
    return Span(found, found, year is None)


def _iso(match: re.Match[str]) -> Span | None:
    try:
        found = date.fromisoformat(match[0])
    except ValueError:
        return None
    return Span(found, found)


def _month(month: str, year: str | None) -> Span:
    first = date(int(year or 2000), MONTHS.index(month.casefold()) + 1, 1)
    return Span(first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1), year is None)


def _relative(text: str, today: date) -> list[Span]:
    found = []
    for match in _RELATIVE.finditer(text):
        if match[3]:
            day = today - timedelta(days=match[3].casefold() == "yesterday")
            found.append(Span(day, day))
        else:
            length = _DAYS[match[2].casefold()]
            is_this = match[1].casefold() == "this"
            found.append(Span(today - timedelta(days=length * (1 if is_this else 2)), today))
    for match in _AGO.finditer(text):
        length = _DAYS[match[2].casefold()]
        count = _COUNTS.get(match[1].casefold()) or int(match[1])
        day = today - timedelta(days=count * length)
        found.append(Span(day - timedelta(days=length // 3), day + timedelta(days=length // 3)))
    return found
