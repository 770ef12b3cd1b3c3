"""Where Dagster keeps a run of `em run`, and what becomes of the run where it cannot be kept there.

Memory never waits for Dagster's history. A database that is damaged is set aside and a new one is started; where that
does not help, or another process keeps the storage locked, the run goes into a storage that is thrown away. Either is
said in one sentence.
"""

import os
import re
import shutil
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from em_pipelines.errors import EmError, RunFailedError
from em_pipelines.home import DAGSTER_YAML, EVENT_STORAGE, SPILL, Home
from em_pipelines.interfaces.cli import interrupts
from em_pipelines.interfaces.cli.console import say
from em_pipelines.storage.files import make_folder, write_atomically

FORMER_DAGSTER_YAMLS = frozenset({"telemetry: {enabled: false}\nnux: {enabled: false}\n", ""})
"""What was written before, to the byte, and what a crash leaves: nobody has edited it, so it is written anew."""
OF_ANY_LAYOUT = re.compile(r"module: [\w.]*\bresources\.event_storage\b")
"""The module of the event storage as a checkout names it or as the wheel does: either may have made the home."""
LOCK_SECONDS = 5.0
"""Another process at work holds a database for a fraction of a second."""
PLACES = ("/dagster/_core/storage/", "/dagster/_core/instance/", "/resources/event_storage", "/resources/event_shards")
"""Files of code where an error that passes them is one of Dagster's storage."""
Result = TypeVar("Result")


class StorageError(RunFailedError):
    """A run failed, or could not begin, because of Dagster's storage."""


def prepare_dagster_home(home: Home) -> Path:
    """Makes Dagster's own home with a configuration that calls nobody; one that people have edited is left alone."""
    return _prepared(home.dagster_home.absolute())


def _prepared(folder: Path) -> Path:
    make_folder(folder)
    path = folder / "dagster.yaml"
    if not path.exists() or _is_former(path.read_bytes().decode(errors="replace")):
        write_atomically(path, DAGSTER_YAML.encode())
    return folder


def _is_former(text: str) -> bool:
    """Whether a configuration was written by us, and would be written otherwise now."""
    if text in FORMER_DAGSTER_YAMLS:
        return True
    return text != DAGSTER_YAML and OF_ANY_LAYOUT.sub(f"module: {EVENT_STORAGE}", text) == DAGSTER_YAML


def with_storage(home: Home, work: Callable[[Path], Result]) -> Result:
    """Does work that takes the folder of Dagster's home, and once more where that fails for the storage there.

    The second time it is handed the same folder, if something damaged could be set aside, else one that is deleted
    afterwards. Raises what the work raises, and StorageError where it fails twice for the storage.
    """
    from em_pipelines.governance.audit.dagster_files import locked

    folder = prepare_dagster_home(home)
    _set_aside(home, is_deep=False)
    if held := locked(folder, LOCK_SECONDS):
        return _without_history(home, work, f"another process keeps {held[0].name} locked")
    try:
        return work(folder)
    except Exception as error:
        interrupts.check()
        if not is_of_storage(error):
            raise
        found = type(error.__cause__ or error).__name__
    if _set_aside(home, is_deep=True):
        try:
            return work(folder)
        except Exception as error:
            interrupts.check()
            if not is_of_storage(error):
                raise
            found = type(error.__cause__ or error).__name__
    return _without_history(home, work, found)


def is_of_storage(error: BaseException) -> bool:
    """Whether an error, or what it came of, was raised in Dagster's storage."""
    return any(
        isinstance(one, StorageError) or is_in_storage(traceback.format_tb(one.__traceback__)) for one in _chain(error)
    )


def is_in_storage(stack: list[str]) -> bool:
    """Whether the last of these frames, as text, are those of Dagster's storage."""
    return any(place in frame for place in PLACES for frame in stack)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__


def _set_aside(home: Home, *, is_deep: bool) -> bool:
    """Sets damaged databases aside and says so; whether there were any."""
    from em_pipelines.governance.audit.dagster_files import flaws, set_aside

    found = flaws(home.dagster_home, is_deep=is_deep)
    for flaw in found:
        target = set_aside(flaw.path, datetime.now(UTC))
        name = flaw.path.relative_to(home.dagster_home)
        _say(f"Dagster's {name} was damaged ({flaw.found}); it is set aside as {target.name}, and a new one is started")
    return bool(found)


def _without_history(home: Home, work: Callable[[Path], Result], found: str) -> Result:
    """Says so when the work is done: where that fails, too, as on a full disk, its own sentence is the one to read."""
    folder = home.path / SPILL / str(os.getpid()) / "dagster"
    try:
        result = work(_prepared(folder))
    except Exception as error:
        if isinstance(error, EmError) or not is_of_storage(error):
            raise
        raise StorageError(
            f"running: Dagster's storage failed again ({type(error.__cause__ or error).__name__}), now in {folder}; "
            "see whether the disk is full or read-only, then run again"
        ) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with suppress(OSError):  # of this process alone, and not empty where a step has something there
            folder.parent.rmdir()
    _say(f"Dagster's storage cannot be used ({found}); this run is not in its history, memory is made all the same")
    return result


def _say(sentence: str) -> None:
    say(sentence)
