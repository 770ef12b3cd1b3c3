"""Mending a home: what can be made again from the log is deleted and made again, what cannot is said.

Nothing is taken away that the log does not hold: while the log itself is damaged, no partition is touched. A mend that
is killed half way leaves days out of date, which the next one, or the next run, makes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from em_pipelines.errors import CorruptLogError, CorruptTableError
from em_pipelines.governance.audit.dagster_files import LOCK_SECONDS, flaws, locked, lost_events, set_aside
from em_pipelines.governance.audit.ledger_witnesses import ledger_problems
from em_pipelines.governance.audit.lost_log import check_restored, lost
from em_pipelines.governance.audit.nights_trail import nights_problem
from em_pipelines.governance.audit.soundness import (
    Damage,
    SnapshotState,
    broken_rules,
    damaged_partitions,
    damaged_segments,
    lost_segments,
    snapshot_state,
    state_day,
)
from em_pipelines.governance.erasure.rebuilding import remake, stale_log_days
from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.home import Home
from em_pipelines.language.counting import counted
from em_pipelines.retrieval import packs
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.serving.metrics.daily import measure
from em_pipelines.serving.snapshot import LATEST, publish_home
from em_pipelines.storage.ledger_entries import Act
from em_pipelines.storage.log_manifest import Change, What

ACCEPT_LOSS = "accept_loss"
UNFIT = (SnapshotState.DAMAGED, SnapshotState.OUTDATED)
WRITE_CHECK = "write it anew from the salt"
DELETE = "delete it and make it again"
ResetRuns = Callable[[Home, bool], int]
"""(home, is_applied) → how many runs are noted as alive that no process runs; marked as failed where applied."""


@dataclass(frozen=True, slots=True)
class Mend:
    """One proposal: what is wrong with what, and what mends it. `mend` is empty where nothing here can."""

    subject: str
    found: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """All proposals, and what they need: partitions to delete and the first day of a state that breaks a rule."""

    mends: tuple[Mend, ...]
    damaged: tuple[Damage, ...] = ()
    first_bad_day: date | None = None
    is_log_whole: bool = True


@dataclass
class Repair:
    """What was done, in words, and what is left over."""

    done: list[str] = field(default_factory=list)
    left: list[Mend] = field(default_factory=list)


def propose(home: RebuildableHome, reset_runs: ResetRuns) -> Plan:
    """Looks for everything that can be mended, and for what cannot. Changes nothing."""
    if not home.path.exists():
        return Plan(())
    if problem := home.salt.problem():
        return Plan((Mend("salt", f"{problem}; put HOME/record/salt back from a backup"),))
    segments, lost_ones = damaged_segments(home), lost_segments(home)
    damaged = damaged_partitions(home)
    waits = "; restore the log first" if segments or lost_ones else ""
    of_nights = nights_problem(home)
    first_bad, of_state = (None, []) if damaged or of_nights else _mends_of_state(home, waits)
    mends = [
        *(Mend("salt", f"its check value in {one.name} is damaged", WRITE_CHECK) for one in home.salt.damaged_checks()),
        *(Mend("landed log", f"{name} is not what was landed; restore it from a backup") for name in segments),
        *(Mend("landed log", one) for one in lost_ones),
        *(Mend("ledger", f"{one.found} (line {one.line or 'of the head'})") for one in ledger_problems(home)),
        *(Mend(f"{one.table.name} of {one.day}", one.found + waits, _unless(waits, DELETE)) for one in damaged),
        *of_state,
        *([Mend("nights", of_nights)] if of_nights else []),
        *_mends_of_files(home, waits),
        *_mends_of_dagster(home),
    ]
    if n_runs := reset_runs(home, False):
        mends.append(Mend("runs", f"{n_runs} are noted as at work, and no process is", "mark them as failed"))
    return Plan(tuple(mends), tuple(damaged), first_bad, not waits)


def _mends_of_state(home: RebuildableHome, waits: str) -> tuple[date | None, list[Mend]]:
    """The first day of a state that breaks a rule, and what is wrong with rows that can be read."""
    first_bad, mends = None, []
    if broken := broken_rules(home.store.lake):
        first_bad = _first_bad_day(home)
        rules = "; ".join(f"{rule}: {counted(len(rows), 'row')}" for rule, rows in broken.items())
        mends.append(Mend("integrity", rules + waits, _unless(waits, f"make facts again from {first_bad} on")))
    if stale := _stale(home):
        mends.append(Mend("days", f"{len(stale)} are out of date{waits}", _unless(waits, "make them again")))
    if (state := snapshot_state(home)) in UNFIT:
        mends.append(Mend("snapshot", state.value, "publish it again"))
    return first_bad, mends


def _mends_of_files(home: RebuildableHome, waits: str) -> Iterator[Mend]:
    """What lies beside the lake: index packs, and files that runs left."""
    if unfit := packs.unfit(home, is_checked=True):
        yield Mend("index packs", f"{len(unfit)} are lost or damaged{waits}", _unless(waits, "make them again"))
    if left := home.left_overs():
        yield Mend("left-over files", f"{counted(len(left), 'temporary file')} of runs that were killed", "delete them")


def _mends_of_dagster(home: RebuildableHome) -> Iterator[Mend]:
    """Of Dagster's history, which is no part of memory."""
    for flaw in flaws(home.dagster_home):
        yield Mend("Dagster's history", f"{flaw.path.name}: {flaw.found}", "set it aside and start a new one")
    if lost := lost_events(home.dagster_home):
        yield Mend(
            "Dagster's history", f"the events of {counted(len(lost), 'run')} are gone", "start an empty file of them"
        )
    for path in locked(home.dagster_home, LOCK_SECONDS):
        yield Mend("Dagster's history", f"another process keeps {path.name} locked; end it")


