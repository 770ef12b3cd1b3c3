"""One home: where everything of one installation lies, and the opening of the stores that lie there.

HOME/log        the landed log, append-only: all else can be made again from it
HOME/lake       tables, one Parquet file a table and day
HOME/snapshots  DuckDB files for analysts, one a date, and `latest.duckdb`
HOME/evaluations  figures that later ones are compared with
HOME/quality  what Great Expectations found last, as pages to read (Data Docs)
HOME/packs      index packs, a folder a user
HOME/inbox      files dropped here are landed by the landing sensor
HOME/dagster    Dagster's own home
HOME/llm        answers of models that were paid for, vectors of phrases, and what vectors told of sentences
HOME/pool       what was taken from shared pools
HOME/record     ledger, certificates, tokens, and the salt of names that may not be kept
HOME/alerts     what stands of alerts, and who was told
HOME/timings    how long steps took
HOME/reports    how the home was last night, and what each week brought, as pages
HOME/tmp        what steps had no memory for
HOME/locks      who is at work, and whose work broke off

No settings, no steps and no models: who needs those opens a `em_pipelines.pipeline.Pipeline`.
"""

import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from functools import cached_property
from pathlib import Path

import orjson

from em_pipelines.errors import CorruptTableError
from em_pipelines.landing.erasure_gate import ErasureGate
from em_pipelines.landing.erasure_requests import RequestBook
from em_pipelines.schema.table import Table
from em_pipelines.storage.files import held, is_alive, is_held, write_atomically
from em_pipelines.storage.lake import Lake
from em_pipelines.storage.landed_log import LandedLog
from em_pipelines.storage.ledger import Ledger
from em_pipelines.storage.log_manifest import Manifest
from em_pipelines.storage.run_plan import Span, span_of
from em_pipelines.storage.salt import Salt
from em_pipelines.storage.store import Store
from em_pipelines.storage.tombstones import Tombstones

UNCHECKED = "unchecked.json"
ANSWERS = Path("llm", "answers.sqlite")
COLLECTED = Path("llm", "collected")
"""Touched when days that wait for a model are worth another try at once: a batch has brought answers, or a replay."""
SPILL = Path("tmp")
"""Where steps put what does not fit into memory, a folder a process; gone with it."""
EVENT_STORAGE = "resources.event_storage"
DAGSTER_YAML = f"""\
telemetry: {{enabled: false}}
nux: {{enabled: false}}
event_log_storage: {{module: {EVENT_STORAGE}, class: BatchingEventLogStorage, config: {{}}}}
"""
"""What dagster.yaml holds until people edit it."""
Restore = Callable[[Store, Table, date], None]
"""(store, table, day) → nothing; makes rows again that were given up."""


class Home:
    """The paths and stores of one home. Nothing is read or made on disk before it is asked for."""

    def __init__(self, path: Path, restore: Restore | None = None) -> None:
        self.path = path
        self._restore = restore

    @cached_property
    def store(self) -> Store:
        """The log and the lake."""
        restore = self._restore
        manifest = Manifest(self.path / "log" / "manifest.jsonl", self.record / "log.head", self.salt)
        log = LandedLog(self.path / "log", ErasureGate(self.tombstones, self.book), manifest)
        return Store(log, Lake(self.path / "lake", restore and (lambda *lost: restore(self.store, *lost))))

    @cached_property
    def tombstones(self) -> Tombstones:
        """What was erased and may not come back."""
        return Tombstones(self.record / "tombstones.jsonl", self.salt)

    @cached_property
    def book(self) -> RequestBook:
        """Requests to forget, and certificates of those that were carried out."""
        return RequestBook(self.record, self.salt)

    @property
    def snapshots(self) -> Path:
        """The folder of snapshots."""
        return self.path / "snapshots"

    @property
    def evaluations(self) -> Path:
        """The folder of baselines."""
        return self.path / "evaluations"

    @property
    def data_docs(self) -> Path:
        """The folder of Great Expectations' report; `index.html` is where to begin."""
        return self.path / "quality"

    @property
    def inbox(self) -> Path:
        """The folder that the landing sensor watches."""
        return self.path / "inbox"

    @property
    def answers(self) -> Path:
        """The file of what models have answered."""
        return self.path / ANSWERS

    @property
    def record(self) -> Path:
        """The folder of what was done to memory: ledger, certificates, salt."""
        return self.path / "record"

    @cached_property
    def salt(self) -> Salt:
        """Makes hashes that only this home can make."""
        made_with_it = ("tombstones.jsonl", "tokens.jsonl", "ledger.jsonl", "certificates", "pending")
        return Salt(
            self.record / "salt",
            bound=self.path / "log" / ".salt.check",
            hangs_on_it=[*(self.record / name for name in made_with_it), self.path / "packs"],
        )

    @cached_property
    def ledger(self) -> Ledger:
        """What people did to memory."""
        return Ledger(self.record, self.salt)

    @property
    def dagster_home(self) -> Path:
        """Dagster's own home."""
        return self.path / "dagster"

    def sweep(self) -> list[Path]:
        """Deletes `left_overs`, and returns them."""
        left = self.left_overs()
        for path in left:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        return left

    def left_overs(self) -> list[Path]:
        """Temporary files and folders whose writer was killed, not those of living processes."""
        files = [path for path in sorted(self.path.rglob(".*.tmp")) if not is_alive(path.name.split(".")[-2])]
        return files + [path for path in sorted((self.path / SPILL).glob("*")) if not is_alive(path.name)]

    @property
    def unchecked(self) -> Span | None:
        """The span of days whose checks have not passed since they were made: they failed, or their run was killed.

        Raises CorruptTableError where nobody can read which.
        """
        path = self.path / UNCHECKED
        try:
            noted = orjson.loads(path.read_bytes()) if path.exists() else []
            return span_of([date.fromisoformat(day) for span in noted for day in span])
        except (ValueError, TypeError) as error:
            raise CorruptTableError(
                f"reading {path}: it says no days; delete it, and check every day with `em run --full`"
            ) from error

    def note_unchecked(self, days: Collection[date]) -> None:
        """Adds the span of some days to what is `unchecked`. Noted before a run, and cleared after it with
        `note_checked`, so that nothing that a check found, or never looked at, is forgotten because its days are
        current."""
        if span := span_of([*days, *(self.unchecked or ())]):
            write_atomically(self.path / UNCHECKED, orjson.dumps([span]))

    def note_checked(self) -> None:
        """Notes that all days have passed their checks."""
        (self.path / UNCHECKED).unlink(missing_ok=True)

    def lock(self, name: str, *, timeout_seconds: float = 600) -> AbstractContextManager[None]:
        """Holds one of the home's locks; raises LockedError where another process keeps it for too long."""
        return held(self.path, name, timeout_seconds)

    @contextmanager
    def at_work(self, name: str, *, timeout_seconds: float = 600) -> Iterator[None]:
        """Holds a lock as `lock` does, and notes that work under it has begun. The note goes when the block is done;
        whatever breaks it off (an interruption, an error, SIGKILL) leaves it to `is_broken_off`."""
        note = self._note(name)
        with self.lock(name, timeout_seconds=timeout_seconds):
            write_atomically(note, b"")
            yield
            note.unlink(missing_ok=True)

    def is_at_work(self, name: str) -> bool:
        """Whether some process holds one of the home's locks."""
        return is_held(self.path, name)

    def is_broken_off(self, name: str) -> bool:
        """Whether work under a lock has begun and not ended, and nobody is at it."""
        return self._note(name).exists() and not self.is_at_work(name)

    def _note(self, name: str) -> Path:
        return self.path / "locks" / f"{name}.begun"
