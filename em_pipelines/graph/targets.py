"""Which known facts an act of feedback, or a retraction in a message, means.

By id, else by what they say: names are compared through the entities that carry them, objects leniently, for another
extractor words the same fact a little differently, and what was taken back has to stay so. Few acts a day, so Python.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any, TypedDict, cast

import duckdb
import pyarrow as pa
from rapidfuzz import fuzz

from em_pipelines.extraction.feedback_statements import FEEDBACK, Targeted
from em_pipelines.extraction.literals import literal
from em_pipelines.graph.relations import KEPT_DIRECTION, kept, kinds, taken_back_with
from em_pipelines.graph.topics import Fact, NameKey, facts_about, former_favourites, is_of_favourite
from em_pipelines.language.document import english
from em_pipelines.language.name_keys import name_key as _name_key
from em_pipelines.language.values import attribute_key
from em_pipelines.schema.ids import content_id, edge_id, entity_id
from em_pipelines.schema.vocabulary import MAY_BE_PHRASE, RELATIONS, STORED_AS_VALUE, SYMMETRIC, USER, Act
from em_pipelines.storage.duckdb_engine import fetch, statement

HERE = Path(__file__).parent
SAME_OBJECT_SCORE = 85
"""Token-set similarity (0 to 100) from which two wordings of an object are taken for one."""

IDENTITY = ("subject_id", "relation", "object_key", "attribute", "polarity", "requires_verification")

FORMER_SPELLS = 3
"""Times that a fact became active, for which ids of former builds are still known."""

STANDING_FIRST = (Act.CONFIRM, Act.VERIFY, Act.RECALL)
"""Acts for which one fact that stands is enough: those of the very relation go before its kin."""

Row = dict[str, Any]
"""In the columns of `resolved`."""


class KnownFact(TypedDict):
    """A fact that can be meant, with every name of both ends: a row of `known.sql`."""

    edge_id: str
    user_id: str
    subject_id: str
    relation: str
    object_id: str | None
    value: str | None
    attribute: str | None
    object_key: str
    polarity: int
    temporal_type: str
    requires_verification: bool
    privacy_level: str
    status: str
    confidence: float
    statement: str | None
    learned_at: datetime
    last_reinforced: datetime
    source_mechanism: str
    provenance: list[dict[str, Any]]
    contradicts: str | None
    subject_names: list[str]
    object_names: list[str]


def aim(acts: Sequence[Targeted], connection: duckdb.DuckDBPyConnection, name_key: NameKey) -> None:
    """Adds to the table `resolved` one row for each fact that an act means, and what corrections put in its place.

    Reads the tables that the fold has bound: edges, entities, mentions, entity_mentions, resolved.
    """
    if not acts:
        return
    users = sorted({act.origin["user_id"] for act in acts})
    connection.register("acting", pa.table({"user_id": users}))
    try:
        known = cast(list[KnownFact], fetch(connection, statement(HERE, "known")).to_pylist())
        ends = fetch(connection, statement(HERE, "named_ends")).to_pylist()
    finally:
        connection.unregister("acting")
    entity_of = {(row["message_id"], row["name"]): row["entity_id"] for row in ends}
    schema = fetch(connection, "FROM resolved LIMIT 0").schema
    rows = acts_upon(acts, known, entity_of, name_key)
    if rows:
        connection.register("aimed", pa.Table.from_pylist(list(rows.values()), schema=schema))
        connection.execute("INSERT INTO resolved FROM aimed")
        connection.unregister("aimed")


def acts_upon(
    acts: Sequence[Targeted], known: list[KnownFact], entity_of: dict[tuple[str, str], str], name_key: NameKey
) -> dict[str, Row]:
    """The statements that acts come to, by claim_id; `known` in the order of sql/known.sql, `entity_of` by message and
    name."""
    return {row["claim_id"]: row for act in acts for row in _rows(act, known, entity_of, name_key)}


def reach(acts: Sequence[Targeted]) -> tuple[set[str], set[str]]:
    """The relations of facts that acts can mean by what they say, and the ids of those that they name."""
    ids = {act.edge_id for act in acts if act.edge_id is not None}
    is_any = any(act.is_topic or (act.relation is None and act.edge_id is not None) for act in acts)
    return (set(RELATIONS) if is_any else set().union(*map(_reached, acts))), ids


def _reached(act: Targeted) -> set[str]:
    """The relations of facts that an act can mean by what it says, whichever endpoint it names first."""
    if act.relation is None:
        return set()
    wanted = {kept(relation) for relation in _relations(act)}
    if act.attribute is not None:
        wanted.add("has_attribute")
    return wanted | {relation for relation, other in KEPT_DIRECTION.items() if other in wanted}


def _rows(
    act: Targeted, known: list[KnownFact], entity_of: dict[tuple[str, str], str], name_key: NameKey
) -> Iterator[Row]:
    if act.is_topic:
        yield from _about(act, known)
        return
    meant = _meant(act, known, name_key)
    if act.act is Act.REHOME:
        for fact in meant:
            yield from _rehomed(act, fact, entity_of, name_key)
    elif act.act is Act.CONFIRM and not meant and act.claim is not None:
        if (row := _stated(act.claim, entity_of, Act.CONFIRM)) is not None:
            yield row
    else:
        yield from _done_to(act, meant, known, entity_of)


def _about(act: Targeted, known: list[KnownFact]) -> Iterator[Row]:
    """What a retraction that names a thing does to the facts about it: each is retracted, or where only one of several
    can be meant in doubt, each beside the next older one."""
    meant = facts_about(act, _own(act, known))
    if not meant.is_doubtful:
        yield from _retracted(act, meant.facts, known)
        return
    older = None
    for fact in reversed(meant.facts):
        row = _upon(act, Act.DOUBT, fact, pair_id=older)
        older = row["claim_id"]
        yield row


def _retracted(act: Targeted, facts: Sequence[Fact], known: list[KnownFact]) -> Iterator[Row]:
    """The rows that retract facts, and those that free what was in doubt beside them: it was these that were meant."""
    yield from (_upon(act, Act.RETRACT, fact) for fact in facts)
    gone = {_identity(fact) for fact in facts}
    slots = {_meeting(fact) for fact in facts}  # within one the fold sees to it
    for fact in _doubted_with(facts, known):
        if _identity(fact) not in gone and _meeting(fact) not in slots:
            yield _upon(act, Act.RESTORE, fact)


def _doubted_with(facts: Sequence[Fact], known: list[KnownFact]) -> list[KnownFact]:
    """The known facts that are in doubt together with others, directly or through further ones."""
    left = [fact for fact in known if fact["status"] == "contradicted"]
    found: list[KnownFact] = []
    reached: Sequence[Fact] = facts
    while reached:
        more = [fact for fact in left if any(_is_pair(fact, other) for other in reached)]
        left = [fact for fact in left if fact not in more]
        found += more
        reached = more
    return found


def _is_pair(one: Fact, other: Fact) -> bool:
    return bool(one["contradicts"] == other["edge_id"] or one["edge_id"] == other["contradicts"])


def _meeting(fact: Fact) -> tuple[str, str]:
    return fact["subject_id"], kinds()[fact["relation"]].family


def _own(act: Targeted, known: list[KnownFact]) -> list[KnownFact]:
    """The facts of the user whose act it is, each once: of what is said today again, as it was known before."""
    return _each_once([fact for fact in known if fact["user_id"] == act.origin["user_id"]])


def _each_once(facts: Sequence[KnownFact]) -> list[KnownFact]:
    found: dict[tuple[Any, ...], KnownFact] = {}
    for fact in facts:
        same = found.setdefault(_identity(fact), fact)
        if same is not fact:
            places, last = (
                [*same["provenance"], *fact["provenance"]],
                max(same["last_reinforced"], fact["last_reinforced"]),
            )
            found[_identity(fact)] = {**same, "provenance": places, "last_reinforced": last}
    return list(found.values())


def _done_to(
    act: Targeted, meant: list[KnownFact], known: list[KnownFact], entity_of: dict[tuple[str, str], str]
) -> Iterator[Row]:
    """What the act does to each fact that it means, and what it puts in their place; never a fact in its own."""
    replacing = _in_its_place(act, meant, entity_of)
    claim = replacing or act.claim
    pair_id = claim["claim_id"] if claim else None
    if act.act is Act.RETRACT:
        yield from _retracted(act, meant, known)
        return
    for fact in meant:
        if replacing is None or _identity(fact) != _identity(replacing):
            yield _upon(act, act.act, fact, pair_id=pair_id)
    if replacing is not None:
        yield replacing


def _meant(act: Targeted, known: list[KnownFact], name_key: NameKey) -> list[KnownFact]:
    """The facts that an act means, each once: that of its id, else those of the very words, else of like words."""
    own = [fact for fact in known if fact["user_id"] == act.origin["user_id"]]
    by_id = [fact for fact in own if fact["edge_id"] == act.edge_id]
    if act.edge_id is not None and not by_id:
        by_id = [fact for fact in own if act.edge_id in _former_ids(fact)]
    if by_id or act.relation is None:
        return by_id
    return list({_identity(fact): fact for fact in _worded_alike(act, own, name_key)}.values())


def _former_ids(fact: KnownFact) -> set[str]:
    """The ids that a fact had in former builds, in which phrases were entities, and a role was known by its noun alone,
    whoever it belongs to."""
    user, is_phrase = fact["user_id"], fact["relation"] in MAY_BE_PHRASE and fact["value"] is not None
    subjects = [fact["subject_id"], *_noun_ids(user, fact["subject_names"])]
    objects = [fact["object_key"], *_noun_ids(user, fact["object_names"])]
    objects += [entity_id(user, _name_key(fact["value"] or ""))] if is_phrase else []
    what = fact["attribute"], fact["polarity"]
    former = [pair for pair in product(subjects, objects) if pair != (subjects[0], objects[0])]
    spells = range(1, FORMER_SPELLS + 1)
    return {edge_id(user, s, fact["relation"], o, *what, n) for (s, o), n in product(former, spells)}


def _noun_ids(user: str, names: Sequence[str]) -> list[str]:
    """The entity ids of the nouns of roles among names with an owner: `katya dad` was `dad`."""
    nouns = {
        noun
        for name in names
        for owner, _, noun in [name.rpartition(" ")]
        if owner and noun in english.kin.keys() | english.pets
    }
    return [entity_id(user, noun) for noun in sorted(nouns)]


def _worded_alike(act: Targeted, facts: list[KnownFact], name_key: NameKey) -> list[KnownFact]:
    if is_of_favourite(act):
        return cast(list[KnownFact], former_favourites(act, _each_once(facts), name_key))
    alike = [fact for fact in facts if _is_about(act, fact, name_key)]
    if act.object is not None:
        alike = _of_object(act, name_key(act.object), alike, name_key)
    if act.act in STANDING_FIRST:
        return [fact for fact in alike if fact["relation"] == act.relation] or alike
    return alike


def _of_object(act: Targeted, key: str, facts: list[KnownFact], name_key: NameKey) -> list[KnownFact]:
    """Those whose far end has the very name, else those where it has a like one."""
    names = [(fact, _far_names(act, fact, name_key)) for fact in facts]
    exact = [fact for fact, far_names in names if key in far_names]
    return exact or [
        fact
        for fact, far_names in names
        if any(fuzz.token_set_ratio(key, name) >= SAME_OBJECT_SCORE for name in far_names)
    ]


def _is_about(act: Targeted, fact: KnownFact, name_key: NameKey) -> bool:
    """Whether relation, subject, attribute and polarity are those of the act."""
    if kept(fact["relation"]) not in {kept(relation) for relation in _relations(act)}:
        return False
    if fact["polarity"] != act.polarity:
        return False
    if act.attribute is not None and attribute_key(fact["attribute"]) != attribute_key(act.attribute):
        return False
    near = fact["object_names"] if _is_other_way(act, fact, name_key) else fact["subject_names"]
    return _subject_key(act, name_key) in near


def _relations(act: Targeted) -> frozenset[str]:
    """The relations whose facts an act may mean: what takes a fact back reaches further than what confirms it."""
    assert act.relation is not None
    return taken_back_with(act.relation) if act.act in (Act.RETRACT, Act.REPLACE) else frozenset({act.relation})


def _subject_key(act: Targeted, name_key: NameKey) -> str:
    return USER if act.subject == USER else name_key(act.subject)


def _is_other_way(act: Targeted, fact: KnownFact, name_key: NameKey) -> bool:
    """Whether the fact is stated from its other end: child_of for parent_of, or a symmetric relation turned round."""
    assert act.relation is not None
    if act.relation in SYMMETRIC:
        return _subject_key(act, name_key) not in fact["subject_names"]
    return (act.relation in KEPT_DIRECTION) != (fact["relation"] in KEPT_DIRECTION)


def _far_names(act: Targeted, fact: KnownFact, name_key: NameKey) -> list[str]:
    if fact["value"] is not None:
        return [name_key(fact["value"]), fact["value"].casefold()]
    return fact["subject_names"] if _is_other_way(act, fact, name_key) else fact["object_names"]


def _identity(fact: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(fact[name] for name in IDENTITY)


def _upon(act: Targeted, kind: Act, fact: Mapping[str, Any], *, pair_id: str | None = None) -> Row:
    """A row that says of a known fact what the act does with it."""
    what = [fact[n] for n in ("subject_id", "relation", "object_key", "attribute", "polarity")]
    copied = ("subject_id", "relation", "object_id", "value", "attribute", "object_key", "polarity", "temporal_type",
              "requires_verification", "privacy_level")  # fmt: skip
    return {
        **_basis(act),
        **{name: fact[name] for name in copied},
        "claim_id": content_id("claim", act.origin["message_id"], kind.value, *what),
        "act": kind.value,
        "pair_id": pair_id,
    }


def _in_its_place(act: Targeted, meant: list[KnownFact], entity_of: dict[tuple[str, str], str]) -> Row | None:
    """What a correction puts in the place of what it means; subject and relation are those of the fact it named."""
    if act.act is not Act.REPLACE or act.claim is None:
        return None
    if act.edge_id is None and act.claim["extractor"] == FEEDBACK:
        return None  # it stands among the claims already
    if not meant and not act.relation:
        return None
    row = _stated(act.claim, entity_of)
    return row if row is None or not meant else {**row, **_slot(meant[0], act.claim)}


def _slot(fact: Mapping[str, Any], claim: Mapping[str, Any]) -> Row:
    """What a correction takes over from the fact that it corrects; of a literal, as it reads in such a fact."""
    taken = {name: fact[name] for name in ("subject_id", "relation", "attribute", "temporal_type", "polarity")}
    if fact["relation"] not in STORED_AS_VALUE:
        return taken
    said = literal(fact["relation"], claim["object"] or claim["value"], claim["timestamp"].date())
    return {**taken, "object_id": None, "value": said, "object_key": said.strip().lower()}


def _stated(claim: Mapping[str, Any], entity_of: dict[tuple[str, str], str], kind: Act = Act.ASSERT) -> Row | None:
    """A row that states the claim of a correction or confirmation; None where a name in it names nothing ("it")."""
    subject_id = entity_of.get((claim["message_id"], claim["subject"]))
    object_id = entity_of.get((claim["message_id"], claim["object"])) if claim["object"] else None
    if subject_id is None or (claim["object"] and object_id is None):
        return None
    return {
        **claim,
        "act": kind.value,
        "subject_id": subject_id,
        "object_id": object_id,
        "object_key": object_id or claim["value"].strip().lower(),
        "is_decided": True,
        "pair_id": None,
    }


def _rehomed(act: Targeted, fact: KnownFact, entity_of: dict[tuple[str, str], str], name_key: NameKey) -> Iterator[Row]:
    """A fact that was taken to be about one entity is about another: the old one is corrected to the new."""
    assert act.object is not None  # the name of the entity that it moves to
    new_id = entity_of.get((act.origin["message_id"], act.object))
    if new_id is None:
        return
    is_subject = name_key(act.subject) in fact["subject_names"]
    end = {"subject_id": new_id} if is_subject else {"object_id": new_id, "object_key": new_id}
    row = {**_upon(act, Act.ASSERT, {**fact, **end}), "confidence": fact["confidence"]}
    yield _upon(act, Act.REPLACE, fact, pair_id=row["claim_id"])
    yield row


def _basis(act: Targeted) -> Row:
    """What all rows of an act share, in the columns of `resolved`."""
    origin = act.origin
    return {
        **origin,
        "extraction_id": origin["message_id"],
        "subject": act.subject,
        "subject_type": "concept",
        "hedge_level": "none",
        "confidence": 1.0,
        "source_mechanism": origin.get("source_mechanism", "user_correction"),
        "flags": [],
        "context_tags": [],
        "has_pasted_source": False,
        "span_start": origin.get("span_start", 0),
        "span_end": origin.get("span_end", 0),
        "is_decided": True,
    }
