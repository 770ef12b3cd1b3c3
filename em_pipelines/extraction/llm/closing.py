"""Which lists of an answer were written to their end, judged by its brackets: a repaired document cannot tell.

Strings are passed over, also those in single quotes that models write; everything else of an answer may be broken.
"""

import re

_TOKEN = re.compile(r"""(?s)"(?P<quoted>[^"\\]*(?:\\.[^"\\]*)*)(?P<ends>")?|(?P<word>\w+)|(?P<mark>['\[\]{}:,])""")
_SINGLE = re.compile(r"(?s)(?P<quoted>(?:[^'\\]|\\.|'(?!\s{0,9}(?:[,:\]}]|$)))*)(?P<ends>')?")
"""After an opening quote: up to one before what may follow a string, so that `it's` does not end it."""
_OPENED_BY = {"]": "[", "}": "{"}


def closed_lists(text: str) -> frozenset[str]:
    """The keys whose value is a list that the text closes, in any object of it."""
    closed: set[str] = set()
    opened: list[tuple[str, str]] = []
    key = name = mark = ""
    at = max(text.find("{"), 0)
    while (found := _TOKEN.search(text, at)) is not None:
        at = found.end()
        if found["mark"] == "'" and mark in {"[", "{", ",", ":"} and (single := _SINGLE.match(text, at)):
            found, at = single, single.end()
        if found.groupdict().get("quoted") is not None:
            if not found["ends"]:
                break
            name, mark = found["quoted"], '"'
        elif found["word"] is not None:
            name, mark = found["word"], ""
        elif (mark := found["mark"]) == ":":
            key = name
        elif mark in {"[", "{"}:
            opened.append((mark, key))
            key = ""
        elif mark in _OPENED_BY:
            if opened and opened[-1][0] == "[" == _OPENED_BY[mark]:
                closed.add(opened[-1][1])
            while opened and opened.pop()[0] != _OPENED_BY[mark]:
                pass
    return frozenset(closed)
