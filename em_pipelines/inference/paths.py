"""Rules as tables for the joins: one row a rule and choice of relations, and what the vocabulary says of relations."""

from collections.abc import Sequence
from itertools import product

import pyarrow as pa

from em_pipelines.inference.rules import BOTH_WAYS, Rule
from em_pipelines.inference.settings import MAX_HOPS
from em_pipelines.vocabulary import FUNCTIONAL, INVERSES, RELATIONS, SYMMETRIC, USUAL_TEMPORAL_TYPE, TemporalType

ACYCLIC = frozenset({"part_of", "parent_of", "located_in", "reports_to"})
"""Relations in which nothing comes round to itself; their inverses come with them."""

PATHS = pa.schema(
    [
        ("rule_id", pa.string()),
        ("n_edges", pa.int32()),
        *((f"relation_{n}", pa.string()) for n in range(1, MAX_HOPS + 1)),
        *((f"is_reversed_{n}", pa.bool_()) for n in range(1, MAX_HOPS + 1)),
        *((f"types_{n}", pa.list_(pa.string())) for n in range(MAX_HOPS + 1)),
        ("conclusion", pa.string()),
        ("subject_place", pa.int32()),
        ("object_place", pa.int32()),
        ("unless_relation", pa.string()),
        ("unless_subject_place", pa.int32()),
        ("unless_object_place", pa.int32()),
        ("is_stated_only", pa.bool_()),
    ]
)


def rule_paths(rules: Sequence[Rule]) -> pa.Table:
    """One row a rule and choice of one relation an edge."""
    rows = [
        {
            "rule_id": rule.rule_id,
            "n_edges": len(rule.path),
            **{f"relation_{n}": relation for n, relation in enumerate(chosen, 1)},
            **{f"is_reversed_{n}": walk.is_reversed for n, walk in enumerate(rule.path, 1)},
            **{f"types_{n}": None if types is None else list(types) for n, types in enumerate(rule.types)},
            "conclusion": rule.conclusion_of(chosen[0]),
            "subject_place": rule.subject,
            "object_place": rule.object,
            "unless_relation": rule.unless[0] if rule.unless else None,
            "unless_subject_place": rule.unless[1] if rule.unless else None,
            "unless_object_place": rule.unless[2] if rule.unless else None,
            "is_stated_only": rule.is_stated_only,
        }
        for rule in rules
        for chosen in product(*(walk.relations for walk in rule.path))
    ]
    return pa.Table.from_pylist(rows, schema=PATHS)


def relation_traits(rules: Sequence[Rule], *, is_all: bool = False) -> pa.Table:
    """One row a relation: how it is read the other way (null: not at all), whether it has one value, the graph in which
    it makes cycles and whether against its direction, its usual temporal type, and whether the rules have to do with
    it at all (with `is_all` each counts as such)."""
    paths = rule_paths(rules)
    columns = [f"relation_{n}" for n in range(1, MAX_HOPS + 1)] + ["conclusion", "unless_relation"]
    named = {relation for column in columns for relation in paths[column].to_pylist() if relation}
    named |= {BOTH_WAYS[relation] for relation in named if relation in BOTH_WAYS}
    upright = {inverse: relation for relation, inverse in INVERSES.items()} | {"manages": "reports_to"}
    rows = []
    for relation in sorted(RELATIONS):
        graph = relation if relation in ACYCLIC else upright.get(relation)
        rows.append(
            {
                "relation": relation,
                "other_way": relation if relation in SYMMETRIC else BOTH_WAYS.get(relation),
                "is_functional": relation in FUNCTIONAL,
                "cycle_graph": graph if graph in ACYCLIC else None,
                "is_against": relation not in ACYCLIC,
                "temporal_type": USUAL_TEMPORAL_TYPE.get(relation, TemporalType.STATE).value,
                "is_concerned": is_all or relation in named,
            }
        )
    return pa.Table.from_pylist(rows)
