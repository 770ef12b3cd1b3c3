"""What is vented ("I hate my job!") against what is stated: the rows' side of what sql/meeting.sql and update_edges.sql
do with moods.

An outburst is an episode with the flag emotional_state. It displaces other outbursts and no stated fact; its repetition
makes it no surer, and in enough conversations it is a trait, as sure as what is moderately hedged.
"""

from collections.abc import Mapping
from typing import Any

from em_pipelines.graph.relations import Row
from em_pipelines.schema.vocabulary import Flag, HedgeLevel, TemporalType


def is_vented(row: Mapping[str, Any]) -> bool:
    """Whether a statement or a fact is a passing mood."""
    return row["temporal_type"] == TemporalType.EPISODE and Flag.EMOTIONAL_STATE in row["flags"]


def is_mood(said: Row, known: Row) -> bool:
    """Whether an outburst repeats what was vented before, whether or not that has become a trait."""
    return is_vented(said) and Flag.EMOTIONAL_STATE in known["flags"]


def repeated_mood(said: Row, known: Row, now: float, venting_sessions: int, vented_confidence: float) -> float:
    """The confidence (0 to 1) of a mood that is vented again in another conversation; `now` is what is left of it."""
    if known["temporal_type"] != TemporalType.EPISODE:
        return max(now, vented_confidence)
    if _is_vented_often(said, known, venting_sessions):
        return vented_confidence
    return float(max(now, said["confidence"]))


def lasting_mood(fact: Row, said: Row, venting_sessions: int, *, is_repeat: bool) -> Row:
    """What changes of a fact where what was a passing mood is said plainly, or is none any more."""
    if not is_mood(said, fact):
        return {"temporal_type": said["temporal_type"]} if is_vented(fact) else {}
    is_trait = fact["temporal_type"] != TemporalType.EPISODE
    is_promoted = not is_trait and _is_vented_often(said, fact, venting_sessions)
    changed = {"temporal_type": TemporalType.TRAIT.value} if is_promoted else {}
    if (is_promoted or is_trait) and not is_repeat:
        changed["hedge_level"] = HedgeLevel.MODERATE.value
    return changed


def _is_vented_often(said: Row, known: Row, venting_sessions: int) -> bool:
    return len({place["session_id"] for place in known["provenance"]} | {said["session_id"]}) >= venting_sessions
