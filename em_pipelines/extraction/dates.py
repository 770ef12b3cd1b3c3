"""The dates of a text by itself: the tense of each clause decides which Friday, March or 17th is meant."""

from datetime import datetime

from em_pipelines.extraction.rules.tense import tenses_of
from em_pipelines.extraction.rules.tokens import tokenise
from em_pipelines.text.dates.resolver import DateSpan, resolve

LONGEST_TEXT = 20_000
"""Characters of a text that are looked at."""


def resolve_dates(text: str, said_at: datetime) -> list[DateSpan]:
    """The dates in the first 20,000 characters of an English text, in order, as of the moment of writing; the day is
    that of the offset that `said_at` has."""
    straight = text[:LONGEST_TEXT].replace("’", "'")
    return resolve(straight, said_at.date(), tenses_of(tokenise(straight), straight))
