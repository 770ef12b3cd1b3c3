"""What the rows of declared tables are in Python: a TypedDict for each table that is handled row by row.

Each has exactly the columns of its table in `schema.tables`, with `X | None` where a column may be null; a test holds
the two together. A table gets one here once code builds, reads or passes on its rows as dicts; tables that only Arrow
and SQL touch need none. Rows that hold more than their table (names beside ids) or less (some of its columns) are
typed where they are made. Arrow knows nothing of this: where rows come from `rows_of` or `to_pylist`, a cast says once
what they are.
"""

from datetime import date, datetime
from typing import TypedDict


class InteractionRow(TypedDict):
    """A row of `interactions`."""

    user_id: str
    session_id: str
    turn_number: int
    role: str
    content: str
    timestamp: datetime
    utc_offset_minutes: int | None
    zone: str | None
    speaker: str | None
    subject: str | None
    channel: str
    participants: list[str]
    agent_id: str | None
    domain: str | None
    trust: str
    is_pasted_elsewhere: bool | None
    entities_mentioned: list[str]
    correlation_id: str
    source_id: str | None
    tags: list[str] | None
    memory_type: str | None
    note_privacy: str | None
    source_format: str


class FeedbackRow(TypedDict):
    """A row of `feedback`."""

    feedback_id: str
    timestamp: datetime
    user_id: str
    session_id: str | None
    type: str
    payload: str
    utc_offset_minutes: int | None


class WithheldItem(TypedDict):
    """An item of `withheld` in `messages`."""

    span_start: int
    span_end: int
    issue: str
    reason: str
    severity: str


class SentenceItem(TypedDict):
    """An item of `sentences` in `messages`."""

    span_start: int
    span_end: int
    kind: str | None
    confidence: float


class MessageRow(TypedDict):
    """A row of `messages`."""

    message_id: str
    user_id: str
    session_id: str
    turn_number: int
    role: str
    subject: str | None
    speaker: str | None
    timestamp: datetime
    utc_offset_minutes: int | None
    content: str
    content_hash: str
    memory_type: str
    tags: list[str]
    channel: str
    is_group: bool
    trust: str
    is_pasted_elsewhere: bool | None
    note_privacy: str | None
    n_tokens: int
    has_code: bool
    language: str | None
    withheld: list[WithheldItem]
    sentences: list[SentenceItem]
    domain: str | None
    agent_id: str | None
    participants: list[str]
    correlation_id: str
    source_id: str | None


class SessionRow(TypedDict):
    """A row of `sessions`."""

    user_id: str
    session_id: str
    session_type: str
    started_at: datetime
    ended_at: datetime
    n_turns: int
    n_observations: int
    n_entities: int
    n_facts: int
    trust: str
    channel: str
    summary: str | None


class SegmentRow(TypedDict):
    """A row of `segments`."""

    segment_id: str
    user_id: str
    session_id: str
    first_turn: int
    last_turn: int
    message_ids: list[str]
    n_tokens: int
    trust: str


class OriginColumns(TypedDict):
    """What rows of `mentions`, `claims` and `extraction_issues` share: of whom they are, and where that was said."""

    user_id: str
    session_id: str
    turn_number: int
    message_id: str
    segment_id: str
    timestamp: datetime
    extractor: str
    correlation_id: str


class MentionRow(TypedDict):
    """A row of `mentions`."""

    mention_id: str
    user_id: str
    session_id: str
    turn_number: int
    message_id: str
    segment_id: str
    name: str
    entity_type: str
    role: str | None
    span_start: int
    span_end: int
    is_explicit: bool
    extractor: str
    timestamp: datetime
    correlation_id: str


