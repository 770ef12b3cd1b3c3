"""Mentions of a day meet the registry of the day before: each is a known name, or a new one; names that are one thing
point at one row.

Mentions and decisions are taken in the order in which they were said, and all that is remembered stands in `entities`:
so it does not matter how a log is cut into days. What people decided about names holds against every heuristic: merges
join whatever the wording says, splits keep apart.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol, cast

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.extraction.feedback_statements import spoken
from em_pipelines.guard.sensitive import SafetySettings
from em_pipelines.language.name_keys import name_key
from em_pipelines.resolution.clusters import FEEDBACK
from em_pipelines.resolution.mention_resolution import Heard, owned, place_of, see
from em_pipelines.resolution.name_parts import role_of
from em_pipelines.resolution.qualifiers import ALONE, Speech, speeches
from em_pipelines.resolution.role_statements import roles_said
from em_pipelines.resolution.settings import ResolutionSettings
from em_pipelines.resolution.user_registry import (
    NO_ALIASES,
    Aliases,
    Cause,
    Grounds,
    Registry,
    name_keys,
    role_keys,
    row_keys,
)
from em_pipelines.resolution.word_lists import partners
from em_pipelines.schema.decisions import Decision
from em_pipelines.schema.ids import message_id
from em_pipelines.schema.rows import EntityMentionRow, EntityRow, FeedbackRow, MentionRow
from em_pipelines.schema.table import Records, Tables, rows_of
from em_pipelines.schema.tables.graph import ENTITIES, ENTITY_MENTIONS, ENTITY_OPS
from em_pipelines.schema.vocabulary import EntityType

DEFAULT_SETTINGS = ResolutionSettings()
NO_HINTS: Mapping[str, Sequence[str]] = {}
SAID_TO_BE_ONE = Grounds(FEEDBACK, 1.0, "somebody said that they are one")
TypedName = tuple[str, str]
"""A name, and the entity type as which it is compared."""
Alike = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Cosines of phrases that mean the same, by user, name key and the name key of the other."""
NONE_ALIKE: Alike = {}


class PhraseMeanings(Protocol):
    """Compares phrases by what they mean."""

    def of_day(self, day: date, entities: pa.Table, mentions: pa.Table) -> Alike:
        """Of the day's mentions those that mean the same as others, or as entities known before."""
        ...


@dataclass(frozen=True, slots=True)
class Resolution:
    """The registry after the day, in the columns of `entities`, the links of the day's `entity_mentions`, and what
    changed in the registry, in the columns of `entity_ops`."""

    entities: pa.Table
    entity_mentions: pa.Table
    entity_ops: pa.Table


def resolve(  # noqa: PLR0913  (all that a day brings, and all that was known)
    previous: pa.Table,
    mentions: pa.Table,
    messages: pa.Table,
    connection: duckdb.DuckDBPyConnection,  # noqa: ARG001  (every fold step has one; names are compared in Python)
    *,
    hints: Mapping[str, Sequence[str]] = NO_HINTS,
    decisions: Sequence[Decision] = (),
    aliases: Aliases = NO_ALIASES,
    settings: ResolutionSettings = DEFAULT_SETTINGS,
    alike: Alike = NONE_ALIKE,
) -> Resolution:
    """Resolves one day's mentions and decisions against yesterday's registry.

    `previous` has the columns of `entities`, `mentions` those of its table; `messages` has message_id and content of
    the messages that they stand in, where they stand in any; and, where they are of conversations of several people,
    who says them. `hints` are names, by message_id, that an agent gives to
    what a message mentions: they tell which one of those known is meant, and make none. `decisions` are the day's, of
    all users. `alike` are phrases that mean the same by their vectors, where somebody compared them. Mentions are taken
    in the order in which they were said, so that equal logs give equal registries however they were landed; what names
    nothing ("he", "tomorrow") has no row in `entity_mentions`.
    """
    ordered = sorted(cast("Iterator[MentionRow]", rows_of(mentions)), key=_said_order)
    contents = dict(zip(messages["message_id"].to_pylist(), messages["content"].to_pylist(), strict=True))
    said_by = speeches(messages)
    registries = _load(previous, _Today(ordered, decisions, contents, hints, alike, said_by), aliases)
    links: list[EntityMentionRow] = []
    waiting = sorted(decisions, key=lambda d: (d.timestamp, d.user_id, d.session_id, d.feedback_id))
    for mention in ordered:
        while waiting and waiting[0].timestamp < mention["timestamp"]:
            decide(registries[waiting[0].user_id], waiting.pop(0))
        spoken_by = said_by.get(mention["message_id"], ALONE)
        heard = Heard(contents.get(mention["message_id"], ""), hints.get(mention["message_id"], ()), spoken_by)
        seen = see(registries[mention["user_id"]], mention, heard, settings)
        if seen is not None:
            links.append(_link(mention, seen.row, seen.method, seen.score))
    for decision in waiting:
        decide(registries[decision.user_id], decision)
    return _after(previous, registries, links)


