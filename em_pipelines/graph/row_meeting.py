"""One statement meets the facts of its slot: what sql/meeting.sql says of a round, said of one statement."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from em_pipelines.graph.comparing import UNVERIFIED, Row
from em_pipelines.graph.confidence_decay import DecaySettings, effective_confidence, rounded
from em_pipelines.graph.day import FoldSettings
from em_pipelines.schema.ids import edge_id
from em_pipelines.schema.vocabulary import TemporalType

STANDING = ("active", "contradicted")
OWN_WORDS = ("explicit", "user_correction")
DOUBTS = frozenset({"secondhand", "attribution_uncertain", "sarcasm_detected", "hypothetical"})
WEAK = ("inferential", "reflective", "imported", "shared")


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
    left = {
        fact["edge_id"]: effective(fact, said["timestamp"], decay)
        for fact in facts
        if fact["status"] in STANDING and (_is_rival(fact, said) or fact in upheld)
    }
    rivals = [fact for fact in facts if fact["status"] in STANDING and _is_rival(fact, said)]
    rivals.sort(key=lambda fact: (-left[fact["edge_id"]], fact["edge_id"]))
    chosen = min(upheld, key=lambda fact: _preference(fact, said), default=None)
    is_overruled = _is_overruled(said, rivals)
    is_clear = _is_clear(said, max((left[fact["edge_id"]] for fact in rivals), default=None))
    spell = 1 + max((fact["spell"] for fact in facts if _is_earlier_spell(fact, said)), default=0)
    is_repeat = chosen is not None and said["session_id"] in {p["session_id"] for p in chosen["provenance"]}
    now = left[chosen["edge_id"]] if chosen else None
    return Meeting(
        said=said,
        edge_id=chosen["edge_id"] if chosen else _new_id(said, spell),
        kind=_kind(said, is_known=chosen is not None, has_rivals=bool(rivals), verdict=(is_overruled, is_clear)),
        settles=is_clear and not is_overruled,
        is_repeat=is_repeat,
        effective=now,
        new_confidence=_new_confidence(said, now, settings.reinforcement_step, is_repeat=is_repeat),
        next_spell=spell,
        rivals=tuple(fact["edge_id"] for fact in rivals),
        known=tuple(fact["edge_id"] for fact in same if fact["status"] != "retracted"),
        standing=tuple(fact["edge_id"] for fact in upheld),
        doubted=tuple(
            fact["edge_id"] for fact in facts if fact["status"] == "contradicted" and not _says_same(fact, said)
        ),
    )


def effective(fact: Mapping[str, Any], at: datetime, decay: DecaySettings) -> float:
    """The confidence (0 to 1) that is left of a fact on the day of an instant."""
    n_days = (at.date() - fact["last_reinforced"].date()).days
    return effective_confidence(fact["confidence"], n_days, TemporalType(fact["temporal_type"]), decay)


def _says_same(fact: Row, said: Row) -> bool:
    keys = ("relation_key", "target_key", "polarity")
    return all(fact[key] == said[key] for key in keys)


def _is_rival(fact: Row, said: Row) -> bool:
    """Whether the fact cannot hold beside the statement."""
    is_same_target = fact["target_key"] == said["target_key"]
    if fact["relation_key"] != said["relation_key"]:
        return bool(is_same_target and fact["tone"] * said["tone"] == -1)
    if is_same_target:
        return bool(fact["polarity"] != said["polarity"])
    takes_place = said["is_functional"] and not said["requires_verification"]
    return bool(takes_place and fact["polarity"] == said["polarity"] == 1)


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
    if act in ("retract", "replace"):
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


def _new_confidence(said: Row, now: float | None, step: float, *, is_repeat: bool) -> float | None:
    if said["act"] == "confirm":
        return 1.0
    if now is None:
        return float(said["confidence"])
    if said["act"] in ("recall", "verify") or (is_repeat and not said["is_decided"]):
        return None
    return rounded(min(1.0, max(now, said["confidence"]) + step), 6)


def _new_id(said: Row, spell: int) -> str:
    key = said["object_key"] + (UNVERIFIED if said["requires_verification"] else "")
    return edge_id(
        said["user_id"], said["subject_id"], said["relation"], key, said["attribute"], said["polarity"], spell
    )
