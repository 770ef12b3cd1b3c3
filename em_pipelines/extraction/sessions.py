"""Messages become sessions: one row a conversation and day, with its kind and what came of it."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date, datetime
from typing import TypedDict, cast

import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.schema.rows import SessionRow
from em_pipelines.schema.table import Records, Tables, rows_of
from em_pipelines.schema.tables.clean import SESSIONS
from em_pipelines.schema.vocabulary import Act

KINDS: dict[str, re.Pattern[str]] = {
    "debugging": re.compile(
        r"\b(error|exception|traceback|stack ?trace|bug|crash\w*|fail(?:s|ed|ing|ure)?|debug\w*)\b", re.I
    ),
    "design": re.compile(r"\b(design|architecture|schema|draft|layout|trade-?off|options?|structure)\b", re.I),
    "learning": re.compile(r"\b(learn\w*|explain|what does .{1,40} mean|how does|tutorial|understand|teach)\b", re.I),
    "exploration": re.compile(
        r"\b(compare|ideas?|suggest\w*|recommend\w*|alternatives?|which (?:one|is)|find me)\b", re.I
    ),
}
MIN_SHARE_OF_TURNS = 0.25
"""A kind is named where at least a quarter of the human turns show its words; otherwise the session is a chat."""


class _Said(TypedDict):
    """What is read of a message: the columns `_READ` of `messages`."""

    user_id: str
    session_id: str
    role: str
    content: str
    timestamp: datetime
    trust: str
    channel: str


def sessions(messages: pa.Table, mentions: pa.Table, claims: pa.Table) -> pa.Table:
    """Returns the day's sessions in the columns of `sessions`, from the same day's messages, mentions and claims."""
    by_session: dict[tuple[str, str], list[_Said]] = defaultdict(list)
    for row in cast("Iterator[_Said]", rows_of(messages.select(_READ))):
        by_session[row["user_id"], row["session_id"]].append(row)
    names: dict[tuple[str, str], set[str]] = defaultdict(set)
    for named in rows_of(mentions.select(["user_id", "session_id", "name"])):
        names[named["user_id"], named["session_id"]].add(named["name"])
    asserted = claims.filter(pc.equal(claims["act"], Act.ASSERT.value)).select(["user_id", "session_id"])
    n_claims = Counter((r["user_id"], r["session_id"]) for r in rows_of(asserted))
    rows: list[SessionRow] = [
        {
            "user_id": key[0],
            "session_id": key[1],
            "session_type": session_type([t["content"] for t in turns if t["role"] == "user"]),
            "started_at": min(t["timestamp"] for t in turns),
            "ended_at": max(t["timestamp"] for t in turns),
            "n_turns": len(turns),
            "n_observations": sum(bool(t["content"].strip()) for t in turns),
            "n_entities": len(names[key]),
            "n_facts": n_claims[key],
            "trust": turns[0]["trust"],
            "channel": turns[0]["channel"],
        }
        for key, turns in by_session.items()
    ]
    return SESSIONS.from_rows(rows)


def session_type(texts: list[str]) -> str:
    """The kind whose words stand in most of the texts, if in at least a quarter of them; else chat."""
    if not texts:
        return "chat"
    counts = {kind: sum(bool(pattern.search(t)) for t in texts) for kind, pattern in KINDS.items()}
    kind, count = max(counts.items(), key=lambda item: item[1])
    return kind if count / len(texts) >= MIN_SHARE_OF_TURNS else "chat"


_READ = ["user_id", "session_id", "role", "content", "timestamp", "trust", "channel"]


def sessions_run(_: date, tables: Tables, __: Records) -> Tables:
    """The run of the step `sessions`."""
    return {SESSIONS.name: sessions(tables["messages"], tables["mentions"], tables["claims"])}