def _after(previous: pa.Table, registries: dict[str, Registry], links: list[EntityMentionRow]) -> Resolution:
    """Yesterday's registry with today's rows in place of theirs; of changes with one id the last."""
    held = [row for registry in registries.values() for row in registry.rows.values()]
    ids = pa.array([row["entity_id"] for row in held], pa.string())
    untouched = previous.filter(pc.invert(pc.is_in(previous["entity_id"], value_set=ids)))
    ops = {op["op_id"]: op for registry in registries.values() for op in registry.ops}
    return Resolution(
        pa.concat_tables([untouched, ENTITIES.from_rows(held)]),
        ENTITY_MENTIONS.from_rows(links),
        ENTITY_OPS.from_rows(list(ops.values())),
    )


def _said_order(mention: MentionRow) -> tuple[object, ...]:
    place = (mention["user_id"], mention["session_id"], mention["turn_number"], mention["span_start"])
    return mention["timestamp"], *place, mention["mention_id"]


def _link(mention: MentionRow, row: EntityRow, method: str, score: float) -> EntityMentionRow:
    return {
        "mention_id": mention["mention_id"],
        "user_id": mention["user_id"],
        "entity_id": row["entity_id"],
        "method": method,
        "score": score,
        "timestamp": mention["timestamp"],
        "correlation_id": mention["correlation_id"],
    }


@dataclass(frozen=True, slots=True)
class _Today:
    """What the day brings: mentions in order, decisions, texts and hints by message_id, and what means the same."""

    mentions: list[MentionRow]
    decisions: Sequence[Decision]
    contents: Mapping[str, str]
    hints: Mapping[str, Sequence[str]]
    alike: Alike
    said_by: Mapping[str, Speech]


def _load(previous: pa.Table, today: _Today, aliases: Aliases) -> dict[str, Registry]:
    """The registries of today's users, each with the rows that today's names can meet, groups whole."""
    users = sorted({m["user_id"] for m in today.mentions} | {d.user_id for d in today.decisions})
    registries = {user: Registry(user, aliases.of(user), meant=today.alike.get(user, {})) for user in users}
    theirs = previous.filter(pc.is_in(previous["user_id"], value_set=pa.array(users, pa.string())))
    if theirs.num_rows:
        held: dict[str, list[EntityRow]] = defaultdict(list)
        sharing = _sharing(theirs, _wanted(today, registries))
        for row in cast("list[EntityRow]", sharing.to_pylist()):
            held[row["user_id"]].append(row)
        for user, registry in registries.items():
            registry.load(held[user])
    return registries


def _sharing(entities: pa.Table, wanted: dict[str, set[str]]) -> pa.Table:
    """The rows of the groups of which one row has a blocking key that its user wants."""
    columns = ("user_id", "entity_id", "canonical_name", "entity_type", "qualifiers", "merged_into")
    rows = list(zip(*(entities[name].to_pylist() for name in columns), strict=True))
    groups = {
        merged_into or entity
        for user, entity, name, kind, qualifiers, merged_into in rows
        if not wanted[user].isdisjoint(row_keys(name, kind, qualifiers))
    }
    chosen = [n for n, row in enumerate(rows) if row[1] in groups or row[5] in groups]
    return entities.take(pa.array(chosen, pa.int64()))


def _wanted(today: _Today, registries: dict[str, Registry]) -> dict[str, set[str]]:
    """The blocking keys of every name that the day brings, by user: mentioned, said or hinted beside one, decided upon,
    or in the alias file beside one of those."""
    names: dict[str, set[TypedName]] = defaultdict(set)
    keys: dict[str, set[str]] = defaultdict(set)
    for mention in today.mentions:
        speech = today.said_by.get(mention["message_id"], ALONE)
        said, said_roles = _said_with(mention, today.contents.get(mention["message_id"], ""), speech)
        hinted = today.hints.get(mention["message_id"], ())
        names[mention["user_id"]] |= said | {(name, mention["entity_type"]) for name in hinted}
        keys[mention["user_id"]].update(*map(role_keys, said_roles))
    for decision in today.decisions:
        names[decision.user_id] |= {(name, "concept") for name in decision.names}
    for user, wanted in names.items():
        for name, kind in wanted | _aliased(wanted, registries[user]):
            keys[user] |= name_keys(name, kind)
            keys[user].add(f"${name_key(name)}")
            for other in registries[user].meant.get(name_key(name), ()):
                keys[user] |= name_keys(other, kind)
    return keys


