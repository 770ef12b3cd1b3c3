"""The shapes of the graph: labels, relationship types, and the properties of each, all of them closed lists.

Statements are made of these names alone, so that no text of a user is ever part of one. Add a property here and in
sql/nodes.sql or sql/edges.sql; the next sync writes everything once more by itself, for digests cover what they say.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from em_pipelines.schema.ids import content_id
from em_pipelines.schema.vocabulary import RELATIONS

ENTITY = "Entity"
VALUE = "Value"
KEY = "key"
EDGE_ID = "edge_id"
MAX_LOOKUP_CHARACTERS = 200
"""What of a name is indexed: Neo4j refuses to index a value of more than 8,167 bytes."""

NODE_PROPERTIES: dict[str, tuple[str, ...]] = {
    ENTITY: (
        "key", "user_id", "user_key", "entity_id", "name", "name_key", "aliases", "entity_type", "mention_count",
        "importance", "privacy_level", "first_seen", "last_referenced", "digest",
    ),
    VALUE: ("key", "user_id", "user_key", "text", "kind", "digest"),
}  # fmt: skip
"""Properties by label, in the order in which rows have them."""

INDEXED: dict[str, tuple[str, ...]] = {ENTITY: ("user_key", "name_key"), VALUE: ("user_key",)}
"""Indexed besides the key: short values alone."""

EDGE_PROPERTIES: tuple[str, ...] = (
    "user_id", "polarity", "status", "confidence", "temporal_type", "attribute", "over", "statement", "valid_from",
    "valid_to", "learned_at", "unlearned_at", "last_reinforced", "reinforcement_count", "source_mechanism", "flags",
    "privacy_level", "supersedes", "superseded_by", "contradicts", "said_in", "digest",
)  # fmt: skip
"""Properties of a relationship besides its `edge_id`, in the order in which rows have them."""

Row: TypeAlias = Sequence[Any]
"""A node: its properties. A relationship: keys of its ends, edge_id, then its properties."""


@dataclass(frozen=True, slots=True, order=True)
class EdgeKind:
    """What a relationship's statement depends on: its relation, and the label of the node it leads to."""

    relation: str
    target: str

    def __post_init__(self) -> None:
        """Raises ValueError for what is no name of the closed lists."""
        if self.relation not in RELATIONS or self.target not in NODE_PROPERTIES:
            raise ValueError(f"making a statement: {self.relation!r} to {self.target!r} is not in the vocabulary")

    @property
    def type_name(self) -> str:
        """The relationship type, as graph databases write them."""
        return self.relation.upper()


TYPE_NAMES: tuple[str, ...] = tuple(sorted(relation.upper() for relation in RELATIONS))
"""Every relationship type there can be."""


def user_key(user_id: str) -> str:
    """What nodes of a user are found by; sql/macros.sql has the same function for SQL."""
    return content_id("user", user_id, None, None)
