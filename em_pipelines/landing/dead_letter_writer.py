"""Dead letters as they are landed: made of refusals, one row an id, secrets masked.

A letter's id hashes the file's name (not its folder), its masked bytes and the reason, so that landing the same bad
file again, from wherever, adds no second row.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable
from datetime import date
from pathlib import PurePath

from em_pipelines.landing.intake import Refusal
from em_pipelines.landing.tables import fold_letters
from em_pipelines.schema import ids
from em_pipelines.schema.table import Record
from em_pipelines.storage.landed_log import LandedLog
from em_pipelines.text.masking import mask_bytes, mask_text

KIND = "dead_letters"
OPEN, REPLAYED, DISCARDED = "open", "replayed", "discarded"


class LetterBox:
    """Appends refusals to the log as dead letters of one day, leaving out those that stand there already."""

    def __init__(self, log: LandedLog, landed_on: date) -> None:
        self.by_reason: Counter[str] = Counter()
        self.n_new = 0
        self.n_erased = 0
        self._log = log
        self._landed_on = landed_on
        self._known: set[str] | None = None

    def put(self, refusals: Iterable[Refusal]) -> None:
        """Counts all of them and appends those that are new; of those that hold what was erased nothing is kept."""
        letters: dict[str, Record] = {}
        for refusal in refusals:
            letter = letter_of(refusal, self._landed_on)
            if not self._log.gate.admits_letter(letter):
                self.n_erased += 1
                continue
            self.by_reason[refusal.reason.value] += 1
            letters.setdefault(letter["dead_letter_id"], letter)
        if not letters:
            return
        if self._known is None:
            self._known = {r["dead_letter_id"] for day in self._log.days(KIND) for r in self._log.read(KIND, day)}
        new = [letter for letter_id, letter in letters.items() if letter_id not in self._known]
        self._log.append(KIND, self._landed_on, new)
        self._known.update(letters)
        self.n_new += len(new)


def letter_of(refusal: Refusal, landed_on: date) -> Record:
    """The landed record of a refusal: the columns of `dead_letters`, the raw bytes as base64 text."""
    raw = mask_bytes(refusal.raw)
    name = PurePath(refusal.origin.file).name
    return {
        "dead_letter_id": ids.content_id("dead", name, refusal.reason.value, hashlib.sha256(raw).hexdigest()),
        "landed_on": landed_on.isoformat(),
        "file": _storable(refusal.origin.file),
        "line_number": refusal.line_number,
        "reason": refusal.reason.value,
        "detail": _storable(refusal.detail),
        "raw": base64.b64encode(raw).decode(),
        "format": refusal.format,
        "user_id": _storable(refusal.user_id) if refusal.user_id else None,
        "status": OPEN,
    }


def all_letters(log: LandedLog) -> dict[str, Record]:
    """All letters of a log by id, each with its last status."""
    return fold_letters(record for day in log.days(KIND) for record in log.read(KIND, day))


def _storable(text: str) -> str:
    # File names need not be Unicode: Python hands their odd bytes over as surrogates, which no JSON can hold.
    return mask_text(text.encode("utf-8", "backslashreplace").decode())