def apply(home: RebuildableHome, plan: Plan, reset_runs: ResetRuns) -> Repair:
    """Mends what the plan proposes, under the run lock, and looks again. Raises LockedError where a run is at work, and
    SaltError, since nothing can be made of the log without knowing what was erased."""
    home.salt.verify()
    repair = Repair([f"wrote {one.name} anew from the salt" for one in home.salt.mend_checks()])
    with home.lock("run"):
        if removed := home.sweep():
            repair.done.append(f"deleted {counted(len(removed), 'left-over file')}")
        if plan.is_log_whole:
            _rebuild(home, plan, repair)
        for flaw in flaws(home.dagster_home):
            target = set_aside(flaw.path, datetime.now(UTC))
            repair.done.append(f"set Dagster's {flaw.path.name} aside as {target.name}")
        if n_runs := reset_runs(home, True):
            repair.done.append(f"marked {counted(n_runs, 'dead run')} as failed")
        if plan.is_log_whole and (unfit := packs.unfit(home, is_checked=True)):
            packs.build(home, is_checked=True)
            repair.done.append(f"made {counted(len(unfit), 'index pack')} again")
        _republish(home, repair)
    repair.left = [*propose(home, reset_runs).mends]
    return repair


def accept(home: RebuildableHome) -> int:
    """Notes what is lost as lost, in the manifest and in the ledger; returns how many segments and days that are.

    What was made of it goes, so that memory is again what its log gives. A manifest that cannot be read is begun anew
    from what lies in the log. Raises LockedError where a run is at work.
    """
    with home.lock("run"):
        with home.lock("landing"):
            n_lost = _accept_whole(home)
        changed = stale_log_days(home)
        home.note_unchecked(changed)
        remake(home, changed)
    return n_lost


