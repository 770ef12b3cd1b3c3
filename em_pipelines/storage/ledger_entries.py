"""Entries of the ledger: their fields, and the one form in which each is written."""

import re
from dataclasses import dataclass
from datetime import datetime

import orjson

FIRST = "0" * 64
"""The previous hash of the first entry."""
RECORD_TYPES = {
    "sequence": int, "at": str, "action": str, "actor": str, "user": str, "target": str, "count": int,
    "certificate_id": str | None, "previous_hash": str, "hash": str, "seal": str,
}  # fmt: skip


_WORD = re.compile(r"[a-z][a-z0-9_.-]{0,39}")
_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")


@dataclass(frozen=True, slots=True)
class Entry:
    """One act: `user` and `target` are salted hashes, `count` how many things it touched, `at` in UTC."""

    sequence: int
    at: datetime
    action: str
    actor: str
    user: str
    target: str
    count: int
    certificate_id: str | None
    previous_hash: str
    hash: str
    seal: str


@dataclass(frozen=True, slots=True)
class Act:
    """Something that was done, as it is handed in to be entered.

    `action` and `actor` are words (`erase`, `correct`; `user`, `agent`), never names. `user_id` and `target` (an edge,
    an entity, a session, a file) are salted when it is entered. `at` has an offset. Raises ValueError for anything
    else.
    """

    action: str
    user_id: str
    target: str
    at: datetime
    actor: str = "user"
    count: int = 1
    certificate_id: str | None = None

    def __post_init__(self) -> None:
        """Refuses what could name somebody, or says nothing."""
        if not _WORD.fullmatch(self.action) or not _WORD.fullmatch(self.actor):
            raise ValueError(
                f"entering {self.action!r} by {self.actor!r}: both are words in small letters, never names"
            )
        if self.certificate_id is not None and not _ID.fullmatch(self.certificate_id):
            raise ValueError("entering a certificate: an id has letters, digits, _ and - alone")
        if self.at.tzinfo is None or self.count < 0:
            raise ValueError(f"entering {self.action}: the time needs an offset and the count is at least 0")


def canonical(record: dict[str, object]) -> bytes:
    """The bytes of a line: JSON with sorted keys and no blanks."""
    return orjson.dumps(record, option=orjson.OPT_SORT_KEYS)


def record_of(line: bytes) -> dict[str, object] | None:
    """The line as fields; None unless it is, byte for byte, how an entry is written."""
    try:
        found = orjson.loads(line)
        is_entry = (
            isinstance(found, dict)
            and found.keys() == RECORD_TYPES.keys()
            and all(isinstance(found[name], kind) for name, kind in RECORD_TYPES.items())
            and canonical(found) == line
            and datetime.fromisoformat(found["at"]).tzinfo is not None
        )
    except ValueError:
        return None
    return found if is_entry else None


def entry_of(record: dict[str, object]) -> Entry:
    """The fields of a line as an entry."""
    return Entry(**{**record, "at": datetime.fromisoformat(str(record["at"]))})  # type: ignore[arg-type]
