"""Dates of a text, and among the tokens of a message, as facts hold them.

The tense of a clause decides which Friday, March or 17th is meant; what words mean is resolved in
`em_pipelines.language.dates`.
"""

from collections.abc import Sequence
from datetime import date, datetime

from em_pipelines.language.dates.calendar_spans import Tense, one_day
from em_pipelines.language.dates.cursor import Cursor, order_of
from em_pipelines.language.dates.partial_dates import PartialDate, partial
from em_pipelines.language.dates.resolver import (
    LONGEST_PHRASE,
    LONGEST_TEXT,
    DateSpan,
    Moment,
    TenseAt,
    date_at,
    resolve,
)
from em_pipelines.language.dates.words import NUMBERS, TENS, Word, words_of
from em_pipelines.language.en.tense import tenses_of
from em_pipelines.language.en.tokens import Token, tokenise

Found = tuple[PartialDate, int]
"""A date and the token after it."""
_LEADING = frozenset({"on", "in", "at", "since", "from", "by", "for", "around", "about", "the"})
_BEFORE_SPAN = ("the", "last", "past", "over", "about", "almost", "nearly")
_N_BEFORE = 2
"""Tokens before a date that say how it is meant."""
_N_NEAR = 200
"""Tokens on either side in which another date may show the order of day and month."""


def _words(tokens: Sequence[Token], start: int, stop: int) -> list[Word]:
    """The words of tokens, which count their positions in tokens."""
    words: list[Word] = []
    for n in range(max(0, start), stop):
        token = tokens[n]
        if token.low.isalpha() or token.low == "'s":
            words.append(Word(token.low, n, n + 1, token.is_capital))
        else:
            words += words_of(token.low, n, is_capital=token.is_capital)
    return words


def read_date(
    tokens: list[Token], i: int, stop: int, written_on: date, tense: Tense | TenseAt = Tense.PRESENT
) -> Found | None:
    """Reads the date that starts at token i, with or without its preposition; None when there is none."""
    words = _words(tokens, i - _N_BEFORE, min(stop, i + LONGEST_PHRASE))
    k = next((n for n, word in enumerate(words) if word.start >= i), len(words))
    while k < len(words):
        found = date_at(words, k, _moment(tokens, i, written_on, tense))
        if found is not None or words[k].low not in _LEADING:
            value = partial(found[0]) if found is not None and found[0] is not None else None
            return (value, words[found[1] - 1].end) if found is not None and value is not None else None
        k += 1
    return None


def find_date(
    tokens: list[Token], start: int, stop: int, written_on: date, tense: Tense | TenseAt = Tense.PRESENT
) -> PartialDate | None:
    """The only date between two tokens; None when there is none, or more than one."""
    words = _words(tokens, start - _N_BEFORE, stop)
    dates: list[PartialDate] = []
    i = next((n for n, word in enumerate(words) if word.start >= start), len(words))
    while i < len(words):
        found = date_at(words, i, _moment(tokens, start, written_on, tense))
        value = partial(found[0]) if found is not None and found[0] is not None else None
        dates += [value] if value is not None else []
        i = found[1] if found is not None else i + 1
    return dates[0] if len(dates) == 1 else None


def _moment(tokens: Sequence[Token], i: int, written_on: date, tense: Tense | TenseAt) -> Moment:
    """When the words around token i were written; of day and month they come in the order that dates near it show."""
    near = slice(max(0, i - _N_NEAR), i + _N_NEAR)
    return Moment(written_on, tense, order=lambda: order_of(token.low for token in tokens[near]))


def find_since(tokens: list[Token], start: int, stop: int, written_on: date) -> PartialDate | None:
    """The date of `since 2019`, `for three years`, `for the last two years`."""
    for i in range(start, stop):
        low = tokens[i].low
        if low == "since" or (low == "of" and i > start and tokens[i - 1].low == "as"):
            since = read_date(tokens, i + 1, stop, written_on, Tense.PAST)
            if since is not None:
                return since[0]
        if low in {"for", "since"} and (since_length := _length_before(tokens, i + 1, stop, written_on)) is not None:
            return since_length
    return None


def _length_before(tokens: list[Token], i: int, stop: int, written_on: date) -> PartialDate | None:
    """The day from which on `for three years` counts."""
    words = _words(tokens, i, min(stop, i + LONGEST_PHRASE))
    cursor = Cursor(words, written_on, Tense.PAST, None, len(words))
    span = cursor.distance(cursor.skip(0, *_BEFORE_SPAN))
    try:
        return partial(one_day(written_on - span[0], span[1])) if span is not None else None
    except (ValueError, OverflowError):
        return None


def number_of(tokens: list[Token], i: int, stop: int) -> tuple[int, int] | None:
    """A whole number in digits or words up to 99, and the token after it."""
    low = tokens[i].low if i < stop else ""
    if low.isascii() and low.isdecimal() and len(low) <= 3:
        return int(low), i + 1
    if low in TENS:
        unit = NUMBERS.get(tokens[i + 1].low if i + 1 < stop else "", 0)
        return (TENS[low] + unit, i + 2) if 1 <= unit <= 9 else (TENS[low], i + 1)
    return (NUMBERS[low], i + 1) if low in NUMBERS else None


def resolve_dates(text: str, said_at: datetime) -> list[DateSpan]:
    """The dates in the first 20,000 characters of an English text, in order, as of the moment of writing; the day is
    that of the offset that `said_at` has."""
    straight = text[:LONGEST_TEXT].replace("’", "'")
    return resolve(straight, said_at.date(), tenses_of(tokenise(straight), straight))
