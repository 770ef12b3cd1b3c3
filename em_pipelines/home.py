"""One home: where everything of one installation lies, and the objects that work on it.

HOME/log        the landed log, append-only: all else can be made again from it
HOME/lake       tables, one Parquet file a table and day
HOME/snapshots  DuckDB files for analysts, one a date, and `latest.duckdb`
HOME/evaluations  figures that later ones are compared with
HOME/packs      index packs, a folder a user
HOME/inbox      files dropped here are landed by the landing sensor
HOME/dagster    Dagster's own home
HOME/llm        answers of models that were paid for
HOME/record     ledger, certificates, tokens, and the salt of names that may not be kept
HOME/tmp        what steps had no memory for
HOME/locks      who is at work
"""

import shutil
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from datetime import date
from functools import cached_property
from pathlib import Path

import orjson

from em_pipelines.atomic import is_alive, write_atomically
from em_pipelines.erasure.gate import ErasureGate
from em_pipelines.erasure.requests import RequestBook
from em_pipelines.erasure.tombstones import Tombstones
from em_pipelines.errors import UsageError
from em_pipelines.extraction.assemble import Checks
from em_pipelines.extraction.llm.extractor import LLMExtractor, OpenAsking
from em_pipelines.extraction.model import Extractor
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.extraction.unread import UnreadSegment
from em_pipelines.feedback.archived import Archived
from em_pipelines.inference.llm.proposer import ModelProposer
from em_pipelines.inference.step import build_inference
from em_pipelines.lake import Lake
from em_pipelines.landing.log import LandedLog
from em_pipelines.locking import held
from em_pipelines.models.answers import AnswerStore
from em_pipelines.models.ladder_state import LadderStore
from em_pipelines.pipeline import Step, StepReport, Store
from em_pipelines.record.ledger import Ledger
from em_pipelines.resolution.aliases import load_aliases
from em_pipelines.retrieval.vectors import Embedder
from em_pipelines.salting import Salt
from em_pipelines.serving.overlay import Overlay
from em_pipelines.serving.waiting import waiting_feedback
from em_pipelines.settings import Settings
from em_pipelines.steps import SPILL, build_steps
from em_pipelines.tables.derived import CURRENT_EDGES
from em_pipelines.thinning import restore

UNCHECKED = "unchecked.json"
ANSWERS = Path("llm", "answers.sqlite")
COLLECTED = Path("llm", "collected")
"""Touched when days that wait for a model are worth another try at once: a batch has brought answers, or a replay."""
OpenModels = Callable[[Settings], OpenAsking]
"""Settings → what opens the way to their models. `resources.asking` has the one that calls out."""
OpenEmbedder = Callable[[Settings], Embedder]
"""Settings → the embedder that they name. `resources.embedders` has it."""


