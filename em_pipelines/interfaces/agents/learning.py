"""Making days again from Python, without Dagster: the steps of `em run`, in its order and under its locks.

What is made is what `em run` would make, for the same steps make it. Dagster, whose checks, history and lineage are not
here, hears of it with the next `em run`, which checks these days: they are noted as unchecked until then.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import date

from em_pipelines.errors import TransientError
from em_pipelines.extraction.unread_segments import unread_segments
from em_pipelines.governance.audit.lost_log import check
from em_pipelines.governance.audit.settling import settle
from em_pipelines.interfaces.agents.adding import Added, Taken
from em_pipelines.lifecycle.state_retention import thin
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval import packs
from em_pipelines.schema.readings import PENDING
from em_pipelines.schema.tables.extraction import EXTRACTION_ISSUES
from em_pipelines.schema.tables.record import QUARANTINE
from em_pipelines.serving.snapshot import newest_day, publish_home
from em_pipelines.storage.run_plan import plan
from em_pipelines.storage.step import Step


@dataclass(frozen=True, slots=True)
class Learned:
    """What was made: days that something was made of, what was set aside on them (`em quarantine`), and messages that
    wait for a model."""

    days: tuple[date, ...] = ()
    n_set_aside: int = 0
    n_pending: int = 0


def learn(home: Pipeline, days: Collection[date], *, wait_seconds: float) -> Learned:
    """Makes days, what follows of them on later days, what is inferred, and what is searched.

    What else is out of date, and the snapshot, are left to `em run`. Raises LockedError where a run or an erasure is at
    work for longer than `wait_seconds`, and whatever a step raises of EmError; days that were made then stand.
    """
    if not days:
        return Learned()
    with home.lock("run", timeout_seconds=wait_seconds):
        check(home)
        home.store.look()  # what days say of each other's conversations is read anew
        return _served(home, _made(home, sorted(days), wait_seconds))


def learned(home: Pipeline, taken: Taken, *, wait_seconds: float) -> Added:
    """Learns from a batch that has landed, and says what came of both. What passes by itself, such as a run that is at
    work for too long, is no error: what has landed stays, and the next run learns from it. Raises PermanentError."""
    added = taken.result()
    try:
        made = _off_the_loop(lambda: learn(home, taken.days_to_learn(home), wait_seconds=wait_seconds))
    except TransientError as error:
        return replace(added, waits_for=f"{error}")
    if made.n_pending:
        return replace(added, waits_for=f"{made.n_pending} messages wait to be read by the model; the next run asks it")
    return replace(added, is_learned=True)


def run(home: Pipeline, *, wait_seconds: float) -> Learned:
    """Makes everything that is out of date, carries out what is to be forgotten, and publishes the snapshot: all of
    `em run` but its checks. Raises as `learn` does."""
    return _off_the_loop(lambda: _run(home, wait_seconds=wait_seconds))


def _off_the_loop(work: Callable[[], Learned]) -> Learned:
    """Does work, where the thread has a loop that runs (a notebook's, say) in another: asking models takes a loop of
    its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def _run(home: Pipeline, *, wait_seconds: float) -> Learned:
    with home.at_work("run", timeout_seconds=wait_seconds):
        home.sweep()
        check(home)
        made = _made(home, plan(home.store, home.steps.values()).days, wait_seconds)
        if home.book.pending():
            from em_pipelines.governance.erasure.forget import carry_out  # noqa: PLC0415  (50 ms, seldom used)

            carry_out(home)
        learned = _served(home, made)
        _publish(home)
        return learned


def _made(home: Pipeline, days: Sequence[date], wait_seconds: float) -> tuple[date, ...]:
    """Makes those of the days that are out of date in every step, and returns them. Waits for each step on which a run
    from Dagster's UI is at work."""
    if not days:
        return ()
    readers = [step for step in home.steps.values() if step.is_fold or step.latest]
    home.note_unchecked({*days, *(day for step in readers for day in _days_of(home, step, days))})
    made: set[date] = set()
    for step in home.steps.values():
        todo = _days_of(home, step, days)
        with home.lock(f"step-{step.name}", timeout_seconds=wait_seconds):
            made.update(home.store.run_days(step, todo).made)
            settle(home.store, step, todo)
    return tuple(sorted(made))


def _days_of(home: Pipeline, step: Step, days: Sequence[date]) -> list[date]:
    """The days; of a step that reads state all later ones, too."""
    there = home.store.days(step)
    if step.is_fold or step.latest:
        return [day for day in there if day >= days[0]]
    wanted = set(days)
    return [day for day in there if day in wanted]


def _served(home: Pipeline, days: Sequence[date]) -> Learned:
    """Makes what agents are told from the days."""
    home.infer()
    home.refresh_proactive()
    home.polish_probes()
    packs.build(home)
    lake, wanted = home.store.lake, set(days)
    aside = [*home.store.quarantine.entries(day for day in lake.days(QUARANTINE) if day in wanted)]
    read = [day for day in lake.days(EXTRACTION_ISSUES) if day in wanted]
    waiting = [segment for segment in unread_segments(lake, read) if segment.status == PENDING]
    return Learned(tuple(days), len(aside), sum(segment.n_messages for segment in waiting))


def _publish(home: Pipeline) -> None:
    if newest_day(home.store) is None:
        return
    with home.lock("snapshot"):
        publish_home(home)
    thin(home.store, home.steps, home.settings.states, home.lock)
    home.store.lake.keep_footers()
