"""Mentions of a day meet the registry of the day before: each is a known entity, or a new one.

Candidates are found by set-based joins on the user's name keys and aliases, never by comparing every name with every
other. What belongs here is which entity a name is; what is said about it belongs to the graph.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import log1p
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.feedback.decisions import Decision
from em_pipelines.ids import entity_id
from em_pipelines.lake import rows_of
from em_pipelines.resolution.normalization import name_key
from em_pipelines.sql import fetch, statement
from em_pipelines.tables.graph import ENTITIES, ENTITY_MENTIONS, ENTITY_OPS
from em_pipelines.vocabulary import USER, EntityType, PrivacyLevel

HERE = Path(__file__).parent
MENTIONS_AT_FULL_IMPORTANCE = 50
MENTIONS_AT_FULL_CERTAINTY = 3

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Resolution:
    """The registry after the day, in the columns of `entities`, the links of the day's `entity_mentions`, and what
    changed in the registry, in the columns of `entity_ops`."""

    entities: pa.Table
    entity_mentions: pa.Table
    entity_ops: pa.Table


def resolve(
    previous: pa.Table,
    mentions: pa.Table,
    messages: pa.Table,  # noqa: ARG001
    connection: duckdb.DuckDBPyConnection,
    *,
    decisions: Sequence[Decision] = (),  # noqa: ARG001
) -> Resolution:
    """Resolves one day's mentions against yesterday's registry.

    `previous` has the columns of `entities`, `mentions` those of its table; `messages` has message_id and content of
    the messages that they stand in. `decisions` are the day's, of all users. Mentions are taken in the order in which
    they were said, so that equal logs give equal registries however they were landed.
    """
    ordered = sorted(rows_of(mentions), key=_said_order)
    known = _candidates(previous, ordered, connection)
    links: list[Row] = []
    for mention in ordered:
        entity, method = _match(known, mention)
        _observe(entity, mention)
        links.append(
            {
                "mention_id": mention["mention_id"],
                "user_id": mention["user_id"],
                "entity_id": entity["entity_id"],
                "method": method,
                "score": 1.0,
                "timestamp": mention["timestamp"],
                "correlation_id": mention["correlation_id"],
            }
        )
    touched = list({id(row): row for row in known.values()}.values())
    ids = pa.array([row["entity_id"] for row in touched], pa.string())
    untouched = previous.filter(pc.invert(pc.is_in(previous["entity_id"], value_set=ids)))
    entities = pa.concat_tables([untouched, ENTITIES.from_rows(touched)])
    return Resolution(entities, ENTITY_MENTIONS.from_rows(links), ENTITY_OPS.empty())


def _said_order(mention: Row) -> tuple[object, ...]:
    return tuple(mention[c] for c in ("timestamp", "user_id", "session_id", "turn_number", "span_start", "mention_id"))


def _candidates(
    previous: pa.Table, mentions: list[Row], connection: duckdb.DuckDBPyConnection
) -> dict[tuple[str, str], Row]:
    """The registry's rows that today's names can match, by (user, key of name or alias)."""
    wanted = {(m["user_id"], key) for m in mentions for key in _keys(m)}
    connection.register("registry", previous)
    connection.register(
        "wanted",
        pa.table(
            {"user_id": [u for u, _ in sorted(wanted)], "name_key": [k for _, k in sorted(wanted)]},
            schema=pa.schema([("user_id", pa.string()), ("name_key", pa.string())]),
        ),
    )
    try:
        rows = fetch(connection, statement(HERE, "candidates")).to_pylist()
    finally:
        connection.unregister("registry")
        connection.unregister("wanted")
    known: dict[tuple[str, str], Row] = {}
    for row in rows:
        for key in row["alias_keys"]:
            known.setdefault((row["user_id"], key), row)
    for row in rows:  # a name of its own beats being somebody's alias
        known[row["user_id"], row["name_key"]] = row
    return known


def _keys(mention: Row) -> list[str]:
    keys = [name_key(mention["name"])]
    return [*keys, name_key(mention["role"])] if mention["role"] else keys


def _match(known: dict[tuple[str, str], Row], mention: Row) -> tuple[Row, str]:
    """The entity of a mention, made new where none is known, and how it was found.

    "my wife Lena" names the wife: from then on both words are one person. Who was known as "wife" alone until then
    takes the name; who was known by both already was somebody else, and stays so.
    """
    user, role = mention["user_id"], mention["role"]
    key = name_key(mention["name"])
    named = known.get((user, key))
    if role:
        bearer = known.get((user, name_key(role)))
        if named is None and bearer is not None and bearer["name_key"] == name_key(role):
            old_name, bearer["canonical_name"], bearer["name_key"] = bearer["canonical_name"], mention["name"], key
            _add_alias(bearer, old_name)
            known[user, key] = named = bearer
        elif named is None:
            named = known[user, key] = _new_entity(mention, key)
            _add_alias(named, role)
            known[user, name_key(role)] = named
            return named, "new"
        else:
            _add_alias(named, role)
            known[user, name_key(role)] = named
        return named, "role"
    if named is None:
        named = known[user, key] = _new_entity(mention, key)
        return named, "new"
    return named, "exact" if named["name_key"] == key else "alias"


def _new_entity(mention: Row, key: str) -> Row:
    return {
        "entity_id": entity_id(mention["user_id"], key),
        "user_id": mention["user_id"],
        "canonical_name": mention["name"],
        "name_key": key,
        "aliases": [],
        "alias_keys": [],
        "entity_type": mention["entity_type"],
        "first_seen": mention["timestamp"],
        "last_referenced": mention["timestamp"],
        "mention_count": 0,
        "importance": 0.0,
        "certainty": 0.0,
        "privacy_level": PrivacyLevel.PERSONAL.value,
        "requires_verification": False,
        "qualifiers": [],
        "distinct_from": [],
        "status": "active",
    }


def _add_alias(entity: Row, alias: str) -> None:
    key = name_key(alias)
    if key != entity["name_key"] and key not in entity["alias_keys"]:
        entity["aliases"] = [*entity["aliases"], alias]
        entity["alias_keys"] = [*entity["alias_keys"], key]


def _observe(entity: Row, mention: Row) -> None:
    """Counts a mention. A type that says something replaces `concept`, which is what is said of a thing unknown."""
    when: datetime = mention["timestamp"]
    entity["mention_count"] += 1
    entity["last_referenced"] = max(entity["last_referenced"], when)
    if entity["entity_type"] == EntityType.CONCEPT and entity["name_key"] != USER:
        entity["entity_type"] = mention["entity_type"]
    count = entity["mention_count"]
    entity["importance"] = round(min(1.0, log1p(count) / log1p(MENTIONS_AT_FULL_IMPORTANCE)), 6)
    entity["certainty"] = round(min(1.0, count / MENTIONS_AT_FULL_CERTAINTY), 6)
