"""What a block is made of: sections of lines, how they share its budget, and what makes stored text harmless in them.

Every name, fact and quote goes through `element`; nothing else writes a bracket. What XML forbids or a reader cannot
see is gone: control characters, surrogates, marks that turn the direction of writing, invisible letters. Line breaks
are blanks, so that whatever stands on a line of its own is the own line of the block.

`count_tokens` estimates from above, for no vocabulary is at hand without a network. A tokenizer reads a word it knows
as one token and spells out what it does not know, two letters or so at a time. So a word counts one where all its runs
of three letters are ordinary ones (`letters.txt`: those that several words of the own pages and patterns of the project
share, `^` and `$` for the ends), else by its length. Figures come in threes, a mark counts one, other scripts by the
bytes of UTF-8, below which no byte-level tokenizer can fall apart further. A text that is cheaper than a token for four
characters is counted as that.

A section that a later part of memory fills, such as probes, is one more function that gives a Section; its place is in
`ORDER`.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import pairwise
from math import ceil
from pathlib import Path

_PLAIN = re.compile("[ -~‘’“”–—…]*")
_SPACES = re.compile(r"\s+")
_MARKS = re.compile(
    r"([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]{3})[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)
"""Marks that stand on one letter, from the fourth on: no script needs them."""
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co"})
_JOINERS = "\u200c\u200d"
"""Persian and Indic scripts and emoji are written with them; within ASCII they only hide."""
_SELECTORS = re.compile(r"[\ufe00-\ufe0d]|[\U000e0100-\U000e01ef]|(?<=\ufe0f)\ufe0f+|(?<=\ufe0e)\ufe0e+")
_FILLERS = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0]")
"""Letters and marks without a shape."""
_LOOKALIKES = str.maketrans({"＜": "<", "＞": ">", "﹤": "<", "﹥": ">", "＆": "&", "﹠": "&", "＂": '"', "＇": "'"})
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def plain(text: str) -> str:
    """The text on one line, of characters that are seen and that XML allows."""
    if _PLAIN.fullmatch(text) and "  " not in text:
        return text.strip()
    folded = _SPACES.sub(" ", text).translate(_LOOKALIKES)
    seen = "".join(c for n, c in enumerate(folded) if _is_seen(c) or (c in _JOINERS and _is_joining(folded, n)))
    return _SPACES.sub(" ", _MARKS.sub(r"\1", _FILLERS.sub("", _SELECTORS.sub("", seen)))).strip()


def escaped(text: str) -> str:
    """Plain text as the content of an element."""
    return plain(text).translate(_ESCAPES)


def element(name: str, text: str, attributes: Mapping[str, str | None] | None = None) -> str:
    """One element on a line of its own. `name` and names of attributes are ours; attributes of None are left out."""
    return f"{opening(name, attributes)}{escaped(text)}</{name}>\n"


def opening(name: str, attributes: Mapping[str, str | None] | None = None) -> str:
    """The opening tag of an element."""
    kept = {key: value for key, value in (attributes or {}).items() if value is not None}
    written = [f' {key}="{_quoted(value)}"' for key, value in kept.items()]
    return f"<{name}{''.join(written)}>"


def _quoted(text: str) -> str:
    return escaped(text).replace('"', "&quot;")


def _is_seen(character: str) -> bool:
    code = ord(character)
    is_noncharacter = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    return unicodedata.category(character) not in _INVISIBLE and not is_noncharacter


def _is_joining(text: str, n: int) -> bool:
    """Whether a joiner stands between two characters that it may join."""
    before, after = text[n - 1 : n], text[n + 1 : n + 2]
    return all(c and not c.isascii() and not c.isspace() and _is_seen(c) for c in (before, after))


CHARACTERS_A_TOKEN = 4
"""The rule of thumb for English that many budgets are kept by."""
TYPOGRAPHIC = frozenset("‘’“”–—…•·°£€§é")
"""Marks outside ASCII that are common enough to have a token, or two with the blank before them."""
SPELT_OUT_A_LETTER = 0.57
"""Tokens a letter of what is no word, of cl100k_base and o200k_base over random letters."""
CAPITALS_A_LETTER = 0.4
CODED_A_LETTER = 0.7
"""Letters among figures: ids, keys, addresses."""
LONGEST_WORD = 12
_PIECE = re.compile(r"[A-Za-z]*[0-9][A-Za-z0-9]*|[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[ ](?=[0-9])|[ ]{2,}|[^ ]")
_RUN = re.compile(r"[0-9]+|[A-Z]?[a-z]+|[A-Z]+")


def count_tokens(text: str) -> int:
    """At least as many tokens as GPT-4's tokenizers make of the text in what people write, in any script; counts of
    parts add up to no less than that of the whole."""
    pieces = sum(_cost(piece) for piece in _PIECE.findall(text))
    return max(pieces, ceil(len(text) / CHARACTERS_A_TOKEN))


@lru_cache(maxsize=65_536)
def _cost(piece: str) -> int:
    if not piece.isascii():
        return 2 if piece in TYPOGRAPHIC else len(piece.encode("utf-8", "replace"))
    if piece.isalpha():
        return _cost_of_word(piece)
    if piece.isalnum():
        runs = _RUN.findall(piece)
        return sum(ceil(len(run) / 3) if run.isdigit() else ceil(len(run) * CODED_A_LETTER) for run in runs)
    return 0 if piece == "\n" else 1


def _cost_of_word(word: str) -> int:
    length = len(word)
    if length > 1 and word.isupper():
        return ceil(length * CAPITALS_A_LETTER)
    if length <= LONGEST_WORD and _is_ordinary(word.lower()):
        return 1
    return ceil(length * SPELT_OUT_A_LETTER)


def _is_ordinary(word: str) -> bool:
    known = _ordinary()
    ended = f"^{word}$"
    return len(word) == 1 or all(
        third in known.get(first + second, "")
        for (first, second), third in zip(pairwise(ended), ended[2:], strict=False)
    )


@cache
def _ordinary() -> dict[str, str]:
    """Which letters ordinarily follow two others."""
    lines = Path(__file__).with_name("letters.txt").read_text(encoding="ascii").splitlines()
    return dict(line.split(" ") for line in lines)


ORDER = ("instructions", "facts", "experiences", "related", "probes", "reminders", "distant", "said")
"""Sections as they stand in a block: how the person wants to be answered, what is known of what is named, what was
learned of such tasks, what is known one fact away, what to ask, what is due, what is known two facts away; at the end,
what was said."""


LEAST_LINE = 12
"""Tokens that no line is below: with less room nothing more is looked at."""


@dataclass(frozen=True, slots=True)
class Line:
    """Something that is in the block as a whole, or not at all. `entity` is what it is about."""

    text: str
    entity: str = ""
    edge_ids: tuple[str, ...] = ()
    turns: tuple[tuple[str, int], ...] = ()
    experience_ids: tuple[str, ...] = ()
    probe_ids: tuple[str, ...] = ()

    @property
    def n_tokens(self) -> int:
        """What it costs."""
        return count_tokens(self.text)


@dataclass(frozen=True, slots=True)
class Section:
    """Lines in the order in which they are wanted."""

    name: str
    lines: Iterable[Line]


@dataclass
class Filling:
    """Sections as they fill up, and what is left of the budget."""

    n_left: int
    lines: dict[str, list[Line]] = field(default_factory=dict)

    def add(self, section: Section, n_tokens: int | None = None) -> int:
        """Takes the lines that fit into what is left, and into `n_tokens` of it where that is given; returns what they
        cost. Once an entity's first line does not fit, less wanted entities do not come in."""
        room = self.n_left if n_tokens is None else min(n_tokens, self.n_left)
        before = self.n_left
        taken = self.lines.setdefault(section.name, [])
        is_in = {line.entity for line in taken}
        is_full = False
        for line in section.lines:
            if room < LEAST_LINE:
                break
            if line in taken or (is_full and line.entity not in is_in):
                continue
            cost = line.n_tokens + (0 if taken else _frame(section.name))
            if cost > room:
                is_full = True
                continue
            taken.append(line)
            is_in.add(line.entity)
            room -= cost
            self.n_left -= cost
        return before - self.n_left

    def room(self, name: str) -> int:
        """Tokens that are left for lines of a section."""
        return self.n_left - (0 if self.lines.get(name) else _frame(name))

    def render(self) -> str:
        """The sections that hold anything, in order."""
        return "".join(
            f"{opening(name)}\n{''.join(line.text for line in self.lines[name])}</{name}>\n"
            for name in ORDER
            if self.lines.get(name)
        )

    def chosen(self) -> Iterable[Line]:
        """All lines, in the order of the block."""
        return (line for name in ORDER for line in self.lines.get(name, ()))


def _frame(name: str) -> int:
    return count_tokens(f"{opening(name)}\n</{name}>\n")
