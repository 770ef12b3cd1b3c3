"""Where a name that a model gave stands in what people wrote: exactly, or nearly."""

import re
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from em_pipelines.resolution.normalization import name_key

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
    found = fuzz.partial_ratio_alignment(key, plain, score_cutoff=NEAR_ENOUGH)
    if found is not None and len(key) <= len(plain):
        return _whole_words(text, found.dest_start, found.dest_end)
    words = [_pattern(word).search(text) for word in key.split()]
    if len(words) > 1 and all(words):
        spans = [word.span() for word in words if word]
        return Span(min(s for s, _ in spans), max(e for _, e in spans))
    return None


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
