"""One home with everything that works on it: settings, extractor, steps, models.

Where the engine is put together. Stages never see this: each takes a home and its own settings, and says in a protocol
of its own what else it wants. Each part is imported when it is asked for: all of them take most of a second, and
whoever reads facts needs few.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, date, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from em_pipelines.errors import UsageError
from em_pipelines.governance.rebuildable_home import RebuildableHome
from em_pipelines.home import COLLECTED
from em_pipelines.language.sentence_labels import TextVectors
from em_pipelines.lifecycle.revision.revisable_home import RevisableHome
from em_pipelines.lifecycle.state_retention import restore
from em_pipelines.retrieval.settings import BUILT_IN
from em_pipelines.schema.tables.derived import CONSOLIDATED, CURRENT_EDGES, EXPERIENCES, INFERRED_EDGES, SKILL_PROFILES
from em_pipelines.serving.export.portable_home import PortableHome
from em_pipelines.serving.projection.projected_home import ProjectedHome
from em_pipelines.serving.time_rules import TimeRules
from em_pipelines.settings import Settings
from em_pipelines.storage.files import admit, make_folder, write_atomically
from em_pipelines.storage.step import Step, StepReport

if TYPE_CHECKING:
    from em_pipelines.extraction.assemble import Checks
    from em_pipelines.extraction.explaining import Explanation
    from em_pipelines.extraction.unread_segments import UnreadSegment
    from em_pipelines.lifecycle.pool.sharing import Sharing
    from em_pipelines.lifecycle.proactive.polish import Polish
    from em_pipelines.llm.asked import Asked
    from em_pipelines.llm.asking import OpenAsking
    from em_pipelines.redaction.veils import Archived
    from em_pipelines.resolution.user_registry import Aliases
    from em_pipelines.retrieval.scoring import Embedder
    from em_pipelines.schema.readings import Extractor
    from em_pipelines.schema.rows import FeedbackRow
    from em_pipelines.serving.facts import Overlay
    from em_pipelines.storage.quarantine import SetAside

OpenModels = Callable[[Settings], "OpenAsking"]
"""Settings → what opens the way to their models. `resources.model_access` has the one that calls out."""
OpenEmbedder = Callable[[Settings], "Embedder"]
"""Settings → the embedder that they name. `resources.embedders` has it."""
LOOKED = Path("lake", ".looks")
"""A file for each past day of which somebody wants to know what followed on it, while they look."""


class Pipeline(RebuildableHome, RevisableHome, PortableHome, ProjectedHome):
    """A home, opened with settings. Nothing is read or made on disk before it is asked for."""

    settings: Settings

    def __init__(
        self, settings: Settings, open_models: OpenModels | None = None, open_embedder: OpenEmbedder | None = None
    ) -> None:
        super().__init__(settings.home, lambda store, table, day: restore(store, self.steps, table, day))
        self.settings = settings
        admit(settings.access)
        self._open_models = open_models
        self._open_embedder = open_embedder

    @cached_property
    def extractor(self) -> "Extractor":
        """The extractor that the settings name. Nobody is asked before it reads."""
        if self.settings.extractor == "rules":
            from em_pipelines.extraction.rules.extractor import RulesExtractor

            keeps_health = self.settings.rules.keeps_health or self.settings.safety.is_health_enabled
            return RulesExtractor(self.settings.rules.model_copy(update={"keeps_health": keeps_health}))
        if self._open_models is None:
            raise UsageError("reading with a model: this process has no client for one; use `em`, or the llm resource")
        from em_pipelines.extraction.llm.extractor import LLMExtractor

        return LLMExtractor(
            self.settings.llm.model_of("small"),
            self._open_models(self.settings),
            self.settings.reading,
            is_health_asked=self.settings.safety.is_health_enabled,
        )

    @cached_property
    def embedder(self) -> "Embedder | None":
        """What makes vectors for search; None where the settings want none."""
        if self.settings.embedder in {"none", BUILT_IN}:
            return TextVectors() if self.settings.embedder == BUILT_IN else None
        if self._open_embedder is None:
            raise UsageError("searching by vectors: this process has no embedder; give Home one, or unset EM_EMBEDDER")
        return self._open_embedder(self.settings)

    @cached_property
    def archived(self) -> "Archived":
        """Which messages are not to be found any more."""
        from em_pipelines.redaction.veils import Archived

        return Archived(self.store.log)

    @property
    def checks(self) -> "Checks":
        """What every reading has to pass."""
        from em_pipelines.extraction.assemble import Checks
        from em_pipelines.extraction.rules.agreement import RulesAsSecondReader

        reader = RulesAsSecondReader()
        return Checks(self.settings.verification, self.settings.safety, self.settings.durable, reader)

    def explain(self, text: str, written_at: datetime) -> "Explanation":
        """How the rules read a text, as a user's message of a time with an offset. Raises UsageError where another
        extractor is set."""
        from em_pipelines.extraction.explaining import explain

        return explain(text, self.extractor, self.checks, written_at)

    @cached_property
    def aliases(self) -> "Aliases":
        """The names that the user has joined by hand; raises SettingsError."""
        from em_pipelines.resolution.user_registry import load_aliases

        return load_aliases(self.settings.resolution.alias_file, self.path)

    @cached_property
    def steps(self) -> dict[str, Step]:
        """Every daily step by name, in order."""
        from em_pipelines.steps import Embedding, StepTools, build_steps

        model = self.settings.embedder  # the built-in one is not sure enough of phrases to join them
        embedding = Embedding(model, lambda: cast("Embedder", self.embedder), self.answers)
        given = None if model in {"none", BUILT_IN} else embedding
        tools = StepTools(self.extractor, self.checks, self.tombstones, self.aliases, self.path, given)
        return build_steps(self.settings, tools)

    def another(self) -> "Pipeline":
        """The same home, opened again: a pipeline is one thread's."""
        return Pipeline(self.settings, self._open_models, self._open_embedder)

    def let_go(self) -> None:
        """Lets go of the steps, with what their engine holds in memory; they are put together again when asked for."""
        self.__dict__.pop("steps", None)

    @property
    def steering(self) -> dict[str, str]:
        """The settings that change what is made of a log, by dotted name, as people read them."""
        from em_pipelines.serving.export.document import steering

        return steering(self.settings)

    @property
    def time_rules(self) -> TimeRules:
        """What time and repetition do to facts."""
        return TimeRules(self.settings.decay, self.settings.fold.venting_sessions)

    @cached_property
    def inference(self) -> Step:
        """The step that makes inferred edges, of one day only; raises RuleFileError."""
        from em_pipelines.steps import build_inference

        settings = self.settings.inference
        if not (settings.is_enabled and settings.is_model_enabled):
            return build_inference(settings)
        if self._open_models is None:
            raise UsageError("inferring with a model: this process has no client for one; use `em`, or Dagster")
        from em_pipelines.lifecycle.inference.llm.proposer import ModelProposer

        proposer = ModelProposer(self.settings.llm.model_of("large"), self._open_models(self.settings), settings)
        return build_inference(settings, proposer)

    def infer(self, until: date | None = None, *, is_forced: bool = False) -> StepReport:
        """Makes the inferred edges of the last day with current edges (up to `until`) unless they are current."""
        day = self.store.lake.latest(CURRENT_EDGES, until or date.max)
        if day is None:
            return StepReport()
        with self.lock("step-inference"):
            report = self.store.run_days(self.inference, [day], is_forced=is_forced)
        if day == self.store.lake.latest(CURRENT_EDGES, date.max):
            self.note_inferred([day])
        return report

    @contextmanager
    def inferred_on(self, until: date | None) -> Iterator[None]:
        """What follows on a day, for somebody to look at. On a past day it does not stay: the audit trail tells what
        has followed since the day before of which that is known, which is no question of who looked back when.

        Holds the lock of the snapshot. A look that was killed is ended by the next one, or by a run.
        """
        lake = self.store.lake
        with self.lock("snapshot"):
            self._end_looks()
            day = lake.latest(CURRENT_EDGES, until or date.max)
            is_look = day is not None and day not in {*lake.days(INFERRED_EDGES), lake.latest(CURRENT_EDGES, date.max)}
            if is_look:
                make_folder(self.path / LOOKED)
                write_atomically(self.path / LOOKED / str(day), b"")
            try:
                self.infer(until)
                yield
            finally:
                if is_look:
                    self._end_looks()

    def sweep(self) -> list[Path]:
        """Deletes `left_overs`, and what followed on past days while somebody who was killed looked at them."""
        if (self.path / LOOKED).exists():
            with self.lock("snapshot"):
                self._end_looks()
        return super().sweep()

    def _end_looks(self) -> None:
        """Whoever calls holds the lock of the snapshot, so nobody else is looking."""
        for path in (self.path / LOOKED).glob("????-??-??"):
            self.store.lake.delete(INFERRED_EDGES, date.fromisoformat(path.name))
            path.unlink()
        with suppress(FileNotFoundError):
            (self.path / LOOKED).rmdir()

    @property
    def consolidation(self) -> Step:
        """The step that makes what the nights come to, of one day only; raises RuleFileError."""
        from em_pipelines.steps import build_consolidation

        settings, history = self.settings.consolidation, self.nights.history()
        if not settings.is_model_enabled:
            return build_consolidation(settings, history, sharing=self.sharing)
        from em_pipelines.lifecycle.consolidation.llm.rewording import Rewording

        reword = Rewording.of(self.answers, self.settings.llm.model_of("large"), settings)
        return build_consolidation(settings, history, reword, reword.digest, self.sharing)

    def ask_for_words(self) -> "Asked":
        """Asks the large model, where it is enabled, for the words of rules that have none of its words yet, within
        the night's budget. Templates stand where nobody answers."""
        from em_pipelines.llm.asked import Asked

        settings, checkpoint = self.settings.consolidation, self.nights.history().checkpoint
        if not settings.is_model_enabled or checkpoint is None:
            return Asked()
        if self._open_models is None:
            return Asked(note="this process has no client for a model; use `em`, or Dagster")
        from em_pipelines.lifecycle.consolidation.llm.rewording import Asker
        from em_pipelines.lifecycle.consolidation.recurring import skills_of

        model, llm = self.settings.llm.model_of("large"), self.settings.llm
        rows, profiled = (
            self.store.lake.read(table, checkpoint.as_of).to_pylist() for table in (EXPERIENCES, SKILL_PROFILES)
        )
        asker = Asker(model, self._open_models(self.settings), settings, partial(llm.cost_usd, model))
        return asker.ask([row for row in rows if row["status"] == "active"], skills_of(profiled))

    @property
    def sharing(self) -> "Sharing | None":
        """What pools told the users of this home; None where the pool is off, or has told nothing. Raises
        CorruptLogError."""
        if not (self.settings.pool.is_enabled and self.pool_book.has_shared):
            return None
        from em_pipelines.lifecycle.pool.sharing import Sharing

        return Sharing.of(self.pool_book.shared(), self.settings.pool.confidence)

    def refresh_consolidation(self, *, is_forced: bool = False) -> StepReport:
        """Makes what stands at the last night, unless it is current; of earlier and of rolled back nights nothing
        stays. Files that tell of it are made what it comes to."""
        from em_pipelines.lifecycle.consolidation.documents.memory_files import render

        checkpoint = self.nights.history().checkpoint
        lake, report = self.store.lake, StepReport()
        with self.lock("step-consolidation"):
            if checkpoint is not None:
                report = self.store.run_days(self.consolidation, [checkpoint.as_of], is_forced=is_forced)
            for table in CONSOLIDATED:
                for day in sorted(set(lake.days(table)) - ({checkpoint.as_of} if checkpoint else set())):
                    lake.delete(table, day)
        render(self)
        return report

    @property
    def proactive(self) -> tuple[Step, Step]:
        """The steps that make probes and starters, of one day only."""
        from em_pipelines.steps import build_proactive

        return build_proactive(self.settings.proactive, self.settings.decay, self._polish)

    @property
    def _polish(self) -> "Polish | None":
        """What a model has worded of questions, where that is wanted."""
        if not self.settings.proactive.is_polish_enabled:
            return None
        from em_pipelines.lifecycle.proactive.polish import Polish

        return Polish.of(self.answers, self.settings.llm.model_of("small"))

    def polish_probes(self) -> "Asked":
        """Asks the small model, where that is enabled, for other words of the questions that wait, within the night's
        budget, and makes the table with those that may stand. Templates stand where nobody answers."""
        if not self.settings.proactive.is_polish_enabled:
            from em_pipelines.llm.asked import Asked

            return Asked()
        from em_pipelines.lifecycle.proactive.polish import ask

        asked = ask(self, self._open_models and self._open_models(self.settings))
        if asked.n_worded or asked.n_kept_out:
            self.refresh_proactive(("probes",))
        return asked

    def refresh_proactive(
        self, names: Collection[str] = ("probes", "starters"), *, is_forced: bool = False
    ) -> list[StepReport]:
        """Makes the probes and the starters, or what is named of them, of the last day with current edges unless they
        are current; of earlier days nothing stays. A report each: an empty one where there are no facts."""
        day, lake = self.store.lake.latest(CURRENT_EDGES, date.max), self.store.lake
        reports = []
        for step in (step for step in self.proactive if step.name in names):
            with self.lock(f"step-{step.name}"):
                days = [day] if day is not None else []
                reports.append(self.store.run_days(step, days, is_forced=is_forced))
                for table in step.outputs:
                    for made in lake.days(table):
                        if made != day:
                            lake.delete(table, made)
        return reports

    @property
    def is_proactive_current(self) -> bool:
        """Whether the probes and starters are those that would be made now."""
        lake = self.store.lake
        day = lake.latest(CURRENT_EDGES, date.max)
        wanted = [day] if day is not None else []
        return all(
            lake.days(table) == wanted and (day is None or self.store.is_current(step, day))
            for step in self.proactive
            for table in step.outputs
        )

    def note_inferred(self, days: Sequence[date]) -> None:
        """Makes the audit trail of days again of which something else is inferred since it was made."""
        with self.lock("step-audit"):
            self.store.run_days(self.steps["audit"], days)

    @property
    def is_inferred(self) -> bool:
        """Whether the inferred edges of the last day are those that would be made now."""
        day = self.store.lake.latest(CURRENT_EDGES, date.max)
        return day is None or self.store.is_current(self.inference, day)

    def waiting(self, user_id: str, until: date, more: "Sequence[FeedbackRow]" = ()) -> "Overlay | None":
        """The person's feedback, said up to the end of a day, that has landed and is not folded yet, and `more` that
        has not landed; None without any."""
        from em_pipelines.serving.facts import Overlay, waiting_feedback

        found = [*waiting_feedback(self.store, user_id, until), *more]
        if not found:
            return None
        chosen = self.settings
        return Overlay(found, self.aliases, chosen.resolution, chosen.fold, chosen.decay, chosen.safety)

    def release(self, entries: "Iterable[SetAside]") -> None:
        """Takes entries out of quarantine, and puts their days out of date; the ledger has an entry of each.

        Days first: after a crash in between they are made once more, with the entries still set aside.
        """
        chosen = list(entries)
        for step, day in sorted({(entry.step, entry.day) for entry in chosen if entry.step in self.steps}):
            with self.lock(f"step-{step}"):
                self.store.reopen(self.steps[step], day)
        if any(entry.step == self.inference.name for entry in chosen):
            self.store.reopen(self.inference, max(entry.day for entry in chosen if entry.step == self.inference.name))
        self.store.quarantine.take_out(chosen)
        from em_pipelines.storage.ledger_entries import Act

        for entry in chosen:
            self.ledger.append(Act("release", entry.user_id, entry.quarantine_id, datetime.now(UTC)))

    def give_back(self, segments: "Iterable[UnreadSegment]") -> None:
        """Lets dead letters of the extraction be asked for again, and puts their days out of date.

        Days first: after a crash in between a replay is asked for once more, and nothing is forgotten.
        """
        from em_pipelines.llm.answers import AnswerStore
        from em_pipelines.llm.ladder_state import LadderStore

        wanted = list(segments)
        for day in {one.day for one in wanted}:
            with self.lock("step-extraction"):
                self.store.reopen(self.steps["extraction"], day)
        if wanted:
            with AnswerStore(self.answers) as store:
                for one in wanted:
                    LadderStore(store.database).reset(one.user_id, one.segment_id)
            (self.path / COLLECTED).touch()


def opener(
    settings: Settings, open_models: OpenModels | None = None, open_embedder: OpenEmbedder | None = None
) -> Callable[[Path], Pipeline]:
    """Returns what opens a home at any path with the same settings, for work on homes that are thrown away."""
    return lambda path: Pipeline(settings.model_copy(update={"home": path}), open_models, open_embedder)
