"""Feedback that has landed and is not folded yet, laid over what a reader sees: corrections are effective at once.

The same registry and the same fold as the nightly ones, over one person's facts; what a reader sees now is what the
fold will make of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import duckdb
import pyarrow as pa

from em_pipelines.feedback.statements import spoken
from em_pipelines.graph.fold import Day, FoldSettings, fold
from em_pipelines.lifecycle.decay import DecaySettings
from em_pipelines.resolution.aliases import Aliases
from em_pipelines.resolution.normalization import name_key
from em_pipelines.resolution.registry import resolve
from em_pipelines.resolution.settings import ResolutionSettings
from em_pipelines.safety.settings import SafetySettings
from em_pipelines.tables.clean import MESSAGES
from em_pipelines.tables.extraction import CLAIMS, MENTIONS
from em_pipelines.tables.graph import CONTRADICTIONS, EDGES


@dataclass(frozen=True)
class Overlay:
    """How feedback that waits is to be read: rows of `feedback` by user, and the rules of registry and fold."""

    feedback: Sequence[dict[str, Any]]
    aliases: Aliases
    resolution: ResolutionSettings
    fold: FoldSettings
    decay: DecaySettings
    safety: SafetySettings


def laid_over(
    edges: pa.Table, entities: pa.Table, waiting: Overlay, day: date, connection: duckdb.DuckDBPyConnection
) -> tuple[pa.Table, pa.Table]:
    """One person's edges and entities as they will stand once the feedback that waits is folded; `day` is the last day
    that the reader may know of."""
    if not waiting.feedback:
        return edges, entities
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
    return folded.edges.to_table().select(EDGES.schema.names).cast(EDGES.schema), made.entities
