"""The steps there are, in the order in which they run: what each reads, what it makes, and what it works by.

The page to read first. How a step makes its rows stands in the module of its `run`; its version follows from that
module and all that it imports (`em_pipelines.storage.step`), so nothing here has to be raised by hand. Whoever
calls gives the settings of each stage; nothing here knows of all of them, opens a file or asks anybody.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import duckdb

from em_pipelines.extraction.assemble import Checks, ExtractionRun
from em_pipelines.extraction.messages import messages_run
from em_pipelines.extraction.segmentation import segments_run
from em_pipelines.extraction.sessions import sessions_run
from em_pipelines.extraction.settings import SegmentationSettings
from em_pipelines.governance.audit.trail import audit_run, audit_run_of_days
from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.graph.fold import fold_run
from em_pipelines.graph.rounds import FoldSettings
from em_pipelines.guard.sensitive import SafetySettings
from em_pipelines.home import SPILL
from em_pipelines.landing.tables import landing_run
from em_pipelines.lifecycle.consolidation.nights import History
from em_pipelines.lifecycle.consolidation.recurring import ConsolidationRun, RewordWithin, windows
from em_pipelines.lifecycle.consolidation.safety import SafetyRules
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.lifecycle.decay import decay_run, decay_run_of_days
from em_pipelines.lifecycle.inference.infer import InferenceRun, Proposer
from em_pipelines.lifecycle.inference.rules import rules_of
from em_pipelines.lifecycle.inference.settings import InferenceSettings
from em_pipelines.resolution.registry import resolution_run
from em_pipelines.resolution.settings import ResolutionSettings
from em_pipelines.resolution.user_registry import Aliases
from em_pipelines.schema.readings import Extractor
from em_pipelines.schema.tables import clean, derived, extraction, graph, outgoing, raw, record
from em_pipelines.storage.duckdb_engine import EngineSettings, connect
from em_pipelines.storage.step import Step, Window, code_digest
from em_pipelines.storage.tombstones import Tombstones

if TYPE_CHECKING:
    from em_pipelines.lifecycle.pool.sharing import Sharing
    from em_pipelines.lifecycle.proactive.polish import Polish
    from em_pipelines.lifecycle.proactive.settings import ProactiveSettings
    from em_pipelines.llm.phrase_vectors import TextEmbedder


class StepSettings(Protocol):
    """The settings that steps work by, one object a stage."""

    @property
    def engine(self) -> EngineSettings: ...
    @property
    def segmentation(self) -> SegmentationSettings: ...
    @property
    def safety(self) -> SafetySettings: ...
    @property
    def resolution(self) -> ResolutionSettings: ...
    @property
    def fold(self) -> FoldSettings: ...
    @property
    def decay(self) -> DecaySettings: ...


@dataclass(frozen=True)
class Embedding:
    """An embedder for steps: its name, what opens it when it is first asked, and the file in which is kept what came of
    its vectors."""

    model: str
    open: Callable[[], "TextEmbedder"]
    kept: Path


@dataclass(frozen=True)
class StepTools:
    """What steps work with beside their settings: who reads, how readings are checked, which facts stay away, which
    names the user has joined by hand, the folder of the home, below which steps may spill, and the embedder, where one
    is set."""

    extractor: Extractor
    checks: Checks
    tombstones: Tombstones | None
    aliases: Aliases
    home: Path
    embedding: "Embedding | None" = None


LANDED = (
    raw.INTERACTIONS, raw.SKILL_INVOCATIONS, raw.FEEDBACK, raw.WORLD_EVENTS, clean.DEAD_LETTERS, raw.ERASURES,
)  # fmt: skip
"""The tables of what stands in the log, one a kind of record."""
AUDITED = (
    graph.EDGES, graph.GRAPH_OPS, graph.ENTITY_OPS, extraction.EXTRACTION_ISSUES, raw.FEEDBACK, raw.ERASURES,
    derived.INFERRED_EDGES,
)  # fmt: skip
"""What the trail tells of. What is inferred of a day is made after it, so that the trail of the newest day is made
again with it (`em_pipelines.pipeline.Pipeline.infer`)."""


def build_steps(settings: StepSettings, tools: StepTools) -> dict[str, Step]:
    """Returns every daily step by name, in the order in which they run."""
    connection = _connection(settings, tools.home)
    steps = [
        *(Step.of_log(table, landing_run(table)) for table in LANDED),
        _messages(settings),
        Step(
            name="segments",
            inputs=(clean.MESSAGES,),
            outputs=(extraction.SEGMENTS,),
            run=segments_run(settings.segmentation),
            settings=(settings.segmentation,),
        ),
        _extraction(settings, tools),
        Step(
            name="sessions",
            inputs=(clean.MESSAGES, extraction.MENTIONS, extraction.CLAIMS, raw.SKILL_INVOCATIONS),
            outputs=(clean.SESSIONS,),
            run=sessions_run,
        ),
        _resolution(settings, tools, connection),
        _fold(settings, connection),
        Step(
            name="decay",
            latest=(graph.EDGES, graph.ENTITIES),
            scanned=(graph.EDGES, graph.ENTITIES),
            outputs=(derived.CURRENT_EDGES,),
            run=decay_run(settings.decay, connection),
            run_many=decay_run_of_days(settings.decay, connection),
            settings=(settings.decay,),
        ),
        Step(
            name="audit",
            inputs=AUDITED,
            previous=(graph.EDGES, derived.INFERRED_EDGES),
            scanned=(graph.EDGES,),
            is_dated=True,
            outputs=(record.AUDIT_TRAIL,),
            run=audit_run(settings.decay, connection),
            run_many=audit_run_of_days(settings.decay, connection),
            settings=(settings.decay,),
        ),
    ]
    return {step.name: step for step in steps}


def _connection(settings: StepSettings, home: Path) -> duckdb.DuckDBPyConnection:
    return connect(engine=settings.engine, spill=home / SPILL / str(os.getpid()))


def _messages(settings: StepSettings) -> Step:
    """What landed is cleaned and guarded, each day by itself."""
    return Step(
        name="messages",
        inputs=(raw.INTERACTIONS,),
        outputs=(clean.MESSAGES,),
        run=messages_run(settings.safety),
        settings=(settings.safety,),
    )


def _extraction(settings: StepSettings, tools: StepTools) -> Step:
    """What is said becomes mentions and claims, each day by itself."""
    reading = ExtractionRun(tools.extractor, tools.checks, settings.segmentation.n_context_turns, tools.tombstones)
    return Step(
        name="extraction",
        inputs=(clean.MESSAGES, extraction.SEGMENTS),
        outputs=(extraction.MENTIONS, extraction.CLAIMS, extraction.EXTRACTION_ISSUES, extraction.LLM_CALLS),
        run=reading.run,
        prepare=reading.prepare,
        is_complete=reading.is_complete,
        settings=(settings.segmentation, tools.checks.verification, tools.checks.safety, tools.checks.durable),
        also=(f"{tools.extractor.name}@{tools.extractor.version}", *_second_reader(tools.checks)),
    )


def _second_reader(checks: Checks) -> tuple[str, ...]:
    return (code_digest(checks.second_reader.module),) if checks.second_reader is not None else ()


def _resolution(settings: StepSettings, tools: StepTools, connection: duckdb.DuckDBPyConnection) -> Step:
    """What was mentioned meets the names that were known."""
    embedding, meanings = tools.embedding, None
    if embedding is not None:
        from em_pipelines.resolution.meanings import Meanings  # noqa: PLC0415  (homes without need none of it)

        meanings = Meanings(embedding.model, embedding.open, embedding.kept, settings.resolution.min_meaning)
    return Step(
        name="resolution",
        inputs=(raw.INTERACTIONS, clean.MESSAGES, extraction.MENTIONS, raw.FEEDBACK),
        previous=(graph.ENTITIES,),
        outputs=(graph.ENTITIES, graph.ENTITY_MENTIONS, graph.ENTITY_OPS),
        run=resolution_run(settings.resolution, tools.aliases, settings.safety, connection, meanings),
        is_complete=lambda _: meanings is None or meanings.is_whole,
        # Which file the aliases are in says nothing: what they say does.
        settings=(settings.resolution.model_copy(update={"alias_file": None}), settings.safety),
        also=(tools.aliases.digest, *((meanings.version,) if meanings else ())),
    )


def _fold(settings: StepSettings, connection: duckdb.DuckDBPyConnection) -> Step:
    """What was claimed meets the facts that were known."""
    said_today = (extraction.CLAIMS, extraction.MENTIONS, graph.ENTITY_MENTIONS, graph.ENTITY_OPS, graph.ENTITIES)
    return Step(
        name="fold",
        inputs=(*said_today, raw.FEEDBACK),
        previous=(graph.EDGES, graph.CONTRADICTIONS),
        scanned=(graph.EDGES, graph.ENTITIES),
        outputs=(graph.EDGES, graph.GRAPH_OPS, graph.CONTRADICTIONS),
        run=fold_run(settings.fold, settings.decay, settings.safety, connection),
        settings=(settings.fold, settings.decay, settings.safety),
    )


def build_inference(settings: InferenceSettings, proposer: Proposer | None = None) -> Step:
    """Returns the step that makes inferred_edges; raises RuleFileError.

    Not among the daily steps: only its latest day is looked at, so a range of days does not pay for each.
    """
    rules = rules_of(settings)
    inferring = InferenceRun(rules, settings, proposer)
    asked = (proposer.model, code_digest(type(proposer).__module__)) if proposer else ()
    return Step(
        name="inference",
        latest=(derived.CURRENT_EDGES, graph.ENTITIES),
        outputs=(derived.INFERRED_EDGES,),
        run=inferring.run,
        is_complete=inferring.is_complete,
        # Which file the rules are in says nothing: what they say does.
        settings=(settings.model_copy(update={"rules_file": None}),),
        also=(repr(rules), *asked),
    )


def build_consolidation(
    settings: ConsolidationSettings,
    history: History,
    reword: RewordWithin | None = None,
    wordings: str = "",
    sharing: "Sharing | None" = None,
) -> Step:
    """Returns the step that makes what the nights of `history` come to; raises RuleFileError.

    Not among the daily steps: only the day of the last night that stands is made. `wordings` is the digest of what a
    model has worded, where one is asked; `sharing` is what pools told, where there is any.
    """
    safety = SafetyRules(settings.rules_file)
    told = (f"{line.said} {line.target} {line.until}" for line in history.effective)  # and not when it was written
    by_whom = (code_digest(type(reword).__module__),) if reword else ()
    told_by_others = (sharing.digest, code_digest(type(sharing).__module__)) if sharing else ()
    return Step(
        name="consolidation",
        latest=(derived.CURRENT_EDGES, graph.ENTITIES),
        windows=windows(settings),
        outputs=derived.CONSOLIDATED,
        run=ConsolidationRun(history, settings, safety, reword, sharing).run,
        # Which file the rules are in says nothing: what they say does; and where files are written changes no row.
        settings=(settings.model_copy(update={"rules_file": None, "memory_folder": None}),),
        also=(repr(safety.patterns), *told, wordings, *by_whom, *told_by_others),
    )


ANSWERED_DAYS = 400
"""How far back is looked for what came of a question: longer than anything is kept from being asked again."""


def build_proactive(
    settings: "ProactiveSettings", decay: DecaySettings, polish: "Polish | None" = None
) -> tuple[Step, Step]:
    """Returns the steps that make probes and starters; by `decay` a fact goes stale, and `polish` words probes anew.

    Not among the daily steps: only the newest day with current edges is made.
    """
    from em_pipelines.lifecycle.proactive.probes import ProbesRun  # noqa: PLC0415  (no daily step needs them)
    from em_pipelines.lifecycle.proactive.starters import StartersRun  # noqa: PLC0415  (homes without need none of it)

    return (
        Step(
            name="probes",
            latest=(derived.CURRENT_EDGES, graph.ENTITIES, graph.CONTRADICTIONS),
            windows=(Window(raw.FEEDBACK, ANSWERED_DAYS),),
            outputs=(outgoing.PROBES,),
            run=ProbesRun(settings, decay, polish=polish).run,
            settings=(settings, decay),
            also=(polish.digest, code_digest(type(polish).__module__)) if polish else (),
        ),
        Step(
            name="starters",
            latest=(derived.CURRENT_EDGES, graph.ENTITIES, derived.EXPERIENCES),
            windows=(Window(raw.FEEDBACK, ANSWERED_DAYS), Window(raw.WORLD_EVENTS, 30)),
            outputs=(outgoing.STARTERS,),
            run=StartersRun(settings, decay).run,
            settings=(settings, decay),
        ),
    )
