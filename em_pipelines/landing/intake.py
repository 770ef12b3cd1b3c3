"""Takes items from converters, holds them to the rules and appends what is new to the log, a buffer at a time.

What is refused is handed back as Refusal; what becomes of those (dead letters, or nothing in a replay) is not
decided here.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from em_pipelines.landing.fields import iso_instant
from em_pipelines.landing.formats.base import Fields, Ignored, Item, Parsed, dumps
from em_pipelines.landing.gate import Verdict
from em_pipelines.landing.known import ID_COLUMNS, KnownRecords
from em_pipelines.landing.log import LandedLog, Record
from em_pipelines.landing.reasons import Reason, RuleError
from em_pipelines.landing.records import interaction_key, is_same_content, land_record
from em_pipelines.landing.settings import LandingSettings

Lander = Callable[[str, Fields, str], Record]
"""Kind, fields and format → the landed record; raises RuleError."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an item came from: the file as named, the format it was read as, and whose it is if nothing else says."""

    file: str
    format: str
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Input that breaks a rule, with what is kept of it. `raw` can be read again as `format`."""

    origin: Origin
    line_number: int
    reason: Reason
    detail: str
    raw: bytes
    format: str
    user_id: str | None


@dataclass(frozen=True, slots=True)
class _Pending:
    """A record that waits to be written, with what is kept of it should it be refused: raw, else its fields."""

    kind: str
    record: Record
    origin: Origin
    line_number: int
    raw: bytes | None
    fields: Fields


@dataclass(slots=True)
class Counts:
    """What has been taken so far; landed and duplicates are known only after a flush."""

    n_rows: int = 0
    n_landed: int = 0
    n_duplicates: int = 0
    n_ignored: int = 0
    n_erased: int = 0
    n_requests: int = 0
    holds_erased: bool = False
    days: set[date] = field(default_factory=set)


class Intake:
    """Collects records and writes them; the order in which they come decides which of two conflicting ones stands."""

    def __init__(
        self, log: LandedLog, *, now: datetime, settings: LandingSettings, lander: Lander = land_record
    ) -> None:
        self.counts = Counts()
        self._lander = lander
        self._log = log
        self._known = KnownRecords(log)
        self._settings = settings
        self._latest = iso_instant(now + timedelta(minutes=settings.max_future_skew_minutes))
        self._earliest = iso_instant(datetime.combine(settings.earliest_day, datetime.min.time(), UTC))
        self._pending: list[_Pending] = []
        self._refused: list[Refusal] = []
        self._n_bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether it is time to flush."""
        n_held = len(self._pending) + len(self._refused)
        return n_held >= self._settings.max_buffer_records or self._n_bytes >= self._settings.max_buffer_bytes

    def take(self, item: Item, origin: Origin) -> None:
        """Takes one item: counts it, and holds it as record or refusal until the next flush."""
        if isinstance(item, Ignored):
            self.counts.n_ignored += 1
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
        for day in sorted(new):
            self._log.append("interactions", day, new[day])
            self._known.note(day, new[day])
            self._count(day, new[day])
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
            else:
                detail = (
                    f"turn {key[2]} of session {key[1]} has landed with other content, dated {stands['timestamp']};"
                    " the first stands"
                )
                item = Parsed(p.line_number, p.kind, {"user_id": key[0], **p.fields}, p.raw)
                self._refuse_item(item, p.origin, Reason.KEY_CONFLICT, detail)
        return new

    def _flush_others(self, kind: str, records: list[Record]) -> None:
        by_day: dict[date, dict[str, Record]] = defaultdict(dict)
        for record in records:
            by_day[_day(record)].setdefault(record[ID_COLUMNS[kind]], record)
        self.counts.n_duplicates += len(records) - sum(map(len, by_day.values()))
        for day, found in sorted(by_day.items()):
            known = self._known.ids(kind, [day])
            new = [record for record_id, record in found.items() if record_id not in known]
            self.counts.n_duplicates += len(found) - len(new)
            self._log.append(kind, day, new)
            self._count(day, new)

    def _admitted(self, kind: str, record: Record) -> Record | None:
        """The record as the log's gate lets it in, or None; raises RuleError for a request that names nothing."""
        try:
            passage = self._log.gate.judge(kind, record)
        except ValueError as error:
            raise RuleError(Reason.INVALID_FIELD, f"{error}") from error
        self.counts.n_erased += passage.verdict is Verdict.ERASED
        self.counts.n_duplicates += passage.verdict is Verdict.KNOWN
        self.counts.n_requests += passage.verdict is Verdict.ASKED
        self.counts.holds_erased |= passage.verdict is not Verdict.ADMITTED
        return passage.record

    def _count(self, day: date, records: list[Record]) -> None:
        self.counts.n_landed += len(records)
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
