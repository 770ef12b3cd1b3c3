"""Feedback in words, for whoever asks why memory knows something or does not."""

from collections.abc import Mapping
from typing import Any

import orjson

DONE = {
    "correct": "corrected",
    "confirm": "confirmed",
    "retract": "taken back",
    "forget": "asked to be forgotten",
    "add_facts": "told as a fact by a program",
    "answer": "answered in the questionnaire",
    "skip": "left out of the questionnaire",
    "seed": "imported",
    "accept": "accepted as imported",
    "reject": "turned away",
    "import": "a note was imported",
    "merge": "said to be one",
    "split": "said to be a thing of its own",
    "revision": "looked up",
    "recalled": "told in a conversation",
    "archive": "a message was put aside",
}
"""Types of feedback, as what was done by it. Others are read by their names."""
Payload = Mapping[str, Any]


def done_by(type_: str) -> str:
    """What feedback of a type did."""
    return DONE.get(type_, type_.replace("_", " "))


def told(type_: str, payload: str) -> str:
    """Feedback in a line: what was done, from which line of which file, and what it says. `payload` is JSON."""
    fields = orjson.loads(payload)
    said = _said(fields)
    return f"{done_by(type_)}{_place(fields)}{f': {said}' if said else ''}"


def decided(given: Payload, by: str, session_id: str | None) -> str:
    """Feedback behind a fact, in a line: what was done to it, when, by whom and where. `given` has `type`, `payload`
    as JSON and `timestamp`."""
    fields = orjson.loads(given["payload"])
    was = fields.get("old_object")
    instead = f", instead of {was}" if was is not None else ""
    place = _place(fields)
    where = f", in {session_id}" if session_id and not place else ""
    done = f"{done_by(given['type'])}{place}{',' if place else ''}"
    return f"{done} on {given['timestamp']:%Y-%m-%d %H:%M} by {by}{where}{instead}"


def _place(fields: Payload) -> str:
    if not fields.get("file"):
        return ""
    return f" from {fields['file']}" + (f", line {fields['line']}" if fields.get("line") else "")


def _said(fields: Payload) -> str:
    if fields.get("entities"):
        return ", ".join(map(str, fields["entities"]))
    if fields.get("entity"):
        return str(fields["entity"])
    return "; ".join(filter(None, map(_fact, fields.get("facts") or [fields])))


def _fact(fields: object) -> str:
    """A fact as feedback names it; its id where it says nothing else of it."""
    if not isinstance(fields, Mapping):
        return str(fields)
    relation = fields.get("relation")
    if not relation:
        return str(fields.get("edge_id") or fields.get("question") or "")
    no = "not " if fields.get("polarity", 1) < 0 else ""
    now = fields.get("new_object", fields.get("object", fields.get("value")))
    was = fields.get("old_object", fields.get("object") if "new_object" in fields else None)
    words = [fields.get("subject", "user"), f"{no}{relation}", fields.get("attribute"), now]
    return " ".join(str(word) for word in words if word is not None) + (f" (was {was})" if was is not None else "")
