"""Which known facts an act of feedback, or a retraction in a message, means.

By id, else by what they say: names are compared through the entities that carry them, objects leniently, for another
extractor words the same fact a little differently, and what was taken back has to stay so. Few acts a day, so Python.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from rapidfuzz import fuzz

from em_pipelines.feedback.statements import FEEDBACK, Targeted
from em_pipelines.graph.relations import KEPT_DIRECTION, kept, taken_back_with
from em_pipelines.ids import content_id
from em_pipelines.sql import fetch, statement
from em_pipelines.vocabulary import LITERAL_OBJECT, SYMMETRIC, USER, Act

HERE = Path(__file__).parent
SAME_OBJECT_SCORE = 85
"""Token-set similarity (0 to 100) from which two wordings of an object are taken for one."""

IDENTITY = ("subject_id", "relation", "object_key", "attribute", "polarity", "requires_verification")

Row = dict[str, Any]
NameKey = Callable[[str], str]


def aim(acts: Sequence[Targeted], connection: duckdb.DuckDBPyConnection, name_key: NameKey) -> None:
    """Adds to the table `resolved` one row for each fact that an act means, and what corrections put in its place.

    Reads the tables that the fold has bound: edges, entities, mentions, entity_mentions, resolved.
    """
    if not acts:
        return
    users = sorted({act.origin["user_id"] for act in acts})
    connection.register("acting", pa.table({"user_id": users}))
    try:
        known = fetch(connection, statement(HERE, "known")).to_pylist()
        ends = fetch(connection, statement(HERE, "named_ends")).to_pylist()
    finally:
        connection.unregister("acting")
    entity_of = {(row["message_id"], row["name"]): row["entity_id"] for row in ends}
    schema = fetch(connection, "FROM resolved LIMIT 0").schema
    rows = {row["claim_id"]: row for act in acts for row in _rows(act, known, entity_of, name_key)}
    if rows:
        connection.register("aimed", pa.Table.from_pylist(list(rows.values()), schema=schema))
        connection.execute("INSERT INTO resolved FROM aimed")
        connection.unregister("aimed")


def _rows(act: Targeted, known: list[Row], entity_of: dict[tuple[str, str], str], name_key: NameKey) -> Iterator[Row]:
    found = _meant(act, known, name_key)
    if act.act is Act.REHOME:
        for fact in found:
            yield from _rehomed(act, fact, entity_of, name_key)
        return
    if act.act is Act.CONFIRM and not found and act.claim is not None:
        if (row := _stated(act.claim, entity_of, Act.CONFIRM)) is not None:
            yield row
        return
    replacing = _in_its_place(act, found, entity_of)
    pair_id = replacing["claim_id"] if replacing else act.claim["claim_id"] if act.claim else None
    for fact in found:
        if replacing is None or _identity(fact) != _identity(replacing):
            yield _upon(act, act.act, fact, pair_id=pair_id)
    if replacing is not None:
        yield replacing


def _meant(act: Targeted, known: list[Row], name_key: NameKey) -> list[Row]:
    """The facts that an act means, each once: those of the very words, else those of like words."""
    own = [fact for fact in known if fact["user_id"] == act.origin["user_id"]]
    if act.edge_id is not None:
        by_id = [fact for fact in own if fact["edge_id"] == act.edge_id]
        if by_id or act.relation is None:
            return by_id
    if act.relation is None:
        return []
    alike = [fact for fact in own if _is_about(act, fact, name_key)]
    if act.object is not None:
        key = name_key(act.object)
        exact = [fact for fact in alike if key in _far_names(act, fact, name_key)]
        alike = exact or [
            fact
            for fact in alike
            if any(fuzz.token_set_ratio(key, name) >= SAME_OBJECT_SCORE for name in _far_names(act, fact, name_key))
        ]
    if act.act in (Act.CONFIRM, Act.VERIFY, Act.RECALL):  # standing facts first: one is enough
        alike = [fact for fact in alike if fact["relation"] == act.relation] or alike
    return list({_identity(fact): fact for fact in alike}.values())


def _is_about(act: Targeted, fact: Row, name_key: NameKey) -> bool:
    """Whether relation, subject, attribute and polarity are those of the act."""
    assert act.relation is not None
    wide = act.act in (Act.RETRACT, Act.REPLACE)
    relations = taken_back_with(act.relation) if wide else frozenset({act.relation})
    if kept(fact["relation"]) not in {kept(relation) for relation in relations}:
        return False
    if fact["polarity"] != act.polarity:
        return False
    if act.attribute is not None and (fact["attribute"] or "").casefold() != act.attribute.casefold():
        return False
    near = fact["object_names"] if _is_other_way(act, fact, name_key) else fact["subject_names"]
    return (USER if act.subject == USER else name_key(act.subject)) in near


def _is_other_way(act: Targeted, fact: Row, name_key: NameKey) -> bool:
    """Whether the fact is stated from its other end: child_of for parent_of, or a symmetric relation turned round."""
    assert act.relation is not None
    if act.relation in SYMMETRIC:
        return (USER if act.subject == USER else name_key(act.subject)) not in fact["subject_names"]
    return (act.relation in KEPT_DIRECTION) != (fact["relation"] in KEPT_DIRECTION)


def _far_names(act: Targeted, fact: Row, name_key: NameKey) -> list[str]:
    if fact["value"] is not None:
        return [name_key(fact["value"]), fact["value"].casefold()]
    names: list[str] = fact["subject_names"] if _is_other_way(act, fact, name_key) else fact["object_names"]
    return names


def _identity(fact: Row) -> tuple[Any, ...]:
    return tuple(fact[name] for name in IDENTITY)


def _upon(act: Targeted, kind: Act, fact: Row, *, pair_id: str | None = None) -> Row:
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


def _in_its_place(act: Targeted, found: list[Row], entity_of: dict[tuple[str, str], str]) -> Row | None:
    """What a correction puts in the place of what it found; subject and relation are those of the fact it named."""
    if act.act is not Act.REPLACE or act.claim is None:
        return None
    if act.edge_id is None and act.claim["extractor"] == FEEDBACK:
        return None  # it stands among the claims already
    if not found:
        return _stated(act.claim, entity_of) if act.relation else None
    fact = found[0]
    row = _stated(act.claim, entity_of)
    if row is None:
        return None
    row |= {name: fact[name] for name in ("subject_id", "relation", "attribute", "temporal_type", "polarity")}
    if fact["relation"] in LITERAL_OBJECT:
        said = act.claim["object"] or act.claim["value"]
        row |= {"object_id": None, "value": said, "object_key": said.strip().lower()}
    return row


def _stated(claim: Row, entity_of: dict[tuple[str, str], str], kind: Act = Act.ASSERT) -> Row | None:
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


def _rehomed(act: Targeted, fact: Row, entity_of: dict[tuple[str, str], str], name_key: NameKey) -> Iterator[Row]:
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
