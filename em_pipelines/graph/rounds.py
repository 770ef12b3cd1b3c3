"""A round of the fold, row by row: a statement meets the facts of its slot, and what it does to them.

What sql/meeting.sql, changes_of_round.sql, update_edges.sql and insert.sql say of tables, said of rows.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, Field

from em_pipelines.graph.confidence_decay import DecaySettings, effective_confidence, rounded
from em_pipelines.graph.moods import is_mood, is_vented, lasting_mood, repeated_mood
from em_pipelines.graph.relations import UNVERIFIED, Row, day_of
from em_pipelines.graph.wordings import fuller
from em_pipelines.schema.ids import edge_id
from em_pipelines.schema.readings import EXPLICIT_BY_HEDGE
from em_pipelines.schema.vocabulary import LASTING, HedgeLevel, TemporalType

STANDING = ("active", "contradicted")
OWN_WORDS = ("explicit", "user_correction")
DOUBTS = frozenset({"secondhand", "attribution_uncertain", "sarcasm_detected", "hypothetical"})
WEAK = ("inferential", "reflective", "imported", "shared")
UPON_KNOWN = ("retract", "replace", "end", "doubt", "restore")
"""Acts that change facts that are known, and state none."""
AHEAD = ("plan", "wish")
"""What is meant for a day to come: the one that was given last, and none where none was given."""
INSERTING = ("INSERT", "REVISE", "CONTRADICT_NEW", "OVERRULED", "CONFIRM_NEW")
AGAIN = {"INSERT": "holds again", "CONFIRM_NEW": "confirmed: it holds again"}
ENDING = {"RETRACT": "retracted"} | dict.fromkeys(("REPLACE", "END", "SUPERSEDE"), "superseded")
ENDING |= dict.fromkeys(("CONTRADICT", "DOUBT"), "contradicted")
"""The status that a change leaves."""
REASONS = {
    "INSERT": "not known before",
    "RECALL": "surfaced in a session",
    "VERIFY": "looked up and found to hold",
    "CONFIRM": "confirmed",
    "CONFIRM_NEW": "confirmed, and not known before",
    "RETRACT": "taken back",
    "DOUBT": "a retraction fits it and other facts alike",
    "REPLACE": "corrected",
    "END": "over: what was said of its subject ends it",
    "RESTORE": "holds again: what stood against it was taken back",
    "REVISE": "takes the place of what cannot hold beside it",
    "CONTRADICT_NEW": "speaks against what is known, not clearly enough to decide",
    "CONTRADICT": "something spoke against it, not clearly enough to decide",
    "OVERRULED": "speaks against what the person said themselves",
}


class FoldSettings(BaseModel):
    """What it takes to store a fact, and what repetition adds. Confidences are 0 to 1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_storage_confidence: float = Field(default=0.15, description="claims below this confidence are not stored")
    reinforcement_step: float = Field(default=0.10, description="added when another session says the same")
    venting_sessions: int = Field(
        default=3, ge=1, description="conversations in which the same is vented before it counts as a trait"
    )
    vented_confidence: float = Field(
        default=EXPLICIT_BY_HEDGE[HedgeLevel.MODERATE],
        ge=0,
        le=1,
        description="confidence of a trait that was only ever vented: that of a moderately hedged statement",
    )


@dataclass(frozen=True, slots=True)
class Meeting:
    """What a statement does: `kind`, None where it does nothing, to the fact `edge_id`; and the facts it met, by id.

    `effective` is the confidence left of the fact that says the same, `new_confidence` what it gets; None: it stays.
    """

    said: Row
    edge_id: str
    kind: str | None
    settles: bool
    is_repeat: bool
    effective: float | None
    new_confidence: float | None
    next_spell: int
    rivals: tuple[str, ...]
    known: tuple[str, ...]
    standing: tuple[str, ...]
    doubted: tuple[str, ...]


