"""Cuts a message into pieces, and says of each by what marks a model judges whose words it is.

A piece is a part of a sentence: it ends with its line, at a colon, a bracket or a quotation mark, and before a first or
second person, since that is where people fall into another's words. Its marks are its words, those that lead up to it,
those of the first sentence of the message, and its layout. Nothing here lists requests or kinds of text:
which words matter is fitted (`training/quoted`). Linear in the text.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, groupby, islice, pairwise

from em_pipelines.guard.passages import overlaps, spoken_passages
from em_pipelines.language.document import english
from em_pipelines.language.sentences import sentences

MAX_WORDS_AROUND = 80
"""Of those that lead up to a piece, and of each sentence around it."""
MAX_PIECES_BEFORE = 8
"""Of a sentence that lead up to a piece."""
N_TOLD_APART = 4
"""Pieces from the beginning or the end that are told apart by their place."""
_FIRST_PERSON = frozenset(
    {"i", "im", "i'm", "ive", "i've", "id", "i'd", "i'll", "my", "we", "we're", "we've", "our", "me", "mine", "myself"}
)
_CUT = re.compile(
    r"(?i)(?<=[:;\"()\[\]\n])|(?=[\"()\[\]\n])|(?<=\s[-–—])(?=\s)"
    r"|(?<=[,\s])(?=(?:i|im|ive|id|we|my|our|you're|you are)\b)"
)
_HAS_WORD = re.compile(r"\w")
_WORD = re.compile(r"\w[\w']*|[^\w\s]")
_LABEL = re.compile(r"[ \t]*(?:[-*•] )?(?:\[?[\d/.,: -]{4,22}\]? )?[^\W\d_][\w'./() -]{0,40}? ?:(?=\s|$)")
"""`Name: …`, `- Role: …`, `[12.03.24, 10:11] Ann: …`."""
_ROW = re.compile(r"(?:[^,;|\t]{0,200}[,;|\t](?! )){2}|(?:[^|]{0,200}\|){2}")
_PARTINGS = (("colon", ":"), ("quotation", '"'), ("sentence", ".!?…"))


_ENDINGS = {"?": "asks", ":": "leads"}
_ASKING = frozenset(_ENDINGS.values())


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a message from `start` to `end`, where the next one starts."""

    start: int
    end: int
    words: Sequence[str]
    """In small letters, marks among them."""
    kinds: Sequence[str]
    """Of each word what it is (kin, profession, number, name), or the word."""
    sentence: int
    parting: str
    """What parts it from the piece before: `paragraph`, `line`, `colon`, `quotation`, `sentence`, `comma` or
    `nothing`; `start` of the first."""
    signs: Sequence[str]
    """Its layout, its person, and the mark it ends with."""


def pieces_of(text: str) -> list[Piece]:
    """The pieces of a text with straight quotes, in order; each holds a word, and together they hold all words."""
    begins = [start for start, _ in sentences(text)]
    cuts = sorted({0, len(text), *(match.start() for match in _CUT.finditer(text)), *begins})
    starts = [start for start, end in pairwise(cuts) if _HAS_WORD.search(text, start, end)]
    layout = _Layout(text)
    found: list[Piece] = []
    last_end = 0
    for start, end in pairwise([*starts, len(text)]):
        matches = list(_WORD.finditer(text, start, end))
        plain = [match for match in matches if _HAS_WORD.match(match.group())]
        at = plain[0].start()
        parting = _parting(text[last_end:at]) if found else "start"
        last_end = plain[-1].end()
        words = [match.group().lower() for match in matches]
        opener = matches[0].group() if parting in {"nothing", "comma"} else words[0]
        written = [opener, *(match.group() for match in matches[1:])]
        kinds = [_kind(*pair) for pair in zip(written, words, strict=True)]
        signs = [*layout.signs(start, end, at), *_told_in_words(words)]
        found.append(Piece(start, end, words, kinds, bisect_right(begins, at), parting, signs))
    return found


def _parting(gap: str) -> str:
    """What stands between the last word of a piece and the first of the next one."""
    if "\n" in gap:
        return "paragraph" if gap.count("\n") > 1 else "line"
    named = (name for name, marks in _PARTINGS if not set(marks).isdisjoint(gap))
    return next(named, "comma" if gap.strip() else "nothing")


def _kind(written: str, word: str) -> str:
    if word in english.kin:
        return "<kin>"
    if english.is_profession(word):
        return "<profession>"
    if word[0].isdigit():
        return "<number>"
    return "<name>" if written[0].isupper() and word not in _FIRST_PERSON else word


