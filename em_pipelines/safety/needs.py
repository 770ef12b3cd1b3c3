"""What a text must hold before a pattern can match in it, read off the pattern: a sieve that never decides anything.

Most sentences hold a word that some rule begins with and none of the others it needs; to see that a word is missing
is a hundred times cheaper than to try the pattern. What is needed is read from the parse tree of the `re` module. A
construct that is not understood needs nothing, so that a pattern is at worst tried in vain and never left out.
"""

import importlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from em_pipelines.safety.signs import BEGINNING_LETTERS, COMMON, TextSigns, beginning_mark

MAX_TEXTS = 256
"""More texts than these are not written out one by one: the pattern is cut there."""
MAX_PARTS = 16
"""More stretches of text than these are not sought one by one."""
_EDGE, _UNKNOWN = "\x00", "\x01"  # a place that no word goes across; a place of which nothing is known
_PARSER: Any = importlib.import_module("re._parser")
_LETTERS = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of these must be there: a mark, or a stretch of text."""

    marks: frozenset[str]
    parts: tuple[str, ...]


class Needs:
    """One of the groups must be there as a whole; an empty group always is."""

    __slots__ = ("_groups", "gate")

    def __init__(self, groups: Iterable[Iterable[OneOf]]) -> None:
        self._groups = tuple(dict.fromkeys(tuple(sorted(group, key=_commonness)) for group in groups))
        is_open = any(not group or group[0].parts for group in self._groups)
        rarest = frozenset(mark for group in self._groups for mark in (group[0].marks if group else ()))
        self.gate = None if is_open else rarest
        """Marks of which one must be there, or there is no need to look at the rest; None where there are none."""

    def are_met(self, signs: TextSigns) -> bool:
        """Whether a text holds what is needed."""
        text, marks = signs.text, signs.marks
        if self.gate is not None and self.gate.isdisjoint(marks):
            return False
        for group in self._groups:
            for one_of in group:
                if one_of.marks.isdisjoint(marks) and not any(map(text.__contains__, one_of.parts)):
                    break
            else:
                return True
        return False


def _commonness(one_of: OneOf) -> tuple[bool, int, int]:
    """Sorts what is rare and quickly looked for before the rest."""
    n_common = sum(mark.removeprefix("^") in COMMON for mark in one_of.marks)
    return bool(one_of.parts), n_common, len(one_of.marks)


def needs_of(pattern: str) -> Needs:
    """The needs of a pattern without flags but MULTILINE, over folded text; one group for each of its alternatives."""
    tree = _PARSER.parse(pattern, re.MULTILINE)
    if tree.state.flags & re.IGNORECASE:
        return Needs([()])
    nodes = list(tree)
    if len(nodes) == 1 and nodes[0][0].name == "SUBPATTERN" and not nodes[0][1][1]:
        nodes = list(nodes[0][1][3])
    for n, (op, argument) in enumerate(nodes):
        if op.name == "BRANCH":
            return Needs(_group([*nodes[:n], *branch, *nodes[n + 1 :]]) for branch in argument[1])
    return Needs([_group(nodes)])


def _group(nodes: Iterable[Any]) -> tuple[OneOf, ...]:
    reader = _Reader()
    reader.read(nodes)
    found = (_one_of(texts) for texts in reader.ended())
    return tuple(dict.fromkeys(one_of for one_of in found if one_of is not None))


class _Reader:
    """Reads the nodes of one sequence into sets of texts, one of each of which stands in whatever matches.

    `texts` are those of the stretch being read; `is_whole` says that nothing else was read yet.
    """

    def __init__(self, start: str = "") -> None:
        self.texts = {start}
        self.done: list[set[str]] = []
        self.is_whole = True

    def read(self, nodes: Iterable[Any]) -> None:
        for op, argument in nodes:
            getattr(self, f"_{op.name.lower()}", self._anything)(argument)

    def ended(self) -> list[set[str]]:
        """All sets, the last stretch being at its end."""
        return [*self.done, {text + _UNKNOWN for text in self.texts}]

    def is_at_edge(self) -> bool:
        return all(_is_edge(text[-1:]) for text in self.texts)

    def add(self, texts: Iterable[str]) -> None:
        """What follows directly is one of these."""
        following = set(texts)
        if len(self.texts) * len(following) > MAX_TEXTS:
            self.cut(all(_is_edge(text[:1]) for text in following), self.is_at_edge())
        self.texts = {before + after for before, after in product(self.texts, following)}

    def cut(self, is_edge_before: bool, is_edge_after: bool) -> None:
        """Something follows that cannot be written out."""
        self.done.append({text + (_EDGE if is_edge_before else _UNKNOWN) for text in self.texts})
        self.texts = {_EDGE if is_edge_after else _UNKNOWN}
        self.is_whole = False

    def _anything(self, _: Any) -> None:
        self.cut(is_edge_before=False, is_edge_after=False)

    def _literal(self, code: int) -> None:
        self.add([chr(code)])

    def _in(self, options: list[Any]) -> None:
        if all(op.name == "LITERAL" for op, _ in options):
            self.add(chr(code) for _, code in options)
        else:
            self.cut(_is_of_edges(options), _is_of_edges(options))

    def _at(self, place: Any) -> None:
        if place.name != "AT_NON_BOUNDARY":
            self.add([_EDGE])

    def _assert(self, argument: Any) -> None:
        nodes = list(argument[1])
        if len(nodes) == 1 and _is_of_edges(nodes):
            self.add([_EDGE])

    def _assert_not(self, argument: Any) -> None:
        nodes = list(argument[1])
        if len(nodes) == 1 and nodes[0][0].name == "IN" and _has_all_of_words(nodes[0][1]):
            self.add([_EDGE])

    def _subpattern(self, argument: Any) -> None:
        _, flags, _, nodes = argument
        if flags:
            self._anything(nodes)
        else:
            self._branch((None, [nodes]))

    def _atomic_group(self, nodes: Any) -> None:
        self._branch((None, [nodes]))

    def _branch(self, argument: Any) -> None:
        readers = [_Reader(_EDGE if self.is_at_edge() else "") for _ in argument[1]]
        for reader, nodes in zip(readers, argument[1], strict=True):
            reader.read(nodes)
        if all(reader.is_whole for reader in readers):
            self.add(text for reader in readers for text in reader.texts)
            return
        before = [reader.done[0] if reader.done else reader.texts for reader in readers]
        starts = all(len(text) > 1 and text[0] == _EDGE and _is_edge(text[1]) for texts in before for text in texts)
        self.cut(starts, all(reader.is_at_edge() for reader in readers))
        if len(readers) == 1:
            self.done += readers[0].done
            self.texts = readers[0].texts
        else:
            self.done.append({text for reader in readers for text in _best(reader.ended())})

    def _max_repeat(self, argument: Any) -> None:
        least, most, nodes = argument
        if (least, most) == (1, 1):
            self._branch((None, [nodes]))
        elif (least, most) == (0, 1):
            self._branch((None, [nodes, []]))
        else:
            inner = _Reader(_UNKNOWN)
            inner.read(nodes)
            is_of_edges = _is_of_edges(list(nodes))
            ends_at_edge = (is_of_edges or inner.is_at_edge()) and (least > 0 or self.is_at_edge())
            self.cut(is_of_edges and least > 0, ends_at_edge)
            if least:
                self.done += inner.ended()

    _min_repeat = _possessive_repeat = _max_repeat


def _is_edge(char: str) -> bool:
    return char not in ("", _UNKNOWN, "_") and not char.isalnum()


def _is_of_edges(options: list[Any]) -> bool:
    """Whether nodes or the members of a class are but characters that no word has."""
    for op, argument in options:
        if op.name == "LITERAL":
            if not _is_edge(chr(argument)):
                return False
        elif op.name == "IN":
            if not _is_of_edges(argument):
                return False
        elif op.name != "CATEGORY" or argument.name not in ("CATEGORY_SPACE", "CATEGORY_NOT_WORD"):
            return False
    return bool(options)


def _has_all_of_words(options: list[Any]) -> bool:
    is_positive = all(op.name != "NEGATE" for op, _ in options)
    return is_positive and any(op.name == "CATEGORY" and argument.name == "CATEGORY_WORD" for op, argument in options)


def _best(sets: list[set[str]]) -> set[str]:
    """Of several sets that are needed the one that is rarest: whose shortest word is longest."""
    return max(sets, key=lambda texts: (min(len(_telling(text)[1]) for text in texts), -len(texts)))


def _telling(text: str) -> tuple[str, str]:
    """What to look for of a text, a rare or long word if there is one: "marks" or "parts" and the string."""
    runs = reversed(list(_runs(text)))
    found = max(runs, key=lambda run: (run[1] not in COMMON, len(run[1])), default=("parts", ""))
    if found[1]:
        return found
    part = max(re.split(f"[{_EDGE}{_UNKNOWN}]+", text), key=len)
    return ("marks" if len(part) == 1 else "parts"), part


def _runs(text: str) -> Iterator[tuple[str, str]]:
    for match in _LETTERS.finditer(text):
        word = match.group()
        is_bounded = _is_edge(text[: match.start()][-1:]), _is_edge(text[match.end() :][:1])
        if all(is_bounded) and len(word) > 1:
            yield "marks", word
        elif is_bounded[0] and len(word) >= BEGINNING_LETTERS:
            yield "marks", beginning_mark(word)
        elif len(word) > 1:
            yield "parts", word


def _one_of(texts: set[str]) -> OneOf | None:
    """The needs of one set of texts; None where one of them is anywhere, or there are too many to look for."""
    found = {_telling(text) for text in texts}
    parts = sorted({string for kind, string in found if kind == "parts"})
    if "" in parts or len(parts) > MAX_PARTS:
        return None
    return OneOf(frozenset(string for kind, string in found if kind == "marks"), tuple(parts))
