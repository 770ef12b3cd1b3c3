"""What a round does to facts: what sql/changes_of_round.sql, update_edges.sql and insert.sql say, said of rows."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import orjson

from em_pipelines.graph.comparing import Row
from em_pipelines.graph.row_meeting import Meeting

INSERTING = ("INSERT", "REVISE", "CONTRADICT_NEW", "OVERRULED", "CONFIRM_NEW")
REASONS = {
    "RECALL": "surfaced in a session",
    "VERIFY": "looked up and found to hold",
    "CONFIRM": "confirmed",
    "CONFIRM_NEW": "confirmed, and not known before",
    "RETRACT": "taken back",
    "REPLACE": "corrected",
    "RESTORE": "holds again: what stood against it was taken back",
    "REVISE": "takes the place of what cannot hold beside it",
    "CONTRADICT_NEW": "speaks against what is known, not clearly enough to decide",
    "CONTRADICT": "something spoke against it, not clearly enough to decide",
    "OVERRULED": "speaks against what the person said themselves",
}


@dataclass(frozen=True, slots=True)
class Changing:
    """One fact that a statement of the round changes."""

    edge_id: str
    kind: str
    meeting: Meeting
    effective: float | None = None


def changes_of(meetings: Iterable[Meeting], live: Mapping[str, Row]) -> list[Changing]:
    """What the statements of a round do, as facts stood before it."""
    return [change for meeting in meetings if meeting.kind for change in _changes(meeting, meeting.kind, live)]


def _changes(meeting: Meeting, kind: str, live: Mapping[str, Row]) -> Iterator[Changing]:
    if kind not in ("RETRACT", "REPLACE"):
        yield Changing(meeting.edge_id, kind, meeting, meeting.effective)
    if meeting.settles and kind in ("REVISE", "REINFORCE", "CONFIRM", "CONFIRM_NEW", "VERIFY"):
        yield from (Changing(rival, "SUPERSEDE", meeting) for rival in meeting.rivals)
    if kind == "CONTRADICT_NEW":
        yield from (Changing(rival, "CONTRADICT", meeting) for rival in meeting.rivals)
    if kind in ("RETRACT", "REPLACE"):
        yield from _taken_back(meeting, kind, live)


def _taken_back(meeting: Meeting, kind: str, live: Mapping[str, Row]) -> Iterator[Changing]:
    """What goes, and what holds again: what a retracted fact had displaced, the other side of a conflict of two."""
    gone = meeting.known if kind == "RETRACT" else meeting.standing
    yield from (Changing(edge_id, kind, meeting) for edge_id in gone)
    if kind == "RETRACT":
        for edge_id, fact in live.items():
            if fact["status"] == "superseded" and fact["superseded_by"] in meeting.standing:
                yield Changing(edge_id, "RESTORE", meeting)
    if meeting.standing and len(meeting.doubted) == 1:
        yield Changing(meeting.doubted[0], "RESTORE", meeting)


def noted(change: Changing, fact: Row | None) -> Row:
    """The change as a row of `changes`, `fact` as it stands before; what comes after is filled in when it has."""
    said, meeting = change.meeting.said, change.meeting
    before = fact["confidence"] if fact else None
    origin = ("claim_id", "user_id", "timestamp", "source_mechanism", "session_id", "turn_number", "correlation_id")
    return {
        **{name: said[name] for name in origin},
        "edge_id": change.edge_id,
        "kind": change.kind,
        "pair_id": said["pair_id"],
        "reason": _reason(change.kind, meeting, fact),
        "before": standing(fact) if fact else None,
        "after": None,
        "confidence_before": before if change.effective is None else change.effective,
        "confidence_after": None,
    }


def _reason(kind: str, meeting: Meeting, fact: Row | None) -> str:
    if kind == "REINFORCE":
        return "repeated in the same session" if meeting.is_repeat else "said again in another session"
    if kind == "INSERT":
        return "holds again" if meeting.next_spell > 1 else "not known before"
    if kind != "SUPERSEDE":
        return REASONS[kind]
    is_other_value = (
        fact is not None
        and fact["relation_key"] == meeting.said["relation_key"]
        and fact["target_key"] != meeting.said["target_key"]
    )
    return "another value of a functional relation was said later" if is_other_value else "the opposite was said later"


def standing(fact: Mapping[str, Any], **changed: object) -> str:
    """What an operation changes of a fact, as an auditor reads it: JSON."""
    shown = ("status", "valid_from", "valid_to", "spell", "reinforcement_count")
    return orjson.dumps({name: changed.get(name, fact[name]) for name in shown}).decode()


def after_changes(fact: Row, change: Changing, venting_sessions: int) -> Row:
    """The fact as the change leaves it."""
    said, kind = change.meeting.said, change.kind
    changed = {**fact, **_ended(said, kind, change.meeting.edge_id), "status": _status(fact, change)}
    if kind in ("REINFORCE", "CONFIRM", "RECALL", "VERIFY"):
        changed["last_reinforced"] = max(fact["last_reinforced"], said["timestamp"])
    if kind in ("REINFORCE", "CONFIRM", "VERIFY"):
        changed["provenance"] = [*fact["provenance"], said["source"]]
    if kind in ("REINFORCE", "CONFIRM") and change.meeting.new_confidence is not None:
        changed["confidence"] = change.meeting.new_confidence
    if kind == "CONFIRM" or (kind == "REINFORCE" and said["source_mechanism"] == "user_correction"):
        changed["source_mechanism"] = "user_correction"
    if kind == "REINFORCE":
        changed |= _reinforced(fact, change.meeting, venting_sessions)
    return changed


def _status(fact: Row, change: Changing) -> str:
    kind = change.kind
    if kind in ("RESTORE", "CONFIRM", "VERIFY") or (kind == "REINFORCE" and change.meeting.settles):
        return "active"
    ends = {"RETRACT": "retracted", "REPLACE": "superseded", "SUPERSEDE": "superseded", "CONTRADICT": "contradicted"}
    return ends.get(kind, str(fact["status"]))


def _ended(said: Row, kind: str, winner_id: str) -> Row:
    """What changes where a fact ends, or holds again."""
    ended: dict[str, str | date | datetime | None] = {}
    if kind in ("RETRACT", "REPLACE", "SUPERSEDE"):
        ended["unlearned_at"] = said["timestamp"]
    if kind in ("REPLACE", "SUPERSEDE"):
        ended["valid_to"] = said["valid_from"] or said["timestamp"].date()
    if kind == "SUPERSEDE":
        ended["superseded_by"] = winner_id
    if kind == "RESTORE":
        ended |= {"unlearned_at": None, "valid_to": None, "superseded_by": None}
    return ended


def _reinforced(fact: Row, meeting: Meeting, venting_sessions: int) -> Row:
    """What a repetition changes beside date and confidence."""
    said = meeting.said
    changed: Row = {"has_pasted_source": fact["has_pasted_source"] or said["has_pasted_source"]}
    if not meeting.is_repeat:
        changed |= {"reinforcement_count": fact["reinforcement_count"] + 1, "hedge_level": said["hedge_level"]}
    if fact["valid_from"] is None:
        changed |= {"valid_from": said["valid_from"], "valid_precision": said["valid_precision"]}
    if fact["temporal_type"] == "episode" and "emotional_state" in fact["flags"]:
        sessions = {place["session_id"] for place in fact["provenance"]} | {said["session_id"]}
        if len(sessions) >= venting_sessions:  # no passing mood
            changed["temporal_type"] = "state"
    return changed


def inserted(change: Changing) -> Row:
    """The new fact, or the new spell of one that had ended."""
    said, kind, meeting = change.meeting.said, change.kind, change.meeting
    since, precision = said["valid_from"], said["valid_precision"]
    if kind == "REVISE" and said["polarity"] == 1:
        since, precision = since or said["timestamp"].date(), precision or "day"
    first_rival = meeting.rivals[0] if meeting.rivals else None
    taken = (
        "user_id", "subject_id", "relation", "object_id", "value", "attribute", "over", "object_key", "polarity",
        "temporal_type", "valid_to", "hedge_level", "source_mechanism", "flags", "context_tags", "privacy_level",
        "requires_verification", "has_pasted_source", "relation_key", "family", "tone", "subject_key", "target_key",
        "slot",
    )  # fmt: skip
    return {
        **{name: said[name] for name in taken},
        "edge_id": change.edge_id,
        "spell": meeting.next_spell,
        "valid_from": since,
        "valid_precision": precision,
        "learned_at": said["timestamp"],
        "unlearned_at": said["timestamp"] if kind == "OVERRULED" else None,
        "last_reinforced": said["timestamp"],
        "confidence": meeting.new_confidence,
        "reinforcement_count": 0,
        "status": {"OVERRULED": "superseded", "CONTRADICT_NEW": "contradicted"}.get(kind, "active"),
        "supersedes": first_rival if kind in ("REVISE", "CONFIRM_NEW") else None,
        "superseded_by": first_rival if kind == "OVERRULED" else None,
        "contradicts": first_rival if kind == "CONTRADICT_NEW" else None,
        "provenance": [said["source"]],
        "is_functional": said["is_functional"] and not said["requires_verification"],
    }