def _said_with(mention: MentionRow, content: str, speech: Speech) -> tuple[set[TypedName], set[str]]:
    """The names and the roles that a message gives the bearer of a mention, its own name among them."""
    kind = mention["entity_type"]
    place = place_of(mention, content)
    mention = owned(mention, place, speech) or mention
    said = roles_said(place, is_bare_noun_read=True)
    texts = {mention["name"], *(partner.name for partner in partners(place)), *(role.text for role in said)}
    extracted = {role_of(mention["role"]) or mention["role"]} if mention["role"] else set()
    return {(text, kind) for text in texts}, {role.role for role in said} | extracted


def _aliased(names: Iterable[TypedName], registry: Registry) -> set[TypedName]:
    """The names that the alias file has beside any of these."""
    entries = (registry.aliases.get(name_key(name)) for name, _ in names)
    return {(other, "concept") for entry in entries if entry is not None for other in (entry.name, *entry.aliases)}


def decide(registry: Registry, decision: Decision) -> None:
    """Carries out a decision. A name that nobody has said yet gets a row; what is one already is noted all the same,
    so that the last name is the one it is read by. One name in two spellings is one row, and cannot be split."""
    cause = Cause(decision.feedback_id, decision.timestamp, decision.session_id, 0, decision.correlation_id)
    rows = _rows_of_names(registry, decision, cause)
    if decision.is_merge:
        into = rows[-1]
        for row in rows[:-1]:
            registry.reconcile(row, into)
            registry.join(row, into, SAID_TO_BE_ONE, cause)
    elif not _is_settled(registry, rows) and not (len(rows) > 1 and rows[0] is rows[1]):
        registry.split(rows[0], rows[1] if len(rows) > 1 else None, cause)


def _is_settled(registry: Registry, rows: list[EntityRow]) -> bool:
    """Whether the alias file says that the two are one: it wins."""
    entries = [registry.aliases.get(row["name_key"]) for row in rows]
    return len(entries) > 1 and entries[0] is not None and entries[0] is entries[1]


def _rows_of_names(registry: Registry, decision: Decision, cause: Cause) -> list[EntityRow]:
    """The rows of the names: of several bearers the one spoken of most, first of one type with the others."""
    found = [registry.named(name_key(name)) for name in decision.names]
    kinds = [row["entity_type"] for rows in found for row in rows[:1]]
    kind = kinds[-1] if kinds else EntityType.CONCEPT.value
    chosen = []
    for name, rows in zip(decision.names, found, strict=True):
        if rows:
            chosen.append(
                max(rows, key=lambda row: (row["entity_type"] == kind, row["mention_count"], row["entity_id"]))
            )
        else:
            chosen.append(registry.create(name, kind, "", cause, FEEDBACK))
    return chosen


def _hints(interactions: pa.Table) -> dict[str, list[str]]:
    """The names that agents gave to what is mentioned, by message_id."""
    given = interactions.filter(pc.greater(pc.list_value_length(interactions["entities_mentioned"]), 0))
    columns = (given[name].to_pylist() for name in ("user_id", "session_id", "turn_number", "entities_mentioned"))
    return {message_id(*place): names for *place, names in zip(*columns, strict=True)}


def resolution_run(
    settings: ResolutionSettings,
    aliases: Aliases,
    safety: SafetySettings,
    connection: duckdb.DuckDBPyConnection,
    meanings: PhraseMeanings | None = None,
) -> Callable[[date, Tables, Records], Tables]:
    """The run of the step `resolution`; `meanings` where an embedder is set."""

    def run(day: date, tables: Tables, __: Records) -> Tables:
        said = spoken(cast("Iterator[FeedbackRow]", rows_of(tables["feedback"])), safety)
        mentions = pa.concat_tables([tables["mentions"], said.mentions_table()])
        known = (tables["state_entities"], mentions, tables["messages"])
        made = resolve(
            *known, connection, hints=_hints(tables["interactions"]), decisions=said.decisions, aliases=aliases,
            settings=settings, alike=meanings.of_day(day, known[0], mentions) if meanings else NONE_ALIKE,
        )  # fmt: skip
        return {"entities": made.entities, "entity_mentions": made.entity_mentions, "entity_ops": made.entity_ops}

    return run
