"""Imported facts wait here until somebody has looked at them: what waits, letting it count, turning it away.

What waits is told by `landing.imported_facts`. A decision is feedback like a correction: `accept` says the whole
fact, so that the fold needs nothing else, `reject` its id alone.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, cast, get_args

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.extraction.feedback_statements import spoken
from em_pipelines.governance.review_settings import SourceKind
from em_pipelines.guard.sensitive import SafetySettings
from em_pipelines.home import Home
from em_pipelines.landing.imported_facts import ACCEPT, REJECT, Waiting, days_of_notes, undecided
from em_pipelines.landing.records import IMPORT, land_record
from em_pipelines.landing.tables import feedback_table
from em_pipelines.language.values import iso_instant
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.rows import ClaimRow, FeedbackRow
from em_pipelines.schema.table import Record, rows_of
from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.schema.vocabulary import Act as ClaimAct
from em_pipelines.storage.ledger_entries import Act

FORMAT = "em"
KINDS = get_args(SourceKind)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which of those that wait are meant: all that fit everything that is said here. Raises UsageError for a kind of
    imports that is none."""

    user_id: str | None = None
    file: str | None = None
    source_kind: str | None = None
    ids: Sequence[str] = ()

    def __post_init__(self) -> None:
        if self.source_kind not in (None, *KINDS):
            found = f"{self.source_kind!r:.40} is no kind of import"
            raise UsageError(f"choosing imported facts: {found}; use one of {', '.join(KINDS)}")

    @property
    def is_narrowed(self) -> bool:
        """Whether anything is said of which are meant, beside whose they are."""
        return bool(self.ids or self.file or self.source_kind)


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided upon, and what the safety guard keeps away, whoever accepts it."""

    decided: tuple[Waiting, ...]
    withheld: tuple[Waiting, ...] = ()


class Review:
    """What waits in one home, and decisions upon it; the ledger names the `actor`."""

    def __init__(
        self, home: Home, safety: SafetySettings, trusted_kinds: Collection[str] = (), actor: str = "user"
    ) -> None:
        self._home = home
        self._safety = safety
        self._trusted_kinds = trusted_kinds
        self._actor = actor

    def waiting(self, wanted: Wanted | None = None, *, is_rejected: bool = False) -> list[Waiting]:
        """What waits, by user, file and line; with `is_rejected` what was turned away instead."""
        chosen, landed = wanted or Wanted(), self._landed()
        items = undecided(landed, self._proposed(landed), is_rejected=is_rejected)
        return [item for item in items if _fits(item, chosen)]

    def choose(self, wanted: Wanted, *, is_rejected: bool = False) -> list[Waiting]:
        """What waits and is meant. Raises UsageError where an id fits none, or more than one."""
        found = self.waiting(wanted, is_rejected=is_rejected)
        for prefix in wanted.ids:
            n = sum(item.seed_id.startswith(prefix) for item in found)
            if n != 1:
                raise UsageError(
                    f"choosing an imported fact: {n} of those that wait begin with {prefix!r:.80}; see `em review list`"
                )
        return found

    def choose_to_accept(self, wanted: Wanted) -> list[Waiting]:
        """The same, with what was turned away where it is named by its id."""
        if not wanted.ids:
            return self.choose(wanted)
        away = self.waiting(wanted, is_rejected=True)
        left = [prefix for prefix in wanted.ids if not any(item.seed_id.startswith(prefix) for item in away)]
        return [*(self.choose(replace(wanted, ids=left)) if left else []), *away]

    def accept(self, items: Sequence[Waiting]) -> Decided:
        """Lets facts count from now on. What the guard keeps away stays where it is."""
        records = {item.seed_id: self._record(ACCEPT, item) for item in items}
        admitted = self._admitted(records)
        kept = [item for item in items if item.seed_id in admitted]
        self._append(ACCEPT, kept, [records[item.seed_id] for item in kept])
        return Decided(tuple(kept), tuple(item for item in items if item not in kept))

    def admitted(self, items: Sequence[Waiting]) -> dict[str, ClaimRow]:
        """By id what facts would say if they were accepted, past the guard; those that it keeps away are left out."""
        return self._admitted({item.seed_id: self._record(ACCEPT, item) for item in items})

    def reject(self, items: Sequence[Waiting]) -> Decided:
        """Turns facts away; importing them again changes nothing."""
        self._append(REJECT, items, [self._record(REJECT, item) for item in items])
        return Decided(tuple(items))

    def settle(self, files: Collection[str] = (), user_id: str | None = None) -> Decided:
        """Accepts what is trusted: of the kinds that the settings name, and of some files (of one user)."""
        notes = [r for r in self._landed() if r["type"] == IMPORT and user_id in (None, r["user_id"])]
        self._trust([note for note in notes if orjson.loads(note["payload"]).get("file") in files])
        trusted = self._trusted_notes()
        if not (self._trusted_kinds or files or trusted):
            return Decided(())
        own = [
            item
            for item in self.waiting(Wanted(user_id))
            if {item.source_kind, item.file} & {*self._trusted_kinds, *files}
            or (item.user_id, item.session_id) in trusted
        ]
        return self.accept(own) if own else Decided(())

    def _admitted(self, records: Mapping[str, Record]) -> dict[str, ClaimRow]:
        """By id the claim that an acceptance makes once it has landed, where it makes one."""
        rows = cast("list[FeedbackRow]", feedback_table(records.values()).to_pylist())
        said = {claim["message_id"]: claim for claim in spoken(rows, self._safety).claims}
        ids = {seed_id: record["feedback_id"] for seed_id, record in records.items()}
        return {seed_id: said[feedback_id] for seed_id, feedback_id in ids.items() if feedback_id in said}

    def _landed(self) -> list[Record]:
        log = self._home.store.log
        return [record for day in log.days("feedback") for record in log.read("feedback", day)]

    def _trusted_notes(self) -> set[tuple[str, str | None]]:
        """The users and sessions of notes that count without a look."""
        notes = [record for record in self._landed() if record["type"] == IMPORT]
        return {(n["user_id"], n["session_id"]) for n in notes if orjson.loads(n["payload"]).get("is_accepted")}

    def _trust(self, notes: Sequence[Record]) -> None:
        """Notes that what is read in notes counts without a look; what that is shows when they are read."""
        known, now = self._trusted_notes(), iso_instant(datetime.now(UTC))
        records = [
            land_record("feedback", {**_fields(note), "timestamp": now, "is_accepted": True}, FORMAT)
            for note in notes
            if (note["user_id"], note["session_id"]) not in known
        ]
        if records:
            with self._home.lock("landing"):
                self._home.store.log.append("feedback", date.fromisoformat(now[:10]), records)

    def _record(self, type_: str, item: Waiting) -> Record:
        now = datetime.now(UTC)
        fact = item.fact if type_ == ACCEPT else {}
        fields = {
            **fact, "user_id": item.user_id, "type": type_, "timestamp": iso_instant(now), "seed_id": item.seed_id,
            "session_id": item.session_id,
        }  # fmt: skip
        return land_record("feedback", fields, FORMAT)

    def _append(self, type_: str, items: Sequence[Waiting], records: Sequence[Record]) -> None:
        """Writes decisions to the log, and one entry a person to the ledger."""
        with self._home.lock("landing"):
            for day in sorted({record["timestamp"][:10] for record in records}):
                of_day = [record for record in records if record["timestamp"].startswith(day)]
                self._home.store.log.append("feedback", date.fromisoformat(day), of_day)
        for user_id in sorted({item.user_id for item in items}):
            ids = [item.seed_id for item in items if item.user_id == user_id]
            target = ids[0] if len(ids) == 1 else content_id("review", *ids)
            self._home.ledger.append(Act(type_, user_id, target, datetime.now(UTC), self._actor, len(ids)))

    def _proposed(self, landed: Sequence[Record]) -> Iterator[ClaimRow]:
        """What was read in imported notes; of days on which none was written no table is opened."""
        for day in days_of_notes(landed):
            found = self._home.store.lake.find(CLAIMS, day, "act", [ClaimAct.PROPOSE.value])
            yield from cast("Iterator[ClaimRow]", rows_of(found))


def _fields(record: Record) -> dict[str, Any]:
    """A landed record in the fields that it came in."""
    own = {name: record[name] for name in ("user_id", "session_id", "type")}
    return {**orjson.loads(record["payload"]), **own}


def _fits(item: Waiting, wanted: Wanted) -> bool:
    return (
        wanted.user_id in (None, item.user_id)
        and wanted.file in (None, item.file)
        and wanted.source_kind in (None, item.source_kind)
        and (not wanted.ids or any(item.seed_id.startswith(prefix) for prefix in wanted.ids))
    )
