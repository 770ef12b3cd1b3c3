"""Takes items from converters, holds them to the rules and appends what is new to the log, a buffer at a time.

What is refused is handed back as Refusal; what becomes of those (dead letters, or nothing in a replay) is not decided
here. What has landed before is asked for by key: the first question finds by the session index which days each
conversation touches, and reads the days that are not in there. From then on a question reads just the days of the
conversations asked for, and holds just their records.

The index lies beside the log. A day is known in it by a mark of its folder: appending to it or rewriting it gives it
another, and the day is read again. Deleting the file costs one pass over the log and changes nothing. It holds hashes
of conversations, by which one whose user and name are guessed could be recognised: an erasure deletes it. Two
conversations of one hash cost reading a day too many. A log on an object store has no such file.
"""

import hashlib
import os
import posixpath
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import orjson

from em_pipelines.landing.formats.base import Fields, Ignored, Item, Parsed, Remark, dumps
from em_pipelines.landing.reasons import Origin, Reason, Refusal, RuleError
from em_pipelines.landing.records import (
    KNOWN_ANY_DAY,
    OTHER_NAME,
    Key,
    interaction_key,
    is_same_content,
    land_record,
    read_otherwise,
)
from em_pipelines.landing.report import Counts
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.language.values import iso_instant
from em_pipelines.schema.table import Record
from em_pipelines.schema.vocabulary import USER
from em_pipelines.storage.files import put_in_place, settled_until_ns, temporary_beside
from em_pipelines.storage.landed_log import LandedLog, Verdict

KIND = "interactions"
FILE = ".sessions.json"
HASH_CHARACTERS = 16
NOT_CONTINUED = "a branch of the conversation that was not continued"
Session = tuple[str, str]
"""User and session id."""


class SessionIndex:
    """The days of conversations, as the log stood when it was first asked. Whoever appends meanwhile says so with
    `note`."""

    def __init__(self, log: LandedLog) -> None:
        self._log = log
        self._path = Path(log.local_root, FILE) if log.local_root else None
        self._hashes: dict[date, set[str]] | None = None

    def days(self, sessions: Collection[Session]) -> list[date]:
        """The days, in order, on which any of the conversations may have landed, and on no other has one."""
        wanted = {_hash(session) for session in sessions}
        return sorted(day for day, hashes in self._by_day().items() if not wanted.isdisjoint(hashes))

    def note(self, day: date, records: Iterable[Record]) -> None:
        """Takes in interactions that have just been appended for a day."""
        self._by_day().setdefault(day, set()).update(_hashes(records))

    def delete(self) -> None:
        """Removes the file. The caller holds the landing lock."""
        if self._path:
            self._path.unlink(missing_ok=True)

    def _by_day(self) -> dict[date, set[str]]:
        if self._hashes is None:
            self._hashes = self._load()
        return self._hashes

    def _load(self) -> dict[date, set[str]]:
        """Reads the days that are not in the file, or have changed, and keeps them for the next time."""
        marks = self._marks()  # before the days are read: what is appended meanwhile shows in the mark of then
        kept = _read(self._path) if self._path else {}
        entries: dict[str, list[str]] = {}
        by_day: dict[date, set[str]] = {}
        for day in self._log.days(KIND):
            key, mark = f"{day.toordinal():x}", marks.get(day)
            entry = kept.get(key)
            if mark is None or entry is None or entry[0] != mark:
                by_day[day] = _hashes(self._log.read(KIND, day))
                entry = [mark, *sorted(by_day[day])] if mark else None
            else:
                by_day[day] = set(entry[1:])
            if entry:
                entries[key] = entry
        if entries and entries != kept:
            self._keep(entries)
        return by_day

    def _keep(self, entries: dict[str, list[str]]) -> None:
        if self._path is None:
            return
        own = self._path.with_name(f"{FILE}.{threading.get_ident()}")
        with suppress(OSError), temporary_beside(own) as temporary:
            data = orjson.dumps(entries)
            temporary.write_bytes(data + b"\n" + _check_of(data))
            put_in_place(temporary, self._path, set())  # nobody waits for the disk: it can be made again

    def _marks(self) -> dict[date, str]:
        """What tells the days' folders from any others; without those that could change unseen."""
        marks: dict[date, str] = {}
        settled_until = settled_until_ns()
        if self._log.local_root:
            with suppress(FileNotFoundError), os.scandir(posixpath.join(self._log.local_root, KIND)) as folders:
                for folder in folders:
                    stat = folder.stat()
                    if not folder.name.startswith(".") and stat.st_mtime_ns < settled_until:
                        marks[date.fromisoformat(folder.name)] = f"{stat.st_ino:x}-{stat.st_mtime_ns:x}"
        return marks


