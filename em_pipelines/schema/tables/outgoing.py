"""Outgoing tables: what memory would like to say."""

from em_pipelines.schema.table import CORRELATION_ID, DATE, INSTANT, REAL, TEXT, TEXTS, USER_ID, Table, col, opt

PROBES = Table(
    name="probes",
    group="serving",
    about="Questions that would close a gap, with the gap they close, at the end of the newest day.",
    columns=(
        col("probe_id", TEXT, "hash of user, kind and gap"),
        USER_ID,
        col("kind", TEXT, "discovery, verification, refinement or clarification"),
        col("template", TEXT, "which wording it has, of the file of templates"),
        col("text", TEXT, "the question"),
        col("gap", TEXT, "what is not known, in a sentence without names"),
        col("benefit", TEXT, "what the person gains by an answer, in a few words"),
        col("value", REAL, "0 to 1, what an answer is worth"),
        col("context_tags", TEXTS, "where it fits"),
        opt("entity_id", TEXT, "the entity it is about, other than the user"),
        opt("edge_id", TEXT, "the fact it is about"),
        opt("other_edge_id", TEXT, "the fact that speaks against it"),
        col("generated_at", INSTANT, "when its cause came"),
        col("expires_at", INSTANT, "when it is no longer worth asking"),
        col("status", TEXT, "queued, delivered, accepted, ignored, deflected or expired"),
        CORRELATION_ID,
    ),
    key=("probe_id",),
    sort_by=("user_id", "probe_id"),
)

STARTERS = Table(
    name="starters",
    group="serving",
    about="Openings of conversations, from dates ahead, quiet plans, experiences and events that match a plan.",
    columns=(
        col("starter_id", TEXT, "hash of user, kind and occasion"),
        USER_ID,
        col("kind", TEXT, "date, plan, experience or world_event"),
        col("template", TEXT, "which wording it has, of the file of templates"),
        col("text", TEXT, "value first, one action, a way to dismiss"),
        col("value", REAL, "0 to 1, what it is worth to say"),
        col("context_tags", TEXTS, "where it fits"),
        opt("edge_id", TEXT, "the fact it rests on"),
        opt("experience_id", TEXT, "the experience it rests on"),
        opt("world_event_id", TEXT, "the event it rests on"),
        opt("occasion_on", DATE, "the day it is about"),
        col("generated_at", INSTANT, "when its occasion came; not said before"),
        col("expires_at", INSTANT, "when it is aged out"),
        col("status", TEXT, "queued, delivered, engaged, dismissed or expired"),
        CORRELATION_ID,
    ),
    key=("starter_id",),
    sort_by=("user_id", "starter_id"),
)

TABLES = (PROBES, STARTERS)
