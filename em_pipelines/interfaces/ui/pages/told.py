"""What was said of memory itself, in logs, at the command line or here: corrections, confirmations, joined names."""

from datetime import date
from typing import Any

import orjson

from em_pipelines.governance.audit.rows import rows_where
from em_pipelines.interfaces.ui.asked import Asked
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.serving.facts import waiting_feedback

SHOWN = ("correct", "confirm", "retract", "merge", "split", "add_facts", "accept", "reject", "answer")
"""Feedback that says what is right; the rest is bookkeeping."""


def told_of_memory(asked: Asked) -> list[dict[str, Any]]:
    """Each with its time, type, what it says in words, the facts that it names by id, and whether a run has read it;
    the newest first."""
    waiting = {row["feedback_id"]: row for row in waiting_feedback(asked.home.store, asked.user, date.max)}
    rows = {row["feedback_id"]: row for row in rows_where(asked.home.store.lake, FEEDBACK, "user_id", [asked.user])}
    found = [row for row in (rows | waiting).values() if row["type"] in SHOWN]
    return [
        {
            "timestamp": row["timestamp"],
            "type": row["type"],
            "said": _said(orjson.loads(row["payload"])),
            "edge_id": orjson.loads(row["payload"]).get("edge_id"),
            "correlation_id": content_id("cor", row["feedback_id"]),
            "waits": row["feedback_id"] in waiting,
        }
        for row in sorted(found, key=lambda row: (row["timestamp"], row["feedback_id"]), reverse=True)
    ]


def _said(told: dict[str, Any]) -> str:
    """What feedback says, as far as it says anything beside an id."""
    if told.get("entities") or told.get("entity"):
        return _names(told)
    facts = [fact for fact in told.get("facts", ()) if isinstance(fact, dict)]
    return "; ".join(filter(None, map(_fact, facts or [told])))


def _names(told: dict[str, Any]) -> str:
    if names := told.get("entities"):
        return f"{', '.join(map(str, names[:-1]))} = {names[-1]}"
    return " apart from ".join(str(told[name]) for name in ("entity", "other") if told.get(name))


def _fact(told: dict[str, Any]) -> str:
    """The fact; of a correction what was wrong and what is right."""
    values = [told.get(name) for name in ("old_object", "object", "value", "new_object") if told.get(name)]
    ends = [told.get("subject"), str(told.get("relation") or "").replace("_", " "), told.get("attribute")]
    return " ".join(str(part) for part in (*ends, " → ".join(map(str, dict.fromkeys(values)))) if part)
