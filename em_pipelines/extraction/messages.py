"""Interactions become messages: cleaned, hashed, and marked for what their session and channel make of them.

Here every message is guarded, once: what is found stands beside its content, and whoever reads it or quotes it goes by
that.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import date
from typing import cast

import pyarrow as pa

from em_pipelines.schema.ids import message_id
from em_pipelines.schema.rows import InteractionRow, MessageRow, WithheldItem
from em_pipelines.schema.table import Records, Tables, rows_of
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.text.cleaning import clean_text, looks_like_code, n_tokens
from em_pipelines.text.guard.screening import withheld_in
from em_pipelines.text.guard.sensitive import SafetySettings


def messages(interactions: pa.Table, safety: SafetySettings) -> pa.Table:
    """Returns the day's messages, one for each of the day's interactions, in the columns of `messages`.

    One untrusted turn makes every message of its session untrusted: what a web page put into one turn can speak through
    the others. Of turns on other days the day's interactions know (`storage.session_marks`).
    """
    rows = list(cast("Iterator[InteractionRow]", rows_of(interactions)))
    untrusted = {(r["user_id"], r["session_id"]) for r in rows if r["trust"] == "untrusted"}
    return MESSAGES.from_rows([_message(r, (r["user_id"], r["session_id"]) in untrusted, safety) for r in rows])


def _message(row: InteractionRow, is_untrusted: bool, safety: SafetySettings) -> MessageRow:
    content = clean_text(row["content"])
    return {
        "message_id": message_id(row["user_id"], row["session_id"], row["turn_number"]),
        "user_id": row["user_id"],
        "session_id": row["session_id"],
        "turn_number": row["turn_number"],
        "role": row["role"],
        "subject": row["subject"],
        "speaker": row["speaker"],
        "timestamp": row["timestamp"],
        "channel": row["channel"],
        "domain": row["domain"],
        "agent_id": row["agent_id"],
        "participants": row["participants"],
        "correlation_id": row["correlation_id"],
        "source_id": row["source_id"],
        "content": content,
        "content_hash": hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest(),
        "memory_type": row["memory_type"] or "observation",
        "tags": row["tags"] or [],
        "is_group": row["channel"] == "group" or len(row["participants"]) > 1,
        "trust": "untrusted" if is_untrusted else "trusted",
        "is_pasted_elsewhere": row["is_pasted_elsewhere"],
        "n_tokens": n_tokens(content),
        "has_code": looks_like_code(content),
        "withheld": withheld_rows(content, safety),
    }


def withheld_rows(content: str, safety: SafetySettings) -> list[WithheldItem]:
    """What the guard takes out of a message, as items of `withheld`."""
    return [cast("WithheldItem", asdict(found)) for found in withheld_in(content, safety)]


def messages_run(safety: SafetySettings) -> Callable[[date, Tables, Records], Tables]:
    """The run of the step `messages`."""
    return lambda _, tables, __: {MESSAGES.name: messages(tables["interactions"], safety)}
