"""The steps there are, in order: what each reads, makes and runs. Settings and the extractor come in from outside."""

import os
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path

import duckdb
import pyarrow as pa

from em_pipelines.episodes.messages import messages
from em_pipelines.episodes.sessions import sessions
from em_pipelines.erasure.facts import without_erased
from em_pipelines.erasure.tombstones import Tombstones
from em_pipelines.extraction.assemble import Checks, extract, incomplete, prepare
from em_pipelines.extraction.model import Extractor, Segment
from em_pipelines.extraction.segments import segment_objects, segments
from em_pipelines.feedback.statements import spoken
from em_pipelines.graph.fold import Day, fold
from em_pipelines.lake import rows_of
from em_pipelines.landing import tables as landed
from em_pipelines.lifecycle.decay import current_edges
from em_pipelines.pipeline import Step, Tables, source_version
from em_pipelines.record.trail import audit_trail
from em_pipelines.resolution.aliases import load_aliases
from em_pipelines.resolution.normalization import name_key
from em_pipelines.resolution.registry import resolve
from em_pipelines.settings import Settings
from em_pipelines.sql import connect
from em_pipelines.tables import clean, derived, extraction, graph, raw, record
from em_pipelines.tables.schema import Table

SPILL = Path("tmp")
"""Where steps put what does not fit into memory, a folder a process; gone with it."""
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

AUDIT_SOURCES = (
    "graph/sql/macros.sql",
    "lifecycle",
    "record/events.py",
    "record/fading.py",
    "record/trail.py",
    *(f"record/sql/{name}.sql" for name in ("faded", "fading_macros", "standing", "trail", "trail_macros")),
)


def build_steps(settings: Settings, extractor: Extractor, tombstones: Tombstones | None = None) -> dict[str, Step]:
    """Returns every step by name, in the order in which they run. Facts with a tombstone are not read again."""
    connection = connect(engine=settings.engine, spill=settings.home / SPILL / str(os.getpid()))
    folding = [*_folding(settings, connection), _audit(settings, connection)]
    steps = [*_landing(), *_reading(settings, extractor, tombstones), *folding]
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


def _reading(settings: Settings, extractor: Extractor, tombstones: Tombstones | None) -> list[Step]:
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
        _extraction(settings, extractor, tombstones),
        Step(
            name="sessions",
            inputs=(clean.MESSAGES, extraction.MENTIONS, extraction.CLAIMS),
            outputs=(clean.SESSIONS,),
            run=lambda _, tables, __: {"sessions": sessions(tables["messages"], tables["mentions"], tables["claims"])},
            version=source_version("episodes/sessions.py"),
        ),
    ]


def _extraction(settings: Settings, extractor: Extractor, tombstones: Tombstones | None) -> Step:
    def segments_of(tables: Tables) -> Iterable[Segment]:
        return segment_objects(tables["messages"], settings.segmentation)

    def run(_: date, tables: Tables, __: Records) -> Tables:
        made = extract(segments_of(tables), extractor, checks)
        return {**made, "claims": without_erased(made["claims"], tombstones)} if tombstones else made

    checks = Checks(settings.verification, settings.safety, settings.durable)
    return Step(
        name="extraction",
        inputs=(clean.MESSAGES, extraction.SEGMENTS),
        outputs=(extraction.MENTIONS, extraction.CLAIMS, extraction.EXTRACTION_ISSUES, extraction.LLM_CALLS),
        run=run,
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
    return [_resolution(settings, connection), _fold(settings, connection), _decay(settings, connection)]


def _resolution(settings: Settings, connection: duckdb.DuckDBPyConnection) -> Step:
    aliases = load_aliases(settings.resolution.alias_file, settings.home)

    def run(_: date, tables: Tables, __: Records) -> Tables:
        said = spoken(rows_of(tables["feedback"]), settings.safety)
        mentions = pa.concat_tables([tables["mentions"], said.mentions_table()])
        known = (tables["state_entities"], mentions, tables["messages"])
        made = resolve(*known, connection, decisions=said.decisions, aliases=aliases, settings=settings.resolution)
        return {"entities": made.entities, "entity_mentions": made.entity_mentions, "entity_ops": made.entity_ops}

    return Step(
        name="resolution",
        inputs=(clean.MESSAGES, extraction.MENTIONS, raw.FEEDBACK),
        previous=(graph.ENTITIES,),
        outputs=(graph.ENTITIES, graph.ENTITY_MENTIONS, graph.ENTITY_OPS),
        run=run,
        version=source_version("resolution", "feedback")
        + settings.resolution.model_dump_json(exclude={"alias_file"})
        + aliases.digest
        + settings.safety.model_dump_json(),
    )


def _fold(settings: Settings, connection: duckdb.DuckDBPyConnection) -> Step:
    said_today = (extraction.CLAIMS, extraction.MENTIONS, graph.ENTITY_MENTIONS, graph.ENTITY_OPS, graph.ENTITIES)

    def run(day: date, tables: Tables, _: Records) -> Tables:
        said = spoken(rows_of(tables["feedback"]), settings.safety)
        made = fold(
            tables["state_edges"],
            tables["state_contradictions"],
            Day(day=day, spoken=said, **{table.name: tables[table.name] for table in said_today}),
            settings=settings.fold,
            decay=settings.decay,
            connection=connection,
            name_key=name_key,
        )
        return {"edges": made.edges, "graph_ops": made.graph_ops, "contradictions": made.contradictions}

    return Step(
        name="fold",
        inputs=(*said_today, raw.FEEDBACK),
        previous=(graph.EDGES, graph.CONTRADICTIONS),
        scanned=(graph.EDGES, graph.ENTITIES),
        outputs=(graph.EDGES, graph.GRAPH_OPS, graph.CONTRADICTIONS),
        run=run,
        version=source_version("graph", "feedback", "lifecycle")
        + settings.fold.model_dump_json()
        + settings.decay.model_dump_json()
        + settings.safety.model_dump_json(),
    )


def _decay(settings: Settings, connection: duckdb.DuckDBPyConnection) -> Step:
    def run(day: date, tables: Tables, _: Records) -> Tables:
        states = (tables["state_edges"], tables["state_entities"])
        return {"current_edges": current_edges(*states, day, settings.decay, connection)}

    return Step(
        name="decay",
        latest=(graph.EDGES, graph.ENTITIES),
        scanned=(graph.EDGES, graph.ENTITIES),
        outputs=(derived.CURRENT_EDGES,),
        run=run,
        version=source_version("lifecycle") + settings.decay.model_dump_json(),
    )


def _audit(settings: Settings, connection: duckdb.DuckDBPyConnection) -> Step:
    """What was done, and why, becomes a table of its own."""
    return Step(
        name="audit",
        inputs=(graph.EDGES, graph.GRAPH_OPS, graph.ENTITY_OPS, extraction.EXTRACTION_ISSUES, raw.FEEDBACK),
        previous=(graph.EDGES,),
        scanned=(graph.EDGES,),
        is_dated=True,
        outputs=(record.AUDIT_TRAIL,),
        run=lambda day, tables, _: {"audit_trail": audit_trail(day, tables, settings.decay, connection)},
        version=source_version(*AUDIT_SOURCES) + settings.decay.model_dump_json(),
    )


def _landed_step(table: Table, build: Callable[[Records], pa.Table]) -> Step:
    return Step(
        name=table.name,
        log_kind=table.name,
        outputs=(table,),
        run=lambda _, __, records: {table.name: build(records)},
        version=source_version("landing/tables.py"),
    )
