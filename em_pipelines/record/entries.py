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


def check_act(action: str, actor: str, at: datetime, count: int, certificate_id: str | None) -> None:
    """Raises ValueError where a field could name somebody, or says nothing."""
    if not _WORD.fullmatch(action) or not _WORD.fullmatch(actor):
        raise ValueError(f"entering {action!r} by {actor!r}: both are words in small letters, never names")
    if certificate_id is not None and not _ID.fullmatch(certificate_id):
        raise ValueError("entering a certificate: an id has letters, digits, _ and - alone")
    if at.tzinfo is None or count < 0:
        raise ValueError(f"entering {action}: the time needs an offset and the count is at least 0")


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
