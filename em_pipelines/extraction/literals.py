"""Literals as facts hold them, whoever gave them: dates as ISO, ages as numbers, addresses in small letters.

What a person or an agent types ("4 May", "forty-six") has to meet what an extractor reads out of a message, or the same
birthday stands twice and nobody is reminded of it.
"""

import re
from datetime import date

from em_pipelines.language.dates.calendar_spans import Tense
from em_pipelines.language.document import english
from em_pipelines.schema.vocabulary import DATED

_AGES = range(121)
_ISO_DAY = re.compile(r"(?:\d{4}-)?\d{2}-\d{2}|\d{4}(?:-\d{2})?")
_QUOTES = "\"'“”‘’ "
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


def literal(relation: str, said: str, said_on: date) -> str:
    """The value of a fact as it is compared and told, of what was said on a day; as it came where it says none.

    A birthday without its year is `05-04`. Of what happened and was said without a year it is the last such date.
    """
    text = " ".join(said.split()).strip(_QUOTES)
    if relation in DATED:
        return _day(relation, text, said_on) or text
    if relation == "has_age":
        return _age(text) or text
    return text.casefold() if relation == "has_attribute" and _EMAIL.fullmatch(text) else text


def is_literal_of(relation: str, said: str, said_on: date) -> bool:
    """Whether what was said is a value that the relation holds: a date, an age; anything of those that hold text."""
    text = " ".join(said.split()).strip(_QUOTES)
    if relation in DATED:
        return _day(relation, text, said_on) is not None
    return relation != "has_age" or _age(text) is not None


def _day(relation: str, text: str, said_on: date) -> str | None:
    if _ISO_DAY.fullmatch(text):
        return text
    tense = Tense.PAST if relation == "happened_on" else Tense.PRESENT
    when = english.date_of(text, said_on, tense) or english.date_of(f"in {text}", said_on, tense)
    if when is None:
        return None
    has_year = str(when.day.year) in text
    iso = when.iso()
    if relation != "has_birthday" or has_year:
        return iso
    return iso[5:] if when.precision == "day" else None


def _age(text: str) -> str | None:
    """The number of `forty-six`, `46 years old`; None where the words say no age."""
    number = english.number_of(text.replace("-", " "))
    if number is None or number[0] not in _AGES:
        return None
    return str(number[0]) if {"years", "year", "old", "yo", "y", "/", "o", "yrs"}.issuperset(number[1]) else None
