"""Graph tables: who and what is known, the facts between them, and every operation that made them so."""

import pyarrow as pa

from em_pipelines.schema.table import (
    CORRELATION_ID,
    DATE,
    FLAG,
    INSTANT,
    INT,
    REAL,
    SESSION_ID,
    TEXT,
    TEXTS,
    TIMESTAMP,
    TURN,
    USER_ID,
    Column,
    Table,
    col,
    opt,
)

PROVENANCE = pa.list_(
    pa.field(
        "item",
        pa.struct(
            [
                pa.field("session_id", TEXT, nullable=False),
                pa.field("turn_number", INT, nullable=False),
                pa.field("span_start", INT, nullable=False),
                pa.field("span_end", INT, nullable=False),
                pa.field("extraction_id", TEXT, nullable=False),
            ]
        ),
        nullable=False,
    )
)

LINKS = pa.list_(
    pa.field(
        "item",
        pa.struct(
            [
                pa.field("entity_id", TEXT, nullable=False),
                pa.field("method", TEXT, nullable=False),
                pa.field("score", REAL, nullable=False),
                pa.field("linked_at", INSTANT, nullable=False),
            ]
        ),
        nullable=False,
    )
)

ENTITIES = Table(
    name="entities",
    group="resolution",
    about="Every name of every user's world at the end of the day; names of one thing point at one of them.",
    columns=(
        col("entity_id", TEXT, "hash of user, normalised name and what tells namesakes apart"),
        USER_ID,
        col("canonical_name", TEXT, "the name it is shown by"),
        col("name_key", TEXT, "the canonical name, normalised"),
        col("discriminator", TEXT, "what the id holds besides the name, to tell namesakes apart; mostly empty"),
        col("aliases", TEXTS, "other names, as worded"),
        col("alias_keys", TEXTS, "the aliases, normalised, in the same order"),
        col("entity_type", TEXT, "from the closed list of types"),
        col("first_seen", INSTANT, "first mention"),
        col("last_referenced", INSTANT, "last mention"),
        col("mention_count", INT, "mentions so far"),
        col("importance", REAL, "0 to 1, from how often it is mentioned"),
        col("certainty", REAL, "0 to 1, that it is a thing of its own"),
        col("privacy_level", TEXT, "L0 to L4"),
        col("requires_verification", FLAG, "never surfaced before it is verified"),
        col("qualifiers", TEXTS, "roles and words that tell namesakes apart: sister, allotment"),
        col("links", LINKS, "names that this one was found to be one with, and how; what holds a group together"),
        opt("merged_into", TEXT, "the entity that this name is one with, by which it is read; null: itself"),
        opt("merged_at", INSTANT, "when it became one with it"),
        col("distinct_from", TEXTS, "entities that somebody said are others, however alike"),
        col("status", TEXT, "active, or merged"),
    ),
    key=("entity_id",),
    sort_by=("user_id", "entity_id"),
    is_state=True,
)

ENTITY_MENTIONS = Table(
    name="entity_mentions",
    group="resolution",
    about="Which entity each of the day's mentions is, and why.",
    columns=(
        col("mention_id", TEXT, "the mention"),
        USER_ID,
        col("entity_id", TEXT, "the entity of its very name, merged or not"),
        col("method", TEXT, "how it was found: exact, alias, role, …, or new"),
        col("score", REAL, "0 to 1, similarity of the match"),
        TIMESTAMP,
        CORRELATION_ID,
    ),
    key=("mention_id",),
    sort_by=("user_id", "mention_id"),
)

ENTITY_OPS = Table(
    name="entity_ops",
    group="resolution",
    about="Every change of the registry on the day: names met first, merged and split, and why.",
    columns=(
        col("op_id", TEXT, "hash of operation, entities and what caused it"),
        USER_ID,
        col("operation", TEXT, "CREATE, MERGE or SPLIT"),
        col("entity_id", TEXT, "the entity it changed"),
        opt("other_id", TEXT, "the entity it was merged into or split from"),
        col("method", TEXT, "exact, role, similarity, statement, alias_file, feedback, …"),
        col("score", REAL, "0 to 1, similarity of the match"),
        col("reason", TEXT, "a sentence without names"),
        TIMESTAMP,
        SESSION_ID,
        TURN,
        CORRELATION_ID,
    ),
    key=("op_id",),
    sort_by=("user_id", "timestamp", "session_id", "turn_number", "op_id"),
)

