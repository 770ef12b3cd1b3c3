"""Giving up the rows of old states, and making them again for whoever asks.

What a partition's footer says outlives its rows, so nothing that was made from them is out of date for it.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from datetime import date

from em_pipelines.errors import LockedError
from em_pipelines.lifecycle.state_retention_days import StateSettings, given_up
from em_pipelines.schema.table import Table
from em_pipelines.storage.lake import Lake
from em_pipelines.storage.step import Step
from em_pipelines.storage.store import Store

Steps = Mapping[str, Step]


def thin(store: Store, steps: Steps, settings: StateSettings, lock: Callable[..., AbstractContextManager[None]]) -> int:
    """Gives up the rows of old states; returns of how many partitions. While a step is at work, which may be reading
    them, of none: the next time does it. `lock` takes the name of a lock of the home and `timeout_seconds`."""
    touching = [
        name for name, step in steps.items() if any(t.is_state for t in (*step.outputs, *step.inputs, *step.latest))
    ]
    with ExitStack() as held:
        try:
            for name in touching:
                held.enter_context(lock(f"step-{name}", timeout_seconds=0))
        except LockedError:
            return 0
        todo = _to_give_up(store.lake, steps, settings)
        for table, day in todo:
            store.lake.thin(table, day)
        return len(todo)


def _to_give_up(lake: Lake, steps: Steps, settings: StateSettings) -> list[tuple[Table, date]]:
    """The partitions of state that need not be kept and still have their rows."""
    states = [table for step in steps.values() for table in step.outputs if table.is_state]
    return [
        (table, day)
        for table in states
        for day in given_up(lake.days(table), settings.keep_days)
        if not _is_thinned(lake, table, day)
    ]


def restore(store: Store, steps: Steps, table: Table, day: date) -> None:
    """Makes the rows of a partition again that were given up, and those of the days before it that they come from."""
    step = next(step for step in steps.values() if table in step.outputs)
    store.run_days(step, [day], is_forced=True)


def _is_thinned(lake: Lake, table: Table, day: date) -> bool:
    info = lake.info(table, day)
    return info is not None and info.is_thinned
