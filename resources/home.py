"""The home as a resource: log, lake, steps and snapshots, built once a process from a path."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import dagster as dg
from filelock import FileLock, Timeout
from pydantic import PrivateAttr

from em_pipelines.observability.log_lines import write_json
from em_pipelines.observability.work import bound, work
from em_pipelines.pipeline import Pipeline
from em_pipelines.serving.metrics.step_watch import StepWatch
from em_pipelines.settings import Settings, load_settings
from em_pipelines.storage.files import close_to_others, make_folder
from resources.embedders import open_embedder
from resources.model_access import asking_of
from resources.run_locks import run_lock
from resources.tracing import start

Progress = Callable[[str, int], None]
ID_DIGITS = 8
"""Of a run's id by Dagster, as its UI shows it."""


class HomeResource(dg.ConfigurableResource[Pipeline]):
    """Gives assets the home that lies at `path`. Settings come from em.yaml and EM_ variables."""

    path: str
    _settings: Settings | None = PrivateAttr(default=None)
    _on_days: Progress | None = PrivateAttr(default=None)
    _run_lock: FileLock | None = PrivateAttr(default=None)
    _run: ExitStack = PrivateAttr(default_factory=ExitStack)

    @classmethod
    def of(cls, settings: Settings, on_days: Progress | None = None) -> "HomeResource":
        """A resource for settings already read; `on_days(step, n_days)` hears of days done."""
        resource = cls(path=str(settings.home))
        resource._settings = settings
        resource._on_days = on_days
        return resource

    @cached_property
    def home(self) -> Pipeline:
        """The home itself."""
        path = Path(self.path)
        settings = self._settings.model_copy(update={"home": path}) if self._settings else load_settings(home=path)
        if settings.log.format == "json":
            write_json()
        start(settings)
        opened = Pipeline(settings, asking_of, open_embedder)
        opened.store.watch = StepWatch(opened.store.lake, opened.path)
        close_to_others()  # Dagster's own files as well
        return opened

    def _with_updated_values(self, values: Mapping[str, Any] | None) -> "HomeResource":
        """The copy that Dagster makes for each run knows fields alone: what is private is handed on here."""
        copy = super()._with_updated_values(values)
        copy._settings, copy._on_days = self._settings, self._on_days
        return copy

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """Takes the lock of the run; sensors have none, and a step in another process finds it held."""
        if context.run:
            lock = run_lock(self.home, context.run.run_id)
            make_folder(Path(lock.lock_file).parent)
            with suppress(Timeout):
                lock.acquire()
                self._run_lock = lock
            if "correlation_id" not in bound():  # else `em run` has begun it
                self._run.enter_context(work("em.run", correlation_id=f"run_{context.run.run_id[:ID_DIGITS]}"))

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:  # noqa: ARG002  (Dagster's signature)
        """Gives it back, and leaves no file of it: a file without a holder tells of a process that was killed."""
        with suppress(ValueError):  # begun in another context: it ends with that
            self._run.close()
        if self._run_lock:
            Path(self._run_lock.lock_file).unlink(missing_ok=True)
            self._run_lock.release()

    def days_done(self, step: str, n_days: int) -> None:
        """Tells whoever waits that a step has done some more days."""
        if self._on_days:
            self._on_days(step, n_days)