def meet(said: Row, slot: Iterable[Row], settings: FoldSettings, decay: DecaySettings) -> Meeting:
    """Judges a statement against the facts of its slot."""
    facts = sorted(slot, key=lambda fact: fact["edge_id"])
    same = [fact for fact in facts if _says_same(fact, said)]
    upheld = [fact for fact in same if fact["status"] in STANDING]
    rivals, rival_confidence = _rivals(said, facts, decay)
    chosen = min(upheld, key=lambda fact: _preference(fact, said), default=None)
    is_overruled, is_clear = _is_overruled(said, rivals), _is_clear(said, rival_confidence)
    spell = 1 + max((fact["spell"] for fact in facts if _is_earlier_spell(fact, said)), default=0)
    is_repeat = chosen is not None and said["session_id"] in {place["session_id"] for place in chosen["provenance"]}
    now = effective(chosen, said["timestamp"], decay) if chosen else None
    return Meeting(
        said=said,
        edge_id=chosen["edge_id"] if chosen else _new_id(said, spell),
        kind=_kind(said, is_known=chosen is not None, has_rivals=bool(rivals), verdict=(is_overruled, is_clear)),
        settles=is_clear and not is_overruled,
        is_repeat=is_repeat,
        effective=now,
        new_confidence=_new_confidence(said, chosen, now, settings, is_repeat=is_repeat),
        next_spell=spell,
        rivals=_ids(rivals),
        known=_ids(fact for fact in same if fact["status"] != "retracted"),
        standing=_ids(upheld),
        doubted=_ids(
            fact for fact in facts if fact["status"] == "contradicted" and fact not in same and _is_about(fact, said)
        ),
    )


def _ids(facts: Iterable[Row]) -> tuple[str, ...]:
    return tuple(fact["edge_id"] for fact in facts)


def _rivals(said: Row, facts: Iterable[Row], decay: DecaySettings) -> tuple[list[Row], float | None]:
    """The facts that stand and cannot hold beside the statement, the surest first, and how sure that is."""
    rivals = [fact for fact in facts if fact["status"] in STANDING and _is_rival(fact, said)]
    left = {fact["edge_id"]: effective(fact, said["timestamp"], decay) for fact in rivals}
    rivals.sort(key=lambda fact: (-left[fact["edge_id"]], fact["edge_id"]))
    return rivals, max(left.values(), default=None)


def effective(fact: Mapping[str, Any], at: datetime, decay: DecaySettings) -> float:
    """The confidence (0 to 1) that is left of a fact on the day of an instant."""
    n_days = (at.date() - fact["last_reinforced"].date()).days
    return effective_confidence(fact["confidence"], n_days, TemporalType(fact["temporal_type"]), decay)


def _says_same(fact: Row, said: Row) -> bool:
    keys = ("relation_key", "subject_key", "target_key", "polarity")
    return all(fact[key] == said[key] for key in keys)


def _is_about(fact: Row, said: Row) -> bool:
    """Whether the fact is one of whom the statement speaks: of two people, at either end."""
    return said["holder_key"] in (fact["subject_key"], fact["target_key"])


def _is_rival(fact: Row, said: Row) -> bool:
    """Whether the fact cannot hold beside the statement. An outburst displaces other outbursts, no stated fact."""
    if is_vented(said) and not is_vented(fact):
        return False
    is_same_target = fact["subject_key"] == said["subject_key"] and fact["target_key"] == said["target_key"]
    if fact["relation_key"] != said["relation_key"]:
        return bool(is_same_target and fact["tone"] * said["tone"] == -1)
    if is_same_target:
        return bool(fact["polarity"] != said["polarity"])
    takes_place = said["is_functional"] and not said["requires_verification"]
    return bool(takes_place and fact["polarity"] == said["polarity"] == 1 and _is_about(fact, said))


def _is_earlier_spell(fact: Row, said: Row) -> bool:
    keys = ("subject_id", "relation", "object_key", "attribute", "polarity")
    return all(fact[key] == said[key] for key in keys)


def _preference(fact: Row, said: Row) -> tuple[bool, bool, str]:
    return fact["status"] != "active", fact["subject_id"] != said["subject_id"], fact["edge_id"]


