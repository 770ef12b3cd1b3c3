"""Reads one JSON document of any size a value at a time, in the order in which it is written.

Knows objects and arrays as they are walked through, and hands over whole values below; holds no more of the text than
the value at hand. Whoever walks asks for what should come, and gets `BrokenJsonError` where it does not.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, TextIO

CHUNK_CHARACTERS = 1 << 18
NUMBER_TAIL = 3
_SPACE = re.compile(r"[ \t\n\r]*")
_CLOSING = frozenset(" \t\n\r,]}")


class BrokenJsonError(ValueError):
    """The text is no JSON, or ends too early; the message says where."""


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


class JsonStream:
    """Walks through the text of `handle`; a single value may have up to `max_characters`."""

    def __init__(self, handle: TextIO, max_characters: int) -> None:
        self._handle = handle
        self._max = max_characters
        self._decoder = json.JSONDecoder(parse_constant=_no_constant)
        self._text = ""
        self._at = 0
        self._n_lines = 1
        self._is_ended = False

    def peek(self) -> str:
        """The first character of what comes next; empty at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            if match:
                self._take(match.end())
            if self._at < len(self._text) or not self._fill():
                return self._text[self._at : self._at + 1]

    def members(self) -> Iterator[str]:
        """The names of an object's members; whoever gets one reads its value before asking for the next."""
        self._expect("{")
        if self._is_next("}"):
            return
        while True:
            name = self.value()
            if not isinstance(name, str):
                raise self._broken("a name in quotes")
            self._expect(":")
            yield name
            if self._is_next("}"):
                return
            self._expect(",")

    def elements(self) -> Iterator[Any]:
        """The values of an array."""
        self._expect("[")
        if self._is_next("]"):
            return
        while True:
            yield self.value()
            if self._is_next("]"):
                return
            self._expect(",")

    def value(self) -> Any:
        """The next value, whole."""
        if not self.peek():
            raise self._broken("a value")
        while True:
            try:
                found, end = self._decoder.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                if self._grow():
                    continue
                raise self._broken("a value that can be read") from error
            # A number at the end of what has been read may go on in what has not: 1 in 12, 1.5, 1e-5.
            if len(self._text) - end < NUMBER_TAIL and self._grow():
                continue
            if end < len(self._text) and self._text[end] not in _CLOSING and self._text[end] != ":":
                raise self._broken("a value that can be read")
            self._take(end)
            return found

    def skip(self) -> None:
        """Passes over the next value; objects and arrays of the first two levels by their parts."""
        self._skip(2)

    def end(self) -> None:
        """Checks that nothing follows."""
        if self.peek():
            raise self._broken("the end of the document")

    def _skip(self, depth: int) -> None:
        first = self.peek()
        if depth and first == "{":
            for _ in self.members():
                self._skip(depth - 1)
        elif depth and first == "[":
            for _ in self.elements():
                pass
        else:
            self.value()

    def _expect(self, character: str) -> None:
        if not self._is_next(character):
            raise self._broken(repr(character))

    def _is_next(self, character: str) -> bool:
        is_next = self.peek() == character
        if is_next:
            self._take(self._at + 1)
        return is_next

    def _take(self, end: int) -> None:
        self._n_lines += self._text.count("\n", self._at, end)
        self._at = end

    def _grow(self) -> bool:
        """Reads as much again as is held, so that a long value is tried a few times only."""
        if len(self._text) - self._at > self._max:
            raise BrokenJsonError(f"line {self._n_lines}: one value has more than {self._max} characters")
        return self._fill(len(self._text) - self._at)

    def _fill(self, n_characters: int = 0) -> bool:
        if self._is_ended:
            return False
        more = self._handle.read(max(CHUNK_CHARACTERS, n_characters))
        self._is_ended = not more
        if more:  # at the end places stay what they were
            self._text, self._at = self._text[self._at :] + more, 0
        return bool(more)

    def _broken(self, expected: str) -> BrokenJsonError:
        found = self.peek()
        what = f"found {found!r}" if found else "it ends"
        return BrokenJsonError(f"line {self._n_lines}: expected {expected}, {what}")
