"""From feedback to what the registry and the fold understand: mentions, claims, decisions, and acts upon known facts.

Pure, and made anew from the landed feedback wherever it is needed. What people say about memory passes the same
safety checks as what they say in conversation.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson
import pyarrow as pa

from em_pipelines.extraction.confidence import initial_confidence
from em_pipelines.feedback.claims import mention, stated
from em_pipelines.feedback.decisions import Decision
from em_pipelines.feedback.payloads import Correct, FactNamed, Merge, Split, read_payload
from em_pipelines.ids import content_id
from em_pipelines.safety.settings import SafetySettings
from em_pipelines.tables.extraction import CLAIMS, MENTIONS
from em_pipelines.vocabulary import Act, EntityType, HedgeLevel, Mechanism

FEEDBACK = "feedback"
REVISION = "revision"
"""What stands for the extractor, and for a conversation where feedback names none."""
MAX_STATED_CONFIDENCE = 0.90
"""Nobody but the remembered person makes a fact surer than their own plain statement would."""
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Targeted:
    """An act upon facts that are known already, found by id or by what they say.

    `object` is None where all values of the relation are meant. `claim` is the CLAIMS row to fall back upon where
    nothing known fits, and what a correction puts in the place of what it found.
    """

    act: Act
    origin: Row
    edge_id: str | None
    subject: str
    relation: str | None
    object: str | None
    attribute: str | None
    polarity: int
    claim: Row | None = None
    reason: str | None = None


@dataclass(slots=True)
class Spoken:
    """What a day's feedback says: to the registry (mentions, decisions), and to the fold (claims, targeted)."""

    mentions: list[Row] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    claims: list[Row] = field(default_factory=list)
    targeted: list[Targeted] = field(default_factory=list)

    def mentions_table(self) -> pa.Table:
        """The mentions, in the columns of `mentions`."""
        return MENTIONS.from_rows(list({row["mention_id"]: row for row in self.mentions}.values()))

    def claims_table(self) -> pa.Table:
        """The claims, in the columns of `claims`."""
        return CLAIMS.from_rows(list({row["claim_id"]: row for row in self.claims}.values()))


def spoken(feedback: Iterable[Row], safety: SafetySettings) -> Spoken:
    """Reads a day's rows of `feedback`, in the order in which they were said; types without a form say nothing here."""
    found = Spoken()
    for row in sorted(feedback, key=lambda r: (r["timestamp"], r["user_id"], r["feedback_id"])):
        read = _READERS.get(row["type"])
        if read is None:
            continue
        payload = read_payload(row["type"], orjson.loads(row["payload"]))
        read(found, _origin(row), payload, safety)
    return found


def _origin(row: Row) -> Row:
    return {
        "user_id": row["user_id"],
        "session_id": row["session_id"] or FEEDBACK,
        "turn_number": 0,
        "message_id": row["feedback_id"],
        "segment_id": row["feedback_id"],
        "timestamp": row["timestamp"],
        "extractor": REVISION if row["type"] == REVISION else FEEDBACK,
        "correlation_id": content_id("cor", row["feedback_id"]),
    }


def _act(act: Act) -> Any:
    def read(found: Spoken, origin: Row, payload: Any, safety: SafetySettings) -> None:
        facts = payload.facts if act is Act.RECALL else (payload,)
        for fact in facts:
            claim = None
            if act is Act.CONFIRM and fact.relation and fact.object:
                claim = _claim(found, origin, fact, fact.object, 1.0, Mechanism.USER_CORRECTION, safety)
            found.targeted.append(_targeted(act, origin, fact, fact.object, claim))

    return read


def _correct(found: Spoken, origin: Row, payload: Correct, safety: SafetySettings) -> None:
    assert payload.object is not None  # the form sees to it
    claim = _claim(found, origin, payload, payload.object, 1.0, Mechanism.USER_CORRECTION, safety)
    if claim is None:
        return
    if payload.edge_id is None:
        found.claims.append(claim)
    if payload.edge_id is not None or payload.old_object is not None:
        found.targeted.append(_targeted(Act.REPLACE, origin, payload, payload.old_object, claim))


def _revision(found: Spoken, origin: Row, payload: Any, safety: SafetySettings) -> None:
    if payload.outcome == "verified":
        found.targeted.append(_targeted(Act.VERIFY, origin, payload, payload.object, None))
    elif payload.outcome == "changed":
        confidence = initial_confidence(Mechanism.OBSERVATIONAL, HedgeLevel.NONE)
        claim = _claim(found, origin, payload, payload.new_object, confidence, Mechanism.OBSERVATIONAL, safety)
        if claim is not None:
            found.targeted.append(_targeted(Act.REPLACE, origin, payload, payload.object, claim))


def _add_facts(found: Spoken, origin: Row, payload: Any, safety: SafetySettings) -> None:
    usual = initial_confidence(Mechanism.OBSERVATIONAL, HedgeLevel.NONE)
    for fact in payload.facts:
        confidence = min(MAX_STATED_CONFIDENCE, usual if fact.confidence is None else fact.confidence)
        claim = _claim(found, origin, fact, fact.object, confidence, Mechanism.OBSERVATIONAL, safety)
        if claim is not None:
            found.claims.append(claim)


def _merge(found: Spoken, origin: Row, payload: Merge, _: SafetySettings) -> None:
    found.decisions.append(_decision(origin, is_merge=True, names=payload.entities))


def _split(found: Spoken, origin: Row, payload: Split, _: SafetySettings) -> None:
    if payload.into is None:
        names = (payload.entity, payload.other) if payload.other else (payload.entity,)
        found.decisions.append(_decision(origin, is_merge=False, names=names))
        return
    found.decisions.append(_decision(origin, is_merge=False, names=(payload.into, payload.entity)))
    found.mentions.append(mention(origin, payload.into, EntityType.CONCEPT))
    for edge_id in payload.facts:
        fact = FactNamed(edge_id=edge_id, subject=payload.entity)
        found.targeted.append(_targeted(Act.REHOME, origin, fact, payload.into, None))


_READERS = {
    "correct": _correct,
    "confirm": _act(Act.CONFIRM),
    "retract": _act(Act.RETRACT),
    "recalled": _act(Act.RECALL),
    "revision": _revision,
    "add_facts": _add_facts,
    "merge": _merge,
    "split": _split,
}


def _decision(origin: Row, *, is_merge: bool, names: tuple[str, ...]) -> Decision:
    return Decision(
        is_merge, origin["user_id"], names, origin["timestamp"], origin["message_id"], origin["session_id"],
        origin["correlation_id"],
    )  # fmt: skip


def _targeted(act: Act, origin: Row, fact: FactNamed, object_: str | None, claim: Row | None) -> Targeted:
    return Targeted(
        act, origin, fact.edge_id, fact.subject, fact.relation, object_, fact.attribute, fact.polarity, claim
    )


def _claim(
    found: Spoken,
    origin: Row,
    fact: FactNamed,
    object_: str,
    confidence: float,
    mechanism: Mechanism,
    safety: SafetySettings,
) -> Row | None:
    """The claim of a fact, its mentions noted; None where the safety guard refuses it."""
    said = stated(origin, fact, object_, confidence, mechanism, safety)
    if said is None:
        return None
    found.mentions += said.mentions
    return said.claim
