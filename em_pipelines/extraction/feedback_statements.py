"""From feedback to what the registry and the fold understand: mentions, claims, decisions, and acts upon known facts.

Pure, and made anew from the landed feedback wherever it is needed. What people say about memory passes the same
safety checks as what they say in conversation.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson
import pyarrow as pa

from em_pipelines.extraction.feedback_claims import Assertion, Origin, mention, stated
from em_pipelines.extraction.literals import literal
from em_pipelines.guard.sensitive import SafetySettings
from em_pipelines.language.values import local_instant
from em_pipelines.schema.decisions import Decision
from em_pipelines.schema.feedback_payloads import Accept, Answer, Correct, FactNamed, Merge, Seed, Split, read_payload
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.readings import initial_confidence
from em_pipelines.schema.rows import ClaimRow, FeedbackRow, MentionRow
from em_pipelines.schema.tables.extraction import CLAIMS, MENTIONS
from em_pipelines.schema.vocabulary import LITERAL_OBJECT, Act, EntityType, HedgeLevel, Mechanism, PrivacyLevel

FEEDBACK = "feedback"
REVISION = "revision"
"""What stands for the extractor, and for a conversation where feedback names none."""
MAX_STATED_CONFIDENCE = 0.90
"""Nobody but the remembered person makes a fact surer than their own plain statement would."""


@dataclass(frozen=True, slots=True)
class Targeted:
    """An act upon facts that are known already, found by id or by what they say.

    `object` is None where all values of the relation are meant. `claim` is the CLAIMS row to fall back upon where
    nothing known fits, and what a correction puts in the place of what it said. With `is_topic` the facts are those
    about a thing, of any relation, and `object` is the words for it.
    """

    act: Act
    origin: Origin
    edge_id: str | None
    subject: str
    relation: str | None
    object: str | None
    attribute: str | None
    polarity: int
    claim: ClaimRow | None = None
    reason: str | None = None
    is_topic: bool = False


@dataclass(slots=True)
class Spoken:
    """What a day's feedback says: to the registry (mentions, decisions), and to the fold (claims, targeted)."""

    mentions: list[MentionRow] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    claims: list[ClaimRow] = field(default_factory=list)
    targeted: list[Targeted] = field(default_factory=list)

    def mentions_table(self) -> pa.Table:
        """The mentions, in the columns of `mentions`."""
        return MENTIONS.from_rows(list({row["mention_id"]: row for row in self.mentions}.values()))

    def claims_table(self) -> pa.Table:
        """The claims, in the columns of `claims`."""
        return CLAIMS.from_rows(list({row["claim_id"]: row for row in self.claims}.values()))


def spoken(feedback: Iterable[FeedbackRow], safety: SafetySettings) -> Spoken:
    """Reads a day's rows of `feedback`, in the order in which they were said; types without a form say nothing here."""
    said = Spoken()
    for row in sorted(feedback, key=lambda r: (r["timestamp"], r["user_id"], r["feedback_id"])):
        read = _READERS.get(row["type"])
        if read is None:
            continue
        payload = read_payload(row["type"], orjson.loads(row["payload"]))
        read(said, _origin(row), payload, safety)
    return said


def correlation_of(feedback_id: str) -> str:
    """What ties everything that came of one feedback together."""
    return content_id("cor", feedback_id)


def _origin(row: FeedbackRow) -> Origin:
    return {
        "user_id": row["user_id"],
        "session_id": row["session_id"] or FEEDBACK,
        "turn_number": 0,
        "message_id": row["feedback_id"],
        "segment_id": row["feedback_id"],
        "timestamp": local_instant(row["timestamp"], row.get("utc_offset_minutes")),
        "extractor": REVISION if row["type"] == REVISION else FEEDBACK,
        "correlation_id": correlation_of(row["feedback_id"]),
    }


def _act(act: Act) -> Any:
    def read(said: Spoken, origin: Origin, payload: Any, safety: SafetySettings) -> None:
        facts = payload.facts if act is Act.RECALL else (payload,)
        for fact in facts:
            claim = None
            if act is Act.CONFIRM and fact.relation and fact.object:
                claim = _claim(said, origin, _corrected(fact, fact.object), safety)
            said.targeted.append(_targeted(act, origin, fact, fact.object, claim))

    return read


def _corrected(fact: FactNamed, right: str) -> Assertion:
    """What the remembered person says of a fact, and knows best."""
    return Assertion(fact, right, 1.0, Mechanism.USER_CORRECTION)


def _observed(fact: FactNamed, seen: str, confidence: float) -> Assertion:
    """What somebody else has found out."""
    return Assertion(fact, seen, confidence, Mechanism.OBSERVATIONAL)


