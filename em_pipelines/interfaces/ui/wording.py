"""Words of the tables as people say them. What has none of its own is shown as it is called."""

import re
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup, escape

PLAIN: Mapping[str, str] = {
    "empty": "nothing known yet",
    "seeded": "told by imports alone",
    "learning": "getting to know",
    "minimum_viable": "knows the basics",
    "functional": "knows its way",
    "mature": "knows well",
    "expert": "knows thoroughly",
    "explicit": "said",
    "observational": "found out by an agent",
    "inferential": "concluded",
    "reflective": "concluded",
    "user_correction": "put right by hand",
    "imported": "imported",
    "shared": "shared by others",
    "correct": "corrected",
    "confirm": "confirmed as right",
    "retract": "taken back",
    "merge": "names joined",
    "split": "names taken apart",
    "erase": "erased for good",
    "accept": "import accepted",
    "reject": "import turned away",
    "release": "released from quarantine",
    "add_facts": "facts added by an agent",
    "accept_experience": "lesson accepted",
    "reject_experience": "lesson turned away",
    "interactions": "Landed",
    "messages": "Read as a message",
    "segments": "Read together with",
    "mentions": "Names in it",
    "claims": "What was read in it",
    "extraction_issues": "What was left out, and why",
    "graph_ops": "What it changed",
    "edges": "The facts, as they stand now",
    "entity_mentions": "Whom the names mean",
    "entity_ops": "What became of names",
    "feedback": "What was said of memory",
    "sessions": "Its conversation",
    "audit_trail": "In the audit trail",
    "another value of a functional relation was said later": "another value was said later, and only one can hold",
    "insert": "learned",
    "reinforce": "said again",
    "revise": "took the place of another",
    "supersede": "its place was taken",
    "contradict": "doubted",
    "restore": "holds again",
    "end": "ended",
    "verify": "looked up",
    "recall": "came up",
    "delete": "erased",
    "replace": "corrected",
}
"""Stages, mechanisms, feedback and acts, tables of a trace, reasons and operations."""
HEDGES: Mapping[str, str] = {
    "none": "said plainly", "slight": "said with a slight doubt", "moderate": "said with doubt",
    "strong": "said with strong doubt",
}  # fmt: skip
SHOWN_FIRST = (
    "content", "name", "subject", "relation", "object", "value", "attribute", "issue", "reason", "operation", "status",
    "confidence", "confidence_before", "confidence_after", "timestamp", "role", "speaker", "edge_id",
)  # fmt: skip
"""What people look for in a row; the rest stands behind it."""
_CODE = re.compile(r"`([^`]+)`")


def plain(value: object) -> str:
    """A word of the tables in plain words."""
    said = str(value)
    return PLAIN.get(said) or PLAIN.get(said.lower()) or said.replace("_", " ")


def hedge(level: object) -> str:
    """How surely something was said."""
    return HEDGES.get(str(level), f"said with {level} doubt")


def with_code(text: object) -> Markup:
    """A sentence in which commands stand between backticks, with them set as code."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


def first_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """What of a row people look for."""
    return {name: row[name] for name in SHOWN_FIRST if row.get(name) not in (None, "", [])}


def other_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """The rest of it."""
    return {name: value for name, value in row.items() if name not in SHOWN_FIRST}