def _told_in_words(words: Sequence[str]) -> Iterator[str]:
    if not _FIRST_PERSON.isdisjoint(words):
        yield "first"
    if "you" in words or "your" in words:
        yield "second"
    if words[-1] in _ENDINGS:
        yield _ENDINGS[words[-1]]


class _Layout:
    """How the lines of a text are laid out, and what stands in quotation marks."""

    def __init__(self, text: str) -> None:
        lines = text.split("\n")
        self._starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        self._signs = [signs for _, block in groupby(lines, _has_words) for signs in _of_block(list(block))]
        self._quotations = spoken_passages(text)

    def signs(self, start: int, end: int, at: int) -> list[str]:
        """Of what stands from `start` to `end`, on the line of `at`."""
        signs = self._signs[bisect_right(self._starts, at) - 1]
        return [*signs, "quoted"] if overlaps((start, end), self._quotations) else signs


def _has_words(line: str) -> bool:
    return bool(line.strip())


def _of_block(lines: Sequence[str]) -> Iterator[list[str]]:
    """The signs of each line of a paragraph."""
    labels, rows = ([pattern.match(line) is not None for line in lines] for pattern in (_LABEL, _ROW))
    of_all = [f"lines {min(len(lines), N_TOLD_APART)}"] + ([f"labels {min(sum(labels), 3)}"] if any(labels) else [])
    for is_label, is_row in zip(labels, rows, strict=True):
        own = [name for name, holds in (("label", is_label), ("row", is_row and sum(rows) > 1)) if holds]
        yield own + of_all


def marks_of(pieces: Sequence[Piece]) -> list[list[str]]:
    """The marks of each piece: strings of which a model knows how much each speaks for quoted material."""
    sentences_of = [list(group) for _, group in groupby(pieces, lambda piece: piece.sentence)]
    opening = _distinct(sentences_of[0]) if pieces else []
    n_asked = list(accumulate((not _ASKING.isdisjoint(piece.signs) for piece in pieces), initial=0))
    found: list[list[str]] = []
    before: list[Piece] = []
    for its in sentences_of:
        lead: list[Piece] = []
        for piece in its:
            n = len(found)
            marks = [*_own(piece), *_leading_up(piece, lead or before), *_beside(pieces, n)]
            marks += [f"opens {word}" for word in opening] if before else []
            marks += [f"asked {min(n_asked[n], 2)}", f"asks later {min(n_asked[-1] - n_asked[n + 1], 2)}"]
            marks += [f"place {min(n, N_TOLD_APART)}", f"from end {min(len(pieces) - 1 - n, N_TOLD_APART)}"]
            found.append(marks)
            lead = [*lead, piece][-MAX_PIECES_BEFORE:]
        before = its
    return found


def _distinct(pieces: Iterable[Piece]) -> list[str]:
    """The words of some pieces and their kinds, each once."""
    every = chain.from_iterable(chain(piece.words, piece.kinds) for piece in pieces)
    return list(dict.fromkeys(islice(every, 2 * MAX_WORDS_AROUND)))


def _own(piece: Piece) -> list[str]:
    """The marks of what stands in a piece."""
    words = piece.words
    return [
        *(f"word {word}" for word in {*words, *piece.kinds}),
        *(f"begins {' '.join(words[:count])}" for count in (1, 2)),
        *(f"ends {' '.join(words[-count:])}" for count in (1, 2)),
        *piece.signs,
        *(f"{sign}, {piece.parting}" for sign in piece.signs),
        piece.parting,
        f"words {min(len(words) // 3, 6)}",
    ]


def _leading_up(piece: Piece, lead: Sequence[Piece]) -> list[str]:
    """The marks of what stands before a piece in its sentence, or of the sentence before where it begins one."""
    kinds = [kind for one in lead[-MAX_PIECES_BEFORE:] for kind in one.kinds][-MAX_WORDS_AROUND:]
    marks = [f"{piece.parting} {word}" for word in _distinct(lead)]
    return marks + [f"{piece.parting} {one} {other}" for one, other in pairwise(kinds)]


def _beside(pieces: Sequence[Piece], n: int) -> list[str]:
    """The marks of the pieces on both sides of one."""
    marks = []
    if n:
        one = pieces[n - 1]
        marks += [f"last begins {one.words[0]}", *(f"last ends {' '.join(one.words[-count:])}" for count in (1, 2))]
        marks += [f"last {sign}" for sign in one.signs]
        marks.append(f"first {'first' in one.signs} {'first' in pieces[n].signs}")
    if n + 1 < len(pieces):
        one = pieces[n + 1]
        marks += [f"next begins {' '.join(one.words[:count])}" for count in (1, 2)]
        marks += [f"next {one.parting}", *(f"next {sign}" for sign in one.signs)]
    return marks
