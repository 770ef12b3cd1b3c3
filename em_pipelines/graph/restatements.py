"""Claims that repeat what is known: in another relation, or of what required verification.

Who plays chess, and says that they like playing it, has said one thing. Such a claim adds nothing to an active fact, so
the fold reads it as that fact, which grows surer; the claim itself stays as it was extracted. What says the same is in
data/restatements.yaml; which names are one thing is for resolution to say.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.graph.relations import KEPT_DIRECTION, TONES, kept, literal_key
from em_pipelines.language.name_keys import DETERMINERS, name_tokens
from em_pipelines.language.values import read_yaml
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.extraction import CLAIMS, MENTIONS
from em_pipelines.schema.tables.graph import ENTITY_MENTIONS
from em_pipelines.schema.vocabulary import MAY_BE_PHRASE, SYMMETRIC, Act, Mechanism, PrivacyLevel, TemporalType
from em_pipelines.storage.duckdb_engine import ParquetRows, Rows, bind, fetch

LIKES, DID = "likes", "did"
_SAID_BY_PEOPLE = pa.array([Mechanism.EXPLICIT.value, Mechanism.OBSERVATIONAL.value])
_OF_SPEAKERS = "FROM restated_{} WHERE list_contains(getvariable('speakers'), user_id)"
Row = dict[str, Any]
Tables = dict[str, pa.Table]
Said = tuple[str, str]
"""A relation and the key of its object."""


def also_said(relation: str, name: str) -> frozenset[Said]:
    """What may have been read as a fact of a relation whose object has this name, with and without an article."""
    told = {*((other, object_key(name)) for other in _adds_nothing(relation)), *worded(relation, name)}
    return frozenset({*told, *((other, key.replace(" ", " the ", 1)) for other, key in told)})


@lru_cache(maxsize=65_536)
def worded(relation: str, name: str) -> frozenset[Said]:
    """What says a fact again by other words for its object: likes playing chess, did chess; wants a trip to Rome, wants
    to visit Rome."""
    key = object_key(name)
    return frozenset({*_by_doing(relation, key), *_by_wording(relation, name, key)}) - {(relation, key)}


@lru_cache(maxsize=65_536)
def object_key(name: str) -> str:
    """The words of a name without determiners, wherever they stand."""
    return " ".join(token for token in name_tokens(name) if token not in DETERMINERS)


def _by_doing(relation: str, key: str) -> Iterator[Said]:
    """What somebody likes to do as what they do, and the other way round."""
    if relation != LIKES:
        yield from ((LIKES, f"{verb} {key}") for verb in _verbs().get(relation, ()))
    if relation == DID:
        yield from ((LIKES, form) for form in _forms(key))
    if relation != LIKES:
        return
    bare = _without_beside(key)
    verb, _, rest = bare.partition(" ")
    if verb.endswith("ing"):
        yield from ((DID, form) for form in _forms(bare))
    if rest:
        yield from ((DID, bare), *((other, rest) for other, verbs in _verbs().items() if verb in verbs))


def _forms(key: str) -> Iterator[str]:
    """A phrase that begins with a verb, with and without -ing; what no verb makes is no key of anything."""
    verb, blank, rest = key.partition(" ")
    bare = verb.removesuffix("ing")
    if bare == verb:
        yield from (f"{stem}ing{blank}{rest}" for stem in (verb, verb.removesuffix("e"), f"{verb}{verb[-1:]}"))
    else:
        yield from (f"{base}{blank}{rest}" for base in (verb, bare, f"{bare}e", bare[:-1]))
    if rest:
        yield key


def _without_beside(key: str) -> str:
    """What is done, without where and with whom."""
    words = key.split()
    end = next((n for n in range(1, len(words)) if words[n] in _beside()), len(words))
    return " ".join(words[:end])


def _by_wording(relation: str, name: str, key: str) -> Iterator[Said]:
    """Other beginnings of an object that say the same; of a journey where a name follows: one goes to school, too."""
    has_name = any(part[:1].isupper() for part in name.split()[1:])
    for group in _table()["wordings"]:
        if relation in group["relations"].split() and (has_name or not group["is_before_name"]):
            leads = [beginning for beginning in group["beginnings"] if key.startswith(f"{beginning} ")]
            if leads:
                rest = key.removeprefix(max(leads, key=len))
                yield from ((relation, f"{beginning}{rest}") for beginning in group["beginnings"])


@cache
def _table() -> dict[str, Any]:
    document: dict[str, Any] = read_yaml((Path(__file__).parent / "data/restatements.yaml").read_text(encoding="utf-8"))
    return document


@cache
def _adds_nothing(relation: str) -> tuple[str, ...]:
    return tuple(_table()["adds_nothing"].get(relation, "").split())


@cache
def _verbs() -> dict[str, tuple[str, ...]]:
    return {relation: tuple(verbs.split()) for relation, verbs in _table()["likes_to"].items()}


@cache
def _beside() -> frozenset[str]:
    return frozenset(_table()["beside_what_is_done"].split())


@cache
def _relations() -> pa.Array:
    """Of which claims may say again what a fact of another wording says."""
    weaker = (name for names in _table()["adds_nothing"].values() for name in names.split())
    reworded = (name for group in _table()["wordings"] for name in group["relations"].split())
    return pa.array(sorted({LIKES, *weaker, *_verbs(), *reworded}))


def as_known(said: Tables, edges: Rows, connection: duckdb.DuckDBPyConnection) -> Tables:
    """The day's `claims`, `mentions` and `entity_mentions`, with every claim that adds nothing to a fact of the day
    before read as that fact.

    `said` has besides them the `entities` at the end of the day; `edges` is the state before it.
    """
    claims = said["claims"].filter(_may_restate(said["claims"]))
    if not claims.num_rows:
        return said
    speakers = sorted(set(claims["user_id"].to_pylist()))
    facts = _of(edges, "edges", speakers, connection)
    facts = facts.filter(_may_be_restated(facts))
    if not facts.num_rows:
        return said
    world = _World(facts, _of(said["entities"], "entities", speakers, connection))
    entity_of = _entities_of(said, claims)
    meant: dict[str, Row] = {}
    for claim in rows_of(claims):
        subject, thing = (entity_of.get((claim["message_id"], claim[end])) for end in ("subject", "object"))
        if subject and (thing or claim["value"]) and (fact := world.restated(claim, subject, thing)):
            meant[claim["claim_id"]] = fact
    return _read_as(said, meant) if meant else said


def confirmed(said: Tables, edges: Rows, connection: duckdb.DuckDBPyConnection) -> Tables:
    """The day's tables with every claim verified that a document stated and an earlier conversation states, too.

    `said` and `edges` are as for `as_known`. Claims of rank (L4) never are: whoever repeats them is no more believed.
    """
    claims = said["claims"].filter(_may_be_confirmed(said["claims"]))
    if not claims.num_rows:
        return said
    speakers = sorted(set(claims["user_id"].to_pylist()))
    entities = _of(said["entities"], "entities", speakers, connection)
    into = {row["entity_id"]: row["merged_into"] or row["entity_id"] for row in rows_of(entities)}
    sessions = _sessions_of(_of(edges, "edges", speakers, connection), into)
    entity_of = _entities_of(said, claims)
    verified = set()
    for claim in sorted(rows_of(claims), key=lambda row: (row["timestamp"], row["claim_id"])):
        ends = [into.get(entity_of.get((claim["message_id"], claim[end]), "")) for end in ("subject", "object")]
        key = _content_key(claim, *ends)
        if ends[0] and sessions[key] - {claim["session_id"]}:
            verified.add(claim["claim_id"])
        sessions[key].add(claim["session_id"])
    return {**said, "claims": _verified(said["claims"], verified)} if verified else said


def _verified(claims: pa.Table, verified: set[str]) -> pa.Table:
    is_other = pc.invert(pc.is_in(claims["claim_id"], pa.array(sorted(verified))))
    at = claims.schema.get_field_index("requires_verification")
    return claims.set_column(at, claims.schema.field(at), pc.and_(claims["requires_verification"], is_other))


def _sessions_of(facts: pa.Table, into: Mapping[str, str]) -> dict[tuple[Any, ...], set[str]]:
    """The conversations that stated each fact, by its content."""
    sessions: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for fact in rows_of(facts.filter(_may_confirm(facts))):
        key = _content_key(fact, into.get(fact["subject_id"]), into.get(fact["object_id"]))
        sessions[key].update(place["session_id"] for place in fact["provenance"])
    return sessions


def _content_key(row: Mapping[str, Any], subject_id: str | None, object_id: str | None) -> tuple[Any, ...]:
    """Equal for a claim and a fact that say the same, given their entities, from whichever end it was told."""
    ends = [subject_id or "", object_id or (row["value"] or "").strip().lower()]
    if row["relation"] in KEPT_DIRECTION:
        ends.reverse()
    elif row["relation"] in SYMMETRIC:
        ends.sort()
    return row["user_id"], *ends, kept(row["relation"]), row["attribute"], row["polarity"]


def _may_be_confirmed(claims: pa.Table) -> pa.ChunkedArray:
    is_stated = pc.and_(pc.equal(claims["act"], Act.ASSERT.value), claims["requires_verification"])
    return pc.and_(is_stated, pc.not_equal(claims["privacy_level"], PrivacyLevel.PRIVILEGED.value))


def _may_confirm(facts: pa.Table) -> pa.ChunkedArray:
    is_kept = pc.is_in(facts["status"], pa.array(["active", "contradicted"]))
    return pc.and_(is_kept, pc.not_equal(facts["privacy_level"], PrivacyLevel.PRIVILEGED.value))


def _may_restate(claims: pa.Table) -> pa.ChunkedArray:
    """Of each claim whether it states plainly, of today, what may be known in other words."""
    is_plain = pc.and_(
        pc.and_(pc.equal(claims["act"], Act.ASSERT.value), pc.is_in(claims["source_mechanism"], _SAID_BY_PEOPLE)),
        pc.and_(pc.equal(pc.list_value_length(claims["flags"]), 0), _has_name(claims, "object")),
    )
    return pc.and_(pc.and_(is_plain, pc.is_in(claims["relation"], _relations())), _is_lasting(claims))


def _may_be_restated(facts: pa.Table) -> pa.ChunkedArray:
    is_plain = pc.and_(pc.equal(facts["status"], "active"), _has_name(facts, "object_id"))
    return pc.and_(pc.and_(is_plain, pc.equal(pc.list_value_length(facts["flags"]), 0)), _is_lasting(facts))


def _has_name(rows: pa.Table, end: str) -> pa.ChunkedArray:
    """Whether the object is a thing, or a phrase, which may be worded in another way too."""
    return pc.or_(pc.is_valid(rows[end]), pc.is_in(rows["relation"], pa.array(sorted(MAY_BE_PHRASE))))


def _is_lasting(rows: pa.Table) -> pa.ChunkedArray:
    """What was once done is not said again by what is done."""
    is_lasting = pc.and_(pc.equal(rows["polarity"], 1), pc.not_equal(rows["temporal_type"], TemporalType.EPISODE.value))
    return pc.and_(is_lasting, pc.invert(rows["requires_verification"]))


def _of(rows: Rows, name: str, users: Sequence[str], connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """The rows of some users, of a table or a file."""
    if not isinstance(rows, ParquetRows):
        return rows.filter(pc.is_in(rows["user_id"], pa.array(users)))
    bind(connection, f"restated_{name}", rows)
    connection.execute("SET VARIABLE speakers = ?", [list(users)])
    return fetch(connection, _OF_SPEAKERS.format(name))


def _entities_of(said: Tables, claims: pa.Table) -> dict[tuple[str, str], str]:
    """Message and name to the entity, as the fold finds it: the least id of several."""
    mentions = said["mentions"].filter(pc.is_in(said["mentions"]["message_id"], claims["message_id"]))
    links = said["entity_mentions"]
    entities = dict(zip(links["mention_id"].to_pylist(), links["entity_id"].to_pylist(), strict=True))
    found: dict[tuple[str, str], str] = {}
    for row in rows_of(mentions):
        entity = entities.get(row["mention_id"])
        if entity is not None:
            key = row["message_id"], row["name"]
            found[key] = min(entity, found.get(key, entity))
    return found


class _World:
    """What is known of those who speak: facts by whom they are about, and names by entity."""

    def __init__(self, facts: pa.Table, entities: pa.Table) -> None:
        self._names: dict[str, list[str]] = {}
        self._into: dict[str, str] = {}
        for row in rows_of(entities.select(["entity_id", "canonical_name", "aliases", "merged_into"])):
            self._names[row["entity_id"]] = [row["canonical_name"], *row["aliases"]]
            self._into[row["entity_id"]] = row["merged_into"] or row["entity_id"]
        self._facts: dict[str, list[Row]] = defaultdict(list)
        for fact in sorted(rows_of(facts), key=lambda row: str(row["edge_id"])):
            self._facts[self._now(fact["subject_id"])].append(fact)

    def restated(self, claim: Mapping[str, Any], subject_id: str, object_id: str | None) -> Row | None:
        """The fact to which a claim adds nothing; None where it is one itself, speaks against one, or is news."""
        facts = self._facts.get(self._now(subject_id), [])
        thing = self._thing(object_id, claim)
        of_thing = [fact for fact in facts if self._thing(fact["object_id"], fact) == thing]
        if any(_meets(fact["relation"], claim["relation"]) for fact in of_thing):
            return None
        told = {
            (claim["relation"], object_key(name))
            for name in (claim["object"] or claim["value"], *self._names.get(thing, ()))
        }
        found = (fact for fact in of_thing if claim["relation"] in _adds_nothing(fact["relation"]))
        return next(found, None) or next((fact for fact in facts if self._is_worded(fact, told)), None)

    def _is_worded(self, fact: Mapping[str, Any], told: set[Said]) -> bool:
        names = self._names.get(self._now(fact["object_id"]), ()) if fact["object_id"] else (fact["value"],)
        return any(not told.isdisjoint(worded(fact["relation"], name)) for name in names)

    def _thing(self, object_id: str | None, row: Mapping[str, Any]) -> str:
        """What an object is compared by: its entity, or the words of a phrase."""
        return self._now(object_id) if object_id else literal_key(row["value"])

    def _now(self, entity_id: str) -> str:
        return self._into.get(entity_id, entity_id)


def _meets(known: str, said: str) -> bool:
    """Whether the fold sets a claim beside a fact of one object by itself."""
    return known == said or TONES.get(known, (0, 0))[0] < 0


def _read_as(said: Tables, meant: Mapping[str, Row]) -> Tables:
    claims, mentions, links = [], [], []
    for row in rows_of(said["claims"]):
        fact = meant.get(row["claim_id"])
        if fact is None:
            claims.append(row)
            continue
        if fact["object_id"] is None:
            taken = {name: fact[name] for name in ("relation", "value", "temporal_type")}
            claims.append({**row, **taken, "object": None, "object_type": None})
            continue
        name = fact["object_id"]
        mention_id = content_id("mention", row["claim_id"], name)
        taken = {"relation": fact["relation"], "object": name, "value": None, "temporal_type": fact["temporal_type"]}
        claims.append({**row, **taken})
        shared = {**row, "mention_id": mention_id, "name": name, "entity_type": row["object_type"], "entity_id": name}
        mentions.append({**shared, "role": None, "is_explicit": False})
        links.append({**shared, "method": "exact", "score": 1.0})
    return {
        **said,
        "claims": CLAIMS.from_rows(claims),
        "mentions": pa.concat_tables([said["mentions"], MENTIONS.from_rows(mentions)]),
        "entity_mentions": pa.concat_tables([said["entity_mentions"], ENTITY_MENTIONS.from_rows(links)]),
    }
