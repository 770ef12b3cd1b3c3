"""What is left of a message, as places in what it said: a plan that is written down repeats no word of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from em_pipelines.landing.record_cutting import cut_message
from em_pipelines.language.cleaning import clean_text
from em_pipelines.language.name_matching import MARKER, NameIndex
from em_pipelines.schema.table import Record
from em_pipelines.storage.salt import Salt

Piece = tuple[int, int] | str
"""Start and length of characters of the cleaned text, or what stands between two of them: a mark, never a word."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Salted hashes of the content before and after, and the pieces that make the one of the other; None where the
    content stays as it is and other fields alone lose names."""

    before: str
    after: str
    pieces: tuple[Piece, ...] | None

    @classmethod
    def between(cls, before: str, after: str, salt: Salt) -> "Cut":
        """The cut that makes one content of another."""
        pieces = None if before == after else pieces_of(clean_text(before), after)
        return cls(_hash(salt, before), _hash(salt, after), pieces)

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> "Cut":
        """The cut of what `as_document` gave; raises KeyError, TypeError or ValueError for anything else."""
        said = document["pieces"]
        pieces = None if said is None else tuple(p if isinstance(p, str) else (int(p[0]), int(p[1])) for p in said)
        return cls(document["before"], document["after"], pieces)

    def as_document(self) -> dict[str, Any]:
        """The cut as JSON-able dict."""
        return {"before": self.before, "after": self.after, "pieces": self.pieces}

    def of(self, record: Record, names: NameIndex, salt: Salt) -> Record:
        """What is left of a message; itself where it was cut before, and without the names where it says something
        else than when the cut was planned."""
        said = record["content"]
        found = _hash(salt, said)
        if found == self.before:
            content = said if self.pieces is None else joined(clean_text(said), self.pieces)
            return {**cut_message(record, names), "content": content}
        return record if found == self.after else cut_message(record, names)


def pieces_of(text: str, left: str) -> tuple[Piece, ...]:
    """The pieces of a text that make what is left of it, longest first come; `joined` gives that back.

    A letter or digit that the text has not becomes MARKER: nothing that is written down may say a word.
    """
    pieces: list[Piece] = []
    at = 0
    while at < len(left):
        length = _longest(text, left, at)
        if length:
            pieces.append((text.index(left[at : at + length]), length))
        else:
            pieces.append(MARKER if left[at].isalnum() else left[at])
        at += length or 1
    return tuple(pieces)


def joined(text: str, pieces: tuple[Piece, ...]) -> str:
    """The pieces of a text, one behind the other."""
    return "".join(p if isinstance(p, str) else text[p[0] : p[0] + p[1]] for p in pieces)


def _longest(text: str, left: str, at: int) -> int:
    """How many characters of what is left, from one place on, stand in the text as they are."""
    known, size = 0, 1
    while at + known < len(left) and left[at : at + size] in text and at + size <= len(left):
        known, size = size, size * 2
    low, high = known, min(size, len(left) - at)
    while low < high:
        middle = (low + high + 1) // 2
        if left[at : at + middle] in text:
            low = middle
        else:
            high = middle - 1
    return low


def _hash(salt: Salt, content: str) -> str:
    return salt.hash("content", content)
