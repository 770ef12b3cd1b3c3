"""Which lists of an answer were written to their end, judged by its brackets: a repaired document cannot tell.

Strings are passed over, also those in single quotes that models write; everything else of an answer may be broken.
"""

import re
from collections.abc import Iterator

_TOKEN = re.compile(r"""(?s)"(?P<quoted>[^"\\]*(?:\\.[^"\\]*)*)(?P<ends>")?|(?P<word>\w+)|(?P<mark>['\[\]{}:,])""")
_SINGLE = re.compile(r"(?s)(?P<quoted>(?:[^'\\]|\\.|'(?!\s{0,9}(?:[,:\]}]|$)))*)(?P<ends>')?")
"""After an opening quote: up to one before what may follow a string, so that `it's` does not end it."""
_OPENED_BY = {"]": "[", "}": "{"}
_STRING, _WORD = '"', ""
"""What stands for the mark of a string and of a bare word."""


def closed_lists(text: str) -> frozenset[str]:
    """The keys whose value is a list that the text closes, in any object of it."""
    closed: set[str] = set()
    opened: list[tuple[str, str]] = []
    key = name = ""
    for mark, word in _tokens(text):
        if mark in {_STRING, _WORD}:
            name = word
        elif mark == ":":
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


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """The marks of a text, and its strings and words with what stands in them, up to a string without an end."""
    mark = ""
    at = max(text.find("{"), 0)
    while (token := _TOKEN.search(text, at)) is not None:
        at = token.end()
        if token["mark"] == "'" and mark in {"[", "{", ",", ":"} and (single := _SINGLE.match(text, at)):
            token, at = single, single.end()
        if token.groupdict().get("quoted") is not None:
            if not token["ends"]:
                return
            mark = _STRING
            yield mark, token["quoted"]
        elif token["word"] is not None:
            mark = _WORD
            yield mark, token["word"]
        else:
            mark = token["mark"]
            yield mark, ""
