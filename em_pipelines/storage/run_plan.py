"""What to run: the days that are out of date, and the span of days from the first of them to the last."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import date
from typing import TypeAlias

from em_pipelines.schema.ids import digest
from em_pipelines.storage.step import Step
from em_pipelines.storage.store import Store

Span: TypeAlias = tuple[date, date]
"""The first and the last of some days; those in between need not be among them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Days to make again, in order of time. Empty: all is current.

    `digest` differs wherever running them could end differently: with other days, log or code.
    """

    days: tuple[date, ...]
    digest: str

    @property
    def span(self) -> Span | None:
        """What one run takes: days of it that are current, and those without anything, cost it next to nothing."""
        return span_of(self.days)


def plan(
    store: Store,
    steps: Iterable[Step],
    *,
    is_full: bool = False,
    is_due: Callable[[Step, date], bool] = lambda _, __: True,
) -> Plan:
    """Finds the days to run again: every day with a partition out of date and, because state is read from the days
    before, every later day of the steps that read it.

    `is_full` takes all days with input. Days that were left incomplete are taken only where they `is_due`.
    """
    steps = list(steps)
    days = {day for step in steps for day in store.days(step)} if is_full else _out_of_date(store, steps, is_due)
    if days:
        days |= _later_days_of_readers(store, steps, min(days))
    ordered = tuple(sorted(days))
    return Plan(ordered, digest([*map(str, ordered), *_made_from(store, steps, min(days, default=date.max))]))


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


def span_of(days: Collection[date]) -> Span | None:
    """The span of some days; None of none."""
    return (min(days), max(days)) if days else None


def _made_from(store: Store, steps: Iterable[Step], first: date) -> Iterable[str]:
    """What the days from the first on will be made from: the steps as they are and the log as it stands. What landed
    for days before it is in their tables already."""
    for step in steps:
        yield f"{step.name} {step.code_version}"
        if step.log_kind:
            days = (day for day in store.days(step) if day >= first)
            yield from (f"{step.log_kind} {day} {store.log.digest(step.log_kind, day)}" for day in days)