def _is_clear(said: Row, rival_confidence: float | None) -> bool:
    if said["act"] in ("confirm", "verify") or said["is_decided"]:
        return True
    is_plain = said["source_mechanism"] == "explicit" and said["hedge_level"] in ("none", "slight")
    if is_plain and DOUBTS.isdisjoint(said["flags"]):
        return True
    return rival_confidence is None or said["confidence"] >= rival_confidence


def _is_overruled(said: Row, rivals: Iterable[Row]) -> bool:
    """Whether it would displace what the person said themselves, and is not theirs."""
    is_weak = said["source_mechanism"] in WEAK or "secondhand" in said["flags"]
    if said["is_decided"] or not is_weak:
        return False
    return any(fact["source_mechanism"] in OWN_WORDS and "secondhand" not in fact["flags"] for fact in rivals)


def _kind(said: Row, *, is_known: bool, has_rivals: bool, verdict: tuple[bool, bool]) -> str | None:
    act = said["act"]
    if act in UPON_KNOWN:
        return str(act).upper()
    if act in ("recall", "verify"):
        return str(act).upper() if is_known else None
    if act == "confirm":
        return "CONFIRM" if is_known else "CONFIRM_NEW"
    if is_known:
        return "REINFORCE"
    if not has_rivals:
        return "INSERT"
    is_overruled, is_clear = verdict
    return "OVERRULED" if is_overruled else "REVISE" if is_clear else "CONTRADICT_NEW"


def _new_confidence(
    said: Row, known: Row | None, now: float | None, settings: FoldSettings, *, is_repeat: bool
) -> float | None:
    if said["act"] == "confirm":
        return 1.0
    if known is None or now is None:
        return float(said["confidence"])
    if said["act"] in ("recall", "verify") or (is_repeat and not said["is_decided"]):
        return None
    if is_mood(said, known):
        return repeated_mood(said, known, now, settings.venting_sessions, settings.vented_confidence)
    return rounded(min(1.0, max(now, said["confidence"]) + settings.reinforcement_step), 6)


def _new_id(said: Row, spell: int) -> str:
    key = said["object_key"] + (UNVERIFIED if said["requires_verification"] else "")
    return edge_id(
        said["user_id"], said["subject_id"], said["relation"], key, said["attribute"], said["polarity"], spell
    )


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
    if kind.lower() not in UPON_KNOWN:
        yield Changing(meeting.edge_id, kind, meeting, meeting.effective)
    if meeting.settles and kind in ("REVISE", "REINFORCE", "CONFIRM", "CONFIRM_NEW", "VERIFY"):
        yield from (Changing(rival, "SUPERSEDE", meeting) for rival in meeting.rivals)
    if kind == "CONTRADICT_NEW":
        yield from (Changing(rival, "CONTRADICT", meeting) for rival in meeting.rivals)
    if kind in ("RETRACT", "REPLACE"):
        yield from _taken_back(meeting, kind, live)
    if kind in ("END", "DOUBT", "RESTORE"):
        yield from (Changing(edge_id, kind, meeting) for edge_id in meeting.standing)


def _taken_back(meeting: Meeting, kind: str, live: Mapping[str, Row]) -> Iterator[Changing]:
    """What goes, and what holds again: what a retracted fact had displaced, the other side of a conflict of two."""
    gone = meeting.known if kind == "RETRACT" else meeting.standing
    yield from (Changing(edge_id, kind, meeting) for edge_id in gone)
    if kind == "RETRACT":
        yield from _given_back(meeting, live)
    if meeting.standing and len(meeting.doubted) == 1:
        yield Changing(meeting.doubted[0], "RESTORE", meeting)


def _given_back(meeting: Meeting, live: Mapping[str, Row]) -> Iterator[Changing]:
    """What a retracted fact had displaced, if it can hold beside what stood against that fact, and was said later."""
    doubted = live[meeting.doubted[0]] if len(meeting.doubted) == 1 else None
    for fact in live.values():
        is_displaced = fact["status"] == "superseded" and fact["superseded_by"] in meeting.standing
        if is_displaced and not (doubted and _excludes(doubted, fact, is_functional=meeting.said["is_functional"])):
            yield Changing(fact["edge_id"], "RESTORE", meeting)


