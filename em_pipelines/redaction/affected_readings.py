"""Where messages of one day name or state what is to be erased, by what was read in them."""

import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date
from typing import Any, cast

import pyarrow.compute as pc

from em_pipelines.landing.record_cutting import Spans
from em_pipelines.language.fact_keys import FactKey, key_of_claim
from em_pipelines.language.name_matching import Span
from em_pipelines.redaction.targets import Target
from em_pipelines.schema.rows import ClaimRow, EntityMentionRow, MentionRow
from em_pipelines.schema.table import Table, rows_of
from em_pipelines.schema.tables.extraction import CLAIMS, MENTIONS
from em_pipelines.schema.tables.graph import ENTITY_MENTIONS
from em_pipelines.schema.vocabulary import OBSERVATIONS, USER, EntityType
from em_pipelines.storage.store import Store

_FIRST_PERSON = re.compile(r"(?i)\b(?:i|my|we|our)\b")


@dataclass(slots=True)
class Reading:
    """What was read in one message: its claims, and its mentions with the entity of each."""

    claims: list[ClaimRow] = field(default_factory=list)
    mentions: list[tuple[MentionRow, str | None]] = field(default_factory=list)

    @property
    def read(self) -> list[ClaimRow]:
        """Its claims but for observations, which are what is left of a sentence."""
        return [claim for claim in self.claims if claim["relation"] not in OBSERVATIONS]

    def entities(self, name: str | None) -> set[str]:
        """The entities that a name of the message stands for."""
        return {entity for mention, entity in self.mentions if entity and mention["name"] == name}


def readings_of_day(store: Store, day: date, user_id: str) -> dict[str, Reading]:
    """What was read in the user's messages of a day, by message id."""
    links = cast("list[EntityMentionRow]", _rows(store, ENTITY_MENTIONS, day, user_id))
    entity_of = {row["mention_id"]: row["entity_id"] for row in links}
    readings: dict[str, Reading] = defaultdict(Reading)
    for mention in cast("list[MentionRow]", _rows(store, MENTIONS, day, user_id)):
        readings[mention["message_id"]].mentions.append((mention, entity_of.get(mention["mention_id"])))
    for claim in cast("list[ClaimRow]", _rows(store, CLAIMS, day, user_id)):
        readings[claim["message_id"]].claims.append(claim)
    return dict(readings)


def spans_of(reading: Reading, target: Target, text: str) -> Spans:
    """What to cut of a message, whose cleaned content is `text`.

    Where an entity is named or something is claimed of it, the sentence goes, and where a fact is claimed. What the
    user says of themselves in the same sentence is kept: it is what would be lost without need.
    """
    return _spans_of_facts(reading, target.facts, text) if target.facts else _spans_of_entities(reading, target, text)


def _spans_of_facts(reading: Reading, facts: frozenset[FactKey], text: str) -> Spans:
    stated = [claim for claim in reading.claims if key_of_claim(claim) in facts]
    others = [claim for claim in reading.read if key_of_claim(claim) not in facts]
    own = [span for claim in stated for span in _own_words(claim, reading, others, text)]
    keeps = tuple(_span(other) for other in others if _is_of_user(other, text))
    return Spans(tuple(map(_span, stated)), keeps, barred=tuple(own))


def _spans_of_entities(reading: Reading, target: Target, text: str) -> Spans:
    named = [
        _span(mention) for mention, entity in reading.mentions if entity in target.entity_ids and mention["is_explicit"]
    ]
    about, keeps = [], []
    for claim in reading.read:
        ends = reading.entities(claim["subject"]) | reading.entities(claim["object"])
        if ends & target.entity_ids:
            about.append(_span(claim))
        elif _is_of_user(claim, text):
            keeps.append(_span(claim))
    others = (
        _span(mention)
        for mention, entity in reading.mentions
        if mention["is_explicit"] and mention["entity_type"] == EntityType.PERSON.value
        and mention["name"] != USER and entity not in target.entity_ids
    )  # fmt: skip
    return Spans((*named, *about), tuple(keeps), others=tuple(others))


def _is_of_user(claim: ClaimRow, text: str) -> bool:
    """Whether a claim is a plain statement of the user of themselves, in words that stand by themselves."""
    is_plain = claim["hedge_level"] == "none" and not claim["flags"] and claim["subject"] == USER
    return is_plain and _FIRST_PERSON.search(text, claim["span_start"], claim["span_end"]) is not None


def _own_words(claim: ClaimRow, reading: Reading, others: list[ClaimRow], text: str) -> list[Span]:
    """The words of a claim that no other claim needs: all of them, else the object's, else what nobody shares."""
    span = _span(claim)
    shared = [_span(other) for other in others if _span(other).meets(span)]
    if not shared:
        return [span]
    if claim["object"] is None:
        return _value_words(claim, text) or _without(span, shared)
    if any(claim["object"] in (other["subject"], other["object"]) for other in others):
        return []  # its words say another fact as well: the fact goes by its tombstone alone
    return _object_words(claim, reading) or _without(span, shared)


def _object_words(claim: ClaimRow, reading: Reading) -> list[Span]:
    """Where the object is named within the claim, but for a name that is all of it."""
    span = _span(claim)
    named = [_span(mention) for mention, _ in reading.mentions if mention["name"] == claim["object"]]
    return [word for word in named if span.holds(word) and word != span]


def _value_words(claim: ClaimRow, text: str) -> list[Span]:
    """Where the value first stands within the claim."""
    span = _span(claim)
    value = re.compile(re.escape(claim["value"] or ""), re.IGNORECASE).search(text, span.start, span.end)
    return [Span(*value.span())] if value and value.group() else []


def _without(span: Span, shared: list[Span]) -> list[Span]:
    left, at = [], span.start
    for other in sorted(shared, key=lambda s: s.start):
        if other.start > at:
            left.append(Span(at, other.start))
        at = max(at, other.end)
    return [*left, Span(at, span.end)] if at < span.end else left


def _span(row: ClaimRow | MentionRow) -> Span:
    return Span(row["span_start"], row["span_end"])


def _rows(store: Store, table: Table, day: date, user_id: str) -> list[dict[str, Any]]:
    rows = store.lake.read(table, day)
    return list(rows_of(rows.filter(pc.equal(rows["user_id"], user_id))))
