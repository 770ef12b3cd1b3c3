"""Tables of record: why things are as they are, and how it went."""

from em_pipelines.schema.table import CORRELATION_ID, REAL, TEXT, TIMESTAMP, Table, col, opt

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
    about="Figures of each day, in long form.",
    columns=(
        TIMESTAMP,
        col("name", TEXT, "the metric's name"),
        col("labels", TEXT, "its labels as canonical JSON"),
        col("value", REAL, "the figure, in the unit its name states"),
    ),
    key=("timestamp", "name", "labels"),
    sort_by=("name", "labels", "timestamp"),
)

TABLES = (AUDIT_TRAIL, METRICS)