def _excludes(one: Row, other: Row, *, is_functional: bool) -> bool:
    """Whether of two facts of a slot one alone can hold, or both are the same fact in two spells."""
    if one["relation_key"] != other["relation_key"] or one["polarity"] != other["polarity"]:
        return False
    is_same_target = one["subject_key"] == other["subject_key"] and one["target_key"] == other["target_key"]
    return bool(is_same_target or (is_functional and one["polarity"] == 1))


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
    if kind != "SUPERSEDE":
        return AGAIN[kind] if kind in AGAIN and meeting.next_spell > 1 else REASONS[kind]
    is_other_value = (
        fact is not None
        and fact["relation_key"] == meeting.said["relation_key"]
        and (fact["subject_key"], fact["target_key"]) != (meeting.said["subject_key"], meeting.said["target_key"])
    )
    return "another value of a functional relation was said later" if is_other_value else "the opposite was said later"


def standing(fact: Mapping[str, Any], **changed: object) -> str:
    """What an operation changes of a fact, as an auditor reads it: JSON."""
    shown = ("status", "valid_from", "valid_to", "spell", "reinforcement_count")
    return orjson.dumps({name: changed.get(name, fact[name]) for name in shown}).decode()


def after_changes(fact: Row, change: Changing, venting_sessions: int) -> Row:
    """The fact as the change leaves it."""
    said, kind = change.meeting.said, change.kind
    changed = {**fact, **_ended(fact, said, kind, change.meeting.edge_id), "status": _status(fact, change)}
    if kind in ("REINFORCE", "CONFIRM", "RECALL", "VERIFY"):
        changed["last_reinforced"] = max(fact["last_reinforced"], said["timestamp"])
    if kind in ("REINFORCE", "CONFIRM", "VERIFY"):
        changed["provenance"] = [*fact["provenance"], said["source"]]
    if kind in ("REINFORCE", "CONFIRM"):
        changed["statement"] = fuller(fact["statement"], said["statement"])
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
    return ENDING.get(kind, str(fact["status"]))


def _ended(fact: Row, said: Row, kind: str, winner_id: str) -> Row:
    """What changes where a fact ends, or holds again. Nothing ends before it began, as by "last year" it could."""
    ended: dict[str, str | date | datetime | None] = {}
    if kind in ("RETRACT", "REPLACE", "END", "SUPERSEDE"):
        ended["unlearned_at"] = said["timestamp"]
    if kind in ("REPLACE", "END", "SUPERSEDE"):
        ended["valid_to"] = max(said["valid_from"] or day_of(said), fact["valid_from"] or date.min)
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
    if fact["valid_from"] is None or (fact["temporal_type"] in AHEAD and said["valid_from"] is not None):
        changed |= {"valid_from": said["valid_from"], "valid_precision": said["valid_precision"]}
    return changed | lasting_mood(fact, said, venting_sessions, is_repeat=meeting.is_repeat)


def inserted(change: Changing) -> Row:
    """The new fact, or the new spell of one that had ended."""
    said, kind, meeting = change.meeting.said, change.kind, change.meeting
    since, precision = said["valid_from"], said["valid_precision"]
    if kind == "REVISE" and said["polarity"] == 1 and said["temporal_type"] not in AHEAD:
        since, precision = since or day_of(said), precision or "day"
    first_rival = meeting.rivals[0] if meeting.rivals else None
    taken = (
        "user_id", "subject_id", "relation", "object_id", "value", "attribute", "over", "statement", "object_key",
        "polarity",        "valid_to", "hedge_level", "source_mechanism", "flags", "context_tags", "privacy_level",
        "requires_verification", "has_pasted_source", "relation_key", "family", "tone", "subject_key", "target_key",
        "holder_key", "meeting_key", "slot",
    )  # fmt: skip
    return {
        **{name: said[name] for name in taken},
        "edge_id": change.edge_id,
        "temporal_type": TemporalType.ATTRIBUTE.value if said["relation"] in LASTING else said["temporal_type"],
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
