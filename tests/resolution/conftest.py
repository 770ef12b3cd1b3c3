"""Mentions as rows, and one user's days resolved one after the other."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from em_pipelines.resolution.registry import NO_HINTS, Resolution, resolve
from em_pipelines.resolution.user_registry import NO_ALIASES, Aliases
from em_pipelines.schema.decisions import Decision
from em_pipelines.schema.tables.extraction import MENTIONS
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.storage.duckdb_engine import connect

START = datetime(2026, 3, 2, 8, tzinfo=UTC)
CONTENTS = pa.schema([("message_id", pa.string()), ("content", pa.string())])
Row = dict[str, Any]


def at(day: int, minute: int = 0) -> datetime:
    """A moment of an invented spring."""
    return START + timedelta(days=day, minutes=minute)


def mention(name: str, kind: str, text: str, day: int, minute: int = 0, *, user: str = "u", **more: Any) -> Row:
    """A mention, with the text of its message beside the columns of the table."""
    start = max(0, text.find(name))
    ident = f"{user}-{day}-{minute}-{name}"
    row = {
        "mention_id": f"m-{ident}", "user_id": user, "session_id": f"s{day}", "turn_number": minute,
        "message_id": f"msg-{user}-{day}-{minute}", "segment_id": "g", "name": name, "entity_type": kind, "role": None,
        "span_start": start, "span_end": start + len(name), "is_explicit": True, "extractor": "test",
        "timestamp": at(day, minute), "correlation_id": f"c-{ident}",
    }  # fmt: skip
    return {**row, **more, "text": text}


def decision(is_merge: bool, *names: str, day: int, minute: int = 0, user: str = "u") -> Decision:
    """A merge or a split."""
    ident = f"{day}-{minute}-{'-'.join(names)}"
    return Decision(is_merge, user, names, at(day, minute), f"f-{ident}", f"s{day}", f"c-{ident}")


def resolved(
    rows: Sequence[Row],
    decisions: Sequence[Decision] = (),
    *,
    previous: pa.Table | None = None,
    aliases: Aliases = NO_ALIASES,
    hints: Mapping[str, Sequence[str]] = NO_HINTS,
) -> Resolution:
    """One batch resolved."""
    texts = {row["message_id"]: row["text"] for row in rows}
    messages = pa.Table.from_pylist([{"message_id": k, "content": v} for k, v in texts.items()], schema=CONTENTS)
    mentions = MENTIONS.from_rows([{k: v for k, v in row.items() if k != "text"} for row in rows])
    state = ENTITIES.empty() if previous is None else previous
    with connect() as connection:
        return resolve(state, mentions, messages, connection, hints=hints, decisions=decisions, aliases=aliases)


@pytest.fixture(scope="session")
def said() -> Callable[..., Row]:
    """Makes a mention."""
    return mention


@pytest.fixture(scope="session")
def decided() -> Callable[..., Decision]:
    """Makes a decision."""
    return decision


@pytest.fixture(scope="session")
def run() -> Callable[..., Resolution]:
    """Resolves one batch."""
    return resolved


@pytest.fixture(scope="session")
def read_by() -> Callable[[pa.Table], dict[str, str]]:
    """Name key → the name it is read by; of namesakes the one met first."""

    def read(entities: pa.Table) -> dict[str, str]:
        rows = sorted(entities.to_pylist(), key=lambda row: (row["first_seen"], row["entity_id"]), reverse=True)
        by_id = {row["entity_id"]: row for row in rows}
        return {row["name_key"]: by_id[row["merged_into"] or row["entity_id"]]["canonical_name"] for row in rows}

    return read
