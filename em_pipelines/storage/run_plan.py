"""What to run: the days that are out of date, as ranges that one Dagster run each can take."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from em_pipelines.schema.ids import digest
from em_pipelines.storage.store import Step, Store


@dataclass(frozen=True, slots=True)
class Plan:
    """Ranges of days (first, last), in order of time; to be run one after the other. Empty: all is current.

    `digest` differs wherever running the ranges could end differently: with other days, log or code.
    """

    ranges: tuple[tuple[date, date], ...]
    digest: str


def plan(
    store: Store,
    steps: Iterable[Step],
    *,
    gap_days: int,
    is_full: bool = False,
    is_due: Callable[[Step, date], bool] = lambda _, __: True,
) -> Plan:
    """Finds the days to run again: every day with a partition out of date and, because state is read from the days
    before, every later day of the steps that read it.

    Days further apart than `gap_days` go into different ranges: an empty day in a range still costs Dagster an event
    a table. `is_full` takes all days with input. Days that were left incomplete are taken only where they `is_due`.
    """
    steps = list(steps)
    days = {day for step in steps for day in store.days(step)} if is_full else _out_of_date(store, steps, is_due)
    if days:
        days |= _later_days_of_readers(store, steps, min(days))
    ranges = tuple(ranges_of(sorted(days), gap_days))
    return Plan(
        ranges, digest([*(f"{a} {b}" for a, b in ranges), *_made_from(store, steps, min(days, default=date.max))])
    )


def steps_with_work(store: Store, steps: Iterable[Step], first: date, last: date) -> list[Step]:
    """All steps but those of logs that have nothing in the range: Dagster would note each of their days."""
    return [s for s in steps if not s.log_kind or any(first <= day <= last for day in store.days(s))]


def _out_of_date(store: Store, steps: Iterable[Step], is_due: Callable[[Step, date], bool]) -> set[date]:
    look = store.look()
    stale = {
        day
        for step in steps
        for day in store.stale_days(step, look)
        if not store.is_incomplete(step, day) or is_due(step, day)
    }
    look.save()
    return stale


def _later_days_of_readers(store: Store, steps: Iterable[Step], first: date) -> set[date]:
    """The days from the first on of the steps that read state of days before."""
    readers = [step for step in steps if step.is_fold or step.latest]
    return {day for step in readers for day in store.days(step) if day >= first}


def ranges_of(days: Sequence[date], gap_days: int) -> Iterable[tuple[date, date]]:
    """Joins sorted days into ranges, a new one wherever more than `gap_days` lie between two of them."""
    start = last = None
    for day in days:
        if start is None or last is None:
            start = day
        elif (day - last).days > gap_days:
            yield start, last
            start = day
        last = day
    if start is not None and last is not None:
        yield start, last


def _made_from(store: Store, steps: Iterable[Step], first: date) -> Iterable[str]:
    """What the days from the first on will be made from: the steps as they are and the log as it stands. What landed
    for days before it is in their tables already."""
    for step in steps:
        yield f"{step.name} {step.code_version}"
        if step.log_kind:
            days = (day for day in store.days(step) if day >= first)
            yield from (f"{step.log_kind} {day} {store.log.digest(step.log_kind, day)}" for day in days)
