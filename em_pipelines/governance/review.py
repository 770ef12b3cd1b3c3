"""Imported facts wait here until somebody has looked at them: what waits, letting it count, turning it away.

What waits is what has landed as `seed` and nobody has decided upon, and what was read in imported notes (claims of
the act `propose`). A decision is feedback like a correction: `accept` says the whole fact, so that the fold needs
nothing else, `reject` its id alone. A fact is known by what it says, so what was decided once does not come again,
from whatever file.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, cast

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.extraction.feedback_statements import spoken
from em_pipelines.home import Home
from em_pipelines.landing.records import IMPORT, SEED, land_record
from em_pipelines.landing.tables import feedback_table
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.rows import ClaimRow, FeedbackRow
from em_pipelines.schema.table import Record, rows_of
from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.schema.vocabulary import Act as ClaimAct
from em_pipelines.storage.ledger_entries import Act
from em_pipelines.text.fact_keys import key_of_claim
from em_pipelines.text.guard.sensitive import SafetySettings
from em_pipelines.text.values import iso_instant

FORMAT = "em"
NOTES = "notes"
DECISIONS = ("accept", "reject")


@dataclass(frozen=True, slots=True)
class Waiting:
    """An imported fact that waits: where it stands (`line` from 1), what it says, and all of it as feedback."""

    seed_id: str
    user_id: str
    source_kind: str
    file: str | None
    line: int | None
    session_id: str | None
    fact: dict[str, Any]

    @property
    def said(self) -> str:
        """The fact in words of the vocabulary."""
        key, relation = self.fact.get("attribute"), self.fact["relation"].replace("_", " ")
        no = "not " if self.fact.get("polarity", 1) < 0 else ""
        return f"{no}{self.fact['subject']} {f'({key})' if key else relation} {self.fact['object']}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which of those that wait are meant: all that fit everything that is said here."""

    user_id: str | None = None
    file: str | None = None
    source_kind: str | None = None
    ids: Sequence[str] = ()


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
        chosen = wanted or Wanted()
        landed = self._landed()
        verdicts = _verdicts(landed)
        items = {item.seed_id: item for item in (*_seeds(landed), *self._proposals(landed))}
        verdict = "reject" if is_rejected else None
        found = [item for item in items.values() if verdicts.get(item.seed_id) == verdict and _fits(item, chosen)]
        return sorted(found, key=lambda item: (item.user_id, item.file or "", item.line or 0))

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

    def accept(self, items: Sequence[Waiting]) -> Decided:
        """Lets facts count from now on. What the guard keeps away stays where it is."""
        records = {item.seed_id: self._record("accept", item) for item in items}
        rows = cast("list[FeedbackRow]", feedback_table(records.values()).to_pylist())
        said = spoken(rows, self._safety)
        told = {claim["message_id"] for claim in said.claims}
        kept = [item for item in items if records[item.seed_id]["feedback_id"] in told]
        self._append("accept", kept, [records[item.seed_id] for item in kept])
        return Decided(tuple(kept), tuple(item for item in items if item not in kept))

    def reject(self, items: Sequence[Waiting]) -> Decided:
        """Turns facts away; importing them again changes nothing."""
        self._append("reject", items, [self._record("reject", item) for item in items])
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
        fact = item.fact if type_ == "accept" else {}
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

    def _proposals(self, landed: Iterable[Record]) -> Iterator[Waiting]:
        """What was read in imported notes, and waits; of days on which none was written no table is opened."""
        files: dict[tuple[str, str | None], str | None] = {}
        days: set[date] = set()
        for record in landed:
            if record["type"] == IMPORT:
                fields = orjson.loads(record["payload"])
                files[record["user_id"], record["session_id"]] = fields.get("file")
                days.add(date.fromisoformat(fields["day"]))
        for day in sorted(days):
            found = self._home.store.lake.find(CLAIMS, day, "act", [ClaimAct.PROPOSE.value])
            for claim in cast("Iterator[ClaimRow]", rows_of(found)):
                yield _of_claim(claim, files.get((claim["user_id"], claim["session_id"])))


def _fields(record: Record) -> dict[str, Any]:
    """A landed record in the fields that it came in."""
    own = {name: record[name] for name in ("user_id", "session_id", "type")}
    return {**orjson.loads(record["payload"]), **own}


def _verdicts(landed: Iterable[Record]) -> dict[str, str]:
    """The last decision upon each imported fact."""
    decisions = sorted((r for r in landed if r["type"] in DECISIONS), key=lambda r: (r["timestamp"], r["feedback_id"]))
    return {orjson.loads(record["payload"])["seed_id"]: record["type"] for record in decisions}


def _seeds(landed: Iterable[Record]) -> Iterator[Waiting]:
    for record in landed:
        if record["type"] == SEED:
            fact = orjson.loads(record["payload"])
            place = (fact.get("source_kind", ""), fact.get("file"), fact.get("line"))
            yield Waiting(record["feedback_id"], record["user_id"], *place, record.get("session_id"), fact)


def _of_claim(claim: ClaimRow, file: str | None) -> Waiting:
    """A claim that was read in a note, as an imported fact."""
    fields = (
        "subject", "subject_type", "relation", "object_type", "attribute", "polarity", "temporal_type", "statement",
        "confidence", "valid_from", "valid_to", "valid_precision", "flags",
    )  # fmt: skip
    said = {name: claim[name] for name in fields if claim[name] is not None}  # type: ignore[literal-required]
    fact = {
        **said, "object": claim["object"] if claim["object"] is not None else claim["value"], "source_kind": NOTES,
        "privacy_floor": claim["privacy_level"], "file": file,
        "line": claim["turn_number"],
    }  # fmt: skip
    seed_id = content_id(SEED, SEED, claim["user_id"], *key_of_claim(claim), "")
    return Waiting(seed_id, claim["user_id"], NOTES, fact["file"], fact["line"], claim["session_id"], fact)


def _fits(item: Waiting, wanted: Wanted) -> bool:
    return (
        wanted.user_id in (None, item.user_id)
        and wanted.file in (None, item.file)
        and wanted.source_kind in (None, item.source_kind)
        and (not wanted.ids or any(item.seed_id.startswith(prefix) for prefix in wanted.ids))
    )
