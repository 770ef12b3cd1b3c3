"""Feedback that has landed and is not folded yet, laid over what a reader sees.

By the same registry and the same fold as the nightly ones, over the facts of one person.
"""

from datetime import date

import duckdb
import pyarrow as pa

from em_pipelines.extraction.feedback_statements import spoken
from em_pipelines.graph.fold import fold
from em_pipelines.graph.row_fold import Day
from em_pipelines.language.name_keys import name_key
from em_pipelines.resolution.registry import resolve
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.extraction import CLAIMS, MENTIONS
from em_pipelines.schema.tables.graph import CONTRADICTIONS, EDGES
from em_pipelines.serving.facts import Overlay
from em_pipelines.storage.duckdb_engine import in_memory


def laid_over(
    edges: pa.Table, entities: pa.Table, waiting: Overlay, day: date, connection: duckdb.DuckDBPyConnection
) -> tuple[pa.Table, pa.Table]:
    """One person's edges and entities as they will stand once the feedback that waits is folded; `day` is the last day
    that the reader may know of."""
    said = spoken(waiting.feedback, waiting.safety)
    known = (entities, said.mentions_table(), MESSAGES.empty())
    made = resolve(*known, connection, decisions=said.decisions, aliases=waiting.aliases, settings=waiting.resolution)
    today = Day(
        day=day,
        claims=CLAIMS.empty(),
        mentions=MENTIONS.empty(),
        entity_mentions=made.entity_mentions,
        entity_ops=made.entity_ops,
        entities=made.entities,
        spoken=said,
    )
    folded = fold(
        edges,
        CONTRADICTIONS.empty(),
        today,
        settings=waiting.fold,
        decay=waiting.decay,
        connection=connection,
        name_key=name_key,
    )
    return in_memory(folded.edges).select(EDGES.schema.names).cast(EDGES.schema), made.entities
