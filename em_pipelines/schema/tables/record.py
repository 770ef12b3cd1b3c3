"""Tables of record: why things are as they are, and how it went."""

from em_pipelines.schema.table import (
    CORRELATION_ID,
    DATE,
    INSTANT,
    REAL,
    TEXT,
    TIMESTAMP,
    USER_ID,
    Table,
    col,
    opt,
)

AUDIT_TRAIL = Table(
    name="audit_trail",
    group="quality",
    about="Every change to the graph and every decision, with its reason.",
    columns=(
        col("id", TEXT, "hash of the event"),
        TIMESTAMP,
        CORRELATION_ID,
        col("event_type", TEXT, "from the closed list of event types"),
        col("component", TEXT, "who decided"),
        col("operation", TEXT, "what was done"),
        opt("user_id", TEXT, "whose memory"),
        opt("entity_id", TEXT, "which entity"),
        opt("edge_id", TEXT, "which fact"),
        opt("old_value", TEXT, "before"),
        opt("new_value", TEXT, "after"),
        opt("confidence_before", REAL, "0 to 1"),
        opt("confidence_after", REAL, "0 to 1"),
        opt("source_mechanism", TEXT, "how it came to be known"),
        opt("session_id", TEXT, "the conversation"),
        col("decision_reasoning", TEXT, "why"),
        opt("metadata", TEXT, "more, as JSON"),
    ),
    key=("id",),
    sort_by=("timestamp", "id"),
)

METRICS = Table(
    name="metrics",
    group="quality",
    about="Figures of each day, in long form: what it added to counters, and what gauges were at its end.",
    columns=(
        col("timestamp", INSTANT, "the first instant of the day, UTC"),
        col("name", TEXT, "the metric's name; of histograms with _bucket, _sum or _count"),
        col("labels", TEXT, "its labels as canonical JSON"),
        col("value", REAL, "the figure, in the unit its name states"),
    ),
    key=("timestamp", "name", "labels"),
    sort_by=("name", "labels", "timestamp"),
)

QUARANTINE = Table(
    name="quarantine",
    group="quality",
    about="What was set aside so that the rest could be served: claims, and what a day brought of a user.",
    columns=(
        col("quarantine_id", TEXT, "hash of the day, the step, whose it is and which claim"),
        USER_ID,
        col("day", DATE, "the day that it is of"),
        col("step", TEXT, "what was made without it: landing, messages, …, fold, decay, audit, inference, index_packs"),
        opt("claim_id", TEXT, "the claim; none where it is all that the day brought of the user"),
        col("rule", TEXT, "the rule that it breaks, or raised: the step could not be made with it"),
        col("reason", TEXT, "a sentence, without anything that was said"),
        col(
            "inputs_digest",
            TEXT,
            "of what the day was made from: with other inputs, code or settings it is tried again",
        ),
    ),
    key=("quarantine_id",),
    sort_by=("user_id", "step", "quarantine_id"),
)

TABLES = (AUDIT_TRAIL, METRICS, QUARANTINE)
