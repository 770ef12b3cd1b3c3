"""Ways to reach somebody, and days of birth, in a text that goes out, however they are written: by contact.yaml.

Knows nobody: a shop's number is found like a friend's. Nothing here is asked when messages are read.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import product

from em_pipelines.guard.passages import Span, folded, merged, sentences
from em_pipelines.guard.phrases import rule_book

BOOK = "contact"
BIRTHDAY = "birthday"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def personal_spans(text: str) -> dict[str, list[Span]]:
    """Where a text holds an email, phone or address, or says a birthday, by kind, in order and without overlaps."""
    text = "".join(map(_usual, text))
    book, plain = rule_book(BOOK), folded(text)
    found: dict[str, list[Span]] = defaultdict(list)
    for one in book.find(text, plain, partial(sentences, text), book.candidates(plain)):
        found[one.rule.kind].append((one.start, one.end))
    return {kind: merged(spans) for kind, spans in found.items()}


@lru_cache(maxsize=4_096)
def _usual(char: str) -> str:
    """Digits of all scripts as figures, blanks and what only marks a figure as blanks, dashes as hyphens: one for one,
    so that places hold."""
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    if char in "\ufe0f\u20e3" or unicodedata.category(char) in {"Zs", "Cf"}:
        return " "
    return "-" if unicodedata.category(char) == "Pd" else char


def wordings_of_day(month: int, day: int) -> Iterator[str]:
    """How people write a day of a year without the year, in the languages of contact.yaml: `4 May`, `4. Mai`, …"""
    words = rule_book(BOOK).words
    numbers = [str(day), f"{day}{_ending(day)}", f"{day}.", *_ordinal(day)]
    for number, name in product(numbers, words[f"month_{MONTHS[month - 1]}"]):
        yield from (f"{number} {name}", f"{number} of {name}", f"{number} de {name}", f"{name} {number}")
        yield f"{name} the {number}"


def _ending(number: int) -> str:
    return "th" if 10 < number < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")


_TENS = ("twenty", "thirty")


def _ordinal(day: int) -> list[str]:
    """A day as a word: fourth, twenty-first, twenty first."""
    words = [word for word in rule_book(BOOK).words["ordinal"] if word.isalpha()]
    first, last = words[:20], words[-1]
    if day <= len(first):
        return [first[day - 1]]
    tens, unit = divmod(day, 10)
    return [f"{_TENS[tens - 2]}{join}{first[unit - 1]}" for join in " -"] if unit else [last]
