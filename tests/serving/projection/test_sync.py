"""The sync: what a graph holds afterwards, how little is written for it, and what is left alone."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from em_pipelines.errors import CorruptTableError, UsageError
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.ids import entity_id
from em_pipelines.schema.tables.derived import CURRENT_EDGES
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.serving.projection import sync as module
from em_pipelines.serving.projection.desired_state import Wanted
from em_pipelines.serving.projection.graph_in_memory import InMemoryGraph
from em_pipelines.serving.projection.shapes import ENTITY, VALUE, EdgeKind, user_key
from em_pipelines.serving.projection.sync import SyncReport, project, sync
from em_pipelines.settings import load_settings
from em_pipelines.storage.duckdb_engine import connect
from tests.lifecycle.revision.worlds import SAID, World
from tests.serving.projection.test_contract import HOSTILE

SAID_ON = date(2026, 5, 4)


def wanted(world: World) -> Wanted:
    return Wanted(world.entities, world.edges, connect())


def synced(graph: Any, world: World, **options: Any) -> SyncReport:
    """One sync; the two sides have to agree afterwards."""
    report = sync(graph, wanted(world), **options)
    assert report.is_equal
    assert graph.sums() == wanted(world).sums()
    return report


def figures(report: SyncReport) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Added, changed, removed and held: nodes, relationships."""
    nodes, edges = ((t.added, t.changed, t.removed, t.held) for t in (report.nodes, report.edges))
    return nodes, edges


def small_world() -> World:
    world = World()
    world.fact("user", "likes", "Kotor", kinds="person place")
    world.fact("user", "lives_in", "Perast", kinds="person place", status="superseded")
    world.fact("user", "has_age", value="34", kinds="person")
    world.fact("Vesna", "has_age", value="34", kinds="person")
    return world


