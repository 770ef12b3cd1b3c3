"""What every graph store has to do: the same tests for the one in memory and the one behind Bolt."""

import pytest

from em_pipelines.serving.projection.graph_store import Sums, checksum
from em_pipelines.serving.projection.shapes import (
    EDGE_PROPERTIES,
    ENTITY,
    NODE_PROPERTIES,
    VALUE,
    EdgeKind,
    user_key,
)

LIKES = EdgeKind("likes", ENTITY)
AGE = EdgeKind("has_age", VALUE)
LARGEST = 2**62 - 1
"""The largest digest of a row, as sql/macros.sql makes it."""
HOSTILE = [
    'it\'s "quoted" \\\' \\" `ticked`',
    "'}) MATCH (n) DETACH DELETE n //",
    "$rows {key: 1} -[:LIKES]-> ",
    "nul \x00 and bell \x07",
    "../../etc/passwd",
    "😀 \u202e reversed \u2028",
    "x" * 10_240,
    " ",
]


def node(key: str, user: str = "ada", label: str = ENTITY, **changes: object) -> list[object]:
    """A row of a node; what is not named is null."""
    properties = {"key": key, "user_id": user, "user_key": user_key(user), "digest": 7, **changes}
    return [properties.get(name) for name in NODE_PROPERTIES[label]]


def edge(source: str, target: str, edge_id: str, user: str = "ada", **changes: object) -> list[object]:
    """A row of a relationship."""
    properties = {"user_id": user, "digest": 5, **changes}
    return [source, target, edge_id, *(properties.get(name) for name in EDGE_PROPERTIES)]


def held_nodes(graph, *users: str) -> list[tuple[str, str, int]]:
    return sorted(tuple(row.values()) for row in graph.nodes_of(users or ("ada",)).to_pylist())


def held_edges(graph, *users: str) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in graph.edges_of(users or ("ada",)).to_pylist())


def test_an_empty_store_holds_nothing_of_anybody(graph) -> None:
    assert graph.sums() == {}
    assert (held_nodes(graph), held_edges(graph)) == ([], [])
    assert graph.nodes_of([]).num_rows == graph.edges_of([]).num_rows == 0


def test_preparing_twice_is_preparing_once(graph) -> None:
    graph.prepare()
    graph.put_nodes(ENTITY, [node("a")])
    graph.prepare()
    assert held_nodes(graph) == [(ENTITY, "a", 7)]


def test_nodes_and_relationships_are_listed_with_digests_and_real_ends(graph) -> None:
    graph.put_nodes(ENTITY, [node("a", digest=1), node("b", digest=LARGEST)])
    graph.put_nodes(VALUE, [node("v", label=VALUE, digest=3)])
    graph.put_edges(LIKES, [edge("a", "b", "e1", digest=LARGEST), edge("a", "a", "e2", digest=2)])
    graph.put_edges(AGE, [edge("a", "v", "e3", digest=4)])
    assert held_nodes(graph) == [(ENTITY, "a", 1), (ENTITY, "b", LARGEST), (VALUE, "v", 3)]
    assert held_edges(graph) == [
        ("has_age", VALUE, "a", "v", "e3", 4), ("likes", ENTITY, "a", "a", "e2", 2),
        ("likes", ENTITY, "a", "b", "e1", LARGEST),
    ]  # fmt: skip
    assert graph.sums() == {"ada": Sums(3, 3, 4 + LARGEST, 6 + LARGEST)}


def test_writing_again_changes_and_never_doubles(graph) -> None:
    graph.put_nodes(ENTITY, [node("a", name="Ada"), node("b")])
    graph.put_edges(LIKES, [edge("a", "b", "e1", status="active")])
    graph.put_nodes(ENTITY, [node("a", digest=8), node("b")])
    graph.put_edges(LIKES, [edge("a", "b", "e1", digest=9)])
    assert held_nodes(graph) == [(ENTITY, "a", 8), (ENTITY, "b", 7)]
    assert held_edges(graph) == [("likes", ENTITY, "a", "b", "e1", 9)]


def test_sums_of_many_large_digests_are_exact(graph) -> None:
    rows = [node(f"k{number}", digest=LARGEST - number) for number in range(3_000)]
    graph.put_nodes(ENTITY, rows)
    assert graph.sums() == {"ada": Sums(3_000, 0, sum(LARGEST - number for number in range(3_000)), 0)}


def test_a_relationship_needs_both_ends(graph) -> None:
    graph.put_nodes(ENTITY, [node("a")])
    graph.put_edges(LIKES, [edge("a", "nobody", "e1"), edge("nobody", "a", "e2")])
    graph.put_edges(AGE, [edge("a", "a", "e3")])
    assert held_edges(graph) == []