def _hashes(records: Iterable[Record]) -> set[str]:
    return {_hash(session) for session in {interaction_key(record)[:2] for record in records}}


def _hash(session: Session) -> str:
    text = "".join(f"{len(part)}:{part}" for part in session)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARACTERS]


def _check_of(data: bytes) -> bytes:
    """By which a change of the file shows: with a lost hash a message would land a second time."""
    return hashlib.sha256(data).hexdigest().encode()


def _read(path: Path) -> dict[str, list[str]]:
    """What the file holds; nothing where there is none, or where it is not what was written."""
    try:
        data, _, check = path.read_bytes().partition(b"\n")
        entries = orjson.loads(data) if check == _check_of(data) else {}
    except (OSError, ValueError):
        return {}
    is_whole = isinstance(entries, dict) and all(
        isinstance(entry, list) and entry and all(isinstance(part, str) for part in entry) for entry in entries.values()
    )
    return entries if is_whole else {}


ID_COLUMNS = {
    "skill_invocations": "invocation_id",
    "feedback": "feedback_id",
    "world_events": "world_event_id",
}
"""The key of each kind but interactions: a hash of the content."""


class KnownRecords:
    """The records of a log by their keys. Whoever appends to the log meanwhile says so with `note`."""

    def __init__(self, log: LandedLog) -> None:
        self._log = log
        self._sessions = SessionIndex(log)
        self._seeds: set[str] | None = None

    def interactions(self, keys: set[Key]) -> dict[Key, Record]:
        """Those of the keys that have landed, on whatever day, each with the record that landed first."""
        found: dict[Key, Record] = {}
        for day in self._sessions.days({key[:2] for key in keys}):
            for record in self._log.read("interactions", day):
                key = interaction_key(record)
                if key in keys:
                    found.setdefault(key, record)
        return found

    def ids(self, kind: str, days: Iterable[date]) -> set[str]:
        """The ids of a kind that have landed for these days; equal ids have equal content, hence equal days."""
        column = ID_COLUMNS[kind]
        return {record[column] for day in days for record in self._log.read(kind, day)}

    def seeds(self) -> set[str]:
        """The ids of all imports that have landed, on whatever day."""
        if self._seeds is None:
            landed = (record for day in self._log.days("feedback") for record in self._log.read("feedback", day))
            self._seeds = {record["feedback_id"] for record in landed if record["type"] in KNOWN_ANY_DAY}
        return self._seeds

    def note(self, day: date, records: Iterable[Record]) -> None:
        """Takes in interactions that have just been appended for a day."""
        self._sessions.note(day, records)

    def note_seeds(self, records: Iterable[Record]) -> None:
        """Takes in imported facts among feedback that has just been appended."""
        if self._seeds is not None:
            self._seeds.update(record["feedback_id"] for record in records)


Lander = Callable[[str, Fields, str], Record]
"""Kind, fields and format → the landed record; raises RuleError."""


@dataclass(frozen=True, slots=True)
class _Pending:
    """A record that waits to be written, with what is kept of it should it be refused: raw, else its fields."""

    kind: str
    record: Record
    origin: Origin
    line_number: int
    raw: bytes | None
    fields: Fields


