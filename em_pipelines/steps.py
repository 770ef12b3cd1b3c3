"""The steps there are, in order: what each reads, makes and runs. Settings and the extractor come in from outside."""

from collections.abc import Callable, Iterable
from datetime import date

import duckdb
import pyarrow as pa

from em_pipelines.episodes.messages import messages
from em_pipelines.episodes.sessions import sessions
from em_pipelines.extraction.assemble import Checks, extract, incomplete, prepare
from em_pipelines.extraction.model import Extractor, Segment
from em_pipelines.extraction.segments import segment_objects, segments
from em_pipelines.graph.fold import fold
from em_pipelines.landing import tables as landed
from em_pipelines.lifecycle.decay import current_edges
from em_pipelines.pipeline import Step, Tables, source_version
from em_pipelines.resolution.aliases import load_aliases
from em_pipelines.resolution.registry import resolve
from em_pipelines.settings import Settings
from em_pipelines.sql import connect
from em_pipelines.tables import clean, derived, extraction, graph, raw
from em_pipelines.tables.schema import Table

Records = Iterable[dict[str, object]]
EXTRACTION_SOURCES = (
    "extraction/assemble.py",
    "extraction/confidence.py",
    "extraction/durable.py",
    "extraction/spans.py",
    "extraction/verification.py",
    "resolution/roles.py",
    "safety",
)
"""What judges every reading, whoever made it; an extractor's own source is part of its version."""


def build_steps(settings: Settings, extractor: Extractor) -> dict[str, Step]:
    """Returns every step by name, in the order in which they run."""
    connection = connect()
    steps = [*_landing(), *_reading(settings, extractor), *_folding(settings, connection)]
    return {step.name: step for step in steps}


def _landing() -> list[Step]:
    """The log becomes tables."""
    return [
        _landed_step(raw.INTERACTIONS, landed.interactions_table),
        _landed_step(raw.SKILL_INVOCATIONS, landed.skill_invocations_table),
        _landed_step(raw.FEEDBACK, landed.feedback_table),
        _landed_step(raw.WORLD_EVENTS, landed.world_events_table),
        _landed_step(clean.DEAD_LETTERS, landed.dead_letters_table),
    ]


def _reading(settings: Settings, extractor: Extractor) -> list[Step]:
    """Messages are read, each day by itself."""
    return [
        Step(
            name="messages",
            inputs=(raw.INTERACTIONS,),
            outputs=(clean.MESSAGES,),
            run=lambda _, tables, __: {"messages": messages(tables["interactions"])},
            version=source_version("episodes/messages.py", "extraction/cleaning.py"),
        ),
        Step(
            name="segments",
            inputs=(clean.MESSAGES,),
            outputs=(extraction.SEGMENTS,),
            run=lambda _, tables, __: {"segments": segments(tables["messages"], settings.segmentation)},
            version=source_version("extraction/segments.py", "extraction/segmentation.py")
            + settings.segmentation.model_dump_json(),
        ),
        _extraction(settings, extractor),
        Step(
            name="sessions",
            inputs=(clean.MESSAGES, extraction.MENTIONS, extraction.CLAIMS),
            outputs=(clean.SESSIONS,),
            run=lambda _, tables, __: {"sessions": sessions(tables["messages"], tables["mentions"], tables["claims"])},
            version=source_version("episodes/sessions.py"),
        ),
    ]


def _extraction(settings: Settings, extractor: Extractor) -> Step:
    def segments_of(tables: Tables) -> Iterable[Segment]:
        return segment_objects(tables["messages"], settings.segmentation)

    checks = Checks(settings.verification, settings.safety, settings.durable)
    return Step(
        name="extraction",
        inputs=(clean.MESSAGES, extraction.SEGMENTS),
        outputs=(extraction.MENTIONS, extraction.CLAIMS, extraction.EXTRACTION_ISSUES, extraction.LLM_CALLS),
        run=lambda _, tables, __: extract(segments_of(tables), extractor, checks),
        prepare=lambda days: prepare(
            (segment for tables in days for segment in segments_of(tables)), extractor, checks
        ),
        is_complete=lambda made: not incomplete(made["extraction_issues"]),
        version=f"{extractor.name}@{extractor.version} "
        + source_version(*EXTRACTION_SOURCES)
        + settings.segmentation.model_dump_json()
        + settings.verification.model_dump_json()
        + settings.safety.model_dump_json()
        + settings.durable.model_dump_json(),
    )


def _folding(settings: Settings, connection: duckdb.DuckDBPyConnection) -> list[Step]:
    """What was read meets what was known, one day after the other."""
    decay = settings.decay.model_dump_json()
    aliases = load_aliases(settings.resolution.alias_file, settings.home)

    def run_resolution(_: date, tables: Tables, __: Records) -> Tables:
        said = (tables["state_entities"], tables["mentions"], tables["messages"])
        made = resolve(*said, connection, aliases=aliases, settings=settings.resolution)
        return {
            "entities": made.entities, "entity_mentions": made.entity_mentions, "entity_ops": made.entity_ops,
        }  # fmt: skip

    def run_fold(_: date, tables: Tables, __: Records) -> Tables:
        said = (tables["claims"], tables["mentions"], tables["entity_mentions"])
        made = fold(tables["state_edges"], *said, settings=settings.fold, decay=settings.decay, connection=connection)
        return {"edges": made.edges, "graph_ops": made.graph_ops}

    def run_decay(day: date, tables: Tables, _: Records) -> Tables:
        return {"current_edges": current_edges(tables["state_edges"], day, settings.decay, connection)}

    return [
        Step(
            name="resolution",
            inputs=(clean.MESSAGES, extraction.MENTIONS, raw.FEEDBACK),
            previous=(graph.ENTITIES,),
            outputs=(graph.ENTITIES, graph.ENTITY_MENTIONS, graph.ENTITY_OPS),
            run=run_resolution,
            version=source_version("resolution", "feedback")
            + settings.resolution.model_dump_json(exclude={"alias_file"})
            + aliases.digest,
        ),
        Step(
            name="fold",
            inputs=(extraction.CLAIMS, extraction.MENTIONS, graph.ENTITY_MENTIONS, raw.FEEDBACK),
            previous=(graph.EDGES,),
            outputs=(graph.EDGES, graph.GRAPH_OPS),
            run=run_fold,
            version=source_version("graph") + settings.fold.model_dump_json() + decay,
        ),
        Step(
            name="decay",
            latest=(graph.EDGES,),
            outputs=(derived.CURRENT_EDGES,),
            run=run_decay,
            version=source_version("lifecycle") + decay,
        ),
    ]


def _landed_step(table: Table, build: Callable[[Records], pa.Table]) -> Step:
    return Step(
        name=table.name,
        log_kind=table.name,
        outputs=(table,),
        run=lambda _, __, records: {table.name: build(records)},
        version=source_version("landing/tables.py"),
    )
