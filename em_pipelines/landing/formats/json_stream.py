"""Reads a document that is one JSON list, element by element, holding no more than one of them at a time.

Where an element ends is found by counting brackets, strings skipped; what it holds is the parser's business, so that a
broken element costs itself alone. Where a quote or a bracket is missing, counting goes astray: then reading goes on
where an element begins as the first one did, with the same two keys. Inside of a string it would be escaped.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import orjson

_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_BETWEEN = re.compile(rb'(?:[^"\[\]{},]++|' + _STRING + rb")*+", re.DOTALL)
_WITHIN = re.compile(rb'(?:[^"\[\]{}]++|' + _STRING + rb")*+", re.DOTALL)
_REST_OF_STRING = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_SCALAR = rb"(?:" + _STRING + rb'|[^\s,\[\]{}"]++)'
_FIRST_KEYS = re.compile(
    rb"\s*+\{\s*+(" + _STRING + rb")\s*+:(?:\s*+" + _SCALAR + rb"\s*+,\s*+(" + _STRING + rb")\s*+:)?", re.DOTALL
)
_QUOTE, _BACKSLASH, _COMMA = b'"\\,'
_OPENING, _CLOSING = b"[{", b"]}"
_OVERLAP_BYTES = 64 * 1024  # kept of what is given up, for a beginning that lies across two chunks
_MAX_HINT_BYTES = 2000


@dataclass(frozen=True, slots=True)
class Element:
    """An element: its number from 1, and its value.

    Where it cannot be read, `problem` says why and `raw` holds its bytes, of one that is too large the first; `line`,
    from 1, is the one that cannot be read. A last one that is whole has a problem, too, where the list has no end.
    """

    number: int
    line: int
    value: Any = None
    raw: bytes = b""
    problem: str = ""
    is_too_large: bool = False
    is_not_utf8: bool = False


class JsonList:
    """One list out of chunks of bytes, the first of which begins it. Iterated once; raises what the chunks raise."""

    def __init__(self, chunks: Iterator[bytes], limit: int, *, is_part: bool = False) -> None:
        """`limit` is how many bytes an element may have; of a list that `is_part` nothing behind its end is read."""
        self._is_part = is_part
        self._chunks = chunks
        self._limit = limit
        self._buffer = bytearray()
        self._line, self._offset, self._number = 1, 1, 0
        self._beginning: re.Pattern[bytes] | None = None
        self._is_astray = False
        self._dropped = bytearray()

    def __iter__(self) -> Iterator[Element]:
        while b"[" not in self._buffer and self._more():
            pass
        self._drop(self._buffer.index(b"[") + 1)
        is_going_on = True
        while is_going_on:
            end, is_too_large = self._end_of_element()
            is_cut, is_too_large = end >= len(self._buffer), is_too_large or end > self._limit
            raw = bytes(self._buffer[: min(end, self._limit)])
            if raw.strip() or is_cut:
                self._number += 1
                self._learn_beginning(raw)
                element = self._read(raw, is_too_large, is_cut)
                if element.problem and (found := self._beginning_within(end)):
                    end, is_cut = found, False  # it ends there, whatever its brackets say
                    element = self._read(
                        bytes(self._buffer[:end]).rstrip().removesuffix(b","), end > self._limit, False
                    )
                if not element.problem or not self._is_astray or self._begins(raw):
                    yield element
                else:
                    self._number -= 1  # it belongs to the one that was told of
                self._is_astray = bool(element.problem)
            is_going_on = self._skip_to_beginning(1) if is_cut else self._go_behind(end)
            if self._dropped and not self._is_astray:
                yield self._follows()

    def _follows(self) -> Element:
        """What stands behind the end of the list, and is no element."""
        self._number += 1
        problem = f"what follows the end of the list, before line {self._line}, cannot be read"
        return Element(self._number, self._line, None, bytes(self._dropped), problem)

    def _beginning_within(self, end: int) -> int | None:
        """Where another element begins within one that cannot be read."""
        found = self._beginning.search(self._buffer, 1, end) if self._beginning else None
        return found.start(1) if found else None

    def _read(self, raw: bytes, is_too_large: bool, is_cut: bool) -> Element:
        begin = len(raw) - len(raw.lstrip())
        line, offset = self._line + raw.count(b"\n", 0, begin), self._offset + begin
        end = self._line + raw.count(b"\n")
        raw = raw.strip()
        if is_too_large:
            problem = f"it begins at line {line} and has more than {self._limit:,} bytes"
            return Element(self._number, line, None, raw, problem, is_too_large=True)
        if is_cut:
            problem = f"the list breaks off at line {end}; export it again"
            with suppress(ValueError, RecursionError):  # nothing but its bracket is missing
                return Element(self._number, end, loads(raw), b"", problem)
            return Element(self._number, end, None, raw, problem)
        return self._parse(raw, line, offset)

    def _parse(self, raw: bytes, line: int, offset: int) -> Element:
        try:
            return Element(self._number, line, loads(raw))
        except UnicodeDecodeError as error:
            line += raw.count(b"\n", 0, error.start)
            problem = f"byte {offset + error.start}, in line {line}, is not UTF-8; convert the file to UTF-8"
            return Element(self._number, line, None, raw, problem, is_not_utf8=True)
        except json.JSONDecodeError as error:
            line += error.lineno - 1
            where = f"line {line}, byte {offset + len(error.doc[: error.pos].encode())}"
            return Element(self._number, line, None, raw, f"no valid JSON at {where}: {error.msg}")
        except RecursionError:
            return Element(self._number, line, None, raw, f"it begins at line {line} and nests too deep")

    def _end_of_element(self) -> tuple[int, bool]:
        """Where in the buffer the comma or bracket stands that ends the element, which begins there; the length of the
        buffer where the list breaks off, or the element is too large to be read, which is the second."""
        place, depth, in_string = 0, 1, False
        while True:
            pattern = _REST_OF_STRING if in_string else _WITHIN if depth > 1 else _BETWEEN
            match = pattern.match(self._buffer, place)
            place = match.end() if match else place
            if place >= len(self._buffer) or (in_string and self._buffer[place] == _BACKSLASH):
                if len(self._buffer) > self._limit:
                    return len(self._buffer), True
                if not self._more():
                    return len(self._buffer), False
                continue
            byte = self._buffer[place]
            if byte == _QUOTE:
                in_string = not in_string
            elif byte in _OPENING:
                depth += 1
            elif byte in _CLOSING:
                depth -= 1
            if depth == 0 or (byte == _COMMA and depth == 1):
                return place, False
            place += 1

    def _go_behind(self, end: int) -> bool:
        """Goes behind what ends an element: comma, bracket, or the beginning of the next; whether one may follow."""
        ending = self._buffer[end]
        self._dropped = bytearray()
        if ending in _OPENING:
            self._drop(end)
            return True
        self._drop(end + 1)
        is_end = self._is_part and ending in _CLOSING and not self._is_astray
        return ending == _COMMA or (not is_end and self._skip_to_beginning(0))

    def _skip_to_beginning(self, start: int) -> bool:
        """Drops all before the next beginning of an element; False where there is none any more."""
        self._dropped = bytearray()
        while True:
            found = self._beginning.search(self._buffer, start) if self._beginning else None
            if found:
                self._pass_over(found.start(1))
                return True
            self._pass_over(max(0, len(self._buffer) - _OVERLAP_BYTES))
            start = 0
            if not self._more():
                self._pass_over(len(self._buffer))
                return False

    def _pass_over(self, n_bytes: int) -> None:
        """Drops bytes, and keeps the first of them that say anything."""
        if len(self._dropped) < _MAX_HINT_BYTES:
            self._dropped += self._buffer[: min(n_bytes, _MAX_HINT_BYTES)].strip(b" \t\r\n,[]{}")
        self._drop(n_bytes)

    def _learn_beginning(self, raw: bytes) -> None:
        if self._beginning is None and (found := _FIRST_KEYS.match(raw[:_MAX_HINT_BYTES])):
            first, second = found.groups()
            then = rb"\s*+" + _SCALAR + rb"\s*+,\s*+" + re.escape(second) + rb"\s*+:" if second else b""
            beginning = rb"[\[\]{},]\s*+(\{\s*+" + re.escape(first) + rb"\s*+:" + then + rb")"
            self._beginning = re.compile(beginning, re.DOTALL)

    def _begins(self, raw: bytes) -> bool:
        return bool(self._beginning and self._beginning.match(b"," + raw))

    def _more(self) -> bool:
        chunk = next(self._chunks, b"")
        self._buffer += chunk
        return bool(chunk)

    def _drop(self, n_bytes: int) -> None:
        self._line += self._buffer.count(b"\n", 0, n_bytes)
        self._offset += n_bytes
        del self._buffer[:n_bytes]


def loads(raw: bytes) -> Any:
    """Parses JSON, also what some programs write that is none: NaN, and halves of characters, which the rules of
    records refuse message by message. Raises json.JSONDecodeError, UnicodeDecodeError or RecursionError."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return json.loads(raw.decode())
