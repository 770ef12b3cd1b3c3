"""Takes a JSON export in: its records land as they stood in the log that they come from, and nothing else counts.

By the same way as any other log: rules, masking, duplicates, conflicts and the gate that keeps away what was erased.
"""

import base64
import hashlib
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.landing.formats.base import Fields, Parsed
from em_pipelines.landing.intake import ID_COLUMNS, Intake
from em_pipelines.landing.land import KIND, LetterBox
from em_pipelines.landing.reasons import OPEN, Origin
from em_pipelines.landing.records import land_record
from em_pipelines.landing.report import LandingReport
from em_pipelines.language.masking import mask_bytes, mask_text
from em_pipelines.schema import ids
from em_pipelines.schema.table import Record
from em_pipelines.serving.export.json_check import Head, check, records
from em_pipelines.serving.export.json_stream import BrokenJsonError
from em_pipelines.serving.export.portable_home import PortableHome
from em_pipelines.storage.landed_log import LandedLog
from em_pipelines.storage.ledger_entries import Act

IMPORT = "import"
"""The action in the ledger, and the file that a refused record is said to come from: the same for every copy."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did: its user, the landing, dead letters taken in and known, and names of settings that differ."""

    user_id: str
    landing: LandingReport
    n_letters: int = 0
    n_known_letters: int = 0
    n_erased_letters: int = 0
    other_settings: tuple[str, ...] = ()


@dataclass
class _Letters:
    """Dead letters to take in, by the day on which they were refused first."""

    known: set[str]
    new: dict[date, list[Record]] = field(default_factory=lambda: defaultdict(list))
    n_new: int = 0
    n_known: int = 0
    n_erased: int = 0

    def take(self, record: Record, log: LandedLog) -> None:
        letter = _letter(record)
        letter_id = letter["dead_letter_id"]
        if {letter_id, record["dead_letter_id"]} & self.known:
            self.n_known += 1
        elif not log.gate.admits_letter(letter):
            self.n_erased += 1
        else:
            self.known.add(letter_id)
            self.n_new += 1
            of_day = self.new[date.fromisoformat(letter["landed_on"])]
            of_day.append(letter)
            if record["status"] != OPEN:
                of_day.append({"dead_letter_id": letter_id, "status": record["status"]})

    def flush(self, log: LandedLog) -> None:
        for day, letters in sorted(self.new.items()):
            log.append(KIND, day, letters)
        self.new.clear()


def import_json(home: PortableHome, path: Path, now: datetime) -> Imported:
    """Lands the records of an export and enters it into the ledger; `now` is aware.

    Raises UsageError, before anything lands, for a file that is no whole export of a version that is read.
    """
    if not path.is_file():
        raise UsageError(f"importing {path}: no such file; check the path")
    limit = home.settings.landing.max_document_bytes
    head = check(path, limit, now.astimezone(UTC).date())
    with home.lock("landing"):
        done = _land(home, path, head, now)
    n_taken = done.landing.n_landed + done.n_letters
    home.ledger.append(Act(IMPORT, head.user_id, path.name, datetime.now(UTC), count=n_taken))
    return done


def land_again(kind: str, fields: Fields, source_format: str) -> Record:
    """The record of fields that landed before. What was set aside since, a subject, is not worked out anew.

    Raises RuleError as `land_record` does."""
    record = land_record(kind, fields, source_format)
    if kind == "interactions" and "subject" in fields and fields["subject"] is None:
        record["subject"] = None
    return record


def _land(home: PortableHome, path: Path, head: Head, now: datetime) -> Imported:
    log, settings = home.store.log, home.settings.landing
    intake = Intake(log, now=now, settings=settings, lander=land_again)
    box = LetterBox(log, now.astimezone(UTC).date())
    letters = _Letters({r["dead_letter_id"] for day in log.days(KIND) for r in log.read(KIND, day)})
    origin = Origin(IMPORT, "native", head.user_id)
    try:
        for number, (kind, record) in enumerate(records(path, settings.max_document_bytes), start=1):
            if kind == KIND:
                letters.take(record, log)
            else:
                intake.take(Parsed(number, kind, _fields(kind, record)), origin)
            if intake.is_full:
                box.put(intake.flush())
    except (BrokenJsonError, OSError) as error:
        raise UsageError(f"importing {path}: it was changed meanwhile ({error}); import it again whole") from error
    box.put(intake.flush())
    letters.flush(log)
    counts = intake.counts
    report = LandingReport(
        files=(str(path),),
        n_rows=counts.n_rows,
        n_landed=counts.n_landed,
        n_duplicates=counts.n_duplicates,
        n_dead_letters=dict(box.by_reason),
        n_new_dead_letters=box.n_new,
        n_erased=counts.n_erased + box.n_erased,
        holds_erased=counts.holds_erased or box.n_erased + letters.n_erased > 0,
        days=frozenset(counts.days),
    )
    here = home.steering
    others = tuple(name for name, value in sorted(head.settings.items()) if here.get(name, value) != value)
    return Imported(head.user_id, report, letters.n_new, letters.n_known, letters.n_erased, others)


def _fields(kind: str, record: Record) -> dict[str, Any]:
    """A landed record as it would come in a log."""
    fields = {name: value for name, value in record.items() if name != ID_COLUMNS.get(kind)}
    if kind != "feedback":
        return fields
    return {**orjson.loads(fields.pop("payload")), **fields}


def _letter(record: Record) -> Record:
    """A dead letter as landing would have made it here: masked as of now, its id that of what it holds."""
    raw = mask_bytes(base64.b64decode(record["raw"]))
    name = mask_text(Path(record["file"]).name)
    return {
        **record,
        "dead_letter_id": ids.content_id("dead", name, record["reason"], hashlib.sha256(raw).hexdigest()),
        "file": name,
        "detail": mask_text(record["detail"]),
        "raw": base64.b64encode(raw).decode(),
        "status": OPEN,
    }