class ClaimRow(TypedDict):
    """A row of `claims`."""

    claim_id: str
    extraction_id: str
    user_id: str
    session_id: str
    turn_number: int
    message_id: str
    segment_id: str
    timestamp: datetime
    said_on: date | None
    act: str
    subject: str
    subject_type: str
    relation: str
    object: str | None
    object_type: str | None
    value: str | None
    attribute: str | None
    over: str | None
    statement: str | None
    polarity: int
    temporal_type: str
    valid_from: date | None
    valid_to: date | None
    valid_precision: str | None
    hedge_level: str
    confidence: float
    source_mechanism: str
    flags: list[str]
    context_tags: list[str]
    privacy_level: str
    requires_verification: bool
    has_pasted_source: bool
    pattern_id: str | None
    span_start: int
    span_end: int
    extractor: str
    correlation_id: str


class IssueRow(TypedDict):
    """A row of `extraction_issues`."""

    issue_id: str
    user_id: str
    session_id: str
    turn_number: int
    message_id: str
    segment_id: str
    issue: str
    reason: str
    severity: str
    detail: str
    extractor: str
    timestamp: datetime
    correlation_id: str


class CallRow(TypedDict):
    """A row of `llm_calls`."""

    call_id: str
    timestamp: datetime
    called_at: datetime
    user_id: str | None
    segment_id: str | None
    model: str
    task: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float
    latency_ms: float
    is_cache_hit: bool
    outcome: str
    error_type: str | None
    correlation_id: str


class LinkItem(TypedDict):
    """One of the `links` of a row of `entities`."""

    entity_id: str
    method: str
    score: float
    linked_at: datetime


class EntityRow(TypedDict):
    """A row of `entities`."""

    entity_id: str
    user_id: str
    canonical_name: str
    name_key: str
    discriminator: str
    aliases: list[str]
    alias_keys: list[str]
    entity_type: str
    first_seen: datetime
    last_referenced: datetime
    mention_count: int
    importance: float
    certainty: float
    privacy_level: str
    requires_verification: bool
    qualifiers: list[str]
    links: list[LinkItem]
    merged_into: str | None
    merged_at: datetime | None
    distinct_from: list[str]
    status: str


class EntityMentionRow(TypedDict):
    """A row of `entity_mentions`."""

    mention_id: str
    user_id: str
    entity_id: str
    method: str
    score: float
    timestamp: datetime
    correlation_id: str


class EntityOpRow(TypedDict):
    """A row of `entity_ops`."""

    op_id: str
    user_id: str
    operation: str
    entity_id: str
    other_id: str | None
    method: str
    score: float
    reason: str
    timestamp: datetime
    session_id: str
    turn_number: int
    correlation_id: str


class ProvenanceItem(TypedDict):
    """One of the places of a fact's `provenance`."""

    session_id: str
    turn_number: int
    span_start: int
    span_end: int
    extraction_id: str


class EdgeRow(TypedDict):
    """A row of `edges`."""

    edge_id: str
    user_id: str
    subject_id: str
    relation: str
    object_id: str | None
    value: str | None
    attribute: str | None
    over: str | None
    statement: str | None
    object_key: str
    spell: int
    polarity: int
    temporal_type: str
    valid_from: date | None
    valid_to: date | None
    valid_precision: str | None
    learned_at: datetime
    unlearned_at: datetime | None
    last_reinforced: datetime
    confidence: float
    reinforcement_count: int
    hedge_level: str
    source_mechanism: str
    flags: list[str]
    context_tags: list[str]
    privacy_level: str
    requires_verification: bool
    has_pasted_source: bool
    status: str
    supersedes: str | None
    superseded_by: str | None
    contradicts: str | None
    provenance: list[ProvenanceItem]


class CurrentEdgeRow(EdgeRow):
    """A row of `current_edges`."""

    effective_confidence: float
    as_of: date


class ContradictionRow(TypedDict):
    """A row of `contradictions`."""

    contradiction_id: str
    user_id: str
    edge_id: str
    other_edge_id: str
    entity_id: str
    reason: str
    status: str
    detected_at: datetime
    resolved_at: datetime | None
