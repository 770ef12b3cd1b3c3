"""Counted nouns in sentences: `1 day`, `2 days`, `0 entities`; `1 fact follows`, `2 facts follow`."""

import re

_HISSING = re.compile(r"(?:s|x|z|ch|sh)$")
_CONSONANT_Y = re.compile(r"(?<=[^aeiou])y$")


def counted(n: int, noun: str, verb: tuple[str, str] = ("", "")) -> str:
    """A number with its noun, in the plural for every number but one, and the verb that goes with it.

    The last word of `noun` is the one that changes, by the rules of English spelling (day, days; entity, entities;
    search, searches); `verb` is what one does and what several do.
    """
    return f"{n:,} {noun if n == 1 else plural(noun)} {verb[n != 1]}".rstrip()


def plural(noun: str) -> str:
    """The plural of a regular noun."""
    if _CONSONANT_Y.search(noun):
        return _CONSONANT_Y.sub("ies", noun)
    return f"{noun}es" if _HISSING.search(noun) else f"{noun}s"


IS = ("is", "are")
WAS = ("was", "were")
"""Verbs that most sentences go on with."""
