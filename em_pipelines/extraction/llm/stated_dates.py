"""Dates of a model's answer: whether the text states them, and which day their words mean."""

import re
from collections.abc import Sequence
from datetime import date

from em_pipelines.extraction.support import Said, is_supported
from em_pipelines.language.dates.calendar_spans import Days, Tense
from em_pipelines.language.dates.partial_dates import PartialDate, find_day, partial
from em_pipelines.language.document import document, english
from em_pipelines.schema.readings import ENGLISH, Turn

_ISO = re.compile(r"(?:\d{4}-)?\d{2}(?:-\d{2})?")


def is_day_stated(day: str, near: Sequence[str], turn: Turn) -> bool:
    """Whether a date is in the texts: in its words, or, where a model resolved them, in any words for a day."""
    if is_supported(day, Said(near, language=turn.language)):
        return True
    return _ISO.fullmatch(day) is not None and any(_states_a_day(text, turn) for text in near)


def _states_a_day(text: str, turn: Turn) -> bool:
    written_on = turn.timestamp.date()
    if turn.language not in {None, ENGLISH}:
        return any(c.isdigit() for c in text) or find_day(text, written_on, turn.language) is not None
    dates = document(text, turn.timestamp).dates
    return any(partial(Days(one.start, one.end, one.precision)) is not None for one in dates)


def day_in_turn(words: str, turn: Turn) -> PartialDate | None:
    """The date that words mean where a turn has them: with the words around them, in the tense of their clause. None
    where it does not have them, or where they are more dates than one, or none that a fact can hold."""
    at = re.search(rf"(?<!\w){re.escape(words)}(?!\w)", turn.text, re.IGNORECASE)
    if at is None:
        return None
    dates = document(turn.text, turn.timestamp, turn.language).dates
    found = [one for one in dates if one.span[0] < at.end() and at.start() < one.span[1]]
    return partial(Days(found[0].start, found[0].end, found[0].precision)) if len(found) == 1 else None


def resolve(words: str, written_on: date, *, is_past: bool, language: str | None = None) -> PartialDate | None:
    """The date that words stand for, against the day they were written on; None where no date is in them.

    Of what `is_past` and was said without a year it is the last such date, else the next one. `language` is that of the
    turn; None is taken for English.
    """
    is_foreign = language is not None and language != ENGLISH and not _ISO.fullmatch(words)
    if is_foreign and (found := find_day(words, written_on, language, is_past=is_past)):
        return found
    tense = Tense.PAST if is_past else Tense.FUTURE
    for said in (words, f"in {words}"):
        if found := english.since(said, written_on) or english.date_of(said, written_on, tense):
            return found
    return None


def iso_date(said: PartialDate, words: str, relation: str) -> str:
    """ISO; a birthday without its year is `05-04`, as no year may be made up."""
    iso = said.iso()
    return iso[5:] if relation == "has_birthday" and iso[:4] not in words else iso
