"""Where a name that a model gave stands in what people wrote: exactly, or nearly."""

import re
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from em_pipelines.text.name_keys import name_key

NEAR_ENOUGH = 88.0
"""Of 100: one letter in eight may differ, which lets slips of typing through, and no other name."""
MIN_NEAR_CHARACTERS = 5
"""Shorter names must stand as they are: with four letters every other name is near."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters of a text, from 0; `end` is one past the last."""

    start: int
    end: int


def find_span(name: str, text: str) -> Span | None:
    """The first place in `text` where `name` stands as whole words, case aside; else a near match; else None.

    A near match is its singular or plural, a stretch of the text of its length with a similarity (normalised indel,
    rapidfuzz's partial ratio) of at least NEAR_ENOUGH, or all its words standing in the text by themselves.
    """
    for form in (name, name.removesuffix("s"), f"{name}s"):
        if exact := _pattern(form).search(text):
            return Span(*exact.span())
    plain, key = text.casefold(), name_key(name)
    if len(plain) != len(text) or len(key) < MIN_NEAR_CHARACTERS:
        return None
    near = fuzz.partial_ratio_alignment(key, plain, score_cutoff=NEAR_ENOUGH)
    if near is not None and len(key) <= len(plain):
        return _whole_words(text, near.dest_start, near.dest_end)
    return _word_by_word(key.split(), text)


def _word_by_word(words: list[str], text: str) -> Span | None:
    """From the first to the last of several words, where all of them stand in the text."""
    places = [place.span() for word in words if (place := _pattern(word).search(text))]
    if len(words) < 2 or len(places) < len(words):
        return None
    return Span(min(start for start, _ in places), max(end for _, end in places))


@lru_cache(maxsize=4096)
def _pattern(name: str) -> re.Pattern[str]:
    words = r"\s{1,4}".join(re.escape(word) for word in name.split())
    return re.compile(rf"(?<!\w){words}(?!\w)" if words else r"(?!)", re.IGNORECASE)


def _whole_words(text: str, start: int, end: int) -> Span:
    """The span, widened to the words that it cuts."""
    while start > 0 and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)