EDGE_COLUMNS: tuple[Column, ...] = (
    col("edge_id", TEXT, "hash of what the fact says and of its spell"),
    USER_ID,
    col("subject_id", TEXT, "entity of the subject, as it was named"),
    col("relation", TEXT, "from the closed vocabulary"),
    opt("object_id", TEXT, "entity of the object, as it was named"),
    opt("value", TEXT, "the object, where it is a literal"),
    opt("attribute", TEXT, "attribute key of has_attribute; nickname of a has_name by which somebody is called"),
    opt("over", TEXT, "what the object is preferred over, of prefers only"),
    opt("statement", TEXT, "the fact in one short sentence, in the words of a turn that says it"),
    col("object_key", TEXT, "object_id, or the literal normalised: equal for equal objects"),
    col("spell", INT, "how many times this fact has become active, from 1"),
    col("polarity", INT, "+1, or -1 for a negated fact"),
    col("temporal_type", TEXT, "attribute, trait, state, wish, plan or episode"),
    opt("valid_from", DATE, "event time: since when it holds"),
    opt("valid_to", DATE, "event time: the first day it no longer held"),
    opt("valid_precision", TEXT, "day, month or year: how exact valid_from is"),
    col("learned_at", INSTANT, "transaction time: first said"),
    opt("unlearned_at", INSTANT, "transaction time: when it was superseded or retracted"),
    col("last_reinforced", INSTANT, "last said"),
    col("confidence", REAL, "0 to 1, as last asserted"),
    col("reinforcement_count", INT, "sessions that repeated it"),
    col("hedge_level", TEXT, "of the last assertion"),
    col("source_mechanism", TEXT, "how it came to be known"),
    col("flags", TEXTS, "hypothetical, secondhand and their kin"),
    col("context_tags", TEXTS, "where the fact matters"),
    col("privacy_level", TEXT, "L0 to L4"),
    col("requires_verification", FLAG, "never surfaced before it is verified"),
    col("has_pasted_source", FLAG, "said in a conversation that held pasted blocks"),
    col("status", TEXT, "active, contradicted, superseded or retracted; in current_edges also expired or archived"),
    opt("supersedes", TEXT, "edge that this one revised"),
    opt("superseded_by", TEXT, "edge that revised this one"),
    opt("contradicts", TEXT, "older edge that this one spoke against without deciding"),
    col("provenance", PROVENANCE, "where it was said; never empty"),
)

EDGES = Table(
    name="edges",
    group="graph",
    about="Every fact as asserted, at the end of the day; nothing is computed from the passing of time.",
    columns=EDGE_COLUMNS,
    key=("edge_id",),
    sort_by=("user_id", "edge_id"),
    is_state=True,
)

GRAPH_OPS = Table(
    name="graph_ops",
    group="graph",
    about="Every operation of the day's diff: what changed, from what to what, because of which claim.",
    columns=(
        col("op_id", TEXT, "hash of edge, operation and claim"),
        USER_ID,
        col("operation", TEXT, "INSERT, REINFORCE, CONTRADICT, REVISE, RETRACT, CONFIRM or DELETE"),
        col("edge_id", TEXT, "the edge it changed"),
        col("claim_id", TEXT, "the claim or feedback that caused it"),
        TIMESTAMP,
        col("reason", TEXT, "why this operation and no other"),
        opt("before", TEXT, "status and validity before, as JSON"),
        col("after", TEXT, "status and validity after, as JSON"),
        opt("confidence_before", REAL, "effective, at that moment"),
        col("confidence_after", REAL, "as asserted"),
        col("source_mechanism", TEXT, "of the claim"),
        SESSION_ID,
        TURN,
        CORRELATION_ID,
    ),
    key=("op_id",),
    sort_by=("user_id", "timestamp", "session_id", "turn_number", "op_id"),
)

CONTRADICTIONS = Table(
    name="contradictions",
    group="graph",
    about="Pairs of facts that cannot both hold.",
    columns=(
        col("contradiction_id", TEXT, "hash of the two edges"),
        USER_ID,
        col("edge_id", TEXT, "the newer fact"),
        col("other_edge_id", TEXT, "the older fact"),
        col("entity_id", TEXT, "the subject they share"),
        col("reason", TEXT, "polarity, another value, or retraction: one of the two may be what was retracted"),
        col("status", TEXT, "open or settled"),
        col("detected_at", INSTANT, "when they met"),
        opt("resolved_at", INSTANT, "when later evidence decided"),
    ),
    key=("contradiction_id",),
    sort_by=("user_id", "contradiction_id"),
    is_state=True,
)

TABLES = (ENTITIES, ENTITY_MENTIONS, ENTITY_OPS, EDGES, GRAPH_OPS, CONTRADICTIONS)
