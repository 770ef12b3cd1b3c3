"""One night: whether it is worth it, the line that it adds, and what comes of it; and taking nights back."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

import pyarrow.compute as pc

from em_pipelines.errors import UsageError
from em_pipelines.lifecycle.consolidation.consolidating_home import ConsolidatingHome
from em_pipelines.lifecycle.consolidation.nights import BOOK_LOCK, History, Line, Said, decided, decisions, words_id
from em_pipelines.llm.asked import Asked
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.derived import EXPERIENCES, PROMOTIONS, SKILL_PROFILES
from em_pipelines.schema.tables.raw import FEEDBACK, SKILL_INVOCATIONS
from em_pipelines.storage.ledger_entries import Act
from em_pipelines.storage.store import Store

ENTRIES = (SKILL_INVOCATIONS, MESSAGES, FEEDBACK)
"""What a night is worth having for; the instant of each stands in `timestamp`."""
EVERYBODY = "*"
"""Whose act it is in the ledger, where it is about all users at once."""
LOCK = "consolidation"


SWITCHED_OFF = "consolidation is switched off; `em consolidate --enable` switches it on"


@dataclass(frozen=True, slots=True)
class NightReport:
    """What a night did. `note` says why nothing was done, where nothing was; figures are of all users together.
    `asked` is what a model that words rules has taken of the night, whichever run asked."""

    consolidation_id: str | None
    as_of: date | None
    n_entries: int = 0
    n_patterns: int = 0
    n_promoted: int = 0
    n_new: int = 0
    n_refused: int = 0
    n_quarantined: int = 0
    n_in_review: int = 0
    cpu_seconds: float = 0.0
    seconds: float = 0.0
    asked: Asked = field(default_factory=Asked)
    note: str | None = None
    refused_by: dict[str, int] = field(default_factory=dict)

    def figures(self) -> dict[str, Any]:
        """The figures by name."""
        return {
            "consolidation_id": self.consolidation_id, "as_of": str(self.as_of) if self.as_of else None,
            "entries": self.n_entries, "patterns": self.n_patterns, "promoted": self.n_promoted, "new": self.n_new,
            "refused": self.n_refused, "quarantined": self.n_quarantined, "in_review": self.n_in_review,
            "stopped_by": self.refused_by, "calls": self.asked.n_calls, "cost_usd": round(self.asked.cost_usd, 6),
            "worded": self.asked.n_worded, "waiting_for_words": self.asked.n_waiting,
            "kept_out": self.asked.n_kept_out, "words_note": self.asked.note, "alerts": list(self.asked.alerts),
            "cpu_seconds": round(self.cpu_seconds, 3), "seconds": round(self.seconds, 3), "note": self.note,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Entries:
    """How much there is to look at, and the instant of the last of it."""

    n: int
    until: datetime | None


def entries(store: Store) -> Entries:
    """What has happened so far. Reads footers, and of each table the newest day."""
    n, last = 0, []
    for table in ENTRIES:
        days = store.lake.days(table)
        n += sum(info.n_rows for day in days if (info := store.lake.info(table, day)))
        last += [found for day in days[-1:] if (found := _last(store, table, day))]
    return Entries(n, max(last, default=None))


def _last(store: Store, table: Table, day: date) -> datetime | None:
    found: datetime | None = pc.max(store.lake.read(table, day)["timestamp"]).as_py()
    return found


def run_night(home: ConsolidatingHome, now: datetime, *, is_forced: bool = False) -> NightReport:
    """Adds a night where enough has happened since the last, and makes what stands then.

    With `is_forced` any new entry is enough. Where a model words rules it is asked then, and what it does not answer
    keeps its template; where no night came, what was left is asked. Raises LockedError where another process is at it.
    """
    begun, begun_at = time.process_time(), time.perf_counter()
    with home.lock(LOCK):
        history = home.nights.history()
        found = entries(home.store)
        note = _not_worth_it(history, found, 1 if is_forced else home.settings.consolidation.min_new_entries)
        if note is None and found.until is not None:
            with home.lock(BOOK_LOCK):
                if home.nights.history().is_enabled:  # it may be switched off at any moment
                    home.nights.append(history.next_night(found.until, found.n, now))
                else:
                    note = SWITCHED_OFF
        home.refresh_consolidation()
        asked = Asked()
        if home.nights.history().is_enabled:
            asked = home.ask_for_words()
            if asked.n_worded or asked.n_kept_out:
                home.refresh_consolidation()
        report = replace(_report(home, found, begun, note), asked=asked, seconds=time.perf_counter() - begun_at)
        if note is None:
            home.night_reports.append({"at": now.isoformat(), **report.figures()})
        return report


def why_no_night(home: ConsolidatingHome) -> str | None:
    """Why no night would come now; None where one would."""
    wanted = home.settings.consolidation.min_new_entries
    return _not_worth_it(home.nights.history(), entries(home.store), wanted)


def _not_worth_it(history: History, found: Entries, n_wanted: int) -> str | None:
    if not history.is_enabled:
        return SWITCHED_OFF
    checkpoint = history.checkpoint
    n_new = found.n - (checkpoint.n_entries if checkpoint else 0)
    if checkpoint and checkpoint.until and n_new < 0 and found.until and found.until > checkpoint.until:
        n_new = n_wanted  # more was erased than has come, so that nobody can say how much that is
    if found.until is None:
        return "nothing has been landed and materialised yet"
    if n_new < n_wanted:
        return f"{max(0, n_new)} new since the last night, and {n_wanted} are wanted"
    return None


def _report(home: ConsolidatingHome, found: Entries, begun: float, note: str | None) -> NightReport:
    checkpoint = home.nights.history().checkpoint
    if checkpoint is None:
        return NightReport(None, None, found.n, note=note, cpu_seconds=time.process_time() - begun)
    verdicts = home.store.lake.read(PROMOTIONS, checkpoint.as_of).to_pylist()
    counts = Counter(row["verdict"] for row in verdicts)
    return NightReport(
        consolidation_id=checkpoint.target,
        as_of=checkpoint.as_of,
        n_entries=found.n,
        n_patterns=len(verdicts),
        n_promoted=counts["promoted"],
        n_new=sum(row["verdict"] == "promoted" and row["consolidation_id"] == checkpoint.target for row in verdicts),
        n_refused=counts["refused"],
        n_quarantined=counts["quarantined"],
        n_in_review=counts["in_review"],
        cpu_seconds=time.process_time() - begun,
        note=note,
        refused_by=dict(sorted(Counter(row["gate"] for row in verdicts if row["gate"]).items())),
    )


def roll_back(home: ConsolidatingHome, consolidation_id: str, now: datetime, actor: str = "user") -> list[str]:
    """Takes a night back, and those after it; returns their ids, the first first. Raises UsageError where no night that
    stands has the id, or more than one begins with it."""
    with home.lock(LOCK):
        history = home.nights.history()
        standing = [night.target for night in history.standing]
        found = [target for target in standing if target.startswith(consolidation_id)]
        if len(found) != 1:
            raise UsageError(
                f"rolling back: {len(found) or 'no'} night{'s' * (len(found) != 1)} that stand have the id "
                f"{consolidation_id!r:.80}; see `em consolidate --list`"
            )
        withdrawn = standing[standing.index(found[0]) :]
        with home.lock(BOOK_LOCK):
            home.nights.append(Line(Said.ROLLBACK, found[0], now.isoformat()))
        home.ledger.append(Act("rollback", EVERYBODY, found[0], now, actor, len(withdrawn)))
        home.refresh_consolidation()
    return withdrawn


def decide(  # noqa: PLR0913  (who, what, when and by whom, as the ledger has it)
    home: ConsolidatingHome,
    experience_ids: Sequence[str],
    said: Said,
    now: datetime,
    actor: str = "user",
    user_id: str | None = None,
    *,
    lets_words_in: bool = True,
) -> list[dict[str, Any]]:
    """Lets experiences count, with the words of tools' outputs that wait for it, or turns them away until there is
    newer evidence; returns their rows as they stood. Without `lets_words_in` the words go on waiting.

    Raises UsageError where an id is no experience's (of the user), or the beginning of more than one.
    """
    with home.lock(LOCK):
        rows = [_the_one(home, wanted, user_id) for wanted in experience_ids]
        with home.lock(BOOK_LOCK):
            words = _words(home) if said is Said.ACCEPT and lets_words_in else {}
            ids = [row["experience_id"] for row in rows]
            home.nights.append(*(Line(said, one, now.isoformat(), words=words.get(one)) for one in ids))
        for row in rows:
            home.ledger.append(Act(said.value, row["user_id"], row["experience_id"], now, actor))
        home.refresh_consolidation()
    return rows


def _words(home: ConsolidatingHome) -> dict[str, str | None]:
    """By the id of each experience the hash of its words that wait, or else of those that were accepted before."""
    before = {target: line.words for target, line in decisions(home.nights.history().effective).items()}
    day = home.store.lake.latest(PROMOTIONS, date.max)
    judged = home.store.lake.read(PROMOTIONS, day).to_pylist() if day else []
    return before | {row["experience_id"]: words_id(row["excerpt"]) for row in judged if row["excerpt"]}


def _the_one(home: ConsolidatingHome, wanted: str, user_id: str | None) -> dict[str, Any]:
    """The experience that an id begins, of one user or of any: one that stands, or one that was turned away."""
    by_id = {row["experience_id"]: row for row in (*_turned_away(home), *experiences(home))}
    found = [row for key, row in by_id.items() if key.startswith(wanted) and user_id in (None, row["user_id"])]
    if len(found) != 1:
        raise UsageError(
            f"choosing an experience: {len(found) or 'none'} begin{'s' * (not found)} with {wanted!r:.80}; "
            "see `em review list`"
        )
    return found[0]


def _turned_away(home: ConsolidatingHome) -> list[dict[str, Any]]:
    """What the gates say of experiences that somebody rejected: rows of promotions."""
    away = {target for target, said in decided(home.nights.history().effective).items() if said is Said.REJECT}
    day = home.store.lake.latest(PROMOTIONS, date.max)
    judged: list[dict[str, Any]] = home.store.lake.read(PROMOTIONS, day).to_pylist() if day else []
    return [row for row in judged if row["experience_id"] in away]


def experiences(home: ConsolidatingHome, user_id: str | None = None) -> list[dict[str, Any]]:
    """What stands, of one user or of all: rows of experiences."""
    day = home.store.lake.latest(EXPERIENCES, date.max)
    rows = home.store.lake.read(EXPERIENCES, day).to_pylist() if day else []
    return [row for row in rows if user_id in (None, row["user_id"])]


def id_of(home: ConsolidatingHome, beginning: str) -> str:
    """The id of the one thing that recurs whose id begins so; what begins none comes back unchanged. Raises UsageError
    where several do."""
    day = home.store.lake.latest(PROMOTIONS, date.max)
    ids = home.store.lake.read(PROMOTIONS, day)["experience_id"].to_pylist() if day else []
    found = [one for one in ids if one.startswith(beginning)] if beginning.startswith("exp_") else []
    if len(found) > 1:
        raise UsageError(f"looking for {beginning:.80}: more than one experience has an id that begins so; give more")
    return str(found[0]) if found else beginning


def known_users(home: ConsolidatingHome) -> list[str]:
    """Of whom anything stands, in order."""
    found: set[str] = set()
    for table in (EXPERIENCES, SKILL_PROFILES):
        day = home.store.lake.latest(table, date.max)
        found.update(home.store.lake.read(table, day)["user_id"].to_pylist() if day else ())
    return sorted(found)


def switch(home: ConsolidatingHome, now: datetime, *, is_enabled: bool, actor: str = "user") -> None:
    """Switches consolidation off or on, at once, also while a night is at work: while it is off no night comes, and
    what stands is served on."""
    said = Said.ENABLE if is_enabled else Said.DISABLE
    with home.lock(BOOK_LOCK):
        home.nights.append(Line(said, "", now.isoformat()))
        home.ledger.append(Act(f"consolidation_{said.value}", EVERYBODY, LOCK, now, actor))
