"""Inference by rules: the joins give what loops give, and every bound holds on any graph."""

from datetime import date
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from em_pipelines.lifecycle.inference.infer import infer
from em_pipelines.lifecycle.inference.rules import Rule, parse_rules, rules_of
from em_pipelines.lifecycle.inference.settings import InferenceSettings
from em_pipelines.schema.ids import content_id
from em_pipelines.schema.tables.derived import INFERRED_EDGES
from em_pipelines.storage.duckdb_engine import connect
from em_pipelines.storage.parquet_files import canonical
from tests.lifecycle.inference.oracle import are_equal, edge, entity, expected, on_cycles, said_of, tables

CONNECTION = connect()
SHIPPED = rules_of(InferenceSettings())
SOME = settings(max_examples=10, suppress_health_check=[HealthCheck.too_slow])
FEW = settings(max_examples=3, suppress_health_check=[HealthCheck.too_slow])
CROWD = tuple(f"user{n}" for n in range(40))
"""Users are worlds apart, so that one call tries many graphs."""
LARGE_CROWD = tuple(f"user{n}" for n in range(140))
"""A call takes 0.2 s for one user and 0.3 s for these, most of it for planning its joins."""

PEOPLE, PLACES, THINGS = ("user", "ann", "bob", "cleo", "bobby"), ("oslo", "norway", "europe"), ("acme", "em", "duckdb")
TYPES = {
    **dict.fromkeys(PEOPLE, "person"), **dict.fromkeys(PLACES, "place"),
    "acme": "organization", "em": "project", "duckdb": "tool",
}  # fmt: skip
ENDS = {
    **dict.fromkeys(
        ("spouse_of", "sibling_of", "parent_of", "child_of", "reports_to", "manages", "relates_to"), (PEOPLE, PEOPLE)
    ),
    "lives_in": (PEOPLE, PLACES), "located_in": ((*PLACES, "acme"), PLACES), "part_of": (PLACES, PLACES),
    "has_part": (PLACES, PLACES), "works_at": (PEOPLE, ("acme",)), "works_on": (PEOPLE, ("em",)),
    "uses": ((*PEOPLE, "em"), ("duckdb",)),
}  # fmt: skip
FLAWS: list[dict[str, Any]] = [
    *({"status": status} for status in ("contradicted", "superseded", "retracted", "expired", "archived")),
    {"polarity": -1}, {"flags": ["hypothetical"]}, {"privacy_level": "L4"}, {"privacy_level": "L3"},
    {"valid_to": date(2026, 1, 2)}, {"valid_to": date(2026, 1, 3)},
]  # fmt: skip


