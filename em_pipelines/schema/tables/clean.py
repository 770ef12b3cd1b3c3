"""Clean tables: messages and sessions fit for extraction, and what could not be landed."""

import pyarrow as pa

from em_pipelines.schema.table import (
    BYTES,
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

WITHHELD = pa.list_(
    pa.field(
        "item",
        pa.struct(
            [
                pa.field("span_start", INT, nullable=False),
                pa.field("span_end", INT, nullable=False),
                pa.field("issue", TEXT, nullable=False),
                pa.field("reason", TEXT, nullable=False),
                pa.field("severity", TEXT, nullable=False),
            ]
        ),
        nullable=False,
    )
)

SENTENCES = pa.list_(
    pa.field(
        "item",
        pa.struct(
            [
                pa.field("span_start", INT, nullable=False),
                pa.field("span_end", INT, nullable=False),
                pa.field("kind", TEXT),
                pa.field("confidence", REAL, nullable=False),
            ]
        ),
        nullable=False,
    )
)

MESSAGES = Table(
    name="messages",
    group="extraction",
    about="Cleaned messages: the observations that everything else points back to.",
    columns=(
        col("message_id", TEXT, "hash of user, session and turn"),
        USER_ID,
        SESSION_ID,
        TURN,
        col("role", TEXT, "user, assistant, system or tool"),
        opt("subject", TEXT, "whose facts it states: user, or another human's name; null: nobody's"),
        opt("speaker", TEXT, "display name, in logs of several parties"),
        TIMESTAMP,
        opt(
            "utc_offset_minutes", INT, "how far the writer's clock is ahead of UTC; null: it shows UTC, or is not known"
        ),
        col("content", TEXT, "Unicode-normalised, without invisible characters"),
        col("content_hash", TEXT, "of the content, for deduplication"),
        col("memory_type", TEXT, "observation, decision, learning or event"),
        col("tags", TEXTS, "tags of the episode"),
        col("channel", TEXT, "text, voice, group or email"),
        col("is_group", FLAG, "several humans took part"),
        col("trust", TEXT, "untrusted if any turn of the session was, on whichever day"),
        opt("is_pasted_elsewhere", FLAG, "another day of its session held pasted blocks; null: none did"),
        opt("note_privacy", TEXT, "of an imported note: the least privacy level of what it says; null: it is none"),
        col("n_tokens", INT, "estimated, characters ÷ 4"),
        col("has_code", FLAG, "holds a code block or looks like code"),
        opt("language", TEXT, "it is written in, ISO 639-1; null: too short, or undecided"),
        col("withheld", WITHHELD, "which characters of the content are not read, not quoted, or neither, and why"),
        col(
            "sentences",
            SENTENCES,
            "of people, with how probable each is worth keeping, and as which kind of observation",
        ),
        opt("domain", TEXT, "scope of recall"),
        opt("agent_id", TEXT, "which agent took part"),
        col("participants", TEXTS, "humans present"),
        CORRELATION_ID,
        opt("source_id", TEXT, "the message's id in the format it came in"),
    ),
    key=("message_id",),
    sort_by=("user_id", "session_id", "turn_number"),
)

SESSIONS = Table(
    name="sessions",
    group="episodes",
    about="One row a conversation and day: its span, kind and what came of it.",
    columns=(
        USER_ID,
        SESSION_ID,
        col("session_type", TEXT, "debugging, design, learning, exploration or chat"),
        col("started_at", INSTANT, "first message that day"),
        col("ended_at", INSTANT, "last message that day"),
        col("n_turns", INT, "messages"),
        col("n_observations", INT, "messages with content"),
        col("n_entities", INT, "distinct names mentioned"),
        col("n_facts", INT, "claims extracted"),
        col("trust", TEXT, "trusted or untrusted, as a whole"),
        col("channel", TEXT, "of its first message"),
        opt("summary", TEXT, "what of it is worth telling, in a line or two; null: nothing, or it is untrusted"),
    ),
    key=("user_id", "session_id", "started_at"),
    sort_by=("user_id", "session_id"),
)

DEAD_LETTERS = Table(
    name="dead_letters",
    group="landing",
    about="Input that could not be landed, kept with the reason until it is replayed or discarded.",
    columns=(
        col("dead_letter_id", TEXT, "hash of file name, reason and raw bytes"),
        col("landed_on", DATE, "the UTC day of the attempt"),
        col("file", TEXT, "as it was named to the loader"),
        col("line_number", INT, "from 1"),
        col("reason", TEXT, "code of the rule that was broken; other_branch: of none"),
        col("detail", TEXT, "a sentence: what was found, what was expected"),
        col("raw", BYTES, "the bytes, secrets masked"),
        col("format", TEXT, "the format it was read as"),
        opt("user_id", TEXT, "whose it is, where known"),
        col("status", TEXT, "open, replayed or discarded"),
    ),
    key=("dead_letter_id",),
    sort_by=("dead_letter_id",),
)

TABLES = (MESSAGES, SESSIONS, DEAD_LETTERS)
