"""Mentions of a day meet the registry of the day before: each is a known name, or a new one; names that are one thing
point at one row.

Mentions and decisions are taken in the order in which they were said, and all that is remembered stands in `entities`:
so it does not matter how a log is cut into days.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.feedback.decisions import Decision
from em_pipelines.lake import rows_of
from em_pipelines.resolution.aliases import NO_ALIASES, Aliases
from em_pipelines.resolution.blocking import name_keys, role_keys, row_keys
from em_pipelines.resolution.deciding import decide
from em_pipelines.resolution.naming import role_of
from em_pipelines.resolution.normalization import name_key
from em_pipelines.resolution.reading import see
from em_pipelines.resolution.roles_said import roles_said
from em_pipelines.resolution.settings import ResolutionSettings
from em_pipelines.resolution.state import Registry, Row
from em_pipelines.resolution.statements import locate, partners
from em_pipelines.tables.graph import ENTITIES, ENTITY_MENTIONS, ENTITY_OPS

DEFAULT_SETTINGS = ResolutionSettings()


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
    messages: pa.Table,
    connection: duckdb.DuckDBPyConnection,  # noqa: ARG001  (every fold step has one; names are compared in Python)
    *,
    decisions: Sequence[Decision] = (),
    aliases: Aliases = NO_ALIASES,
    settings: ResolutionSettings = DEFAULT_SETTINGS,
) -> Resolution:
    """Resolves one day's mentions and decisions against yesterday's registry.

    `previous` has the columns of `entities`, `mentions` those of its table; `messages` has message_id and content of
    the messages that they stand in, where they stand in any. `decisions` are the day's, of all users. Mentions are
    taken in the order in which they were said, so that equal logs give equal registries however they were landed;
    what names nothing ("he", "tomorrow") has no row in `entity_mentions`.
    """
    ordered = sorted(rows_of(mentions), key=_said_order)
    contents = dict(zip(messages["message_id"].to_pylist(), messages["content"].to_pylist(), strict=True))
    registries = _load(previous, ordered, decisions, contents, aliases)
    links: list[Row] = []
    waiting = sorted(decisions, key=lambda d: (d.timestamp, d.user_id, d.session_id, d.feedback_id))
    for mention in ordered:
        while waiting and waiting[0].timestamp < mention["timestamp"]:
            decide(registries[waiting[0].user_id], waiting.pop(0))
        seen = see(registries[mention["user_id"]], mention, contents.get(mention["message_id"], ""), settings)
        if seen is not None:
            links.append(_link(mention, seen.row, seen.method, seen.score))
    for decision in waiting:
        decide(registries[decision.user_id], decision)
    held = [row for registry in registries.values() for row in registry.rows.values()]
    ids = pa.array([row["entity_id"] for row in held], pa.string())
    untouched = previous.filter(pc.invert(pc.is_in(previous["entity_id"], value_set=ids)))
    ops = {op["op_id"]: op for registry in registries.values() for op in registry.ops}
    return Resolution(
        pa.concat_tables([untouched, ENTITIES.from_rows(held)]),
        ENTITY_MENTIONS.from_rows(links),
        ENTITY_OPS.from_rows(list(ops.values())),
    )


def _said_order(mention: Row) -> tuple[object, ...]:
    return tuple(mention[c] for c in ("timestamp", "user_id", "session_id", "turn_number", "span_start", "mention_id"))


def _link(mention: Row, row: Row, method: str, score: float) -> Row:
    return {
        "mention_id": mention["mention_id"],
        "user_id": mention["user_id"],
        "entity_id": row["entity_id"],
        "method": method,
        "score": score,
        "timestamp": mention["timestamp"],
        "correlation_id": mention["correlation_id"],
    }


def _load(
    previous: pa.Table,
    mentions: list[Row],
    decisions: Sequence[Decision],
    contents: dict[str, str],
    aliases: Aliases,
) -> dict[str, Registry]:
    """The registries of today's users, each with the rows that today's names can meet, groups whole."""
    users = {m["user_id"] for m in mentions} | {d.user_id for d in decisions}
    found = {user: Registry(user, aliases.of(user)) for user in sorted(users)}
    theirs = previous.filter(pc.is_in(previous["user_id"], value_set=pa.array(sorted(users), pa.string())))
    if not theirs.num_rows:
        return found
    wanted = _wanted(mentions, decisions, contents, found)
    columns = ("user_id", "entity_id", "canonical_name", "entity_type", "qualifiers", "merged_into")
    rows = list(zip(*(theirs[name].to_pylist() for name in columns), strict=True))
    groups = {
        merged_into or entity
        for user, entity, name, kind, qualifiers, merged_into in rows
        if not wanted[user].isdisjoint(row_keys(name, kind, qualifiers))
    }
    chosen = [n for n, row in enumerate(rows) if row[1] in groups or row[5] in groups]
    for row in theirs.take(pa.array(chosen, pa.int64())).to_pylist():
        found[row["user_id"]].rows[row["entity_id"]] = row
    for registry in found.values():
        held, registry.rows = list(registry.rows.values()), {}
        registry.load(held)
    return found


def _wanted(
    mentions: Iterable[Row], decisions: Iterable[Decision], contents: dict[str, str], registries: dict[str, Registry]
) -> dict[str, set[str]]:
    """The blocking keys of every name that the day brings, by user: mentioned, said beside one, decided upon, or in the
    alias file beside one of those."""
    names: dict[str, set[tuple[str, str]]] = defaultdict(set)
    keys: dict[str, set[str]] = defaultdict(set)
    for mention in mentions:
        user, kind = mention["user_id"], mention["entity_type"]
        names[user].add((mention["name"], kind))
        place = locate(
            contents.get(mention["message_id"], ""), mention["name"], mention["span_start"], mention["span_end"]
        )
        names[user] |= {(partner.name, kind) for partner in partners(place)}
        for said in roles_said(place, is_bare_noun_read=True):
            names[user].add((said.text, kind))
            keys[user] |= role_keys(said.role)
        if mention["role"]:
            keys[user] |= role_keys(role_of(mention["role"]) or mention["role"])
    for decision in decisions:
        names[decision.user_id] |= {(name, "concept") for name in decision.names}
    for user, found in names.items():
        for name, _ in list(found):
            entry = registries[user].aliases.get(name_key(name))
            if entry is not None:
                found |= {(other, "concept") for other in (entry.name, *entry.aliases)}
        for name, kind in found:
            keys[user] |= name_keys(name, kind)
            keys[user].add(f"${name_key(name)}")
    return keys
