"""What is known of users on a day, built fact by fact, and the probes of it."""

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa

from em_pipelines.graph.confidence_decay import DecaySettings, effective_confidence
from em_pipelines.language.name_keys import name_key
from em_pipelines.lifecycle.proactive.probes import ProbesRun
from em_pipelines.lifecycle.proactive.settings import ProactiveSettings
from em_pipelines.schema.ids import content_id, edge_id, entity_id
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.graph import CONTRADICTIONS, ENTITIES
from em_pipelines.schema.tables.outgoing import PROBES
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.schema.vocabulary import PHRASE_OBJECT, USUAL_TEMPORAL_TYPE, TemporalType

TODAY = date(2026, 6, 1)
WIDE = ProactiveSettings(max_waiting=500, max_per_entity=50, max_per_template=50, min_value=0)
"""Settings under which whatever is found is kept."""


def at(days_ago: float) -> datetime:
    """Noon so many days before today."""
    return datetime(TODAY.year, TODAY.month, TODAY.day, 12, tzinfo=UTC) - timedelta(days=days_ago)


class Known:
    """Facts, things, contradictions and feedback, added one by one."""

    def __init__(self) -> None:
        self.things: dict[str, dict[str, Any]] = {}
        self.facts: list[dict[str, Any]] = []
        self.pairs: list[dict[str, Any]] = []
        self.feedback: list[dict[str, Any]] = []

    def thing(self, name: str, kind: str = "concept", *, user: str = "ada", **changes: Any) -> str:
        """Adds a thing, or leaves it; returns its id."""
        found = entity_id(user, name_key(name), changes.get("discriminator", ""))
        row = {
            "entity_id": found, "user_id": user, "canonical_name": name, "name_key": name_key(name),
            "discriminator": "", "aliases": [], "alias_keys": [], "entity_type": kind, "first_seen": at(20),
            "last_referenced": at(2), "mention_count": 1, "importance": 0.3, "certainty": 1.0, "privacy_level": "L2",
            "requires_verification": False, "qualifiers": [], "links": [], "distinct_from": [], "status": "active",
            **changes,
        }  # fmt: skip
        self.things.setdefault(found, row)
        return found

    def fact(
        self, relation: str, thing: str | None = None, kind: str = "concept", *, user: str = "ada",
        of: str = "user", of_kind: str = "person", days_ago: float = 5, **changes: Any,
    ) -> str:  # fmt: skip
        """Adds a fact of the user, or `of` something else; returns its id."""
        subject = self.thing(of, of_kind, user=user)
        if thing is not None and relation in PHRASE_OBJECT:
            thing, changes = None, {"value": thing, **changes}
        object_id = self.thing(thing, kind, user=user) if thing is not None else None
        key = object_id or str(changes.get("value")).lower()
        polarity = changes.get("polarity", 1)
        temporal = changes.get("temporal_type", USUAL_TEMPORAL_TYPE.get(relation, TemporalType.STATE))
        row = {
            "edge_id": edge_id(user, subject, relation, key, None, polarity, 1), "user_id": user, "subject_id": subject,
            "relation": relation, "object_id": object_id, "object_key": key, "spell": 1, "polarity": polarity,
            "temporal_type": str(temporal), "learned_at": at(days_ago), "last_reinforced": at(days_ago),
            "confidence": 0.9, "reinforcement_count": 0, "hedge_level": "none", "source_mechanism": "explicit",
            "flags": [], "context_tags": [], "privacy_level": "L2", "requires_verification": False,
            "has_pasted_source": False, "status": "active", "as_of": TODAY,
            "provenance": [{"session_id": f"s{len(self.facts)}", "turn_number": 1, "span_start": 0, "span_end": 1,
                            "extraction_id": "x"}],
            **changes,
        }  # fmt: skip
        days = (TODAY - row["last_reinforced"].date()).days
        row.setdefault(
            "effective_confidence",
            effective_confidence(row["confidence"], days, TemporalType(row["temporal_type"]), DecaySettings()),
        )
        self.facts.append(row)
        return str(row["edge_id"])

    def against(
        self, newer: str, older: str, *, user: str = "ada", status: str = "open", reason: str = "another value"
    ) -> None:
        """Says that two facts contradict each other."""
        self.pairs.append(
            {"contradiction_id": content_id("con", newer, older), "user_id": user, "edge_id": newer,
             "other_edge_id": older, "entity_id": self.thing("user", "person", user=user), "reason": reason,
             "status": status, "detected_at": at(3)}
        )  # fmt: skip

    def said(self, type_: str, probe_id: str, *, user: str = "ada", days_ago: float = 1) -> None:
        """Says what came of a probe."""
        self.feedback.append(
            {"feedback_id": f"fb{len(self.feedback)}", "timestamp": at(days_ago), "user_id": user, "session_id": "s",
             "type": type_, "payload": json.dumps({"probe_id": probe_id})}
        )  # fmt: skip

    def tables(self) -> dict[str, pa.Table]:
        """What the step is given."""
        return {
            "state_current_edges": CURRENT_EDGES.from_rows(self.facts),
            "state_entities": ENTITIES.from_rows(list(self.things.values())),
            "state_contradictions": CONTRADICTIONS.from_rows(self.pairs),
            "feedback": FEEDBACK.from_rows(self.feedback),
        }


def probes(known: Known, settings: ProactiveSettings = WIDE, **changes: Any) -> list[dict[str, Any]]:
    """The probes of what is known, in order of worth."""
    made = ProbesRun(settings, changes.pop("decay", DecaySettings()), **changes).run(TODAY, known.tables(), [])
    assert made["probes"].schema == PROBES.schema
    return sorted(made["probes"].to_pylist(), key=lambda row: (-row["value"], row["probe_id"]))


def asked(known: Known, settings: ProactiveSettings = WIDE, **changes: Any) -> dict[str, str]:
    """Texts by template."""
    return {row["template"]: row["text"] for row in probes(known, settings, **changes)}