def world_of(seed: int, users: tuple[str, ...] = ("ada", "ben")) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Edges and entities of users with the same names; bobby may be one with bob."""
    rng = Random(seed)
    edges, entities = [], []
    for user in users:
        merged = f"{user}-bob" if rng.random() < 0.5 else None
        entities += [
            entity(f"{user}-{name}", kind, user, merged_into=merged if name == "bobby" else None)
            for name, kind in TYPES.items()
        ]
        for n in range(rng.randint(6, 14)):
            relation = rng.choice(sorted(ENDS))
            subjects, objects = ENDS[relation]
            row = edge(
                f"{user}-{rng.choice(subjects)}", relation, f"{user}-{rng.choice(objects)}", rng.randint(35, 100) / 100,
                user_id=user, edge_id=f"{rng.randint(0, 9)}-{user}-{n}",
            )  # fmt: skip
            if rng.random() < 0.25:
                row |= rng.choice(FLAWS)
            edges.append(row)
    return edges, entities


crowds = st.integers(0, 2**32).map(lambda seed: world_of(seed, CROWD))
seeds = st.integers(0, 2**32)


def run(
    edges: list[dict[str, Any]], entities: list[dict[str, Any]], rules: tuple[Rule, ...] = SHIPPED, **changes: Any
) -> pa.Table:
    return infer(*tables(edges, entities), rules, InferenceSettings(**changes), CONNECTION)


def facts(inferred: pa.Table) -> dict[tuple[str, str, str], str]:
    """(subject, relation, object) → rule."""
    return {(r["subject_id"], r["relation"], r["object_id"]): r["rule_id"] for r in inferred.to_pylist()}


@SOME
@given(crowds, st.sampled_from([1, 2, 50]), st.sampled_from([1, 2, 3]))
def test_the_joins_give_what_loops_give(world: Any, max_fan_out: int, max_hops: int) -> None:
    edges, entities = world
    found = run(edges, entities, max_fan_out=max_fan_out, max_hops=max_hops)
    wanted = expected(edges, entities, SHIPPED, InferenceSettings(max_fan_out=max_fan_out, max_hops=max_hops))
    assert are_equal(said_of(found), wanted), (said_of(found), wanted)


@pytest.mark.slow
@FEW
@given(seeds)
def test_every_bound_holds(seed: int) -> None:
    edges, entities = world_of(seed, LARGE_CROWD)
    found = run(edges, entities)
    by_id = {row["edge_id"]: row for row in edges}
    for row in found.to_pylist():
        premises = [by_id[premise] for premise in row["premises"]]
        support = 1.0
        for premise in premises:
            support *= premise["effective_confidence"]
            assert premise["user_id"] == row["user_id"]
            assert (premise["status"], premise["polarity"]) == ("active", 1)
            assert premise["privacy_level"] != "L4"
            assert "hypothetical" not in premise["flags"]
        assert row["confidence"] == pytest.approx(min(0.60, support * 0.8))
        assert 1 <= row["hops"] == len(set(row["premises"])) <= 3
        assert row["subject_id"] != row["object_id"]
        assert row["edge_id"] == content_id(
            "inferred", row["user_id"], row["subject_id"], row["relation"], row["object_id"]
        )
        assert row["privacy_level"] == max(premise["privacy_level"] for premise in premises)
    assert canonical(INFERRED_EDGES, found).num_rows == len(set(found["edge_id"].to_pylist()))


@pytest.mark.slow
@FEW
@given(seeds)
def test_no_conclusion_comes_round_to_itself(seed: int) -> None:
    edges, entities = world_of(seed, LARGE_CROWD)
    roots = {row["entity_id"]: row["merged_into"] or row["entity_id"] for row in entities}
    known = {
        (roots[row["subject_id"]], row["relation"], roots[row["object_id"]])
        for row in edges
        if row["status"] in {"active", "contradicted"} and row["polarity"] == 1
    }
    inferred = set(facts(run(edges, entities)))
    assert not on_cycles(known | inferred, inferred)


@pytest.mark.slow
@FEW
@given(seeds)
def test_what_is_retracted_grounds_nothing_and_does_not_come_back(seed: int) -> None:
    edges, entities = world_of(seed, LARGE_CROWD)
    rng = Random(seed)
    premises: dict[str, set[str]] = {}
    for row in run(edges, entities).to_pylist():
        premises.setdefault(row["user_id"], set()).update(row["premises"])
    gone = {rng.choice(sorted(own)) for own in premises.values()}  # one of each user
    assert len(gone) > len(LARGE_CROWD) / 2
    after = run([{**row, "status": "retracted"} if row["edge_id"] in gone else row for row in edges], entities)
    assert not gone & {premise for row in after["premises"].to_pylist() for premise in row}
    roots = {row["entity_id"]: row["merged_into"] or row["entity_id"] for row in entities}
    retracted = {
        (roots[row["subject_id"]], row["relation"], roots[row["object_id"]]) for row in edges if row["edge_id"] in gone
    }
    assert not retracted & facts(after).keys()


@pytest.mark.slow
@FEW
@given(seeds)
def test_the_order_of_rows_changes_nothing(seed: int) -> None:
    edges, entities = world_of(seed, LARGE_CROWD)
    rng = Random(seed)
    shuffled = [list(rows) for rows in (edges, entities)]
    for rows in shuffled:
        rng.shuffle(rows)
    assert canonical(INFERRED_EDGES, run(edges, entities)).equals(canonical(INFERRED_EDGES, run(*shuffled)))


@pytest.mark.slow
@FEW
@given(seeds)
def test_no_user_meets_another(seed: int) -> None:
    edges, entities = world_of(seed, LARGE_CROWD)
    rng = Random(seed)
    some = {user for user in LARGE_CROWD if rng.random() < 0.5}
    apart = [
        said_of(run(*([row for row in rows if (row["user_id"] in some) is is_of_some] for rows in (edges, entities))))
        for is_of_some in (True, False)
    ]
    assert said_of(run(edges, entities)) == apart[0] | apart[1]


def people(*names: str) -> list[dict[str, Any]]:
    return [entity(name) for name in names]


def test_a_rule_more_adds_conclusions_and_leaves_what_is_known_as_it_is() -> None:
    edges = [edge("user", "child_of", "mum"), edge("lea", "child_of", "mum")]
    known, things = tables(edges, people("user", "mum", "lea"))
    before = known.to_pylist()
    few = tuple(rule for rule in SHIPPED if rule.rule_id == "inverse")
    less = facts(infer(known, things, few, InferenceSettings(), CONNECTION))
    more = facts(infer(known, things, SHIPPED, InferenceSettings(), CONNECTION))
    assert less.items() <= more.items()
    assert len(more) > len(less)
    assert known.to_pylist() == before


def test_the_surest_derivation_stands_and_among_equals_the_first_by_name() -> None:
    edges = [
        edge("ann", "works_at", "acme", 0.9), edge("bob", "works_at", "acme", 0.8),
        edge("ann", "reports_to", "eva", 0.8), edge("bob", "reports_to", "eva", 0.9),
    ]  # fmt: skip
    things = [*people("ann", "bob", "eva"), entity("acme", "organization")]
    assert facts(run(edges, things))["ann", "colleague_of", "bob"] == "colleague-by-employer"
    edges[2]["effective_confidence"] = 0.9
    assert facts(run(edges, things))["ann", "colleague_of", "bob"] == "colleague-by-manager"


def test_cousins_are_three_facts_apart() -> None:
    edges = [edge("mum", "parent_of", "user", 0.8), edge("mum", "sibling_of", "eva"), edge("eva", "parent_of", "kim")]
    found = {r["subject_id"]: r for r in run(edges, people("mum", "user", "eva", "kim")).to_pylist() if r["hops"] == 3}
    assert {(s, r["relation"], r["object_id"], r["rule_id"]) for s, r in found.items()} == {
        ("user", "relates_to", "kim", "cousin"), ("kim", "relates_to", "user", "cousin"),
    }  # fmt: skip
    row = found["user"]
    assert row["premises"] == [e["edge_id"] for e in edges]
    assert row["confidence"] == pytest.approx(0.8 * 0.9 * 0.9 * 0.8)


def test_names_of_one_thing_make_one_chain() -> None:
    edges = [edge("user", "spouse_of", "wife"), edge("ida", "parent_of", "lena")]
    apart = people("user", "wife", "lena", "ida")
    assert ("user", "relates_to", "ida") not in facts(run(edges, apart))
    joined = [*people("user", "lena", "ida"), entity("wife", merged_into="lena")]
    found = facts(run(edges, joined))
    assert found["user", "relates_to", "ida"] == "parent-in-law"
    assert found["lena", "spouse_of", "user"] == "symmetric"


@pytest.mark.parametrize(
    "blocking",
    [
        {"status": "retracted"},
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in [
                {"polarity": -1}, {"status": "superseded"}, {"status": "archived"},
                {"status": "active", "effective_confidence": 0.2},
            ]
        ),
    ],
)  # fmt: skip
def test_of_what_was_said_inference_has_no_say(blocking: dict[str, Any]) -> None:
    edges = [edge("user", "child_of", "mum"), edge("lea", "child_of", "mum")]
    things = people("user", "lea", "mum")
    assert ("user", "sibling_of", "lea") in facts(run(edges, things))
    said = edge("user", "sibling_of", "lea", **blocking)
    found = facts(run([*edges, said], things))
    assert ("user", "sibling_of", "lea") not in found
    is_denied = blocking != {"status": "active", "effective_confidence": 0.2}
    assert (("lea", "sibling_of", "user") in found) is not is_denied, "what is denied is denied in both directions"


def test_another_value_of_a_relation_with_one_value_stands() -> None:
    edges = [edge("user", "lives_in", "porto"), edge("porto", "located_in", "portugal")]
    things = [*people("user"), *(entity(name, "place") for name in ("porto", "portugal", "berlin"))]
    assert ("user", "located_in", "portugal") in facts(run(edges, things))
    away = edge("user", "located_in", "berlin")
    assert ("user", "located_in", "portugal") not in facts(run([*edges, away], things))
    assert ("user", "located_in", "portugal") in facts(run([*edges, {**away, "status": "superseded"}], things))


def test_who_has_left_is_no_colleague() -> None:
    things = [*people("user", "bob"), entity("acme", "organization")]
    left = edge("bob", "works_at", "acme", valid_to=date(2026, 1, 1))
    begins = edge("bob", "works_at", "acme", valid_from=date(2026, 1, 5))
    for other in (left, begins, edge("bob", "works_at", "acme", temporal_type="plan")):
        assert not facts(run([edge("user", "works_at", "acme"), other], things))


def test_things_that_need_verification_ground_nothing() -> None:
    edges = [edge("user", "friend_of", "bob")]
    for hidden in ({"requires_verification": True}, {"privacy_level": "L4"}):
        assert not facts(run(edges, [entity("user"), entity("bob", **hidden)]))
        assert not facts(run([{**edges[0], **hidden}], people("user", "bob")))


def test_an_edge_whose_end_is_nowhere_is_passed_over() -> None:
    assert not facts(run([edge("user", "friend_of", "nobody")], people("user")))


def test_visiting_is_not_said_of_where_somebody_lives() -> None:
    edges = [edge("user", "attended", "pycon"), edge("pycon", "located_in", "porto")]
    things = [entity("user"), entity("pycon", "event"), entity("porto", "place")]
    assert ("user", "visited", "porto") in facts(run(edges, things))
    assert ("user", "visited", "porto") not in facts(run([*edges, edge("user", "lives_in", "porto")], things))


def test_a_crowd_at_one_employer_makes_no_pairs() -> None:
    things = [*people(*(f"p{n}" for n in range(6))), entity("acme", "organization")]
    edges = [edge(f"p{n}", "works_at", "acme") for n in range(6)]
    assert len(facts(run(edges, things, max_fan_out=6))) == 30
    assert not facts(run(edges, things, max_fan_out=5))


def test_a_rule_of_stated_facts_alone_builds_on_no_conclusion() -> None:
    text = """rules:
    - {id: step, about: x, when: [a part_of b, b part_of c], then: a part_of c}
    - {id: last, about: x, when: [a part_of b, b uses c], then: a uses c, stated_only: true}"""
    things = [entity(name, "project") for name in "abcd"]
    edges = [edge("a", "part_of", "b"), edge("b", "part_of", "c"), edge("c", "uses", "d")]
    assert facts(run(edges, things, parse_rules(text))) == {("a", "part_of", "c"): "step", ("b", "uses", "d"): "last"}


def test_nothing_follows_where_inference_is_off_or_nothing_is_known() -> None:
    edges, things = [edge("user", "friend_of", "bob")], people("user", "bob")
    assert run(edges, things, is_enabled=False).num_rows == 0
    assert run([], things).schema == INFERRED_EDGES.schema
    assert run(edges, things, ()).num_rows == 0


@pytest.mark.slow
def test_a_long_chain_of_parts_is_searched_for_cycles_without_end() -> None:
    things = [entity(f"place{n}", "place") for n in range(3000)]
    edges = [edge(f"place{n}", "part_of", f"place{(n + 1) % 3000}") for n in range(3000)]
    assert not facts(run(edges, things)), "a stated circle grounds nothing that would close it"
    assert len(facts(run(edges[:-1], things))) == 2998 + 2997 + 2999 + 2998 + 2997
