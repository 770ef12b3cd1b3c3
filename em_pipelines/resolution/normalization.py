"""Names made comparable: two names with the same key are the same thing, unless something says otherwise."""

import re
import unicodedata
from functools import lru_cache

DETERMINERS = frozenset(
    ["a", "an", "the", "my", "our", "his", "her", "their", "your", "its", "this", "that", "these", "those", "some"]
)  # fmt: skip
_SEPARATORS = re.compile(r"[_\s]+")
_EDGES = re.compile(r"^[^\w#+]+|[^\w#+]+$")


@lru_cache(maxsize=65_536)
def name_key(name: str) -> str:
    """Returns the normalised form of a name: NFKC, case-folded, without determiners, edge punctuation and 's.

    Underscores and runs of white space are one space. A name of nothing else keeps its words, so the key is empty
    only where the name is.
    """
    text = unicodedata.normalize("NFKC", name).casefold().replace("’", "'")
    words = [_EDGES.sub("", word) or word for word in _SEPARATORS.split(text) if word]
    words = [word.removesuffix("'s") or word for word in words]
    start = 0
    while start < len(words) - 1 and words[start] in DETERMINERS:
        start += 1
    return " ".join(words[start:])
