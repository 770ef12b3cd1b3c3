"""Extraction tables: what an extractor read in the messages, and what it cost."""

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

MESSAGE_ID = col("message_id", TEXT, "the message it was read in")
SEGMENT_ID = col("segment_id", TEXT, "the segment it was read in")
SPAN_START = col("span_start", INT, "first character in the message's content, from 0")
SPAN_END = col("span_end", INT, "one past the last character")
EXTRACTOR = col("extractor", TEXT, "name and version of what read it")

SEGMENTS = Table(
    name="segments",
    group="extraction",
    about="Consecutive turns of one session, packed for one extraction call.",
    columns=(
        SEGMENT_ID,
        USER_ID,
        SESSION_ID,
        col("first_turn", INT, "first turn number"),
        col("last_turn", INT, "last turn number"),
        col("message_ids", TEXTS, "its messages, in turn order"),
        col("n_tokens", INT, "estimated, characters ÷ 4"),
        col("trust", TEXT, "trusted or untrusted"),
    ),
    key=("segment_id",),
    sort_by=("user_id", "session_id", "first_turn"),
)

MENTIONS = Table(
    name="mentions",
    group="extraction",
    about="Names of things, where they stand.",
    columns=(
        col("mention_id", TEXT, "hash of message, span, name and type"),
        USER_ID,
        SESSION_ID,
        TURN,
        MESSAGE_ID,
        SEGMENT_ID,
        col("name", TEXT, "as worded, without determiners"),
        col("entity_type", TEXT, "from the closed list of types"),
        opt("role", TEXT, 'the unique role it was named by as well: the wife of "my wife Lena"'),
        SPAN_START,
        SPAN_END,
        col("is_explicit", FLAG, "stands in the text; false: implied"),
        EXTRACTOR,
        TIMESTAMP,
        CORRELATION_ID,
    ),
    key=("mention_id",),
    sort_by=("user_id", "session_id", "turn_number", "span_start", "span_end", "mention_id"),
)

CLAIMS = Table(
    name="claims",
    group="extraction",
    about="What a message states, before it meets what was known.",
    columns=(
        col("claim_id", TEXT, "hash of message, span and what is claimed"),
        col("extraction_id", TEXT, "hash of segment and extractor version"),
        USER_ID,
        SESSION_ID,
        TURN,
        MESSAGE_ID,
        SEGMENT_ID,
        TIMESTAMP,
        opt("said_on", DATE, "the day by the clock of who said it; null: that of UTC"),
        col(
            "act",
            TEXT,
            "assert; retract: it was never so, or (relates_to with a value) what was said of that thing was not; "
            "retract_all: nothing of it was; end; or propose: waits for a review",
        ),
        col("subject", TEXT, "name of the subject; user for the remembered person"),
        col("subject_type", TEXT, "its entity type"),
        col("relation", TEXT, "from the closed vocabulary"),
        opt("object", TEXT, "name of the object, where it is an entity"),
        opt("object_type", TEXT, "its entity type"),
        opt("value", TEXT, "the object, where it is a literal"),
        opt("attribute", TEXT, "attribute key of has_attribute; nickname of a has_name by which somebody is called"),
        opt("over", TEXT, "what the object is preferred over, of prefers only"),
        opt("statement", TEXT, "the claim in one short sentence, in the words of the turn"),
        col("polarity", INT, "+1, or -1 for a negated fact"),
        col("temporal_type", TEXT, "attribute, trait, state, wish, plan or episode"),
        opt("valid_from", DATE, "since when it holds"),
        opt("valid_to", DATE, "until when it held"),
        opt("valid_precision", TEXT, "day, month or year: how exact the dates are"),
        col("hedge_level", TEXT, "none, slight, moderate or strong"),
        col("confidence", REAL, "0 to 1, by mechanism, hedge and flags"),
        col("source_mechanism", TEXT, "how it came to be known"),
        col("flags", TEXTS, "hypothetical, secondhand and their kin"),
        col("context_tags", TEXTS, "where the fact matters"),
        col("privacy_level", TEXT, "L0 to L4"),
        col("requires_verification", FLAG, "never surfaced before it is verified"),
        col("has_pasted_source", FLAG, "said in a conversation that held pasted blocks"),
        opt("pattern_id", TEXT, "the pattern that matched, of the rules extractor"),
        SPAN_START,
        SPAN_END,
        EXTRACTOR,
        CORRELATION_ID,
    ),
    key=("claim_id",),
    sort_by=("user_id", "timestamp", "session_id", "turn_number", "span_start", "span_end", "claim_id"),
)

EXTRACTION_ISSUES = Table(
    name="extraction_issues",
    group="extraction",
    about="Messages that were skipped, and doubts about what was extracted, each with its reason.",
    columns=(
        col("issue_id", TEXT, "hash of message, issue and detail"),
        USER_ID,
        SESSION_ID,
        TURN,
        MESSAGE_ID,
        SEGMENT_ID,
        col("issue", TEXT, "its name: skipped, span, count, …"),
        col("reason", TEXT, "why: no_information, code, …"),
        col("severity", TEXT, "info, warning or error"),
        col("detail", TEXT, "a sentence, without the message's text"),
        EXTRACTOR,
        TIMESTAMP,
        CORRELATION_ID,
    ),
    key=("issue_id",),
    sort_by=("user_id", "session_id", "turn_number", "issue_id"),
)

LLM_CALLS = Table(
    name="llm_calls",
    group="extraction",
    about="Every call of a model, with what it cost.",
    columns=(
        col("call_id", TEXT, "hash of everything that determines the answer, and which attempt it was"),
        TIMESTAMP,
        col("called_at", INSTANT, "when the model was asked"),
        opt("user_id", TEXT, "for whom"),
        opt("segment_id", TEXT, "for which segment"),
        col("model", TEXT, "the model"),
        col("task", TEXT, "extraction, inference, synthesis, …"),
        col("prompt_tokens", INT, "tokens sent"),
        col("completion_tokens", INT, "tokens received"),
        col("cost_usd", REAL, "US dollars; 0 where no price is set for the model"),
        col("latency_ms", REAL, "milliseconds"),
        col("is_cache_hit", FLAG, "answered from the cache"),
        col("outcome", TEXT, "ok, repaired, partial, refused (verification refused most of it) or failed"),
        opt("error_type", TEXT, "the error's name, where it failed"),
        CORRELATION_ID,
    ),
    key=("call_id",),
    sort_by=("call_id",),
)

TABLES = (SEGMENTS, MENTIONS, CLAIMS, EXTRACTION_ISSUES, LLM_CALLS)
