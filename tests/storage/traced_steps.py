"""Runs every step and notes what of the package each of them ran and opened: LOGS HOME → JSON on stdout.

In a process of its own: what is read once a process is seen by the step that reads it first, and no test before this
has read it. What is read while steps are built belongs to the step that reads messages.
"""

import json
import sys
from collections import UserDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from types import FrameType
from typing import Any

from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.table import Records, Tables
from em_pipelines.settings import load_settings
from em_pipelines.storage.step import DATA_SUFFIXES, PACKAGE, Run, RunMany, Step

seen: set[str] | None = None
met: set[str] = set()
"""Files of which a call was noted since `seen` was set: looked at is each call that there is."""
BELOW = f"{PACKAGE}/"


def _note(path: str) -> None:
    if seen is not None and path.startswith(BELOW):
        seen.add(path.removeprefix(BELOW))


def _on_call(frame: FrameType, event: str, _: Any) -> None:
    if event == "call" and (path := frame.f_code.co_filename) not in met and frame.f_code.co_name != "<module>":
        met.add(path)
        _note(path)


def _on_event(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and isinstance(arguments[0], str | Path) and Path(arguments[0]).suffix in DATA_SUFFIXES:
        _note(str(arguments[0]))


@contextmanager
def watched(paths: set[str]) -> Iterator[None]:
    global seen  # noqa: PLW0603  (an audit hook cannot be taken off, and takes no argument)
    seen = paths
    met.clear()
    sys.setprofile(_on_call)
    try:
        yield
    finally:
        sys.setprofile(None)
        seen = None


class Watched(UserDict[str, Any]):
    """Tables by name, which note what is asked for."""

    def __init__(self, tables: Tables, asked: set[str]) -> None:
        self._asked = asked
        super().__init__(tables)

    def __getitem__(self, name: str) -> Any:
        self._asked.add(name)
        return super().__getitem__(name)


def noted(step: Step, paths: set[str], given: set[str], asked: set[str]) -> Run:
    """The run of a step, which notes what it runs and opens, which tables it is given and which it asks for."""
    wrapped = step.run

    def run(day: date, tables: Tables, records: Records) -> Tables:
        landed = list(records)  # reading the log is the store's work, not the step's
        given.update(tables)
        with watched(paths):
            made = wrapped(day, Watched(tables, asked), landed)
            return {n: rows.to_table() if hasattr(rows, "to_table") else rows for n, rows in made.items()}

    run.__module__ = wrapped.__module__  # by which the version of the step is made
    return run


def noted_many(step: Step, paths: set[str], given: set[str], asked: set[str]) -> RunMany | None:
    """The same of a step that makes several days at once."""
    wrapped = step.run_many
    if wrapped is None:
        return None

    def run_many(days: Mapping[date, Tables]) -> Mapping[date, Tables]:
        for tables in days.values():
            given.update(tables)
        with watched(paths):
            return wrapped({day: Watched(tables, asked) for day, tables in days.items()})

    return run_many


def main(logs: Path, home: Path) -> dict[str, dict[str, list[str]]]:
    sys.addaudithook(_on_event)
    pipeline = Pipeline(load_settings(home=home))
    land([logs], pipeline.store.log, now=datetime(2026, 11, 1, tzinfo=UTC), settings=pipeline.settings.landing)
    seen_by: dict[str, dict[str, set[str]]] = {"ran": {}, "given": {}, "asked": {}}
    for name, step in {**pipeline.steps, "inference": pipeline.inference}.items():
        kinds = [seen_by[kind].setdefault(name, set()) for kind in ("ran", "given", "asked")]
        object.__setattr__(step, "run", noted(step, *kinds))
        object.__setattr__(step, "run_many", noted_many(step, *kinds))
    for step in pipeline.steps.values():
        pipeline.store.run_days(step, pipeline.store.days(step))
    pipeline.infer()
    return {kind: {name: sorted(seen) for name, seen in of_kind.items()} for kind, of_kind in seen_by.items()}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), Path(sys.argv[2]))))