def _accept_whole(home: RebuildableHome) -> int:
    log = home.store.log
    assert log.manifest is not None
    n_lost = 0
    check_restored(home)
    try:
        log.manifest.listed()
    except CorruptLogError:
        log.manifest.discard()
        n_lost = 1
    log.settle()
    segments = log.lost()
    days = [one for one in lost(home) if not one.number]
    if segments or days:  # before it is noted: afterwards nothing would tell that they have to go
        _drop_days_without_log(home)
    log.manifest.enter([
        *(Change(What.LOST, one.kind, one.day, one.number, mark) for mark, one in segments.items()),
        *(Change(What.LOST, one.kind, one.day, 0) for one in days),
    ])  # fmt: skip
    n_lost += len(segments) + len(days)
    if n_lost:
        home.ledger.append(Act(ACCEPT_LOSS, "", "log", datetime.now(UTC), count=n_lost))
    return n_lost


def _drop_days_without_log(home: RebuildableHome) -> None:
    """Deletes the partitions of days on which a step has nothing to read any more, step by step."""
    lake = home.store.lake
    for step in home.steps.values():
        with home.lock(f"step-{step.name}"):
            days = set(home.store.days(step))
            for table in step.outputs:
                for day in set(lake.days(table)).difference(days):
                    lake.delete(table, day)


def _rebuild(home: RebuildableHome, plan: Plan, repair: Repair) -> None:
    lake = home.store.lake
    for one in plan.damaged:
        lake.delete(one.table, one.day)
    if plan.damaged:
        repair.done.append(f"deleted {counted(len(plan.damaged), 'damaged partition')}")
    first_bad = plan.first_bad_day
    if plan.damaged:  # what was made from them shows only now that they are made again
        _make(home, repair)
        first_bad = _first_bad_day(home) if broken_rules(lake) else None
    if first_bad:
        for name in ("resolution", "fold"):
            for table in home.steps[name].outputs:
                for day in lake.days(table):
                    if day >= first_bad:
                        lake.delete(table, day)
        repair.done.append(f"deleted facts and entities from {first_bad} on")
    _make(home, repair)


def _make(home: RebuildableHome, repair: Repair) -> None:
    """Makes every day that is out of date; `em run` still checks them, and so does whoever reads the notes of a run."""
    days: set[date] = set()
    for step in home.steps.values():
        with home.lock(f"step-{step.name}"):
            days.update(home.store.run_days(step, _stale_of(home, step.name)).made)
    if home.nights.is_there and not nights_problem(home):
        days.update(home.refresh_consolidation().made)
    if days:
        home.note_unchecked(days)
        repair.done.append(f"made {counted(len(days), 'day')} again from the log")


def _republish(home: RebuildableHome, repair: Repair) -> None:
    """A snapshot is published over a sound state alone: else the last good one stays."""
    try:
        is_due = not broken_rules(home.store.lake) and (state := snapshot_state(home)) in UNFIT and not _stale(home)
    except (CorruptTableError, CorruptLogError):
        is_due = False
    if not is_due:
        return
    with home.lock("snapshot"):
        if state is SnapshotState.DAMAGED:
            (home.snapshots / LATEST).resolve().unlink(missing_ok=True)
        home.infer()
        home.refresh_proactive()
        measure(home)
        report = publish_home(home)
    repair.done.append(f"published the snapshot of {report.as_of}")


def _unless(waits: str, mend: str) -> str:
    return "" if waits else mend


def _stale(home: RebuildableHome) -> list[date]:
    return sorted({day for name in home.steps for day in _stale_of(home, name)})


def _stale_of(home: RebuildableHome, name: str) -> list[date]:
    """Days out of date that do not wait for somebody's answer."""
    step = home.steps[name]
    return [day for day in home.store.stale_days(step) if not home.store.is_incomplete(step, day)]


def _first_bad_day(home: RebuildableHome) -> date | None:
    """The first day of the run of days up to the last whose states break a rule."""
    lake = home.store.lake
    first = state_day(lake)
    for day in sorted({*lake.days(EDGES), *lake.days(ENTITIES)}, reverse=True):
        if not broken_rules(lake, day):
            break
        first = day
    return first
