"""Measures and tells of the work of steps: durations into the notes of the home, fields for log lines, spans.

Put into `Store.watch` by whoever runs steps for people; the engine's own callers do without.
"""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from functools import lru_cache
from pathlib import Path

import pyarrow.compute as pc

from em_pipelines.language.counting import counted
from em_pipelines.observability.work import work
from em_pipelines.schema.tables.raw import INTERACTIONS
from em_pipelines.storage.histograms import FOLDER, Histogram, Histograms, add_to_note
from em_pipelines.storage.lake import Lake

_LOGGER = logging.getLogger(__name__)
MIXED, NONE = "mixed", "none"
"""In the place of a channel, for days with messages by several, and for days without any."""


class StepWatch:
    """Watches the steps of one home. Whoever runs a step holds its lock, so that its note has one writer."""

    def __init__(self, lake: Lake, home: Path) -> None:
        self._lake = lake
        self._folder = home / FOLDER
        self._durations: Histograms = {}
        self._n_days = 0
        self._channel = lru_cache(maxsize=4096)(self._find_channel)

    @contextmanager
    def __call__(self, step: str, days: Sequence[date]) -> Iterator[None]:
        """Around the making of days, and around a step as a whole."""
        begun = time.perf_counter()
        if not days:
            with self._of_step(step, begun):
                yield
            return
        day = str(days[0]) if len(days) == 1 else f"{days[0]}..{days[-1]}"
        with work("em.day" if len(days) == 1 else "em.days", step=step, day=day):
            yield
        each_ms = (time.perf_counter() - begun) * 1000 / len(days)
        self._n_days += len(days)
        for one in days:
            self._durations.setdefault(self._channel(one), Histogram()).add(each_ms)

    @contextmanager
    def _of_step(self, step: str, begun: float) -> Iterator[None]:
        self._durations, self._n_days = {}, 0
        self._channel.cache_clear()
        try:
            with work("em.step", step=step):
                yield
                if self._n_days:
                    took_ms = (time.perf_counter() - begun) * 1000
                    _LOGGER.info("%s: made %s in %.0f ms", step, counted(self._n_days, "day"), took_ms)
        finally:
            if self._durations:
                add_to_note(self._folder / f"{step}.json", self._durations)

    def _find_channel(self, day: date) -> str:
        """By what the messages of a day came: one channel, or mixed; none where there were none."""
        found = pc.unique(self._lake.read(INTERACTIONS, day)["channel"]).to_pylist()
        return (found[0] if len(found) == 1 else MIXED) if found else NONE
