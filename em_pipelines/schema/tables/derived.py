"""Derived tables: pure functions of the state on a day, recomputed and never fed back."""

from em_pipelines.schema.table import (
    DATE,
    FLAG,
    INSTANT,
    INT,
    REAL,
    TEXT,
    TEXTS,
    USER_ID,
    Table,
    col,
    opt,
)
from em_pipelines.schema.tables.graph import EDGE_COLUMNS

CURRENT_EDGES = Table(
    name="current_edges",
    group="lifecycle",
    about="Every fact at the end of the day, after decay, expiry and archival.",
    columns=(
        *EDGE_COLUMNS,
        col("effective_confidence", REAL, "0 to 1, after decay"),
        col("as_of", DATE, "the day at whose end this holds"),
    ),
    key=("edge_id",),
    sort_by=("user_id", "edge_id"),
    is_state=True,
)

INFERRED_EDGES = Table(
    name="inferred_edges",
    group="lifecycle",
    about="Facts that follow from current ones by rule, or by a model that was asked; nothing is built on them.",
    columns=(
        col("edge_id", TEXT, "hash of what the fact says"),
        USER_ID,
        col("subject_id", TEXT, "entity of the subject, by which all its names are read"),
        col("relation", TEXT, "from the closed vocabulary"),
        col("object_id", TEXT, "entity of the object, by which all its names are read"),
        col("confidence", REAL, "0 to 0.60: product of the premises' effective confidence × 0.8"),
        col("rule_id", TEXT, "the rule that gave it; model where a model proposed it"),
        col("premises", TEXTS, "ids of the current edges it follows from, in the order of the chain"),
        col("hops", INT, "length of the chain, 1 to 3"),
        col("temporal_type", TEXT, "what the relation usually is"),
        col("source_mechanism", TEXT, "inferential"),
        col("privacy_level", TEXT, "L0 to L3: the strictest of the premises"),
        col("learned_at", INSTANT, "transaction time: when the last of the premises was first said"),
        col("as_of", DATE, "the day at whose end it follows"),
    ),
    key=("edge_id",),
    sort_by=("user_id", "edge_id"),
    is_state=True,
)

EXPERIENCES = Table(
    name="experiences",
    group="consolidation",
    about="What happened often, long and widely enough to be known, at the end of the last night.",
    columns=(
        col("experience_id", TEXT, "hash of user, kind, component and category"),
        USER_ID,
        col("kind", TEXT, "failure, anomaly, procedure, preference, state or reflection"),
        col("component", TEXT, "what it is about: a skill, a relation, a kind of observation"),
        opt("category", TEXT, "of failures: their category; of procedures: their steps"),
        col("text", TEXT, "one line"),
        opt("trigger", TEXT, "accepted words of a failure's messages; when a skill is slow"),
        opt("mitigation", TEXT, "what was called before it worked again"),
        col("consolidates", TEXTS, "ids of the evidence, the newest 200, in order of time"),
        col("n_occurrences", INT, "times it happened"),
        col("n_sources", INT, "conversations in which it happened"),
        col("confidence", REAL, "0 to 1: (agreeing + 1) / (occurrences + 2)"),
        col("strength", REAL, "0 to 1, grows with occurrences and conversations"),
        col("source", TEXT, "where the evidence stands: skill_invocations or messages; shared: came from a pool"),
        col("context_tags", TEXTS, "where it matters"),
        col("first_seen", INSTANT, "first time it happened"),
        col("last_seen", INSTANT, "last time it happened"),
        col("tier", TEXT, "hot, warm or cold, by when it was last seen"),
        col("revision", INT, "nights on which its evidence grew, from 1"),
        col("method", TEXT, "template or model: who worded its rule"),
        opt("model", TEXT, "the model that worded it"),
        opt("consolidation_id", TEXT, "the night that promoted it; null: shared"),
        opt("promoted_at", INSTANT, "the end of what that night had seen; null: shared"),
        col("status", TEXT, "active, in_review, or shared: told by others, and nobody here has seen it"),
    ),
    key=("experience_id",),
    sort_by=("user_id", "experience_id"),
    is_state=True,
)

