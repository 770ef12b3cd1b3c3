"""What a home holds, how fresh it is and what waits: what `em status` tells. Changes nothing.

What cannot be read is named and left open; everything else is told all the same.
"""

import base64
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from shlex import quote
from typing import Any, TypeVar

import pyarrow.compute as pc

from em_pipelines.errors import EmError
from em_pipelines.extraction.unread_segments import causes, unread_languages, unread_segments
from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.governance.review import Review, Wanted
from em_pipelines.guard.sensitive import SafetySettings
from em_pipelines.landing.dead_letters import open_letters
from em_pipelines.landing.erasure_gate import named_users
from em_pipelines.retrieval import packs
from em_pipelines.schema.readings import PENDING
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.outgoing import PROBES, STARTERS
from em_pipelines.serving.facts import waiting_feedback
from em_pipelines.serving.snapshot import LATEST, is_current
from em_pipelines.serving.users import Remembered, Stage, published_users, stages, users

UNKNOWN_LANGUAGE = "und"
"""Undetermined (ISO 639-2): the language of a message that nobody has looked at."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SnapshotAge:
    """The newest snapshot: the day whose end it holds, when it was written, and whether it holds what the lake does."""

    as_of: date
    published_at: datetime
    is_current: bool


@dataclass(slots=True)
class Status:
    """One home, or what of it is one user's. None stands for what could not be read; `problems` says why."""

    home: Path
    user: str | None
    users: list[Remembered] | None = None
    stages: list[Stage] | None = None
    """How far memory has come with each user, as the newest snapshot tells it."""
    snapshot: SnapshotAge | None = None
    n_packs: int | None = None
    n_probes: int | None = None
    n_starters: int | None = None
    """Questions and openings of the newest day that wait to be said."""
    n_dead_letters: int | None = None
    n_quarantined: int | None = None
    n_pending_feedback: int | None = None
    n_outdated_days: int | None = None
    n_waiting_for_model: dict[str, int] | None = None
    model_problems: list[str] = field(default_factory=list)
    """Why messages wait that a model was asked about: a sentence each, with the endpoint's words and the remedy."""
    n_to_review: int | None = None
    n_bytes: int | None = None
    is_at_work: bool = False
    """A run is, or an erasure or a repair."""
    has_run_broken_off: bool = False
    has_landing_broken_off: bool = False
    n_requests: int | None = None
    """Requests to forget that are not carried out yet."""
    problems: list[str] = field(default_factory=list)

    @property
    def n_messages(self) -> int:
        """Messages that were read."""
        return sum(one.n_messages for one in self.users or ())

    @property
    def n_landed(self) -> int:
        """Messages that wait for a run."""
        return sum(one.n_waiting for one in self.users or ())

    @property
    def n_facts(self) -> int:
        """Facts that stood at the end of the newest day."""
        return sum(one.n_facts for one in self.users or ())

    @property
    def days(self) -> tuple[date, date] | None:
        """The days of the first and the last message."""
        first = [one.first_day for one in self.users or () if one.first_day]
        last = [one.last_day for one in self.users or () if one.last_day]
        return (min(first), max(last)) if first and last else None

    @property
    def asked(self) -> str:
        """A user to show an example with, as a shell reads it: who was asked about, else who has said most."""
        return quote(self.user or max(self.users or [Remembered("NAME")], key=lambda one: one.n_messages).user_id)

    @property
    def next_step(self) -> str:
        """What to do next, in one sentence: the first that applies."""
        return next(sentence for applies, sentence in _STEPS if applies(self)).format(self)


def status(home: RebuildableHome, user: str | None = None) -> Status:
    """Looks at a home that is there; with a `user`, at what is theirs. Files that are counted are those of the home."""
    found = Status(home.path, user)

    def read(ask: Callable[[], T]) -> T | None:
        try:
            return ask()
        except EmError as error:
            problem = " ".join(str(error).split())
            if problem not in found.problems:
                found.problems.append(problem)
            return None

    found.is_at_work = home.is_at_work("run")
    found.has_run_broken_off = home.is_broken_off("run")
    found.has_landing_broken_off = home.is_broken_off("landing")
    everybody = read(lambda: remembered(home))
    found.users = None if everybody is None else [one for one in everybody if user in (None, one.user_id)]
    told = read(lambda: stages(home.snapshots / LATEST))
    found.stages = None if told is None else [one for one in told if user in (None, one.user_id)]
    found.snapshot = read(lambda: _snapshot(home))
    found.n_packs = read(lambda: len(packs.folders(home)))
    found.n_probes = read(lambda: _queued(home, PROBES, user))
    found.n_starters = read(lambda: _queued(home, STARTERS, user))
    found.n_dead_letters = read(lambda: len(_letters(home, user)))
    found.n_quarantined = read(lambda: sum(user in (None, one.user_id) for one in home.store.quarantine.entries()))
    found.n_pending_feedback = read(lambda: _pending_feedback(home, user, everybody or []))
    found.n_outdated_days = read(lambda: len(_outdated_days(home)))
    found.n_waiting_for_model = read(lambda: waiting_for_model(home, user))
    found.model_problems = read(lambda: model_problems(home, user)) or []
    found.n_to_review = read(lambda: imported_to_review(home, user))
    found.n_requests = read(lambda: len(home.book.pending()))
    found.n_bytes = sum(_sizes(home.path))
    return found


