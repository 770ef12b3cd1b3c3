"""What memory tells as pandas data frames: the same columns and types, whatever is found, and if nothing is.

Instants are UTC. What may be missing is NaN in text and <NA> in whole numbers; days of which month or day are unknown
stay text (`2026-03`). Lists stay lists.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from em_pipelines.governance.corrections import Fact
from em_pipelines.interfaces.agents.observations import Observation
from em_pipelines.retrieval.documents import Hit

if TYPE_CHECKING:
    import pandas as pd

INSTANT, DAY = "datetime64[us, UTC]", "datetime64[us]"
FACT_TYPES: Mapping[str, str] = {
    "subject": "str", "relation": "str", "object": "str", "statement": "str", "polarity": "int64", "status": "str",
    "confidence": "float64", "valid_from": "str", "valid_to": "str", "temporal_type": "str", "over": "str",
    "flags": "object", "learned_at": INSTANT, "last_reinforced": INSTANT, "reinforcement_count": "int64",
    "edge_id": "str", "provenance": "object",
}  # fmt: skip
HIT_TYPES: Mapping[str, str] = {
    "kind": "str", "text": "str", "shown": "str", "score": "float64", "session_id": "str", "turn_number": "Int64",
    "edge_id": "str", "said_on": DAY, "speaker": "str", "components": "object", "conflicts_with": "object",
    "sources": "object", "path": "object", "is_own": "bool",
    "experience_id": "str", "said_at": INSTANT,
}  # fmt: skip
OBSERVATION_TYPES: Mapping[str, str] = {
    "session_id": "str", "turn_number": "int64", "role": "str", "content": "str", "timestamp": INSTANT,
    "tags": "object", "memory_type": "str", "speaker": "str", "trust": "str", "domain": "str", "is_archived": "bool",
    "awaits_run": "bool", "observation_id": "str",
}  # fmt: skip


def fact_frame(facts: Sequence[Fact]) -> "pd.DataFrame":
    """Facts, a row each, in the columns of FACT_TYPES."""
    return _frame(facts, FACT_TYPES)


def hit_frame(hits: Sequence[Hit]) -> "pd.DataFrame":
    """Hits, a row each, in the columns of HIT_TYPES."""
    return _frame((asdict(hit) | {"shown": hit.shown} for hit in hits), HIT_TYPES)


def observation_frame(observations: Sequence[Observation]) -> "pd.DataFrame":
    """Observations, a row each, in the columns of OBSERVATION_TYPES."""
    return _frame(map(asdict, observations), OBSERVATION_TYPES)


def _frame(rows: Iterable[Mapping[str, Any]], types: Mapping[str, str]) -> "pd.DataFrame":
    import pandas as pd  # noqa: PLC0415  (a fifth of a second, and 90 MB)

    listed = list(rows)
    return pd.DataFrame({name: _column(pd, [row[name] for row in listed], kind) for name, kind in types.items()})


def _column(pd: Any, values: list[Any], kind: str) -> Any:
    if kind in (INSTANT, DAY):
        return pd.to_datetime(pd.Series(values, dtype="object"), utc=kind == INSTANT, format="ISO8601").astype(kind)
    return pd.Series(values, dtype=kind)
