"""What a scope means in the memory that stands: which names, entities and facts it covers.

Reads the newest state alone; what messages say of it is found by `em_pipelines.redaction.planning`.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from itertools import product
from typing import Any, cast

import pyarrow.compute as pc

from em_pipelines.errors import UsageError
from em_pipelines.graph.restatements import also_said
from em_pipelines.graph.services import HOME, SERVICE
from em_pipelines.language.fact_keys import FactKey, fact_key
from em_pipelines.language.name_matching import key_of
from em_pipelines.redaction.role_names import is_proper, role_of
from em_pipelines.schema.rows import EdgeRow, EntityRow
from em_pipelines.schema.table import Table, rows_of
from em_pipelines.schema.tables.graph import EDGES, ENTITIES
from em_pipelines.schema.vocabulary import USER
from em_pipelines.storage.store import Store


@dataclass(frozen=True, slots=True)
class Target:
    """What is to go: proper names as worded, entities, facts by what they say and by id, the facts as read; and
    how many entities there are that are not named one by one."""

    names: tuple[str, ...] = ()
    entity_ids: frozenset[str] = frozenset()
    facts: frozenset[FactKey] = frozenset()
    edge_ids: frozenset[str] = frozenset()
    shown: tuple[str, ...] = ()
    n_entities: int = 0


class KnownWorld:
    """One user's entities and edges, as they stand in the newest state."""

    def __init__(self, store: Store, user_id: str) -> None:
        self.edges = cast("list[EdgeRow]", _newest(store, EDGES, user_id))
        entities = cast("list[EntityRow]", _newest(store, ENTITIES, user_id))
        self.entities = {row["entity_id"]: row for row in entities}
        self._groups: dict[str, set[str]] = defaultdict(set)
        for entity_id in self.entities:
            self._groups[self._read_by(entity_id)].add(entity_id)

    def group(self, entity_id: str) -> set[str]:
        """The entities that are one thing with this one."""
        return self._groups.get(self._read_by(entity_id), {entity_id})

    def named(self, is_name: Callable[[str], bool]) -> set[str]:
        """The entities with a name whose key is the one, with all that are one thing with them.

        Where nobody bears a bare role (`dad`), whoever is that to the only owner of one (`Katya's dad`); raises
        UsageError where several have one.
        """
        bearers = [e for e, row in self.entities.items() if any(is_name(key_of(n)) for n in _names(row))]
        own = [e for e in bearers if is_name(key_of(self.entities[e]["canonical_name"]))]
        found = own or bearers or self._owned(is_name)
        return {member for bearer in found for member in self.group(bearer)}

    def _owned(self, is_role: Callable[[str], bool]) -> list[str]:
        owned = {
            self._read_by(e): name
            for e, row in self.entities.items()
            for name in _names(row)
            if (role := role_of(name)) and is_role(key_of(role))
        }
        if len(owned) > 1:
            raise UsageError(
                f"forgetting: that may be {', '.join(sorted(owned.values()))}; say whose, nothing was changed"
            )
        return list(owned)

    def names(self, entity_ids: Iterable[str]) -> list[str]:
        """Every name of the entities, as worded, each once."""
        found = [name for e in sorted(entity_ids) if e in self.entities for name in _names(self.entities[e])]
        return list(dict.fromkeys(found))

    def near(self, name: str) -> list[str]:
        """Names that resemble one that nobody bears."""
        by_key = {key_of(n): n for row in self.entities.values() for n in _names(row) if key_of(n) != USER}
        return [by_key[key] for key in get_close_matches(key_of(name), by_key, n=3, cutoff=0.6)]

    def edges_of(self, entity_ids: set[str]) -> list[EdgeRow]:
        """The facts with one of the entities at either end."""
        return [e for e in self.edges if {e["subject_id"], e["object_id"]} & entity_ids]

    def entity(self, entity_ids: set[str]) -> Target:
        """The target of entities that are one thing, with their facts."""
        edges = self.edges_of(entity_ids)
        return Target(
            names=tuple(filter(is_proper, self.names(entity_ids))),
            entity_ids=frozenset(entity_ids),
            edge_ids=frozenset(edge["edge_id"] for edge in edges),
            shown=tuple(map(self.shown, edges)),
        )

    def fact(self, edge: EdgeRow) -> Target:
        """The target of one fact: all edges and wordings that say it."""
        keys = self._keys(edge)
        same = [other for other in self.edges if self._keys(other) & keys]
        return Target(
            facts=frozenset(keys),
            edge_ids=frozenset(other["edge_id"] for other in same),
            shown=tuple(dict.fromkeys(map(self.shown, same))),
        )

    def ends(self, edge: EdgeRow) -> list[set[str]]:
        """The groups of both ends of an edge, but for the remembered person."""
        found = [self.group(end) for end in (edge["subject_id"], edge["object_id"]) if end is not None]
        return [group for group in found if not self.is_user(group)]

    def is_user(self, entity_ids: Iterable[str]) -> bool:
        """Whether the remembered person is among the entities."""
        return any(self.entities[e]["name_key"] == USER for e in entity_ids if e in self.entities)

    def shown(self, edge: EdgeRow) -> str:
        """A fact as people read it."""
        said = edge["value"] if edge["object_id"] is None else self._name(edge["object_id"])
        said = f"{edge['attribute']}: {said}" if edge["relation"] == "has_attribute" else said
        return f"{self._name(edge['subject_id'])} {'not ' if edge['polarity'] < 0 else ''}{edge['relation']} {said}"

    def _keys(self, edge: EdgeRow) -> set[FactKey]:
        subjects = self.names(self.group(edge["subject_id"]))
        return {
            fact_key(subject, other, name, edge["attribute"], edge["polarity"])
            for subject, (other, name) in product(subjects, sorted(self._said(edge)))
        }

    def _said(self, edge: EdgeRow) -> set[tuple[str, str]]:
        """Relation and object of what may have been extracted as the fact."""
        objects = [edge["value"]] if edge["object_id"] is None else self.names(self.group(edge["object_id"]))
        # A move between services was read as one of house, and claims keep what was read.
        relation = edge["relation"]
        relations = (relation, HOME) if relation == SERVICE else (relation,)
        said = {(other, name or "") for other, name in product(relations, objects)}
        if edge["object_id"] is not None and edge["polarity"] == 1:
            # So was what told the fact again in another relation.
            said |= {again for name in objects for again in also_said(relation, name or "")}
        return said

    def _name(self, entity_id: str) -> str:
        row = self.entities.get(self._read_by(entity_id)) or self.entities.get(entity_id)
        return row["canonical_name"] if row else entity_id

    def _read_by(self, entity_id: str) -> str:
        seen = set()
        while entity_id in self.entities and entity_id not in seen:
            seen.add(entity_id)
            into = self.entities[entity_id]["merged_into"]
            if into is None:
                break
            entity_id = into
        return entity_id


def _names(row: EntityRow) -> list[str]:
    return [row["canonical_name"], *row["aliases"]]


def _newest(store: Store, table: Table, user_id: str) -> list[dict[str, Any]]:
    day = store.lake.latest(table, date.max)
    if day is None:
        return []
    rows = store.lake.read(table, day)
    return list(rows_of(rows.filter(pc.equal(rows["user_id"], user_id))))
