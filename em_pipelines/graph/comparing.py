"""How statements and facts are compared, row by row: what sql/incoming.sql, live.sql and macros.sql say of a table,
said of one row. `graph.row_fold` works by it; a test folds every log both ways.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from em_pipelines.graph.relations import relation_kinds
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.vocabulary import USER

Row = dict[str, Any]
Slot = tuple[str, str, str, str, str, bool]
BLANKS = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""What DuckDB's `trim` takes away; tabs and line ends stay."""
UNVERIFIED = " (unverified)"


class Kind(NamedTuple):
    """How a relation is compared: a row of `relation_kinds`."""

    relation_key: str
    family: str
    is_functional: bool
    is_inverse: bool
    is_symmetric: bool
    tone: int
    tone_denied: int


@cache
def kinds() -> dict[str, Kind]:
    """The kind of each relation."""
    return {row.pop("relation"): Kind(**row) for row in relation_kinds().to_pylist()}


@cache
def user_entity(user_id: str) -> str:
    """The id of the remembered person."""
    return content_id("ent", user_id, USER, "")


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a statement or a fact stands among others: which it meets, and as what.

    `is_functional` is the relation's, whether or not the statement has to be verified first.
    """

    relation_key: str
    family: str
    is_functional: bool
    tone: int
    subject_key: str
    target_key: str
    slot: Slot


def placed(row: Mapping[str, Any], read_as: Mapping[str, str]) -> Placed:
    """Places a row of `resolved` or `edges`; `read_as` has, of names that are one with another, that other."""
    kind = kinds()[row["relation"]]
    subject = read_as.get(row["subject_id"], row["subject_id"])
    object_id = row["object_id"] and read_as.get(row["object_id"], row["object_id"])
    target = object_id or row["object_key"]
    if object_id and _is_turned(kind, row["user_id"], subject, object_id):
        subject, target = object_id, subject
    takes_place = kind.is_functional and not row["requires_verification"]
    return Placed(
        relation_key=kind.relation_key,
        family=kind.family,
        is_functional=kind.is_functional,
        tone=kind.tone if row["polarity"] == 1 else kind.tone_denied,
        subject_key=subject,
        target_key=target,
        slot=(
            row["user_id"], subject, kind.family, folded(row["attribute"] or ""), "" if takes_place else target,
            row["requires_verification"],
        ),
    )  # fmt: skip


def _is_turned(kind: Kind, user_id: str, subject: str, object_id: str) -> bool:
    """Whether the fact is compared from its other end: the remembered person first, else the lesser id."""
    if kind.is_inverse or not kind.is_symmetric:
        return kind.is_inverse
    user = user_entity(user_id)
    return subject != user and (object_id == user or object_id < subject)


def folded(text: str) -> str:
    """Lower case as DuckDB has it: letter by letter, one for one."""
    return text.lower() if text.isascii() else "".join(letter.lower()[0] for letter in text)


def literal_key(value: str) -> str:
    """The `object_key` of a literal."""
    return folded(value.strip(BLANKS))
