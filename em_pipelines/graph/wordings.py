"""The statement that a fact keeps of several."""

import re

SAYS_WHY = re.compile(r"(?i)\b(?:because|so that|in order to|due to|thanks to)\b", re.ASCII)
"""Words by which a statement gives cause or purpose; read by RE2 as well."""


def fuller(one: str | None, other: str | None) -> str | None:
    """Of two statements of a fact the one that says more: why or what for, then the longer one; whichever came first,
    so that no order of the days makes another memory."""
    if one is None or other is None:
        return other if one is None else one
    here, there = ((bool(SAYS_WHY.search(text)), len(text)) for text in (one, other))
    return one if (*here, other) >= (*there, one) else other
