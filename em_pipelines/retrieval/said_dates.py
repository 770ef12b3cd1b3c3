"""What words such as `yesterday` or `last Friday` meant on the day on which they were said, for who reads them later.

The dates are those of the rules' grammar (`extraction.rules.dates`); here is chosen which words are relative, and how
much of a date they say. What is shown has the dates behind the words, `yesterday (2026-07-12)`; what is stored stays as
it was said. Words that may mean two days mean none: a weekday in a sentence of past and future, `the last week` (of
what?), `in two weeks` of something that is done.
"""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from em_pipelines.extraction.rules.date_words import DAY_WORDS, NUMBERS, UNITS, WEEKDAYS, PartialDate
from em_pipelines.extraction.rules.dates import SIGNS, past_of, read_date
from em_pipelines.extraction.rules.tokens import BASE, MODAL, PAST, Token, low_at, sentences, tokenise

LONGEST_TEXT = 20_000
"""Characters of a message that are looked at."""
_BEFORE_WEEKDAY = frozenset({"on", "by", "until", "till", "before", "after", "since"})
_BEFORE_LENGTH = frozenset({"the", "over", "during", "for", "through", "within", "in"})
"""`Over the last week` says how long, `the following Friday` counts from another day."""
_COUNTED_FROM = frozenset({"ago", "back", "now", "today", "tomorrow", *WEEKDAYS})
_COMING = frozenset({"going", "gonna", "planning", "hoping"})
_TO_THE_WEEK = frozenset(unit for unit, n_days in UNITS.items() if n_days > 1)
"""`Two weeks ago` is a day to the grammar, and was said to the week."""


@dataclass(frozen=True, slots=True)
class SaidDate:
    """A time as it was said, where it ends in the text, and what it means: `2026-07-12`, `2026-07`, `2026`,
    `week of 2026-07-06` (a Monday), `weekend of 2026-07-11` (a Saturday), `about 2026-06-29`."""

    text: str
    end: int
    date: str


def dated(text: str, said_on: date) -> str:
    """The text with what its relative dates mean behind them."""
    parts, at = [], 0
    for one in said_dates(text, said_on):
        parts += [text[at : one.end], f" ({one.date})"]
        at = one.end
    return "".join((*parts, text[at:])) if parts else text


@lru_cache(maxsize=4096)
def said_dates(text: str, said_on: date) -> tuple[SaidDate, ...]:
    """The relative dates of a text in order, as of the day on which it was said; of a text that is longer than 20,000
    characters those at its beginning. What means that day, or the week, month or year around it, is left out."""
    straight = text[:LONGEST_TEXT].replace("’", "'")
    tokens = tokenise(straight)
    reading = _Reading(tokens, sentences(tokens, straight), said_on)
    found: list[SaidDate] = []
    at = 0
    while at < len(tokens):
        meant, end = reading.at(at) or ("", at + 1)
        if meant:
            end += low_at(tokens, end, len(tokens)) == "'s"
            start, stop = tokens[at].start, tokens[end - 1].end
            found.append(SaidDate(text[start:stop], stop, meant))
        at = end
    return tuple(found)


_Read = tuple[str, int]
"""What a time means, and the token after it."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """The relative dates in the tokens of one text."""

    tokens: list[Token]
    sentences: list[tuple[int, int]]
    said_on: date

    def at(self, i: int) -> _Read | None:
        """The relative date that begins at a token, without a preposition before it."""
        low = self.tokens[i].low
        if low in SIGNS:
            return self._signed(i, SIGNS[low])
        if low in DAY_WORDS or low == "day":
            return None if self._before(i) == "of" else self._shown(self._read(i))
        if low in WEEKDAYS:
            return self._shown(self._moved(i, self._read(i))) if self._before(i) in _BEFORE_WEEKDAY else None
        return self._counted(i) if low in NUMBERS or low.isdecimal() else None

    def _signed(self, i: int, sign: int) -> _Read | None:
        """`last Friday`, `next month`, `this weekend`."""
        unit = low_at(self.tokens, i + 1, len(self.tokens))
        if self._before(i) in _BEFORE_LENGTH and sign:
            return None
        if unit == "week":
            monday = self.said_on + timedelta(days=7 * sign - self.said_on.weekday())
            return (f"week of {monday}", i + 2) if sign else None
        found = self._read(i)
        return self._shown(found if sign else self._moved(i, found), "weekend of " if unit == "weekend" else "")

    def _counted(self, i: int) -> _Read | None:
        """`three days ago`, `a week from Friday`; `in two weeks` where nothing past is told."""
        is_ahead = self._before(i) == "in" and not self._tense(i)[0]
        found = self._read(i - 1 if is_ahead else i)
        if found is None:
            return None
        lows = [token.low for token in self.tokens[i : found[1]]]
        if not is_ahead and lows[-1] not in _COUNTED_FROM:
            return None
        if any(low.startswith("weekend") for low in lows):
            return self._shown(found, "weekend of ")
        is_rough = lows[-1] not in WEEKDAYS and not _TO_THE_WEEK.isdisjoint(lows)
        return self._shown(found, "about " if is_rough and found[0].precision == "day" else "")

    def _read(self, i: int) -> tuple[PartialDate, int] | None:
        return read_date(self.tokens, i, len(self.tokens), self.said_on)

    def _moved(self, i: int, found: tuple[PartialDate, int] | None) -> tuple[PartialDate, int] | None:
        """As what is told of the past means it; nothing where the sentence tells of past and future."""
        is_past, is_future = self._tense(i)
        if found is None or (is_past and is_future):
            return None
        return (past_of(found[0], self.said_on), found[1]) if is_past else found

    def _tense(self, i: int) -> tuple[bool, bool]:
        """Whether the sentence of a token tells of what was, and of what is to come."""
        start, stop = self.sentences[bisect_right(self.sentences, (i, len(self.tokens))) - 1]
        own = self.tokens[start:stop]
        is_past = any(token.forms & PAST and not token.forms & BASE for token in own)
        return is_past, any(token.bits & MODAL or token.low in _COMING for token in own)

    def _shown(self, found: tuple[PartialDate, int] | None, roughly: str = "") -> _Read | None:
        """What a date means in words; nothing for what holds the day itself."""
        if found is None or str(self.said_on).startswith(found[0].iso()):
            return None
        return f"{roughly}{found[0].iso()}", found[1]

    def _before(self, i: int) -> str:
        return self.tokens[i - 1].low if i else ""
