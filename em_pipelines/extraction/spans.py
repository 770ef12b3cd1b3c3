"""Where a name that a model gave stands in what people wrote: exactly, or nearly, in whatever script.

Letters are compared folded (case, accents, vowel marks, ß and ss), with their places in the text kept. Where a script
puts no blanks between words, a name may stand anywhere; where words take on particles or prepositions (Korean; Arabic,
Hebrew), it may stand between those.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz import fuzz

from em_pipelines.language.cleaning import UNSPACED
from em_pipelines.language.name_keys import fold, name_key

NEAR_ENOUGH = 88.0
"""Of 100: one letter in eight may differ, which lets slips of typing through, and no other name."""
MIN_NEAR_CHARACTERS = 5
"""Shorter names must stand as they are: with four letters every other name is near."""
_SIGN, _HANGUL = re.compile(rf"[{UNSPACED}]"), re.compile("[\u1100-\u11ff]")
_PREFIXES = {"\u0590-\u05ff": "והבלמשכ", "\u0600-\u06ff": "وفبلكسا"}
"""By script: the letters of words that are written as one with the next, such as and, in, to, the."""


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
    plain, places = _folded(text)
    if not (text.isascii() and name.isascii()):
        key = _folded(" ".join(name.split()))[0]
        if key.strip() and (found := _script_pattern(key).search(plain)):
            return _unfolded(found.start("name"), found.end("name"), places)
    key = fold(name_key(name))
    if len(key) < MIN_NEAR_CHARACTERS:
        return None
    near = fuzz.partial_ratio_alignment(key, plain, score_cutoff=NEAR_ENOUGH)
    if near is not None and len(key) <= len(plain) and near.dest_start < near.dest_end:
        span = _unfolded(near.dest_start, near.dest_end, places)
        return _whole_words(text, span.start, span.end)
    return _word_by_word(key.split(), text)


def is_unspaced(text: str) -> bool:
    """Whether a text has letters of a script that puts no blanks between words."""
    return not text.isascii() and _SIGN.search(text) is not None


@lru_cache(maxsize=1024)
def _folded(text: str) -> tuple[str, tuple[int, ...]]:
    """The text folded, and of each letter of that its place in the text; at the end the length of the text."""
    if text.isascii():
        return text.lower(), tuple(range(len(text) + 1))
    letters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        plain = fold(character)
        letters.append(plain)
        places += [place] * len(plain)
    return "".join(letters), (*places, len(text))


def _unfolded(start: int, end: int, places: tuple[int, ...]) -> Span:
    """Where in the text a stretch of the folded one stands, with the marks on its last letter."""
    last = places[end - 1]
    return Span(places[start], next((place for place in places[end:] if place > last), last + 1))


@lru_cache(maxsize=4096)
def _script_pattern(key: str) -> re.Pattern[str]:
    """A folded name in a folded text, with what its script may write before and behind it as one word."""
    words = r"\s{1,4}".join(re.escape(word) for word in key.split())
    before, after = r"(?<!\w)", r"(?!\w)"
    if _SIGN.match(key):
        before = ""
    if _SIGN.match(key[-1]):
        after = ""
    elif _HANGUL.match(key[-1]):  # a syllable must end where the name does; particles may follow
        after = r"(?![\u11a8-\u11ff])"
    for script, prefixes in _PREFIXES.items():
        if re.match(rf"[{script}]", key) and len(key) >= len("abc"):
            before, after = rf"(?<!\w)[{prefixes}]{{0,3}}(?:ال|ل)?", r"(?!\w{3})"
    return re.compile(rf"{before}(?P<name>{words}){after}")


def _word_by_word(words: list[str], text: str) -> Span | None:
    """From the first to the last of several words, where all of them stand in the text."""
    places = [place.span() for word in words if (place := _pattern(word).search(text))]
    if len(words) < 2 or len(places) < len(words):
        return None
    return Span(min(start for start, _ in places), max(end for _, end in places))


@lru_cache(maxsize=4096)
def _pattern(name: str) -> re.Pattern[str]:
    words = r"\s{1,4}".join(re.escape(word) for word in unicodedata.normalize("NFC", name).split())
    return re.compile(rf"(?<!\w){words}(?!\w)" if words else r"(?!)", re.IGNORECASE)


def _whole_words(text: str, start: int, end: int) -> Span:
    """The span, widened to the words that it cuts."""
    if is_unspaced(text[start:end]):
        return Span(start, end)
    while start > 0 and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return Span(start, end)
