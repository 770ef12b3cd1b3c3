"""Inference once more, as loops over dicts: what the joins are measured against. Also rows to try it on."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import product
from math import isclose
from typing import Any

import pyarrow as pa

from em_pipelines.lifecycle.inference.rules import Rule
from em_pipelines.lifecycle.inference.settings import InferenceSettings
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.schema.vocabulary import FUNCTIONAL, SYMMETRIC

SAID = datetime(2026, 1, 1, 9, tzinfo=UTC)
AS_OF = date(2026, 1, 2)
INVERSES = {"parent_of": "child_of", "part_of": "has_part", "manages": "reports_to"}
INVERSES |= {inverse: relation for relation, inverse in INVERSES.items()}
UPRIGHT = {
    "part_of": 1,
    "has_part": -1,
    "parent_of": 1,
    "child_of": -1,
    "reports_to": 1,
    "manages": -1,
    "located_in": 1,
}

Triple = tuple[str, str, str]


def entity(entity_id: str, entity_type: str = "person", user: str = "ada", **changes: object) -> dict[str, object]:
    """A row of entities."""
    return {
        "entity_id": entity_id, "user_id": user, "canonical_name": entity_id, "name_key": entity_id, "aliases": [],
        "alias_keys": [], "entity_type": entity_type, "first_seen": SAID, "last_referenced": SAID, "mention_count": 1,
        "importance": 0.0, "certainty": 1.0, "privacy_level": "L2", "requires_verification": False, "qualifiers": [],
        "distinct_from": [],
        "links": [], "discriminator": "", "status": "merged" if changes.get("merged_into") else "active", **changes,
    }  # fmt: skip


def edge(subject: str, relation: str, object_: str, confidence: float = 0.9, **changes: object) -> dict[str, object]:
    """A row of current_edges; its id says what it says unless one is given."""
    return {
        "edge_id": f"{subject} {relation} {object_}", "user_id": "ada", "subject_id": subject, "relation": relation,
        "object_id": object_, "object_key": object_, "spell": 1, "polarity": 1, "temporal_type": "state",
        "learned_at": SAID, "last_reinforced": SAID, "confidence": confidence, "reinforcement_count": 0,
        "hedge_level": "none", "source_mechanism": "explicit", "flags": [], "context_tags": [], "privacy_level": "L2",
        "requires_verification": False, "has_pasted_source": False, "status": "active", "provenance": [],
        "effective_confidence": confidence, "as_of": AS_OF, **changes,
    }  # fmt: skip


def tables(edges: Iterable[dict[str, Any]], entities: Iterable[dict[str, Any]]) -> tuple[pa.Table, pa.Table]:
    """The rows as tables."""
    return CURRENT_EDGES.from_rows(list(edges)), ENTITIES.from_rows(list(entities))


@dataclass(frozen=True)
class Fact:
    """A stated or inferred fact, by the entities its names are read by."""

    triple: Triple
    support: float
    rule_id: str
    premises: tuple[str, ...]
    origin: str

    @property
    def rank(self) -> tuple[float, str, tuple[str, ...]]:
        return -self.support, self.rule_id, self.premises


class Oracle:
    """What follows for one user."""

    def __init__(
        self, edges: list[dict[str, Any]], entities: list[dict[str, Any]], rules: Sequence[Rule],
        settings: InferenceSettings,
    ) -> None:  # fmt: skip
        self.rules = rules
        self.settings = settings
        self.by_id = {row["entity_id"]: row for row in entities}
        self.asserted = [row for row in edges if row["object_id"] and self._ends(row)]
        self.levels: dict[int, dict[Triple, Fact]] = {1: {}, 2: {}, 3: {}}
        for row in self.asserted:
            fact = Fact(self._triple(row), row["effective_confidence"], "", (row["edge_id"],), "stated")
            if self._is_premise(row):
                self._keep(self.levels[1], fact)

    def infer(self) -> dict[Triple, Fact]:
        for hops in range(1, self.settings.max_hops + 1):
            if hops > 1:
                self._settle(hops, self._chains(hops))
            self._settle(hops, self._restatements(hops))
        found: dict[Triple, Fact] = {}
        for level in self.levels.values():
            for fact in level.values():
                if fact.origin != "stated":
                    self._keep(found, fact)
        return found

    def _root(self, entity_id: str) -> dict[str, Any]:
        row = self.by_id[entity_id]
        return self.by_id[row["merged_into"] or entity_id]

    def _ends(self, row: dict[str, Any]) -> bool:
        return row["subject_id"] in self.by_id and row["object_id"] in self.by_id

    def _triple(self, row: dict[str, Any]) -> Triple:
        return self._root(row["subject_id"])["entity_id"], row["relation"], self._root(row["object_id"])["entity_id"]

    def _is_premise(self, row: dict[str, Any]) -> bool:
        ends = [self.by_id[row["subject_id"]], self.by_id[row["object_id"]]]
        ends += [self._root(row["subject_id"]), self._root(row["object_id"])]
        subject, _, object_ = self._triple(row)
        return (
            row["status"] == "active"
            and row["polarity"] == 1
            and row["effective_confidence"] >= self.settings.min_premise_confidence
            and "hypothetical" not in row["flags"]
            and row["temporal_type"] not in {"wish", "plan"}
            and all(r["privacy_level"] != "L4" and not r["requires_verification"] for r in (row, *ends))
            and (row.get("valid_from") is None or row["valid_from"] <= row["as_of"])
            and (row.get("valid_to") is None or row["valid_to"] > row["as_of"])
            and subject != object_
        )

    @staticmethod
    def _keep(level: dict[Triple, Fact], fact: Fact) -> None:
        known = level.get(fact.triple)
        if known is None or fact.rank < known.rank:
            level[fact.triple] = fact

    def _chains(self, hops: int) -> Iterable[tuple[Rule, tuple[str, ...], Fact]]:
        shares = [s for n in (2, 3) for s in product(range(1, hops), repeat=n) if sum(s) == hops]
        known = [fact for n in range(1, hops) for fact in self.levels[n].values()]
        fan: dict[tuple[str, str, str], int] = {}
        for fact in known:
            subject, relation, object_ = fact.triple
            for end, node in (("s", subject), ("o", object_)):
                fan[relation, end, node] = fan.get((relation, end, node), 0) + 1
        for rule in self.rules:
            for share in shares:
                if len(share) != len(rule.path) or (rule.is_stated_only and hops != len(rule.path)):
                    continue
                yield from self._walks(rule, share, fan)

    def _walks(
        self, rule: Rule, share: tuple[int, ...], fan: dict[tuple[str, str, str], int]
    ) -> Iterable[tuple[Rule, tuple[str, ...], Fact]]:
        limit = self.settings.max_fan_out
        for chosen in product(*(self.levels[n].values() for n in share)):
            places: list[str] = []
            hub_before = False
            for walk, fact in zip(rule.path, chosen, strict=True):
                subject, relation, object_ = fact.triple
                start, goal = (object_, subject) if walk.is_reversed else (subject, object_)
                start_end, goal_end = ("o", "s") if walk.is_reversed else ("s", "o")
                is_hub = fan[relation, start_end, start] > limit
                if relation not in walk.relations or (places and (places[-1] != start or (hub_before and is_hub))):
                    break
                places = [*(places or [start]), goal]
                hub_before = fan[relation, goal_end, goal] > limit
            premises = tuple(p for fact in chosen for p in fact.premises)
            if len(places) != len(rule.path) + 1 or len(set(places)) != len(places):
                continue
            if len(set(premises)) == len(premises):
                support = chosen[0].support
                for fact in chosen[1:]:
                    support = round(support * fact.support, 12)
                yield rule, tuple(places), self._conclusion(rule, places, chosen[0], support, premises, "chain")

    def _restatements(self, hops: int) -> Iterable[tuple[Rule, tuple[str, ...], Fact]]:
        for rule in self.rules:
            for fact in list(self.levels[hops].values()):
                subject, relation, object_ = fact.triple
                if len(rule.path) != 1 or relation not in rule.path[0].relations or fact.origin == "restatement":
                    continue
                if rule.is_stated_only and fact.origin != "stated":
                    continue
                places = (object_, subject) if rule.path[0].is_reversed else (subject, object_)
                made = self._conclusion(rule, places, fact, fact.support, fact.premises, "restatement")
                yield rule, places, made

    @staticmethod
    def _conclusion(
        rule: Rule, places: Sequence[str], first: Fact, support: float, premises: tuple[str, ...], origin: str
    ) -> Fact:
        triple = (places[rule.subject], rule.conclusion_of(first.triple[1]), places[rule.object])
        return Fact(triple, support, rule.rule_id, premises, origin)

    def _settle(self, hops: int, concluded: Iterable[tuple[Rule, tuple[str, ...], Fact]]) -> None:
        found: dict[Triple, Fact] = {}
        for rule, places, fact in concluded:
            if self._may_stand(rule, places, fact):
                self._keep(found, fact)
        values: dict[tuple[str, str], Fact] = {}
        for fact in found.values():
            subject, relation, _ = fact.triple
            if relation in FUNCTIONAL:
                known = values.get((subject, relation))
                values[subject, relation] = fact if known is None or fact.rank < known.rank else known
        found = {
            triple: fact
            for triple, fact in found.items()
            if (triple[1] not in FUNCTIONAL or values[triple[0], triple[1]] is fact) and triple not in self.levels[hops]
        }
        for triple in self._on_cycles(found):
            del found[triple]
        self.levels[hops].update(found)

    def _may_stand(self, rule: Rule, places: tuple[str, ...], fact: Fact) -> bool:
        subject, relation, object_ = fact.triple
        if subject == object_ or fact.support * self.settings.factor < self.settings.min_confidence:
            return False
        kinds = [self.by_id[place]["entity_type"] for place in places]
        if any(allowed is not None and kind not in allowed for kind, allowed in zip(kinds, rule.types, strict=True)):
            return False
        if rule.unless and (places[rule.unless[1]], rule.unless[0], places[rule.unless[2]]) in self._held():
            return False
        if fact.triple in self._spoken():
            return False
        others = {t[2] for n in self.levels.values() for t, f in n.items() if t[:2] == (subject, relation)
                  and f.origin != "stated"}  # fmt: skip
        return relation not in FUNCTIONAL or not (others - {object_} or self._is_taken(subject, relation))

    @staticmethod
    def _other_way(triple: Triple) -> Triple | None:
        subject, relation, object_ = triple
        other = relation if relation in SYMMETRIC else INVERSES.get(relation)
        return (object_, other, subject) if other else None

    def _held(self) -> set[Triple]:
        said = {
            self._triple(row)
            for row in self.asserted
            if row["polarity"] == 1 and row["status"] in {"active", "contradicted"}
        }
        return said | {other for triple in said if (other := self._other_way(triple))}

    def _spoken(self) -> set[Triple]:
        said = {self._triple(row) for row in self.asserted}
        stands = {self._triple(row) for row in self.asserted if row["polarity"] == 1 and row["status"] == "active"}
        return said | {other for triple in said - stands if (other := self._other_way(triple))}

    def _is_taken(self, subject: str, relation: str) -> bool:
        return any(
            self._triple(row)[:2] == (subject, relation)
            and row["polarity"] == 1
            and row["status"] not in {"superseded", "retracted"}
            for row in self.asserted
        )

    def _on_cycles(self, found: dict[Triple, Fact]) -> list[Triple]:
        inferred = {t for level in self.levels.values() for t, f in level.items() if f.origin != "stated"}
        return on_cycles(self._held() | inferred | set(found), found)


def on_cycles(triples: Iterable[Triple], asked: Iterable[Triple]) -> list[Triple]:
    """Those of `asked` that lie on a cycle of all of them, in relations in which nothing comes round to itself."""
    onward: dict[tuple[str, str], set[tuple[str, str]]] = {}
    for triple in triples:
        if (arc := _arc(triple)) is not None:
            onward.setdefault(arc[0], set()).add(arc[1])
    return [t for t in asked if (arc := _arc(t)) and arc[0] in _reached(onward, arc[1])]


def _reached(onward: dict[tuple[str, str], set[tuple[str, str]]], start: tuple[str, str]) -> set[tuple[str, str]]:
    reached, waiting = {start}, [start]
    while waiting:
        new = onward.get(waiting.pop(), set()) - reached
        reached |= new
        waiting += new
    return reached


def _arc(triple: Triple) -> tuple[tuple[str, str], tuple[str, str]] | None:
    subject, relation, object_ = triple
    if relation not in UPRIGHT:
        return None
    name = relation if UPRIGHT[relation] > 0 else INVERSES[relation]
    start, goal = (subject, object_) if UPRIGHT[relation] > 0 else (object_, subject)
    return (name, start), (name, goal)


def expected(
    edges: list[dict[str, Any]], entities: list[dict[str, Any]], rules: Sequence[Rule], settings: InferenceSettings
) -> dict[tuple[str, ...], tuple[float, str, tuple[str, ...]]]:
    """(user, subject, relation, object) → (confidence, rule, premises), each user by himself."""
    found = {}
    for user in {row["user_id"] for row in edges}:
        own = [[row for row in rows if row["user_id"] == user] for rows in (edges, entities)]
        for triple, fact in Oracle(own[0], own[1], rules, settings).infer().items():
            confidence = min(settings.max_confidence, round(fact.support * settings.factor, 12))
            found[(user, *triple)] = (confidence, fact.rule_id, fact.premises)
    return found


def said_of(inferred: pa.Table) -> dict[tuple[str, ...], tuple[float, str, tuple[str, ...]]]:
    """The rows of inferred_edges in the form of `expected`."""
    return {
        (row["user_id"], row["subject_id"], row["relation"], row["object_id"]): (
            row["confidence"], row["rule_id"], tuple(row["premises"]),
        )
        for row in inferred.to_pylist()
    }  # fmt: skip


def are_equal(
    found: dict[tuple[str, ...], tuple[float, str, tuple[str, ...]]],
    wanted: dict[tuple[str, ...], tuple[float, str, tuple[str, ...]]],
) -> bool:
    """Whether both say the same, confidences within 1e-9."""
    return found.keys() == wanted.keys() and all(
        found[key][1:] == wanted[key][1:] and isclose(found[key][0], wanted[key][0], abs_tol=1e-9) for key in wanted
    )