def remembered(home: RebuildableHome) -> list[Remembered]:
    """Everybody who is remembered, with figures of what is complete: of what is published while a run is at work, and
    after one that broke off. Raises CorruptTableError and CorruptLogError."""
    if home.is_at_work("run") or home.is_broken_off("run"):
        return published_users(home.store, home.snapshots / LATEST)
    return users(home.store)


def waiting_for_model(home: RebuildableHome, user: str | None = None) -> dict[str, int]:
    """Messages that wait for a model, by language, most first; `und`: one was asked, and has not read them yet."""
    counts = Counter[str]()
    for name, languages in unread_languages(home.store.lake).items():
        counts.update(languages if user in (None, name) else {})
    pending = (one for one in unread_segments(home.store.lake) if one.status == PENDING)
    counts[UNKNOWN_LANGUAGE] += sum(one.n_messages for one in pending if user in (None, one.user_id))
    return {language: n for language, n in counts.most_common() if n}


def model_problems(home: RebuildableHome, user: str | None = None) -> list[str]:
    """Why messages were not read that a model was asked about, the most frequent reason first."""
    return causes(one for one in unread_segments(home.store.lake) if user in (None, one.user_id))


def imported_to_review(home: RebuildableHome, user: str | None = None) -> int:
    """Facts that were imported, and of which nobody has said yet whether they count."""
    return len(Review(home, SafetySettings()).waiting(Wanted(user)))


def _snapshot(home: RebuildableHome) -> SnapshotAge | None:
    path = home.snapshots / LATEST
    if not path.exists():
        return None
    target = path.resolve()
    written = datetime.fromtimestamp(target.stat().st_mtime, UTC)
    is_fresh = home.is_inferred and is_current(home.store, home.snapshots, home.time_rules, home.nights.history())
    return SnapshotAge(date.fromisoformat(target.stem), written, is_fresh)


def _queued(home: RebuildableHome, table: Table, user: str | None) -> int:
    day = home.store.lake.latest(table, date.max)
    if day is None:
        return 0
    rows = home.store.lake.read(table, day)
    is_queued = pc.equal(rows["status"], "queued")
    return int(pc.sum(is_queued if user is None else pc.and_(is_queued, pc.equal(rows["user_id"], user))).as_py() or 0)


def _letters(home: RebuildableHome, user: str | None) -> list[dict[str, Any]]:
    letters = open_letters(home.store.log)
    return letters if user is None else [one for one in letters if user in _whose(one)]


def _whose(letter: dict[str, Any]) -> set[str]:
    """Whose a letter is, as far as it says so."""
    return {letter["user_id"]} if letter.get("user_id") else named_users(base64.b64decode(letter["raw"]))


def _pending_feedback(home: RebuildableHome, user: str | None, everybody: list[Remembered]) -> int:
    wanted = [user] if user is not None else [one.user_id for one in everybody]
    return sum(len(waiting_feedback(home.store, one, date.max)) for one in wanted)


def _outdated_days(home: RebuildableHome) -> set[date]:
    look = home.store.look()
    return {day for step in home.steps.values() for day in home.store.stale_days(step, look)}


def _sizes(folder: Path) -> Iterator[int]:
    """Bytes of every file below a folder; links are not followed."""
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                found = os.lstat(os.path.join(where, name))  # noqa: PTH118 - asked of every file there is
            except OSError:  # gone meanwhile, or not ours to look at
                continue
            yield found.st_size


Applies = Callable[[Status], bool]
_STEPS: tuple[tuple[Applies, str], ...] = (
    (lambda s: bool(s.problems), "`em doctor` looks at everything and says what mends it."),
    (lambda s: s.is_at_work, "Wait for the run that is at work, then look again."),
    (lambda s: s.has_run_broken_off, "`em run` goes on from what was complete when the last run broke off."),
    (
        lambda s: not (s.n_messages or s.n_landed or s.n_outdated_days or s.snapshot),
        "`em run PATH` takes in logs and reads them.",
    ),
    (
        lambda s: bool(s.n_landed or s.n_outdated_days),
        "`em run` reads what has landed and makes again what is out of date.",
    ),
    (lambda s: bool(s.n_dead_letters), "`em dead-letters list` shows what could not be landed."),
    (lambda s: bool(s.n_quarantined), "`em quarantine list` shows what was set aside."),
    (lambda s: not (s.snapshot and s.snapshot.is_current), "`em snapshot` publishes what is known."),
    (lambda s: bool(s.n_pending_feedback), "`em run` folds in what people said since."),
    (lambda s: bool(s.n_waiting_for_model), "`em run --extractor llm` has a model read what waits for one."),
    (lambda s: s.has_landing_broken_off, "`em run PATH`, with the files whose landing broke off, lands the rest."),
    (lambda _: True, "`em facts --user {0.asked}` tells what is known."),
)
