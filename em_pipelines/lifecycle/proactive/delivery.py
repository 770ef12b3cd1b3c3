"""Whether something may be said now: a pure function of what waits, the situation and what was said before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from em_pipelines.lifecycle.proactive.settings import ProactiveSettings


class Suppressed(StrEnum):
    """Why something is not said now."""

    CONTEXT_MISMATCH = "context_mismatch"
    FREQUENCY_LIMIT = "frequency_limit"
    TOO_EARLY = "too_early_in_conversation"
    COOLDOWN = "cooldown_active"
    QUIET_HOURS = "quiet_hours"
    GROUP = "group_conversation"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known of the moment. `session_id` and `turn_number` are None where nobody says in which conversation, or
    how far into it; `context` is what it is about, None where nobody says; `time_zone` is the user's."""

    now: datetime
    session_id: str | None = None
    turn_number: int | None = None
    is_group: bool = False
    context: str | None = None
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of something that was said or offered: `said` is delivered, accepted, ignored or deflected of a probe,
    delivered, engaged or dismissed of a starter."""

    target: str
    kind: str
    said: str
    at: datetime
    session_id: str | None


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether something is said now; if not, why, and from when on that reason would no longer hold, where that is
    known."""

    target: str
    why_not: Suppressed | None
    until: datetime | None = None


def decide(
    waiting: Mapping[str, Any], situation: Situation, outcomes: Sequence[Outcome], settings: ProactiveSettings
) -> Decision:
    """Whether one probe or starter (a row of its table) is said now, as things stand with its user."""
    if waiting["expires_at"] <= situation.now:
        return Decision(waiting["probe_id"], Suppressed.EXPIRED)
    return Decision(waiting["probe_id"], None)
