"""What one day brings to the fold, and what the fold is steered by."""

from dataclasses import dataclass
from datetime import date

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from em_pipelines.extraction.feedback_statements import Spoken
from em_pipelines.storage.duckdb_engine import Rows


class FoldSettings(BaseModel):
    """What it takes to store a fact, and what repetition adds. Confidences are 0 to 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_storage_confidence: float = Field(default=0.15, description="claims below this confidence are not stored")
    reinforcement_step: float = Field(default=0.10, description="added when another session says the same")
    venting_sessions: int = Field(
        default=3, ge=1, description="conversations in which the same is vented before it counts as a state"
    )


@dataclass(frozen=True, slots=True)
class Day:
    """What one day brings to the fold.

    `claims`, `mentions`, `entity_mentions` and `entity_ops` are the day's tables; `entities` the registry at its end;
    `spoken` what its feedback says, whose mentions were resolved with the others. Both ends of a claim are mentions of
    the same message (`em_pipelines.extraction.assemble` sees to that), which is how a name finds its entity.
    """

    day: date
    claims: pa.Table
    mentions: pa.Table
    entity_mentions: pa.Table
    entity_ops: pa.Table
    entities: Rows
    spoken: Spoken