RULES = Table(
    name="rules",
    group="consolidation",
    about="Experiences worded as rules for an agent.",
    columns=(
        col("rule_id", TEXT, "hash of the experience"),
        USER_ID,
        col("experience_id", TEXT, "what it rests on"),
        col("text", TEXT, "one line, at most 150 tokens"),
        col("frequency", INT, "times seen"),
        col("confidence", REAL, "0 to 1"),
        col("consolidation_id", TEXT, "the night that promoted it"),
        col("last_seen", INSTANT, "latest evidence"),
        col("status", TEXT, "active or in_review"),
    ),
    key=("rule_id",),
    sort_by=("user_id", "rule_id"),
    is_state=True,
)

EXPERIENCE_LINKS = Table(
    name="experience_links",
    group="consolidation",
    about="What each experience consolidates, and so which experiences each observation is part of.",
    columns=(
        col("experience_id", TEXT, "the experience"),
        col("evidence_id", TEXT, "the invocation, the operation on a fact, or the message"),
        USER_ID,
        col("session_id", TEXT, "the conversation"),
        opt("turn_number", INT, "the turn; null: of invocations"),
        col("timestamp", INSTANT, "when it happened"),
    ),
    key=("experience_id", "evidence_id"),
    sort_by=("user_id", "experience_id", "timestamp", "evidence_id"),
    is_state=True,
)

PROMOTIONS = Table(
    name="promotions",
    group="consolidation",
    about="What the gates say of everything that happened more than once, and why.",
    columns=(
        col("experience_id", TEXT, "the experience that it is, or would be"),
        USER_ID,
        col("kind", TEXT, "failure, anomaly, procedure, preference, state or reflection"),
        opt("component", TEXT, "what it is about; null: quarantined"),
        opt("category", TEXT, "of failures: their category; of procedures: their steps; null: quarantined, or neither"),
        col("n_occurrences", INT, "times it happened"),
        col("n_sources", INT, "conversations in which it happened"),
        col("n_days", INT, "UTC days on which it happened"),
        col("span_hours", REAL, "hours from the first time to the last"),
        col("agreement", REAL, "0 to 1: share of the occurrences that are alike"),
        col("verdict", TEXT, "promoted, in_review, refused or quarantined"),
        opt("gate", TEXT, "what it was stopped by: a bound, confidence, or a safety gate; null: promoted"),
        col("reason", TEXT, "a sentence"),
        opt("excerpt", TEXT, "words of tools' outputs that its rule has only once they are accepted"),
        opt("consolidation_id", TEXT, "the night that promoted it"),
        col("first_seen", INSTANT, "first time it happened"),
        col("last_seen", INSTANT, "last time it happened"),
    ),
    key=("experience_id",),
    sort_by=("user_id", "experience_id"),
    is_state=True,
)

SKILL_PROFILES = Table(
    name="skill_profiles",
    group="consolidation",
    about="How each skill has fared.",
    columns=(
        USER_ID,
        col("skill_name", TEXT, "the skill"),
        col("n_invocations", INT, "calls"),
        col("success_share", REAL, "0 to 1"),
        col("p50_ms", REAL, "median latency, milliseconds"),
        col("p99_ms", REAL, "99th percentile, milliseconds"),
        col("mean_cost_usd", REAL, "US dollars a call"),
        col("failure_modes", TEXTS, "error categories, most frequent first"),
        opt("last_failed_at", INSTANT, "latest failure"),
        col("is_degrading", FLAG, "fails more than it used to"),
    ),
    key=("user_id", "skill_name"),
    sort_by=("user_id", "skill_name"),
    is_state=True,
)

CONSOLIDATED = (EXPERIENCES, RULES, EXPERIENCE_LINKS, PROMOTIONS, SKILL_PROFILES)
"""What a night makes."""
TABLES = (CURRENT_EDGES, INFERRED_EDGES, *CONSOLIDATED)
