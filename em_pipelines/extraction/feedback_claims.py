"""A fact that feedback states, as a claim with mentions of its ends, past the safety guard."""

from dataclasses import dataclass, field, replace
from datetime import date
from typing import NotRequired, cast

from em_pipelines.extraction.literals import literal
from em_pipelines.guard.passages import clause_around
from em_pipelines.guard.screening import screened
from em_pipelines.guard.sensitive import SafetySettings
from em_pipelines.language.document import english
from em_pipelines.language.values import local_day
from em_pipelines.schema.feedback_payloads import FactNamed
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.readings import MAX_STATEMENT_CHARACTERS, Claim, Extraction, Segment, Turn
from em_pipelines.schema.rows import ClaimRow, MentionRow, OriginColumns
from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.schema.vocabulary import (
    LITERAL_OBJECT,
    USER,
    USUAL_TEMPORAL_TYPE,
    Act,
    EntityType,
    Mechanism,
    PrivacyLevel,
    TemporalType,
)

OBJECT_TYPES: dict[str, EntityType] = {
    relation: kind
    for kind, names in {
        EntityType.PLACE: "lives_in located_in born_in visited",
        EntityType.ORGANIZATION: "works_at studies_at graduated_from member_of",
        EntityType.PERSON: "spouse_of partner_of parent_of child_of sibling_of friend_of colleague_of manages "
        "reports_to knows",
        EntityType.ANIMAL: "has_pet",
    }.items()
    for relation in names.split()
}
"""What the object of a relation is, where feedback does not say; a concept elsewhere."""


class Origin(OriginColumns):
    """What all rows of one feedback, or of one retraction in a message, share: the columns that say where it stands.

    A retraction in a message has how it was said and its span besides.
    """

    source_mechanism: NotRequired[str]
    span_start: NotRequired[int]
    span_end: NotRequired[int]


@dataclass(frozen=True, slots=True)
class Assertion:
    """A fact as feedback states it: `object` is what holds, whatever that of `fact` is; `confidence` is 0 to 1.

    `privacy_floor` is the least level that it gets, whatever it says.
    """

    fact: FactNamed
    object: str
    confidence: float
    mechanism: Mechanism
    privacy_floor: PrivacyLevel = PrivacyLevel.PUBLIC


@dataclass(frozen=True, slots=True)
class Stated:
    """A claim in the columns of `claims`, and its ends in those of `mentions`."""

    claim: ClaimRow
    mentions: list[MentionRow] = field(default_factory=list)


def stated(origin: Origin, assertion: Assertion, safety: SafetySettings) -> Stated | None:
    """The claim of an assertion, or None where the safety guard refuses it.

    A fact that is known by id alone gets its subject and relation later, when it is found.
    """
    said = _claim_of(assertion, origin["timestamp"].date())
    kept = _screened(said, origin, safety)
    if kept is None:
        return None
    kept = replace(kept, privacy_level=max(kept.privacy_level, assertion.privacy_floor))
    mentions = [mention(origin, kept.subject, kept.subject_type)]
    if kept.object is not None and said.object_type is not None:
        mentions.append(mention(origin, kept.object, said.object_type))
    what = (kept.subject, kept.relation, kept.object, kept.value, kept.attribute, kept.polarity)
    claim = {
        **origin,
        **{name: getattr(kept, name) for name in CLAIMS.schema.names if hasattr(kept, name)},
        "claim_id": content_id("claim", origin["message_id"], *what),
        "extraction_id": origin["message_id"],
        "act": Act.ASSERT.value,
        "said_on": local_day(origin["timestamp"]),
        "flags": [flag.value for flag in kept.flags],
        "context_tags": english.topics_of(
            kept.relation, said.object_type, f"{kept.object or kept.value} {kept.attribute or ''}"
        ),
        "has_pasted_source": False,
        "span_start": 0,
        "span_end": len(assertion.object),
    }
    return Stated(cast("ClaimRow", claim), mentions)


def _claim_of(assertion: Assertion, said_on: date) -> Claim:
    fact = assertion.fact
    relation = fact.relation or "relates_to"
    is_literal = relation in LITERAL_OBJECT or english.is_phrase_of(relation, assertion.object)
    said = getattr(fact, "statement", None) or ""
    kind = getattr(fact, "object_type", None) or OBJECT_TYPES.get(relation, EntityType.CONCEPT)
    temporal = getattr(fact, "temporal_type", None)
    return Claim(
        turn_number=0,
        subject=fact.subject,
        subject_type=_subject_type(fact),
        relation=relation,
        object=None if is_literal else assertion.object,
        object_type=None if is_literal else kind,
        value=literal(relation, assertion.object, said_on) if is_literal else None,
        confidence=assertion.confidence,
        start=0,
        end=len(assertion.object),
        temporal_type=temporal or USUAL_TEMPORAL_TYPE.get(relation, TemporalType.STATE),
        polarity=fact.polarity,
        attribute=fact.attribute,
        source_mechanism=assertion.mechanism,
        **{
            name: getattr(fact, name)
            for name in ("valid_from", "valid_to", "valid_precision", "flags")
            if hasattr(fact, name)
        },
        statement=clause_around(said, 0, len(said), MAX_STATEMENT_CHARACTERS) or None,
    )


def _subject_type(fact: FactNamed) -> EntityType:
    if fact.subject == USER:
        return EntityType.PERSON
    return getattr(fact, "subject_type", None) or EntityType.CONCEPT


def mention(origin: OriginColumns, name: str, kind: EntityType) -> MentionRow:
    """A name in feedback, in the columns of `mentions`."""
    return {
        **origin,
        "mention_id": content_id("men", origin["message_id"], name),
        "name": name,
        "entity_type": EntityType.PERSON.value if name == USER else kind.value,
        "role": None,
        "span_start": 0,
        "span_end": len(name),
        "is_explicit": True,
    }


def _screened(said: Claim, origin: Origin, safety: SafetySettings) -> Claim | None:
    text = f"{said.subject} {said.attribute or said.relation} {said.object or said.value}"
    turn = Turn(origin["message_id"], 0, "user", USER, text, origin["timestamp"])
    segment = Segment(origin["segment_id"], origin["user_id"], origin["session_id"], "text", (turn,))
    kept = screened(Extraction(claims=[said]), segment, safety).claims
    return kept[0] if kept else None