class Home:
    """The objects of one home. Nothing is read or made on disk before it is asked for."""

    def __init__(
        self, settings: Settings, open_models: OpenModels | None = None, open_embedder: OpenEmbedder | None = None
    ) -> None:
        self.settings = settings
        self.path = settings.home
        self._open_models = open_models
        self._open_embedder = open_embedder

    @cached_property
    def store(self) -> Store:
        """The log and the lake."""
        log = LandedLog(self.path / "log", ErasureGate(self.tombstones, self.book))
        return Store(log, Lake(self.path / "lake", lambda *lost: restore(self.store, self.steps, *lost)))

    @cached_property
    def tombstones(self) -> Tombstones:
        """What was erased and may not come back."""
        return Tombstones(self.record / "tombstones.jsonl", self.salt)

    @cached_property
    def book(self) -> RequestBook:
        """Requests to forget, and certificates of those that were carried out."""
        return RequestBook(self.record, self.salt)

    @cached_property
    def extractor(self) -> Extractor:
        """The extractor that the settings name. Nobody is asked before it reads."""
        if self.settings.extractor == "rules":
            keeps_health = self.settings.rules.keeps_health or self.settings.safety.is_health_enabled
            return RulesExtractor(self.settings.rules.model_copy(update={"keeps_health": keeps_health}))
        if self._open_models is None:
            raise UsageError("reading with a model: this process has no client for one; use `em`, or the llm resource")
        return LLMExtractor(
            self.settings.llm.model_of("small"),
            self._open_models(self.settings),
            self.settings.reading,
            is_health_asked=self.settings.safety.is_health_enabled,
        )

    @cached_property
    def embedder(self) -> Embedder | None:
        """What makes vectors for search; None where the settings want none."""
        if self.settings.embedder == "none":
            return None
        if self._open_embedder is None:
            raise UsageError("searching by vectors: this process has no embedder; give Home one, or unset EM_EMBEDDER")
        return self._open_embedder(self.settings)

    @cached_property
    def archived(self) -> Archived:
        """Which messages are not to be found any more."""
        return Archived(self.store.log)

    @property
    def checks(self) -> Checks:
        """What every reading has to pass."""
        return Checks(self.settings.verification, self.settings.safety, self.settings.durable)

    @cached_property
    def steps(self) -> dict[str, Step]:
        """Every step by name, in order."""
        return build_steps(self.settings, self.extractor, self.tombstones)

    @cached_property
    def inference(self) -> Step:
        """The step that makes inferred edges, of one day only; raises RuleFileError."""
        settings = self.settings.inference
        if not (settings.is_enabled and settings.is_model_enabled):
            return build_inference(settings)
        if self._open_models is None:
            raise UsageError("inferring with a model: this process has no client for one; use `em`, or Dagster")
        asking = self._open_models(self.settings)
        return build_inference(settings, ModelProposer(self.settings.llm.model_of("large"), asking, settings))

    def infer(self, until: date | None = None, *, is_forced: bool = False) -> StepReport:
        """Makes the inferred edges of the last day with current edges (up to `until`) unless they are current."""
        day = self.store.lake.latest(CURRENT_EDGES, until or date.max)
        with self.lock("step-inference"):
            return self.store.run_days(self.inference, [day], is_forced=is_forced) if day else StepReport()

    @property
    def is_inferred(self) -> bool:
        """Whether the inferred edges of the last day are those that would be made now."""
        day = self.store.lake.latest(CURRENT_EDGES, date.max)
        return day is None or self.store.is_current(self.inference, day)

    @property
    def snapshots(self) -> Path:
        """The folder of snapshots."""
        return self.path / "snapshots"

    @property
    def evaluations(self) -> Path:
        """The folder of baselines."""
        return self.path / "evaluations"

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
        return Salt(self.record / "salt")

    @cached_property
    def ledger(self) -> Ledger:
        """What people did to memory."""
        return Ledger(self.record, self.salt)

    @property
    def dagster_home(self) -> Path:
        """Dagster's own home."""
        return self.path / "dagster"

    def waiting(self, user_id: str, until: date) -> Overlay:
        """The person's feedback, said up to the end of a day, that has landed and is not folded yet."""
        found = waiting_feedback(self.store, [self.steps[name] for name in ("feedback", "fold")], user_id, until)
        chosen = self.settings
        aliases = load_aliases(chosen.resolution.alias_file, chosen.home)
        return Overlay(found, aliases, chosen.resolution, chosen.fold, chosen.decay, chosen.safety)

    def give_back(self, segments: Iterable[UnreadSegment]) -> None:
        """Lets dead letters of the extraction be asked for again, and puts their days out of date.

        Days first: after a crash in between a replay is asked for once more, and nothing is forgotten.
        """
        wanted = list(segments)
        for day in {segment.day for segment in wanted}:
            with self.lock("step-extraction"):
                self.store.reopen(self.steps["extraction"], day)
        if wanted:
            with AnswerStore(self.answers) as store:
                for segment in wanted:
                    LadderStore(store.database).reset(segment.user_id, segment.segment_id)
            (self.path / COLLECTED).touch()

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

    def unchecked_ranges(self) -> list[tuple[date, date]]:
        """Ranges of days whose checks have not passed since they were made: they failed, or their run was killed."""
        path = self.path / UNCHECKED
        if not path.exists():
            return []
        return [(date.fromisoformat(a), date.fromisoformat(b)) for a, b in orjson.loads(path.read_bytes())]

    def note_unchecked(self, ranges: list[tuple[date, date]]) -> None:
        """Replaces what `unchecked_ranges` gives. Noted before a run and cleared after it, so that nothing that a
        check found, or never looked at, is forgotten because its days are current."""
        write_atomically(self.path / UNCHECKED, orjson.dumps([[str(a), str(b)] for a, b in ranges]))

    def lock(self, name: str, *, timeout_seconds: float = 600) -> AbstractContextManager[None]:
        """Holds one of the home's locks; raises LockedError where another process keeps it for too long."""
        return held(self.path, name, timeout_seconds)
