"""Worlds of a few public and private things, and a verifier that answers by script."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa

from em_pipelines.errors import ModelError
from em_pipelines.language.name_keys import name_key
from em_pipelines.lifecycle.revision.model import FactQuestion, Finding, Outcome
from em_pipelines.schema.ids import entity_id
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.graph import ENTITIES

TODAY = date(2026, 6, 1)
"""The day whose fold takes the outcomes of the nights that are tested."""
YESTERDAY = TODAY - timedelta(days=1)
LONG_AGO = datetime(2026, 1, 10, 9, tzinfo=UTC)
SAID = [{"session_id": "s", "turn_number": 0, "span_start": 0, "span_end": 1, "extraction_id": "x"}]
Reply = Finding | ModelError


class World:
    """Entities and facts of a day, added one by one."""

    def __init__(self) -> None:
        self.entity_rows: dict[str, dict[str, Any]] = {}
        self.edge_rows: list[dict[str, Any]] = []

    def thing(self, name: str, kind: str = "place", *, user: str = "ada", **changes: Any) -> str:
        """Adds an entity, or leaves the one of that name as it is; returns its id."""
        found = entity_id(user, name_key(name))
        row = {
            "entity_id": found, "user_id": user, "canonical_name": name, "name_key": name_key(name), "aliases": [],
            "alias_keys": [], "entity_type": kind, "first_seen": LONG_AGO, "last_referenced": LONG_AGO,
            "mention_count": 1, "importance": 0.1, "certainty": 1.0, "privacy_level": "L2",
            "requires_verification": False, "qualifiers": [], "distinct_from": [],
        "links": [], "discriminator": "", "status": "active", **changes,
        }  # fmt: skip
        self.entity_rows.setdefault(found, row)
        return found

    def fact(
        self,
        subject: str,
        relation: str,
        object_: str | None = None,
        *,
        user: str = "ada",
        kinds: str = "place place",
        value: str | None = None,
        days_ago: int = 120,
        **changes: Any,
    ) -> str:
        """Adds a fact between two things, or with a literal; returns its edge id."""
        kind, _, other = kinds.partition(" ")
        object_id = self.thing(object_, other or "place", user=user) if object_ else None
        last = datetime.combine(YESTERDAY - timedelta(days=days_ago), datetime.min.time(), UTC)
        row = {
            "edge_id": f"edge_{len(self.edge_rows):02}", "user_id": user, "relation": relation,
            "subject_id": self.thing(subject, kind, user=user), "object_id": object_id, "value": value,
            "object_key": object_id or value, "spell": 1, "polarity": 1, "temporal_type": "state", "learned_at": last,
            "last_reinforced": last, "confidence": 0.9, "reinforcement_count": 0, "hedge_level": "none",
            "source_mechanism": "explicit", "flags": [], "context_tags": [], "privacy_level": "L2",
            "requires_verification": False, "has_pasted_source": False, "status": "active", "provenance": SAID,
            "effective_confidence": 0.8, "as_of": YESTERDAY, **changes,
        }  # fmt: skip
        self.edge_rows.append(row)
        return str(row["edge_id"])

    @property
    def entities(self) -> pa.Table:
        return ENTITIES.from_rows(list(self.entity_rows.values()))

    @property
    def edges(self) -> pa.Table:
        return CURRENT_EDGES.from_rows(self.edge_rows)


class ScriptedVerifier:
    """Answers what a function makes of a question; keeps every question."""

    name = "scripted"
    cost_usd = 0.25

    def __init__(self, reply: Callable[[FactQuestion], Reply] | None = None) -> None:
        self._reply = reply or (lambda _: Finding(Outcome.VERIFIED, source="https://example.org/atlas"))
        self.asked: list[FactQuestion] = []

    async def verify(self, question: FactQuestion) -> Finding:
        self.asked.append(question)
        reply = self._reply(question)
        if isinstance(reply, ModelError):
            raise reply
        return reply


def question_of(**changes: Any) -> FactQuestion:
    """A question about where a company is, with fields changed as named."""
    fields = {
        "user_id": "ada", "edge_id": "edge_00", "subject": "Korvel", "subject_type": "organization",
        "relation": "located_in", "object": "Kotor", "object_type": "place", "attribute": None, "asked_on": TODAY,
    }  # fmt: skip
    return FactQuestion(**{**fields, **changes})
