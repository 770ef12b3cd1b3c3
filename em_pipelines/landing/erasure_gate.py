"""The gate of a home's log: keeps away what was erased, and turns `forget` feedback into requests."""

import base64
import re
from datetime import datetime
from pathlib import PurePath

import orjson

from em_pipelines.landing.erasure_requests import RequestBook, Scope
from em_pipelines.language.fact_keys import key_of_named, strings_in
from em_pipelines.language.name_matching import NameIndex
from em_pipelines.language.values import iso_instant, parse_instant
from em_pipelines.schema.table import Record
from em_pipelines.storage.landed_log import Passage, Verdict
from em_pipelines.storage.tombstones import EDGE, FACT, MESSAGE, RECORD, SESSION, USER, Tombstones

ID_COLUMNS = {"skill_invocations": "invocation_id", "feedback": "feedback_id", "dead_letters": "dead_letter_id"}
_FIELD = {
    name: re.compile(rb'"' + name.encode() + rb'"\s*:\s*("(?:[^"\\]|\\.){1,2000}")')
    for name in ("user_id", "session_id", "timestamp")
}
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
ADMITTED, ERASED = Verdict.ADMITTED, Verdict.ERASED


class ErasureGate:
    """The gate over one home's tombstones and requests. Deterministic: it reads no clock."""

    def __init__(self, tombstones: Tombstones, book: RequestBook) -> None:
        self.tombstones = tombstones
        self._book = book

    def verify(self) -> None:
        """Raises SaltError where no tombstone would be recognised."""
        _ = self.tombstones.is_empty

    def judge(self, kind: str, record: Record) -> Passage:
        """The verdict on a landed record; raises ValueError for a request to forget that names nothing."""
        if kind == "feedback" and record["type"] == "forget":
            return self._take_request(record)
        if kind == "world_events" or self.tombstones.is_empty:
            return Passage(ADMITTED, record)
        if self.is_of_erased(record):
            return Passage(ERASED, None)
        if self._has_tombstone(kind, record):  # a message was cut, and is in the log as it was left
            return Passage(Verdict.KNOWN if kind == "interactions" else ERASED, None)
        left = self.left_of(kind, record)
        if left is None:
            return Passage(ERASED, None)
        return Passage(ADMITTED if left == record else Verdict.CUT, left)

    def is_of_erased(self, record: Record) -> bool:
        """Whether a record is of a user or session that is erased."""
        user_id, said_at = record["user_id"], _said_at(record)
        if self.tombstones.covers(USER, user_id, said_at=said_at):
            return True
        session = record.get("session_id")
        return session is not None and self.tombstones.covers(SESSION, user_id, session, said_at=said_at)

    def left_of(self, kind: str, record: Record) -> Record | None:
        """A record without the erased names, facts and edges of its user; None where nothing is left of it."""
        # Whoever reads opens a log, too, and what cleans texts takes a tenth of a second to import.
        from em_pipelines.landing.record_cutting import cut_feedback, cut_message  # noqa: PLC0415

        names = self.tombstones.names_of(record["user_id"], _said_at(record))
        if kind == "interactions":
            return cut_message(record, names)
        if kind == "feedback":
            return cut_feedback(record, lambda value: self._is_gone(value, record, names))
        return None if any(names.is_in(text) for text in strings_in(_spoken(record))) else record

    def admits_letter(self, letter: Record) -> bool:
        """Whether a dead letter may be kept. One that says no time counts as said before every erasure."""
        if self.tombstones.is_empty:
            return True
        raw = base64.b64decode(letter.get("raw", ""))
        said_at = time_in(raw)
        if self.tombstones.covers(RECORD, "dead_letters", letter["dead_letter_id"], said_at=said_at):
            return False
        users = {letter["user_id"]} if letter.get("user_id") else {*named_users(raw), *_folders(letter)}
        sessions = named_sessions(raw)
        text = unescaped(raw)
        return not any(
            self.tombstones.covers(USER, user, said_at=said_at)
            or any(self.tombstones.covers(SESSION, user, session, said_at=said_at) for session in sessions)
            or self.tombstones.names_of(user, said_at).is_in(text)
            for user in users
        )

    def _has_tombstone(self, kind: str, record: Record) -> bool:
        """Whether an erasure has cut or removed this very record."""
        said_at = _said_at(record)
        if kind == "interactions":
            place = (record["user_id"], record["session_id"], str(record["turn_number"]))
            return self.tombstones.covers(MESSAGE, *place, said_at=said_at)
        return self.tombstones.covers(RECORD, kind, record[ID_COLUMNS[kind]], said_at=said_at)

    def _is_gone(self, value: object, record: Record, names: NameIndex) -> bool:
        user_id, said_at = record["user_id"], _said_at(record)
        if isinstance(value, str):
            return names.is_in(value) or self.tombstones.covers(EDGE, user_id, value, said_at=said_at)
        if isinstance(value, dict):
            key = key_of_named(value)
            return key is not None and self.tombstones.covers(FACT, user_id, *key, said_at=said_at)
        return False

    def _take_request(self, record: Record) -> Passage:
        payload = orjson.loads(record["payload"])
        scope = Scope.of_payload(record["user_id"], record["session_id"], payload)
        if self.is_of_erased(record):
            return Passage(ERASED, None)
        request = self._book.request(scope, datetime.fromisoformat(record["timestamp"]), "feedback")
        if self._book.is_known(request):
            return Passage(Verdict.KNOWN, None)
        self._book.put(request)
        return Passage(Verdict.ASKED, None)


def _said_at(record: Record) -> str:
    """When a record was said. An import that has no date of its own counts as said before every erasure: landing an old
    file again brings nothing back."""
    if record.get("type") not in ("seed", "import"):
        return str(record["timestamp"])
    return str(orjson.loads(record["payload"]).get("dated", ""))


def named_users(raw: bytes) -> set[str]:
    """The users that raw bytes name as JSON does, whether or not the rest can be read."""
    return {*_values("user_id", raw)}


def named_sessions(raw: bytes) -> set[str]:
    """The conversations that raw bytes name as JSON does, whether or not the rest can be read."""
    return {*_values("session_id", raw)}


def unescaped(raw: bytes) -> str:
    """Bytes as text in which names can be looked for: JSON's escapes of single characters are undone."""
    text = raw.decode("utf-8", "replace")
    if "\\" not in text:
        return text
    text = _ESCAPE.sub(lambda m: chr(int(m.group(1), 16)), text)
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')


def _spoken(record: Record) -> Record:
    """A record without what it is known by."""
    return {k: v for k, v in record.items() if k not in {"user_id", "session_id", "timestamp", *ID_COLUMNS.values()}}


def _values(name: str, raw: bytes) -> list[str]:
    found = []
    for match in _FIELD[name].finditer(raw):
        try:
            found.append(orjson.loads(match.group(1)))
        except orjson.JSONDecodeError:
            continue
    return found


def _folders(letter: Record) -> tuple[str, ...]:
    """A letter that nobody is named in may still lie in a folder that names its user."""
    return PurePath(letter["file"]).parts[:-1]


def time_in(raw: bytes) -> str:
    """The earliest time that raw bytes say, as landed times are written; empty where they say none."""
    found = []
    for text in _values("timestamp", raw):
        try:
            found.append(iso_instant(parse_instant(text)))
        except ValueError:
            continue
    return min(found, default="")
