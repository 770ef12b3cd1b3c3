"""Who moves from Linode to Hetzner changes a service where memory knows that they use Linode, and no home.

A message alone cannot always tell: "we moved from A to B" is said of both. What the person uses and where they live
decides it, which the extractor does not see and the fold does.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.graph.topics import NameKey
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.extraction import CLAIMS
from em_pipelines.schema.tables.graph import ENTITY_MENTIONS
from em_pipelines.schema.vocabulary import EntityType, TemporalType
from em_pipelines.storage.duckdb_engine import Rows, bind, fetch

HOME, SERVICE = "lives_in", "uses"
_KNOWN = """
SELECT e.user_id, e.subject_id, e.relation, e.object_id, list_concat([o.name_key], o.alias_keys) AS names
FROM edges_before AS e JOIN entities_before AS o ON o.entity_id = e.object_id
WHERE list_contains(getvariable('movers'), e.user_id) AND e.relation IN ('lives_in', 'uses') AND e.polarity = 1
  AND e.status IN ('active', 'contradicted')
"""
Tables = dict[str, pa.Table]


def reread(
    said: Tables, moves: pa.Table, state: tuple[Rows, Rows], connection: duckdb.DuckDBPyConnection, name_key: NameKey
) -> Tables:
    """The day's `claims` and `entity_mentions` with each move out of something that is used as a change of service.

    `said` has claims, mentions and entity_mentions of the day, `moves` the claims of it by which somebody lives
    somewhere no more; `state` are edges and entities before it.
    """
    for name, rows in zip(("edges_before", "entities_before"), state, strict=True):
        bind(connection, name, rows)
    connection.execute("SET VARIABLE movers = ?", [sorted(set(moves["user_id"].to_pylist()))])
    known = fetch(connection, _KNOWN).to_pylist()
    entity_of = _entities_of(said, set(moves["message_id"].to_pylist()))
    served: dict[tuple[str, str], tuple[str, str]] = {}
    for row in rows_of(moves):
        subject = entity_of.get((row["message_id"], row["subject"]), ("", ""))[1]
        used = _used(known, row["user_id"], subject, name_key(row["object"]))
        if used is not None:
            served[row["message_id"], row["subject"]] = row["object"], used
    return _as_services(said, served, entity_of) if served else said


def _entities_of(said: Tables, message_ids: set[str]) -> dict[tuple[str, str], tuple[str, str]]:
    """Message and name to the mention and its entity."""
    mentions = said["mentions"].filter(pc.is_in(said["mentions"]["message_id"], pa.array(sorted(message_ids))))
    links = said["entity_mentions"]
    entities = dict(zip(links["mention_id"].to_pylist(), links["entity_id"].to_pylist(), strict=True))
    return {
        (row["message_id"], row["name"]): (row["mention_id"], entities[row["mention_id"]])
        for row in mentions.to_pylist()
        if row["mention_id"] in entities
    }


def _used(known: Sequence[Mapping[str, Any]], user_id: str, subject: str, key: str) -> str | None:
    """The entity that somebody uses under a name, unless they live in a place of that name."""
    found: dict[str, str] = {}
    for row in known:
        if (row["user_id"], row["subject_id"]) == (user_id, subject) and key in row["names"]:
            found[row["relation"]] = row["object_id"]
    return None if HOME in found else found.get(SERVICE)


def _as_services(
    said: Tables,
    served: Mapping[tuple[str, str], tuple[str, str]],
    entity_of: Mapping[tuple[str, str], tuple[str, str]],
) -> Tables:
    claims = []
    entities: dict[str, str] = defaultdict(str)
    for row in said["claims"].to_pylist():
        moved = served.get((row["message_id"], row["subject"]))
        if moved is not None and row["relation"] == HOME:
            kind = EntityType.TOOL.value
            row |= {"relation": SERVICE, "object_type": kind, "temporal_type": TemporalType.STATE.value}
        claims.append(row)
    for (message_id, _), (name, used) in served.items():
        entities[entity_of[message_id, name][0]] = used
    links = [
        row | {"entity_id": entities.get(row["mention_id"], row["entity_id"])}
        for row in rows_of(said["entity_mentions"])
    ]
    return {**said, "claims": CLAIMS.from_rows(claims), "entity_mentions": ENTITY_MENTIONS.from_rows(links)}