def _correct(said: Spoken, origin: Origin, payload: Correct, safety: SafetySettings) -> None:
    assert payload.object is not None  # the form sees to it
    claim = _claim(said, origin, _corrected(payload, payload.object), safety)
    if claim is None:
        return
    if payload.edge_id is None:
        said.claims.append(claim)
    if payload.edge_id is not None or payload.old_object is not None:
        said.targeted.append(_targeted(Act.REPLACE, origin, payload, payload.old_object, claim))


def _revision(said: Spoken, origin: Origin, payload: Any, safety: SafetySettings) -> None:
    if payload.outcome == "verified":
        said.targeted.append(_targeted(Act.VERIFY, origin, payload, payload.object, None))
    elif payload.outcome == "changed":
        confidence = initial_confidence(Mechanism.OBSERVATIONAL, HedgeLevel.NONE)
        claim = _claim(said, origin, _observed(payload, payload.new_object, confidence), safety)
        if claim is not None:
            said.targeted.append(_targeted(Act.REPLACE, origin, payload, payload.object, claim))


def _add_facts(said: Spoken, origin: Origin, payload: Any, safety: SafetySettings) -> None:
    usual = initial_confidence(Mechanism.OBSERVATIONAL, HedgeLevel.NONE)
    for fact in payload.facts:
        confidence = min(MAX_STATED_CONFIDENCE, usual if fact.confidence is None else fact.confidence)
        claim = _claim(said, origin, _observed(fact, fact.object, confidence), safety)
        if claim is not None:
            said.claims.append(claim)


def _accept(said: Spoken, origin: Origin, payload: Accept, safety: SafetySettings) -> None:
    _take_seed(said, origin, payload, Mechanism.IMPORTED, safety)


def _answer(said: Spoken, origin: Origin, payload: Answer, safety: SafetySettings) -> None:
    _take_seed(said, origin, payload, Mechanism.EXPLICIT, safety)


def _take_seed(said: Spoken, origin: Origin, payload: Seed, mechanism: Mechanism, safety: SafetySettings) -> None:
    """An imported fact, as sure as such facts are, or as the import says where that is less."""
    assert payload.object is not None  # the form sees to it
    usual = initial_confidence(mechanism, HedgeLevel.NONE)
    confidence = usual if payload.confidence is None else min(usual, payload.confidence)
    floor = payload.privacy_floor or PrivacyLevel.PUBLIC
    claim = _claim(said, origin, Assertion(payload, payload.object, confidence, mechanism, floor), safety)
    if claim is not None:
        said.claims.append(claim)


def _merge(said: Spoken, origin: Origin, payload: Merge, _: SafetySettings) -> None:
    said.decisions.append(_decision(origin, is_merge=True, names=payload.entities))


def _split(said: Spoken, origin: Origin, payload: Split, _: SafetySettings) -> None:
    if payload.into is None:
        names = (payload.entity, payload.other) if payload.other else (payload.entity,)
        said.decisions.append(_decision(origin, is_merge=False, names=names))
        return
    said.decisions.append(_decision(origin, is_merge=False, names=(payload.into, payload.entity)))
    said.mentions.append(mention(origin, payload.into, EntityType.CONCEPT))
    for edge_id in payload.facts:
        fact = FactNamed(edge_id=edge_id, subject=payload.entity)
        said.targeted.append(_targeted(Act.REHOME, origin, fact, payload.into, None))


_READERS = {
    "correct": _correct,
    "confirm": _act(Act.CONFIRM),
    "retract": _act(Act.RETRACT),
    "recalled": _act(Act.RECALL),
    "revision": _revision,
    "add_facts": _add_facts,
    "merge": _merge,
    "split": _split,
    "accept": _accept,
    "answer": _answer,
}


def _decision(origin: Origin, *, is_merge: bool, names: tuple[str, ...]) -> Decision:
    return Decision(
        is_merge, origin["user_id"], names, origin["timestamp"], origin["message_id"], origin["session_id"],
        origin["correlation_id"],
    )  # fmt: skip


def _targeted(act: Act, origin: Origin, fact: FactNamed, object_: str | None, claim: ClaimRow | None) -> Targeted:
    if object_ is not None and fact.relation in LITERAL_OBJECT:
        object_ = literal(fact.relation, object_, origin["timestamp"].date())
    return Targeted(
        act, origin, fact.edge_id, fact.subject, fact.relation, object_, fact.attribute, fact.polarity, claim
    )


def _claim(said: Spoken, origin: Origin, assertion: Assertion, safety: SafetySettings) -> ClaimRow | None:
    """The claim of a fact, its mentions noted; None where the safety guard refuses it."""
    made = stated(origin, assertion, safety)
    if made is None:
        return None
    said.mentions += made.mentions
    return made.claim
