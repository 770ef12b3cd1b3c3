"""Experiences that wait to be looked at, those that were turned away, and what the safety gates stopped."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

from em_pipelines.lifecycle.consolidation.consolidate import IN_REVIEW, PROMOTED, QUARANTINED
from em_pipelines.lifecycle.consolidation.consolidating_home import ConsolidatingHome
from em_pipelines.lifecycle.consolidation.nights import Said, decided
from em_pipelines.schema.table import Table, rows_of
from em_pipelines.schema.tables.derived import EXPERIENCES, PROMOTIONS

PREFIX = "exp_"
"""What the id of an experience begins with."""
KIND = "experience"
WORDS_WAIT = "it is served; words of the tool's output wait"
_STOPPED = (
    "experience_id", "user_id", "kind", "gate", "reason", "n_occurrences", "n_sources", "first_seen", "last_seen",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Looked:
    """An experience to be looked at: what it says, and why it waits. `excerpt` are words of tools' outputs that
    accepting it lets in; with `is_served` they alone wait."""

    experience_id: str
    user_id: str
    kind: str
    component: str | None
    category: str | None
    said: str
    reason: str
    confidence: float | None
    n_occurrences: int
    excerpt: str | None = None
    is_served: bool = False

    def as_document(self) -> dict[str, Any]:
        """In the fields of an imported fact that waits, and four of its own."""
        return {
            "seed_id": self.experience_id, "user_id": self.user_id, "kind": KIND, "file": None, "line": None,
            "session_id": None, "subject": self.component, "relation": self.kind, "object": self.category,
            "attribute": None, "statement": self.said, "polarity": 1, "confidence": self.confidence,
            "experience_id": self.experience_id, "reason": self.reason, "n_occurrences": self.n_occurrences,
            "excerpt": self.excerpt,
        }  # fmt: skip


def waiting(home: ConsolidatingHome, user_id: str | None = None, *, is_rejected: bool = False) -> list[Looked]:
    """What waits, by user and id; with `is_rejected` what was turned away instead and has not come back."""
    said = decided(home.nights.history().effective)
    away = {target for target, one in said.items() if one is Said.REJECT}
    experiences = {row["experience_id"]: row for row in _rows(home, EXPERIENCES)}
    return [
        _looked(row, experiences.get(row["experience_id"]))
        for row in _rows(home, PROMOTIONS)
        if user_id in (None, row["user_id"])
        and (
            row["experience_id"] in away and row["experience_id"] not in experiences
            if is_rejected
            else row["verdict"] == IN_REVIEW or row["excerpt"] is not None
        )
    ]


def stopped(home: ConsolidatingHome, user_id: str | None = None) -> list[dict[str, Any]]:
    """What the safety gates keep away, with gate and reason; nothing of what it would say."""
    return [
        {name: row[name] for name in _STOPPED}
        for row in _rows(home, PROMOTIONS)
        if row["verdict"] == QUARANTINED and user_id in (None, row["user_id"])
    ]


def _looked(row: dict[str, Any], experience: dict[str, Any] | None) -> Looked:
    return Looked(
        experience_id=row["experience_id"],
        user_id=row["user_id"],
        kind=row["kind"],
        component=row["component"],
        category=row["category"],
        said=experience["text"] if experience else f"{row['component']}: {row['category'] or row['kind']}",
        reason=WORDS_WAIT if row["verdict"] == PROMOTED else row["reason"],
        confidence=experience["confidence"] if experience else None,
        n_occurrences=row["n_occurrences"],
        excerpt=row["excerpt"],
        is_served=row["verdict"] == PROMOTED,
    )


def _rows(home: ConsolidatingHome, table: Table) -> Iterator[dict[str, Any]]:
    day = home.store.lake.latest(table, date.max)
    yield from rows_of(home.store.lake.read(table, day)) if day else ()