def test_one_edge_id_between_two_pairs_is_two_relationships_and_each_can_go(graph) -> None:
    graph.put_nodes(ENTITY, [node(key) for key in "abc"])
    graph.put_edges(LIKES, [edge("a", "b", "e1"), edge("a", "c", "e1")])
    graph.drop_edges(LIKES, [("a", "b", "e1")])
    assert held_edges(graph) == [("likes", ENTITY, "a", "c", "e1", 5)]


def test_a_node_goes_with_its_relationships_and_nothing_else(graph) -> None:
    graph.put_nodes(ENTITY, [node(key) for key in "abc"])
    graph.put_nodes(VALUE, [node("a", label=VALUE)])
    graph.put_edges(LIKES, [edge("a", "b", "e1"), edge("b", "c", "e2"), edge("c", "a", "e3")])
    graph.put_edges(AGE, [edge("c", "a", "e4")])
    graph.drop_nodes(ENTITY, ["a"])
    assert held_nodes(graph) == [(ENTITY, "b", 7), (ENTITY, "c", 7), (VALUE, "a", 7)]
    assert held_edges(graph) == [("has_age", VALUE, "c", "a", "e4", 5), ("likes", ENTITY, "b", "c", "e2", 5)]
    graph.drop_nodes(VALUE, ["a"])
    assert held_edges(graph) == [("likes", ENTITY, "b", "c", "e2", 5)]


def test_removing_what_is_not_there_is_no_error(graph) -> None:
    graph.drop_nodes(ENTITY, ["nobody"])
    graph.drop_edges(LIKES, [("a", "b", "e1")])
    assert graph.sums() == {}


def test_empty_batches_are_no_error(graph) -> None:
    graph.put_nodes(ENTITY, [])
    graph.put_edges(LIKES, [])
    graph.drop_nodes(ENTITY, [])
    graph.drop_edges(LIKES, [])
    assert graph.sums() == {}


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_whatever_a_user_is_called_or_says_is_data(graph, text: str) -> None:
    graph.put_nodes(ENTITY, [node("other", "bob")])
    graph.put_nodes(ENTITY, [node("a", text, name=text, name_key=text[:200], aliases=[text, text])])
    graph.put_nodes(VALUE, [node("v", text, VALUE, text=text, kind=text)])
    graph.put_edges(AGE, [edge("a", "v", text[:200], text, attribute=text, over=text, said_in=[text], flags=[])])
    assert graph.sums() == {"bob": Sums(1, 0, 7, 0), text: Sums(2, 1, 14, 5)}
    assert held_nodes(graph, text) == [(ENTITY, "a", 7), (VALUE, "v", 7)]
    assert held_edges(graph, text) == [("has_age", VALUE, "a", "v", text[:200], 5)]
    graph.drop_edges(AGE, [("a", "v", text[:200])])
    graph.drop_nodes(ENTITY, ["a"])
    assert graph.sums() == {"bob": Sums(1, 0, 7, 0), text: Sums(1, 0, 7, 0)}


def test_users_are_listed_and_summed_apart(graph) -> None:
    graph.put_nodes(ENTITY, [node("a1"), node("a2"), node("b1", "bob"), node("b2", "bob")])
    graph.put_edges(LIKES, [edge("a1", "a2", "e"), edge("b1", "b2", "e", "bob", digest=6)])
    assert [row[1] for row in held_nodes(graph)] == ["a1", "a2"]
    assert [row[1] for row in held_nodes(graph, "bob")] == ["b1", "b2"]
    assert held_edges(graph, "bob") == [("likes", ENTITY, "b1", "b2", "e", 6)]
    assert len(held_nodes(graph, "ada", "bob")) == 4
    graph.drop_edges(LIKES, [("a1", "a2", "e")])
    assert graph.sums() == {"ada": Sums(2, 0, 14, 0), "bob": Sums(2, 1, 14, 6)}


def test_a_checksum_depends_on_content_and_not_on_order() -> None:
    one, other = Sums(1, 2, 3, 4), Sums(5, 6, 7, 8)
    assert checksum({"a": one, "b": other}) == checksum({"b": other, "a": one})
    assert len({checksum(s) for s in ({}, {"a": one}, {"b": one}, {"a": other}, {"a": one, "b": other})}) == 5


def test_statements_are_made_of_the_vocabulary_alone() -> None:
    for relation, target in (("likes]->() DETACH", ENTITY), ("likes", "Entity) DELETE"), ("LIKES", ENTITY), ("", "")):
        with pytest.raises(ValueError, match="not in the vocabulary"):
            EdgeKind(relation, target)
