"""Resolution of labelled mentions, through the same code as the pipeline's."""

from datetime import UTC, datetime, timedelta
from typing import Any

from em_pipelines.ids import correlation_id, message_id
from em_pipelines.lake import rows_of
from em_pipelines.resolution.registry import resolve
from em_pipelines.resolution.roles import unique_role
from em_pipelines.sql import connect
from em_pipelines.tables.clean import MESSAGES
from em_pipelines.tables.extraction import MENTIONS
from em_pipelines.tables.graph import ENTITIES
from em_pipelines.vocabulary import EntityType

START = datetime(2026, 1, 1, tzinfo=UTC)


def clusters(row: dict[str, Any]) -> list[list[str]]:
    """Returns the mention ids of one labelled user, grouped by entity, in order of first mention.

    `row` is {"id", "mentions": [{"mention_id", "name", "type", "session_id", "sentence"}]}; mentions are taken to be
    in the order in which they were said.
    """
    user = str(row["id"])
    rows = [_mention(user, number, mention) for number, mention in enumerate(row["mentions"])]
    with connect() as connection:
        links = resolve(ENTITIES.empty(), MENTIONS.from_rows(rows), MESSAGES.empty(), connection).entity_mentions
    entity = {link["mention_id"]: link["entity_id"] for link in rows_of(links)}
    found: dict[str, list[str]] = {}
    for mention in row["mentions"]:
        found.setdefault(entity[mention["mention_id"]], []).append(mention["mention_id"])
    return list(found.values())


def _mention(user: str, number: int, mention: dict[str, Any]) -> dict[str, object]:
    name, sentence = mention["name"], mention.get("sentence", "")
    start = max(0, sentence.find(name))
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
        "timestamp": START + timedelta(minutes=number),
        "correlation_id": correlation_id(user, mention["session_id"], number),
    }