@pytest.fixture
def by_twos(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Batches and groups of next to nothing, so that a few rows are many of them."""
    monkeypatch.setattr(module, "BATCH_ROWS", 2)
    monkeypatch.setattr(module, "GROUP_ROWS", 3)
    yield


def test_the_first_sync_writes_everything_and_the_next_nothing(graph) -> None:
    assert figures(synced(graph, small_world())) == ((5, 0, 0, 5), (4, 0, 0, 4))
    heard: list[int] = []
    again = synced(graph, small_world(), on_rows=heard.append)
    assert (figures(again), again.n_users_changed, heard) == (((0, 0, 0, 5), (0, 0, 0, 4)), 0, [])


def test_only_what_differs_is_written(graph) -> None:
    world = small_world()
    synced(graph, world)
    world.edge_rows[0]["effective_confidence"] = 0.5
    world.entity_rows[entity_id("ada", "kotor")]["mention_count"] = 9
    world.fact("Vesna", "likes", "Risan", kinds="person place")
    assert figures(synced(graph, world)) == ((1, 1, 0, 6), (1, 1, 0, 5))


def test_what_is_gone_is_removed(graph) -> None:
    world = small_world()
    synced(graph, world)
    del world.edge_rows[0], world.edge_rows[-1]
    del world.entity_rows[entity_id("ada", "kotor")]
    del world.entity_rows[entity_id("ada", "vesna")]
    assert figures(synced(graph, world)) == ((0, 0, 2, 3), (0, 0, 2, 2))
    assert figures(synced(graph, World())) == ((0, 0, 3, 0), (0, 0, 2, 0))


def test_of_a_user_who_was_erased_nothing_is_left_and_others_stay(graph) -> None:
    world = small_world()
    world.fact("user", "likes", "Kotor", user="bob", kinds="person place")
    synced(graph, world)
    alone = small_world()
    report = synced(graph, alone)
    assert (report.n_users, report.n_users_changed, report.nodes.removed, report.edges.removed) == (1, 1, 2, 1)
    assert set(graph.sums()) == {"ada"}
    assert graph.nodes_of(["bob"]).num_rows == graph.edges_of(["bob"]).num_rows == 0


def test_names_that_become_one_move_their_facts_and_a_split_moves_them_back(graph) -> None:
    parted, joined = World(), World()
    for world in (parted, joined):
        for name in ("New York", "NYC"):
            world.fact("user", "visited", name, kinds="person place")
    other, kept = (joined.entity_rows[entity_id("ada", key)] for key in ("nyc", "new york"))
    other.update(merged_into=kept["entity_id"], status="merged")
    joined.edge_rows[1].update(object_id=kept["entity_id"], object_key=kept["entity_id"], status="superseded")
    synced(graph, parted)
    assert figures(synced(graph, joined)) == ((0, 1, 1, 2), (1, 0, 1, 2))
    assert len({row["target_key"] for row in graph.edges_of(["ada"]).to_pylist()}) == 1
    assert figures(synced(graph, parted)) == ((1, 1, 0, 3), (1, 0, 1, 2))


def test_two_users_with_equal_ids_do_not_meet(graph) -> None:
    world = World()
    for user, object_ in (("ada", "Kotor"), ("bob", "Perast")):
        ids = {name: world.thing(name, user=user) for name in ("user", object_)}
        world.fact("user", "likes", object_, user=user, edge_id="edge_1")
        for name, own in ids.items():
            world.entity_rows[own]["entity_id"] = f"ent_{'user' if name == 'user' else 'thing'}"
        world.edge_rows[-1].update(subject_id="ent_user", object_id="ent_thing")
    assert figures(synced(graph, world)) == ((4, 0, 0, 4), (2, 0, 0, 2))
    held = {user: graph.edges_of([user]).to_pylist() for user in ("ada", "bob")}
    assert [len(rows) for rows in held.values()] == [1, 1]
    assert held["ada"][0]["source_key"] != held["bob"][0]["source_key"]
    del world.edge_rows[0]
    synced(graph, world)
    assert [graph.edges_of([user]).num_rows for user in ("ada", "bob")] == [0, 1]


def test_whatever_names_and_ids_hold_arrives_as_it_is(graph) -> None:
    world = World()
    for number, text in enumerate(HOSTILE):
        user = text if text.strip() else "blank"
        world.fact("user", "has_attribute", user=user, kinds="person", value=text, attribute=text, over=text,
                   flags=[text], provenance=[{**SAID[0], "session_id": text}])  # fmt: skip
        world.thing(f"{number} {text}", user=user, aliases=[text])
    synced(graph, world)
    assert figures(synced(graph, world))[0][:3] == (0, 0, 0)
    assert set(graph.sums()) == {row["user_id"] for row in world.edge_rows}


@pytest.mark.usefixtures("by_twos")
def test_batches_and_groups_of_users_add_up(graph) -> None:
    world = World()
    for user in ("ada", "bob", "cem", "dee"):
        for place in ("Kotor", "Perast", "Risan"):
            world.fact("user", "likes", place, user=user, kinds="person place")
    heard: list[int] = []
    assert figures(synced(graph, world, on_rows=heard.append)) == ((16, 0, 0, 16), (12, 0, 0, 12))
    assert (sum(heard), max(heard)) == (28, 2)
    world.edge_rows = [row for row in world.edge_rows if row["user_id"] in ("ada", "cem")]
    assert figures(synced(graph, world)) == ((0, 0, 0, 16), (0, 0, 6, 6))


def test_what_may_not_be_shown_is_not_projected(graph) -> None:
    world = World()
    world.fact("user", "is_a", "admin", kinds="person concept", requires_verification=True)
    world.fact("user", "owns", "keys", kinds="person concept", privacy_level="L4")
    world.fact("user", "likes", "rumour", kinds="person concept")
    world.thing("vault", "concept", privacy_level="L4")
    world.thing("claim", "concept", requires_verification=True)
    world.entity_rows[entity_id("ada", "rumour")]["requires_verification"] = True  # a fact that is shown is about it
    assert figures(synced(graph, world)) == ((4, 0, 0, 4), (1, 0, 0, 1))


def test_a_full_sync_writes_equal_rows_too(graph) -> None:
    synced(graph, small_world())
    assert figures(synced(graph, small_world(), is_full=True)) == ((0, 5, 0, 5), (0, 4, 0, 4))


def test_a_store_that_somebody_else_changes_in_the_meantime_is_not_called_equal() -> None:
    class Meddled(InMemoryGraph):
        def drop_nodes(self, label: str, keys: Any) -> None:
            """Leaves them where they are."""

    graph = Meddled()
    synced(graph, small_world())
    report = sync(graph, wanted(World()))
    assert not report.is_equal
    assert (report.nodes.removed, report.nodes.held) == (5, 5)


def test_the_newest_state_of_a_lake_is_projected_and_one_that_was_emptied_empties_the_graph(home_path: Path) -> None:
    store, graph = Pipeline(load_settings(home=home_path)).store, InMemoryGraph()
    with pytest.raises(UsageError, match="there are no facts in this home"):
        project(store, graph)
    for table, rows in ((CURRENT_EDGES, small_world().edges), (ENTITIES, small_world().entities)):
        store.lake.write(table, date(2026, 5, 1), rows)
    report = project(store, graph)
    assert (report.as_of, report.is_equal, report.edges.held) == (date(2026, 5, 1), True, 4)
    store.lake.write(CURRENT_EDGES, date(2026, 5, 2), CURRENT_EDGES.empty())
    store.lake.write(ENTITIES, date(2026, 5, 2), ENTITIES.empty())
    report = project(store, graph)
    assert (report.as_of, report.is_equal, graph.sums()) == (date(2026, 5, 2), True, {})


def test_nodes_and_relationships_say_what_memory_says() -> None:
    world = small_world()
    world.thing("Perast harbour", merged_into=entity_id("ada", "perast"), aliases=["the quay"], mention_count=4)
    graph = InMemoryGraph()
    synced(graph, world)
    by_name = {properties["name"]: properties for properties in graph.nodes[ENTITY].values()}
    assert set(by_name) == {"user", "Kotor", "Perast", "Vesna"}
    assert by_name["Perast"]["aliases"] == ["Perast harbour", "the quay"]
    assert by_name["Perast"]["mention_count"] == 5
    assert by_name["Perast"]["user_key"] == user_key("ada")
    assert by_name["Perast"]["first_seen"] == "2026-01-10T09:00:00.000000Z"
    (age,) = graph.nodes[VALUE].values()
    assert (age["text"], age["kind"], age["user_id"]) == ("34", "has_age", "ada")
    (lived,) = graph.edges[EdgeKind("lives_in", ENTITY)].values()
    assert (lived["status"], lived["confidence"], lived["said_in"]) == ("superseded", 0.8, ["s#0"])
    assert len(graph.edges[EdgeKind("has_age", VALUE)]) == 2


def test_a_date_is_as_exact_as_it_was_said() -> None:
    world = World()
    for precision in ("year", "month", "day", None):
        world.fact("user", "likes", f"place {precision}", valid_from=SAID_ON, valid_precision=precision)
    graph = InMemoryGraph()
    synced(graph, world)
    held = graph.edges[EdgeKind("likes", ENTITY)].values()
    assert sorted(properties["valid_from"] for properties in held) == ["2026", "2026-05", "2026-05-04", "2026-05-04"]


def test_a_fact_about_nothing_and_a_relation_that_is_none_are_damage() -> None:
    lost = small_world()
    del lost.entity_rows[entity_id("ada", "kotor")]
    with pytest.raises(CorruptTableError, match="1 fact is about things that are not in entities"):
        wanted(lost)
    foreign = small_world()
    foreign.edge_rows[0]["relation"] = "likes]->() DETACH DELETE"
    with pytest.raises(CorruptTableError, match="1 relation of current_edges not found in the vocabulary"):
        wanted(foreign)


FACTS = st.lists(
    st.tuples(
        st.sampled_from(["ada", "bob"]), st.sampled_from(["likes", "owns"]), st.sampled_from(["Kotor", "Perast", None]),
        st.sampled_from([0.2, 0.8]), st.integers(0, 3),
    ),
    max_size=6, unique_by=lambda fact: fact[4],
)  # fmt: skip


def world_of(facts: list[tuple[Any, ...]]) -> World:
    world = World()
    for user, relation, object_, confidence, number in facts:
        value = None if object_ else "x"
        world.fact("user", relation, object_, user=user, value=value, edge_id=f"e{number}",
                   effective_confidence=confidence)  # fmt: skip
    return world


@pytest.mark.slow
@given(st.lists(FACTS, min_size=1, max_size=2))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_from_whatever_it_held_before_a_graph_becomes_that_of_a_first_sync(worlds: list[list[tuple[Any, ...]]]) -> None:
    graph, fresh = InMemoryGraph(), InMemoryGraph()
    for facts in worlds:
        synced(graph, world_of(facts))
    synced(fresh, world_of(worlds[-1]))
    assert graph.nodes == fresh.nodes
    assert {k: v for k, v in graph.edges.items() if v} == {k: v for k, v in fresh.edges.items() if v}
