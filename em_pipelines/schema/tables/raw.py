"""Raw tables: the landed logs, typed, one row a key. Nothing is cleaned or judged here."""

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
    Table,
    col,
    opt,
)

INTERACTIONS = Table(
    name="interactions",
    group="landing",
    about="Every message of every conversation as landed; a key's first content stands.",
    columns=(
        USER_ID,
        SESSION_ID,
        TURN,
        col("role", TEXT, "user, assistant, system or tool"),
        col("content", TEXT, "the text, secrets masked; may be empty"),
        TIMESTAMP,
        opt(
            "utc_offset_minutes", INT, "how far the writer's clock is ahead of UTC; null: it shows UTC, or is not known"
        ),
        opt("zone", TEXT, "the writer's time zone, as the IANA names it; null: not known"),
        opt("speaker", TEXT, "display name, in logs of several parties"),
        opt("subject", TEXT, "whose facts the message states: user, or another human's name; null: nobody's"),
        col("channel", TEXT, "text, voice, group or email"),
        col("participants", TEXTS, "humans present; more than one means a group"),
        opt("agent_id", TEXT, "which agent took part"),
        opt("domain", TEXT, "scope of recall"),
        col("trust", TEXT, "trusted or untrusted; untrusted, too, where another day of its session is"),
        opt("is_pasted_elsewhere", FLAG, "another day of its session held pasted blocks; null: none did"),
        col("entities_mentioned", TEXTS, "hints from the agent; never trusted as fact"),
        CORRELATION_ID,
        opt("source_id", TEXT, "the message's id in the format it came in (a dia_id, a uuid)"),
        opt("tags", TEXTS, "tags of whoever stored it, in small letters and sorted; null: none"),
        opt("memory_type", TEXT, "decision, learning or event; null: an observation like any other"),
        opt("note_privacy", TEXT, "of an imported note: the least privacy level of what it says; null: it is none"),
        col("source_format", TEXT, "the format it came in"),
    ),
    key=("user_id", "session_id", "turn_number"),
    sort_by=("user_id", "session_id", "turn_number"),
)

SKILL_INVOCATIONS = Table(
    name="skill_invocations",
    group="landing",
    about="Telemetry of agents: one call of one skill.",
    columns=(
        col("invocation_id", TEXT, "hash of the content"),
        TIMESTAMP,
        USER_ID,
        SESSION_ID,
        col("skill_name", TEXT, "the skill"),
        opt("input_hash", TEXT, "hash of its input"),
        opt("output_summary", TEXT, "its output in short, secrets masked"),
        opt("error_category", TEXT, "null on success"),
        opt("exit_code", INT, "of its process"),
        opt("duration_ms", REAL, "milliseconds"),
        opt("cost_usd", REAL, "US dollars"),
    ),
    key=("invocation_id",),
    sort_by=("timestamp", "user_id", "invocation_id"),
)

FEEDBACK = Table(
    name="feedback",
    group="landing",
    about="What the user, or an agent for the user, said about memory itself.",
    columns=(
        col("feedback_id", TEXT, "hash of the content"),
        TIMESTAMP,
        USER_ID,
        opt("session_id", TEXT, "the conversation it was said in"),
        col("type", TEXT, "correct, confirm, retract, forget, recalled, probe_…, starter_…, add_facts"),
        col("payload", TEXT, "the remaining fields as canonical JSON, secrets masked"),
        opt(
            "utc_offset_minutes", INT, "how far the writer's clock is ahead of UTC; null: it shows UTC, or is not known"
        ),
    ),
    key=("feedback_id",),
    sort_by=("timestamp", "user_id", "feedback_id"),
)

WORLD_EVENTS = Table(
    name="world_events",
    group="landing",
    about="Dated public events that conversation starters may be matched against.",
    columns=(
        col("world_event_id", TEXT, "hash of the content"),
        TIMESTAMP,
        col("title", TEXT, "what happens"),
        opt("place", TEXT, "where"),
        col("topics", TEXTS, "topic tags"),
        opt("happens_on", DATE, "on which day"),
        opt("source", TEXT, "who said so"),
    ),
    key=("world_event_id",),
    sort_by=("timestamp", "world_event_id"),
)

ERASURES = Table(
    name="erasures",
    group="landing",
    about="What people had erased: how much of which kind, and nothing of what or of whom.",
    columns=(
        col("erasure_id", TEXT, "the id of its certificate"),
        col("timestamp", INSTANT, "when it was carried out"),
        col("scope", TEXT, "fact, entity, session or user"),
        col("actor", TEXT, "who asked: user, agent or feedback"),
        col("n_edges", INT, "facts that went"),
        col("n_entities", INT, "entities that went"),
    ),
    key=("erasure_id",),
    sort_by=("timestamp", "erasure_id"),
)

TABLES = (INTERACTIONS, SKILL_INVOCATIONS, FEEDBACK, WORLD_EVENTS, ERASURES)
