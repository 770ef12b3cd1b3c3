"""Resolution of labelled mentions, through the same code as the pipeline's."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from em_pipelines.language.name_keys import unique_role
from em_pipelines.resolution.registry import DEFAULT_SETTINGS, resolve
from em_pipelines.resolution.settings import ResolutionSettings
from em_pipelines.resolution.user_registry import NO_ALIASES, Aliases
from em_pipelines.schema.ids import correlation_id, message_id
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.extraction import MENTIONS
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.schema.vocabulary import EntityType
from em_pipelines.storage.duckdb_engine import connect

CONTENTS = pa.schema([("message_id", pa.string()), ("content", pa.string())])
START = datetime(2026, 1, 1, tzinfo=UTC)


def clusters(
    row: Mapping[str, Any], aliases: Aliases = NO_ALIASES, settings: ResolutionSettings = DEFAULT_SETTINGS
) -> list[list[str]]:
    """Returns the mention ids of one labelled user, grouped by what they name, in order of first mention.

    `row` is {"id", "mentions": [{"mention_id", "name", "type", "session_id", "sentence"}]}; mentions are taken to be
    in the order in which they were said, each in a message of its own, sessions a day apart. A mention that names
    nothing is alone.
    """
    user = str(row["id"])
    sessions = {session: n for n, session in enumerate(dict.fromkeys(m["session_id"] for m in row["mentions"]))}
    said = [_mention(user, n, sessions[m["session_id"]], m) for n, m in enumerate(row["mentions"])]
    messages = [
        {"message_id": mention["message_id"], "content": labelled.get("sentence", "")}
        for mention, labelled in zip(said, row["mentions"], strict=True)
    ]
    with connect() as connection:
        made = resolve(
            ENTITIES.empty(), MENTIONS.from_rows(said), pa.Table.from_pylist(messages, schema=CONTENTS), connection,
            aliases=aliases, settings=settings,
        )  # fmt: skip
    thing = {entity["entity_id"]: entity["merged_into"] or entity["entity_id"] for entity in rows_of(made.entities)}
    entity = {link["mention_id"]: thing[link["entity_id"]] for link in rows_of(made.entity_mentions)}
    found: dict[str, list[str]] = {}
    for mention in row["mentions"]:
        found.setdefault(entity.get(mention["mention_id"], mention["mention_id"]), []).append(mention["mention_id"])
    return list(found.values())


def _mention(user: str, number: int, session: int, mention: dict[str, Any]) -> dict[str, Any]:
    name, sentence = mention["name"], mention.get("sentence", "")
    found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", sentence)
    start = found.start() if found else max(0, sentence.find(name))
    is_person = mention["type"] == EntityType.PERSON and name[:1].isupper()
    return {
        "mention_id": mention["mention_id"],
        "user_id": user,
        "session_id": mention["session_id"],
        "turn_number": number,
        "message_id": message_id(user, mention["session_id"], number),
        "segment_id": mention["session_id"],
        "name": name,
        "entity_type": mention["type"],
        "role": unique_role(sentence, start, start + len(name)) if is_person else None,
        "span_start": start,
        "span_end": start + len(name),
        "is_explicit": True,
        "extractor": "labelled",
        "timestamp": START + timedelta(days=session, minutes=number),
        "correlation_id": correlation_id(user, mention["session_id"], number),
    }
