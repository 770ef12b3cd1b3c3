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
    about="Durable knowledge promoted from repeated episodes.",
    columns=(
        col("experience_id", TEXT, "hash of kind and evidence"),
        USER_ID,
        col("kind", TEXT, "failure, procedure, preference, state or reflection"),
        col("text", TEXT, "one line"),
        col("consolidates", TEXTS, "ids of the evidence"),
        col("strength", REAL, "0 to 1, grows with evidence"),
        col("method", TEXT, "template or model"),
        opt("model", TEXT, "the model that worded it"),
        col("consolidation_id", TEXT, "the run that promoted it"),
        col("promoted_at", INSTANT, "when"),
        col("status", TEXT, "active, in_review or rolled_back"),
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
        col("consolidation_id", TEXT, "the run that wrote it"),
        col("last_seen", INSTANT, "latest evidence"),
        col("status", TEXT, "active, in_review, quarantined or rolled_back"),
    ),
    key=("rule_id",),
    sort_by=("user_id", "rule_id"),
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

TABLES = (CURRENT_EDGES, INFERRED_EDGES, EXPERIENCES, RULES, SKILL_PROFILES)
