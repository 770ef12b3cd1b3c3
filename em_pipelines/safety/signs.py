"""One cheap pass over a folded text: the signs by which rules tell that they have nothing to look for in it."""

import re
from functools import lru_cache

TOKENS = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*|[0-9]+")
"""Words, joined by apostrophes and hyphens or not, and numbers."""
BEGINNING_LETTERS = 4
COMMON = frozenset(
    re.findall(
        r"\w+",
        "a about act all an and any are as at be been by can do every for from get go going had has have he her him his"
        " how i if im in into is it its just know like make me my next no not now of on one or our out over re say see"
        " set she so some take than that the their them then there these they this those time to up us use was we"
        " were what when who will with would yes you your",
    )
)
"""Nothing is made of it that one of these is there."""
_WORDS = re.compile(r"[^\W\d_]{2,}")


class TextSigns:
    """A folded text, its tokens and its marks: every character, and every word of two letters or more as it is and,
    after a caret, as it begins."""

    __slots__ = ("marks", "text", "tokens")

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = frozenset(TOKENS.findall(text))
        self.marks = frozenset(text).union(*map(_marks_of, self.tokens))


@lru_cache(maxsize=8)
def signs_of(text: str) -> TextSigns:
    """The signs of a folded text; everything that reads it asks for them in turn."""
    return TextSigns(text)


def beginning_mark(word: str) -> str:
    """The mark of a text that some word of it begins like this one, by its first letters."""
    return "^" + word[:BEGINNING_LETTERS]


@lru_cache(maxsize=65_536)
def _marks_of(token: str) -> frozenset[str]:
    words = _WORDS.findall(token)
    return frozenset([*words, *map(beginning_mark, words)])
