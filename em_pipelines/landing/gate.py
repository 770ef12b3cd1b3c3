"""What a log asks before it takes something in: the gate that keeps what was erased away.

Landing knows the protocol alone; `em_pipelines.erasure.gate` keeps the one of a home. A log without one takes
everything.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

Record = dict[str, Any]


class Verdict(StrEnum):
    """What becomes of a record at the gate."""

    ADMITTED = "admitted"
    CUT = "cut"
    """Taken in without what was erased in it."""
    KNOWN = "known"
    """It landed before and was rewritten since: a duplicate, whatever it says."""
    ERASED = "erased"
    """Not taken in, and nothing of it is kept."""
    ASKED = "asked"
    """It asks for something to be forgotten: kept as a request, never as a record."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The verdict on one record, and the record as it may be taken in; None where it may not."""

    verdict: Verdict
    record: Record | None


class Gate(Protocol):
    """Judges what is about to be appended to a log. Asked under the home's landing lock."""

    def judge(self, kind: str, record: Record) -> Passage:
        """The verdict on a landed record; raises ValueError for a request to forget that names nothing."""

    def admits_letter(self, letter: Record) -> bool:
        """Whether a dead letter may be kept, raw bytes and all."""


class OpenGate:
    """Takes everything: the gate of a log that belongs to no home."""

    def judge(self, kind: str, record: Record) -> Passage:  # noqa: ARG002  (the protocol's signature)
        """Admits the record as it is."""
        return Passage(Verdict.ADMITTED, record)

    def admits_letter(self, letter: Record) -> bool:  # noqa: ARG002
        """Keeps every letter."""
        return True
