"""The one way from a text to its dates: which days each phrase means, as of the day on which it was written.

In are a text, the local date of its writing, and the tense that it tells in; out are spans of characters with the days
that they mean. Whoever has a text cut into words already takes `date_at`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from em_pipelines.text.dates.calendar_spans import Days, Tense
from em_pipelines.text.dates.grammar import Grammar
from em_pipelines.text.dates.part_phrases import THIRDS, decade, definite, nth, numeric, vague, year
from em_pipelines.text.dates.ranges import range_at
from em_pipelines.text.dates.relative_phrases import counted, day_word, recurs, related, selected
from em_pipelines.text.dates.words import (
    DAY_WORDS,
    DECADES,
    HOLIDAYS,
    MONTHS,
    NUMBERS,
    ORDINALS,
    SEASONS,
    SIGNS,
    UNITS,
    WEEKDAYS,
    Word,
    ordinal,
    words_of,
)

LONGEST_PHRASE = 20
"""Words of a date that are read at most."""
TenseAt = Callable[[int], Tense]
"""The tense that is told in at a position of a text."""
_READERS = (definite, numeric, day_word, nth, related, selected, vague, recurs, counted, decade, year)
_FIRST = frozenset({"the", "a", "an", "half", "couple", "fortnight", "q", "h", "same", "'"}).union(
    *(SIGNS, DAY_WORDS, MONTHS, WEEKDAYS, NUMBERS, ORDINALS, UNITS, DECADES, THIRDS, SEASONS),
    *(name[:1] for name in HOLIDAYS),
)
_REPEATED = frozenset({"every", "each", "per", "following", "other"})
"""After these a date is one of many, or counts from a day that is not known."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When words were written, by the local date, and in which tense; `is_bare` lets the name of a month alone be one,
    as in questions, and a day that no calendar has its month."""

    said_on: date
    tense: Tense | TenseAt = Tense.PRESENT
    is_bare: bool = False


@dataclass(frozen=True, slots=True)
class DateSpan:
    """The days from `start` to `end`, both included, that the characters of `span` mean. `precision` is the unit in
    which it was said: day, weekend, week, month, quarter, season, half, year, decade; span for `the past two days`."""

    span: tuple[int, int]
    start: date
    end: date
    precision: str


def resolve(text: str, said_on: date, tense: Tense | TenseAt = Tense.PRESENT) -> list[DateSpan]:
    """The dates of a text in order, as of the local date on which it was written. What began `since` a day lasts until
    that date."""
    words = words_of(text)
    found = []
    for days, i, j in find(words, Moment(said_on, tense)):
        is_since = i > 0 and words[i - 1].low == "since" and days.start <= said_on
        end = max(said_on, days.start) if is_since else days.end
        found.append(DateSpan((words[i].start, words[j - 1].end), days.start, end, days.precision))
    return found


def find(words: Sequence[Word], moment: Moment) -> Iterator[tuple[Days, int, int]]:
    """The dates of words in order, each with the word it begins with and the one after it."""
    i, previous = 0, None
    while i < len(words):
        found = date_at(words, i, moment, previous)
        if found is not None and found[0] is not None:
            yield found[0], i, found[1]
            previous = found[0]
        i = found[1] if found is not None else i + 1


def date_at(
    words: Sequence[Word], i: int, moment: Moment, previous: Days | None = None
) -> tuple[Days | None, int] | None:
    """The days that the phrase at a word means, and the word after it; None where no date begins there. The days are
    None of a phrase of time that means none in particular. `previous` are those that were named before."""
    opens = words[i].low in {"from", "between"} and i + 1 < len(words)
    if not _may_begin(words, i + opens):
        return None
    tense, stop = _tense_at(words, i, moment.tense), min(len(words), i + LONGEST_PHRASE)
    grammar = Grammar(words, moment.said_on, tense, previous, stop, _READERS)
    try:
        found = range_at(grammar, i)
        if found is not None or opens:
            return found
        value = grammar.value(i, is_bare=moment.is_bare)
        days = grammar.days(value[0]) if value is not None else None
    except (ValueError, OverflowError):  # beyond the calendar
        return None
    is_date = value is not None and (days is not None or not moment.is_bare)
    return (days, value[1]) if value is not None and is_date else None


def _may_begin(words: Sequence[Word], i: int) -> bool:
    """Whether a date may begin at a word; cheap, for most words begin none."""
    low = words[i].low
    before = words[i - 1].low if i else ""
    return (low in _FIRST or low[0].isdecimal()) and before not in _REPEATED and ordinal(before) is None


def _tense_at(words: Sequence[Word], i: int, tense: Tense | TenseAt) -> Tense:
    """The tense at a word; what has been so `since` a day is past, whatever the verb, and what is so `as of` one."""
    before = [word.low for word in words[max(0, i - 2) : i]]
    if before[-1:] == ["since"]:
        return Tense.PAST
    here = tense if isinstance(tense, Tense) else tense(words[i].start)
    return Tense.PAST if before == ["as", "of"] and here is Tense.PRESENT else here
