"""Outgoing tables: what memory would like to say."""

from em_pipelines.schema.table import DATE, INSTANT, REAL, TEXT, TEXTS, USER_ID, Table, col, opt

PROBES = Table(
    name="probes",
    group="serving",
    about="Questions that would close a gap, with the gap they close.",
    columns=(
        col("probe_id", TEXT, "hash of user, kind and gap"),
        USER_ID,
        col("kind", TEXT, "discovery, verification, refinement or clarification"),
        col("text", TEXT, "the question"),
        col("gap", TEXT, "what is not known"),
        col("value", REAL, "0 to 1, what an answer is worth"),
        col("context_tags", TEXTS, "where it fits"),
        opt("edge_id", TEXT, "the fact it is about"),
        col("generated_at", INSTANT, "when"),
        col("expires_at", INSTANT, "when it is no longer worth asking"),
        col("status", TEXT, "queued, delivered, accepted, ignored, deflected, suppressed or expired"),
    ),
    key=("probe_id",),
    sort_by=("user_id", "probe_id"),
)

STARTERS = Table(
    name="starters",
    group="serving",
    about="Openings of conversations, from dates ahead and events that match a plan.",
    columns=(
        col("starter_id", TEXT, "hash of user, kind and occasion"),
        USER_ID,
        col("kind", TEXT, "date, plan, experience or world_event"),
        col("text", TEXT, "value first, one action, a way to dismiss"),
        col("context_tags", TEXTS, "where it fits"),
        opt("edge_id", TEXT, "the fact it rests on"),
        opt("occasion_on", DATE, "the day it is about"),
        col("generated_at", INSTANT, "when"),
        col("expires_at", INSTANT, "when it is aged out"),
        col("status", TEXT, "queued, delivered, engaged, dismissed or expired"),
    ),
    key=("starter_id",),
    sort_by=("user_id", "starter_id"),
)

TABLES = (PROBES, STARTERS)
