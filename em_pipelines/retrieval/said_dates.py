"""What words such as `yesterday` or `last Friday` meant on the day on which they were said, for who reads them later.

The dates are those of the resolver (`language.dates`); here is chosen which words are relative, and how much of a date
they say. What is shown has the dates behind the words, `yesterday (2026-07-12)`; what is stored stays as it was said.
Words that may mean two days mean none: `the last week` (of what?), `in two weeks` of something that is done.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from em_pipelines.language.dates.calendar_spans import Days, Tense, last_of
from em_pipelines.language.dates.partial_dates import PartialDate, partial
from em_pipelines.language.dates.resolver import LONGEST_TEXT, Moment, find
from em_pipelines.language.dates.words import DAY_WORDS, SIGNS, WEEKDAYS, Word, words_of
from em_pipelines.language.document import english

_BEFORE_DATE = frozenset({"on", "by", "until", "till", "before", "after", "since", "in", "at", "over", "during",
                          "the", "from", "between"})  # fmt: skip
_BEFORE_LENGTH = frozenset({"the", "over", "during", "for", "through", "within", "in"})
"""`Over the last week` says how long, `the following Friday` counts from another day."""
_COUNTED_FROM_OTHER = frozenset({"later", "earlier", "after", "before"})


@dataclass(frozen=True, slots=True)
class SaidDate:
    """A time as it was said, where it ends in the text, and what it means: `2026-07-12`, `2026-07`, `2026`,
    `week of 2026-07-06` (a Monday), `weekend of 2026-07-11` (a Saturday), `about 2026-06-29`,
    `2026-07-11 to 2026-07-14`."""

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
    """The relative dates of a text in order, as of the local day on which it was said; of a text that is longer than
    20,000 characters those at its beginning. What means that day, or the week, month or year around it, is left out."""
    straight = text[:LONGEST_TEXT].replace("’", "'")
    words = words_of(straight)
    tense_at = english.tense_at(straight)
    found: list[SaidDate] = []
    for days, i, j in find(words, Moment(said_on, tense_at)):
        meant = _shown(days, said_on) if _is_shown(days, words, i, j, tense_at(words[i].start)) else None
        if meant is not None:
            stop = words[j].end if j < len(words) and words[j].low == "'s" else words[j - 1].end
            first = i + (words[i].low == "the" and j > i + 1)
            found.append(SaidDate(text[words[first].start : stop], stop, meant))
    return tuple(found)


def _is_shown(days: Days, words: Sequence[Word], i: int, j: int, tense: Tense) -> bool:
    """Whether words leave open which date they mean for who reads them on another day."""
    before = words[i - 1].low if i else ""
    if days.cycle:
        is_meant = tense is not Tense.PRESENT or any(word.low in WEEKDAYS for word in words[i:j])
        return is_meant and not _BEFORE_DATE.isdisjoint((before, words[i].low))
    return days.is_relative and not _is_length_or_of_other(words, i, j, before)


def _is_length_or_of_other(words: Sequence[Word], i: int, j: int, before: str) -> bool:
    """Whether words say how long, `over the last week`, or count from another day, `two weeks later`."""
    first = words[i + (words[i].low == "the")].low
    is_length = SIGNS.get(first, 0) and (first != words[i].low or before in _BEFORE_LENGTH)
    is_of_other = words[j - 1].low in _COUNTED_FROM_OTHER or (first in DAY_WORDS and before == "of")
    return bool(is_length) or is_of_other


def _shown(days: Days, said_on: date) -> str | None:
    """What days mean in words; nothing for what holds the day itself, or what no date says."""
    value, is_one = partial(days), days.start == days.end
    if value is None or said_on in days:
        return None
    if days.precision in {"week", "weekend"}:
        return f"about {days.start}" if is_one else f"{days.precision} of {days.start}"
    if str(said_on).startswith(value.iso()):
        return None
    if is_one or days.end == last_of(days.start, days.precision):
        return value.iso()
    return f"{value.iso()} to {PartialDate(days.end, value.precision).iso()}"