class Intake:
    """Collects records and writes them; the order in which they come decides which of two conflicting ones stands."""

    def __init__(
        self,
        log: LandedLog,
        *,
        now: datetime,
        settings: LandingSettings,
        lander: Lander = land_record,
        on_landed: Callable[[list[Record]], None] | None = None,
    ) -> None:
        """`on_landed` is told of the interactions that were appended."""
        self.counts = Counts()
        self._on_landed = on_landed
        self.now = now
        self._lander = lander
        self.log = log
        self._known = KnownRecords(log)
        self.settings = settings
        self._latest = iso_instant(now + timedelta(minutes=settings.max_future_skew_minutes))
        self._earliest = iso_instant(datetime.combine(settings.earliest_day, datetime.min.time(), UTC))
        self._pending: list[_Pending] = []
        self._refused: list[Refusal] = []
        self._n_bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether it is time to flush."""
        return self._holds(1)

    def has_room_for(self, item: Item) -> bool:
        """Whether an item may be taken before the next flush: while there is room, and, up to twice that, while its
        conversation goes on. In two flushes a conversation would be looked for in the log, its days read for it."""
        if not self._holds(1):
            return True
        last = self._pending[-1].record.get("session_id") if self._pending else None
        goes_on = isinstance(item, Parsed) and last is not None and item.fields.get("session_id") == last
        return goes_on and not self._holds(2)

    def _holds(self, n_buffers: int) -> bool:
        n_held, settings = len(self._pending) + len(self._refused), self.settings
        return (
            n_held >= n_buffers * settings.max_buffer_records or self._n_bytes >= n_buffers * settings.max_buffer_bytes
        )

    def take(self, item: Item, origin: Origin) -> None:
        """Takes one item: counts it, and holds it as record or refusal until the next flush."""
        if isinstance(item, Ignored):
            self.counts.skipped[item.why.value] += 1
            if item.kept:
                self._refuse_item(Parsed(item.line_number, KIND, item.kept), origin, Reason.OTHER_BRANCH, NOT_CONTINUED)
            return
        if isinstance(item, Remark):
            self.counts.remarks.setdefault(item.text)
            return
        self.counts.n_rows += 1
        if not isinstance(item, Parsed):
            raw, fmt = (item.raw, origin.format) if item.fields is None else (_as_native(item.fields), "native")
            self._refuse(
                Refusal(origin, item.line_number, item.reason, item.detail, raw, fmt, _user(item.fields, origin))
            )
            return
        try:
            record = self._lander(item.kind, item.fields, origin.format)
            self._check_time(record)
            admitted = self._admitted(item.kind, record)
        except RuleError as error:
            self._refuse_item(item, origin, error.reason, error.detail)
            return
        if admitted is None:
            return
        record = admitted
        fields = item.fields if item.raw is None else {}
        self._pending.append(_Pending(item.kind, record, origin, item.line_number, item.raw, fields))
        self._n_bytes += len(item.raw or b"") + len(record.get("content", ""))

    def flush(self) -> list[Refusal]:
        """Appends what is new to the log and returns what was refused since the last time."""
        interactions = [p for p in self._pending if p.kind == "interactions"]
        new = self._sift_interactions(interactions)
        with self.log.together():
            for day in sorted(new):
                self.log.append("interactions", day, new[day])
                self._known.note(day, new[day])
                self._count(day, new[day], KIND)
                if self._on_landed:
                    self._on_landed(new[day])
            for kind in ID_COLUMNS:
                self._flush_others(kind, [p.record for p in self._pending if p.kind == kind])
        refused, self._refused, self._pending, self._n_bytes = self._refused, [], [], 0
        return refused

    def _sift_interactions(self, pending: list[_Pending]) -> dict[date, list[Record]]:
        standing = self._known.interactions({interaction_key(p.record) for p in pending}) if pending else {}
        new: dict[date, list[Record]] = defaultdict(list)
        for p in pending:
            key = interaction_key(p.record)
            stands = standing.get(key)
            if stands is None:
                standing[key] = p.record
                new[_day(p.record)].append(p.record)
            elif is_same_content(stands, p.record):
                self.counts.n_duplicates += 1
            elif p.raw is None and (how := read_otherwise(stands, p.record)):
                self.counts.n_duplicates += 1
                self._note_other_reading(how, stands, p.record)
            else:
                detail = (
                    f"turn {key[2]} of session {key[1]} has landed with other content, dated {stands['timestamp']};"
                    " the first stands"
                )
                item = Parsed(p.line_number, p.kind, {"user_id": key[0], **p.fields}, p.raw)
                self._refuse_item(item, p.origin, Reason.KEY_CONFLICT, detail)
        return new

    def _note_other_reading(self, how: str, standing: Record, record: Record) -> None:
        if how != OTHER_NAME:
            self.counts.n_read_otherwise[how] += 1
        elif (before := standing["speaker"]) != (now := record["speaker"]) and record["subject"] != USER:
            self.counts.remarks.setdefault(
                f"{now} wrote what has landed as {before}'s: the messages are duplicates, and `em merge --user "
                f'{record["user_id"]} "{before}" "{now}"` makes the two names one person'
            )

    def _flush_others(self, kind: str, records: list[Record]) -> None:
        by_day: dict[date, dict[str, Record]] = defaultdict(dict)
        for record in records:
            by_day[_day(record)].setdefault(record[ID_COLUMNS[kind]], record)
        self.counts.n_duplicates += len(records) - sum(map(len, by_day.values()))
        for day, found in sorted(by_day.items()):
            known = self._known.ids(kind, [day])
            if any(record.get("type") in KNOWN_ANY_DAY for record in found.values()):
                known |= self._known.seeds()
            new = [record for record_id, record in found.items() if record_id not in known]
            self.counts.n_duplicates += len(found) - len(new)
            self.log.append(kind, day, new)
            self._known.note_seeds(new)
            self._count(day, new, kind)

    def _admitted(self, kind: str, record: Record) -> Record | None:
        """The record as the log's gate lets it in, or None; raises RuleError for a request that names nothing."""
        try:
            passage = self.log.gate.judge(kind, record)
        except ValueError as error:
            raise RuleError(Reason.INVALID_FIELD, f"{error}") from error
        self.counts.n_erased += passage.verdict is Verdict.ERASED
        self.counts.n_duplicates += passage.verdict is Verdict.KNOWN
        self.counts.n_requests += passage.verdict is Verdict.ASKED
        self.counts.holds_erased |= passage.verdict is not Verdict.ADMITTED
        return passage.record

    def _count(self, day: date, records: list[Record], kind: str) -> None:
        self.counts.n_landed += len(records)
        self.counts.kinds.update(record.get("type", kind) for record in records)
        if records:
            self.counts.days.add(day)

    def _check_time(self, record: Record) -> None:
        # Landed timestamps have one form and one offset, so that they compare as text.
        if record["timestamp"] > self._latest:
            raise RuleError(Reason.FUTURE_DATE, f"timestamp: {record['timestamp']} lies after {self._latest}")
        if record["timestamp"] < self._earliest:
            raise RuleError(Reason.TOO_OLD, f"timestamp: {record['timestamp']} lies before {self._earliest}")

    def _refuse_item(self, item: Parsed, origin: Origin, reason: Reason, detail: str) -> None:
        raw, fmt = (item.raw, origin.format) if item.raw is not None else (_as_native(item.fields, item.kind), "native")
        self._refuse(Refusal(origin, item.line_number, reason, detail, raw, fmt, _user(item.fields, origin)))

    def _refuse(self, refusal: Refusal) -> None:
        self._refused.append(refusal)
        self._n_bytes += len(refusal.raw)


def _as_native(fields: Fields, kind: str = "interactions") -> bytes:
    said = {name: value for name, value in fields.items() if value is not None}
    return dumps(said if kind == "interactions" else {"kind": kind, **said})


def _user(fields: Fields | None, origin: Origin) -> str | None:
    said = (fields or {}).get("user_id")
    return said if isinstance(said, str) and said else origin.user_id


def _day(record: Record) -> date:
    return date.fromisoformat(record["timestamp"][:10])
