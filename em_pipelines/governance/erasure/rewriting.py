"""Takes what a plan covers out of the log and out of the inbox. Safe to do again after a crash at any instant."""

import gzip
import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path

from em_pipelines.governance.erasure.owners import Owners
from em_pipelines.governance.erasure.terms import Terms, Whose
from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.landing.containers import pieces
from em_pipelines.landing.erasure_gate import ErasureGate, named_users, unescaped
from em_pipelines.landing.erasure_requests import Plan, Request
from em_pipelines.landing.intake import SessionIndex
from em_pipelines.landing.land import land
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import RuleError
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.language.name_matching import NameIndex
from em_pipelines.language.values import iso_instant
from em_pipelines.redaction.planning import KINDS
from em_pipelines.schema.table import Record
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.schema.tables.raw import ERASURES
from em_pipelines.storage.session_marks import SessionMarks
from em_pipelines.storage.tombstones import MESSAGE

UNFINISHED = (".tmp", ".part")
SETTLED_SECONDS = 3


@dataclass(slots=True)
class Done:
    """What was taken out: records removed and cut by kind, files of the inbox, and the days that have changed."""

    n_removed: Counter[str] = field(default_factory=Counter)
    n_cut: Counter[str] = field(default_factory=Counter)
    n_files: int = 0
    days: set[date] = field(default_factory=set)


def rewrite_log(home: RebuildableHome, request: Request, plan: Plan) -> Done:
    """Rewrites every segment that holds what is erased, and drops the index of conversations. The caller holds the
    landing lock; tombstones stand."""
    done = Done()
    log = home.store.log
    left = _Left.of(home, request, plan)
    for kind in KINDS:
        for day in log.days(kind):
            changed = log.rewrite(kind, day, partial(left.of_record, kind))
            done.n_removed[kind] += changed.n_removed
            done.n_cut[kind] += changed.n_changed
            if changed.n_segments:
                done.days.add(day)
    SessionIndex(log).delete()
    SessionMarks(log).delete()
    return done


def note_erasure(home: RebuildableHome, request: Request, plan: Plan, now: datetime) -> None:
    """Notes in the log that something was erased, once, for the audit trail: how much of which kind, not what or whose.

    On the newest day that has facts, so that what is published of that day tells of it; the time is that of the
    erasure. The caller holds the landing lock.
    """
    log, kind, key = home.store.log, ERASURES.name, request.request_id
    if any(noted["erasure_id"] == key for day in log.days(kind) for noted in log.read(kind, day)):
        return
    noted = {
        "erasure_id": key,
        "timestamp": iso_instant(now),
        "scope": request.scope.kind.value,
        "actor": request.actor,
        "n_edges": plan.n_edges,
        "n_entities": plan.n_entities,
    }
    log.append(kind, home.store.lake.latest(EDGES, now.date()) or now.date(), [noted])


@dataclass(frozen=True, slots=True)
class _Left:
    """What is left of a record of the log once what a request covers is out of it."""

    home: RebuildableHome
    request: Request
    plan: Plan
    gate: ErasureGate
    names: NameIndex
    letters_gone: frozenset[str]

    @classmethod
    def of(cls, home: RebuildableHome, request: Request, plan: Plan) -> "_Left":
        log = home.store.log
        gate = ErasureGate(home.tombstones, home.book)
        barred = (
            letter["dead_letter_id"]
            for day in log.days("dead_letters")
            for letter in log.read("dead_letters", day)
            if "raw" in letter and not gate.admits_letter(letter)
        )
        return cls(home, request, plan, gate, home.book.names(request.with_plan(plan)), frozenset(barred))

    def of_record(self, kind: str, record: Record) -> Record | None:
        if kind == "dead_letters":
            return None if record["dead_letter_id"] in self.letters_gone else record
        if record["user_id"] != self.request.scope.user_id or record["timestamp"] > self.request.until:
            return record
        if self.gate.is_of_erased(record):
            return None
        if kind == "interactions":
            place = (record["user_id"], record["session_id"], str(record["turn_number"]))
            cut = self.plan.cuts.get(self.home.tombstones.of(MESSAGE, *place, until="").key)
            if cut is not None:
                return cut.of(record, self.names, self.home.salt)
        return self.gate.left_of(kind, record)


def clear_inbox(home: RebuildableHome, terms: Terms, owners: Owners, now: datetime) -> int:
    """Removes files of the inbox that hold what is erased, and returns how many; what waits in them lands first.

    What else such a file holds is in the log by then. A file that is still being written is left where it is. The
    caller holds the landing lock.
    """
    n_files = 0
    for path in files_below(home.inbox):
        is_waiting = not any(part.startswith(".") for part in path.relative_to(home.inbox).parts)
        if path.suffix in UNFINISHED or not holds(path, terms, owners.of_inbox(path)):
            continue
        if is_waiting:
            if now.timestamp() - path.stat().st_mtime < SETTLED_SECONDS:
                continue
            parts = path.relative_to(home.inbox).parts
            user = parts[0] if len(parts) > 1 else None
            at, settings = now.astimezone(UTC), home.settings.landing
            land([path], home.store.log, now=at, settings=settings, user_id=user, within=home.inbox)
        path.unlink()
        n_files += 1
        _drop_empty(path.parent, home.inbox)
    return n_files


def files_below(folder: Path) -> list[Path]:
    """All files below a folder, hidden ones too, in order."""
    return sorted(path for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []


def holds(path: Path, terms: Terms, whose: Whose) -> bool:
    """Whether a file of the inbox holds what is erased; a file that nobody can read is taken to hold it where it is of
    the user."""
    try:
        if InputFile(path, LandingSettings()).is_zip:
            return zip_holds(path, terms, whose)
        data = path.read_bytes()
        text = unescaped(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    except (OSError, EOFError, gzip.BadGzipFile, RuleError):
        return whose is Whose.THEIRS
    if whose is Whose.UNKNOWN and _names_user(text, terms):
        whose = Whose.THEIRS
    return terms.is_in_text(text, whose)


def zip_holds(path: Path, terms: Terms, whose: Whose) -> bool:
    """Whether anything in a ZIP holds what is erased. Raises RuleError where nothing that can be read does, and not all
    can be."""
    settings = LandingSettings()
    if whose is Whose.ANOTHERS and any(terms.user_id in named_users(piece) for piece in pieces(path, settings)):
        whose = Whose.THEIRS
    if whose is Whose.UNKNOWN and any(_names_user(unescaped(piece), terms) for piece in pieces(path, settings)):
        whose = Whose.THEIRS
    return any(terms.is_in_text(unescaped(piece), whose) for piece in pieces(path, settings))


def _names_user(text: str, terms: Terms) -> bool:
    """Whether the user stands in a text as a string of JSON, or as a cell of a table."""
    cell = rf"(?m)(?:^|[,;\t]){re.escape(terms.user_id)}(?:[,;\t\r]|$)"
    return terms.names_user(text) or (not terms.is_own_word and re.search(cell, text) is not None)


def _drop_empty(folder: Path, root: Path) -> None:
    while folder != root and folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
