"""The graph behind Bolt: what it really holds, what it does to a shared database, and what happens when it goes."""

import logging
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from neo4j.exceptions import ConstraintError

from em_pipelines.errors import GraphRefusedError, GraphUnavailableError, SettingsError
from em_pipelines.serving.projection import sync as module
from em_pipelines.serving.projection.graph_in_memory import InMemoryGraph
from em_pipelines.serving.projection.shapes import ENTITY
from em_pipelines.serving.projection.sync import sync
from resources.graph_address import is_graph_set, read_graph_settings
from resources.neo4j import Neo4jGraph, connected
from tests.graph_server.server import BoltServer
from tests.lifecycle.revision.worlds import World
from tests.resources.test_embedder_breaker import SilentServer
from tests.serving.projection.test_contract import HOSTILE, node
from tests.serving.projection.test_sync import small_world, synced, wanted

SECRET = "pw-nobody-may-read-this"


@contextmanager
def graph_of(server: BoltServer, **changes: str) -> Iterator[Neo4jGraph]:
    with connected(read_graph_settings(server.environment | changes)) as graph:
        yield graph


def asked(server: BoltServer, query: str, **parameters: Any) -> list[list[Any]]:
    """What the server answers to somebody else."""
    with server.driver() as driver:
        return [
            list(row.values()) for row in driver.execute_query(query, parameters, database_=server.database).records
        ]


def large_world(n_facts: int = 600) -> World:
    world = World()
    for number in range(n_facts):
        world.fact("user", ("likes", "owns", "visited")[number % 3], f"thing {number}", user=("ada", "bob")[number % 2])
    return world


@pytest.mark.slow
def test_every_property_arrives_as_it_stands_in_memory(server: BoltServer) -> None:
    world = small_world()
    for number, text in enumerate(HOSTILE):
        world.fact("user", "has_attribute", value=text, attribute=text, over=text, flags=[text], kinds="person")
        world.thing(f"{number} {text}", aliases=[text])
    memory = InMemoryGraph()
    synced(memory, world)
    with graph_of(server) as graph:
        synced(graph, world)
    for label, held in memory.nodes.items():
        found = asked(server, f"MATCH (n:{label}) RETURN properties(n)")
        assert {properties["key"]: properties for (properties,) in found} == held
    found = asked(server, "MATCH (s)-[r]->(o) RETURN type(r), s.key, o.key, r.edge_id, properties(r)")
    assert {tuple(ends): properties for *ends, properties in found} == {
        (kind.type_name, *ends): {**properties, "edge_id": ends[-1]}
        for kind, held in memory.edges.items()
        for ends, properties in held.items()
    }


def test_what_others_keep_in_the_database_is_left_alone(server: BoltServer) -> None:
    asked(server, "CREATE (:Entity {name: 'theirs'})-[:LIKES]->(:Cat {key: 'tom'}) CREATE (:Note {text: 'mine'})")
    with graph_of(server) as graph:
        synced(graph, small_world())
        asked(server, "MATCH (n:Entity {name: 'Kotor'}), (c:Cat) SET n.colour = 'blue' CREATE (n)-[:PINNED]->(c)")
        world = small_world()
        world.edge_rows[0]["effective_confidence"] = 0.1
        assert synced(graph, world).edges.changed == 1
        assert synced(graph, world, is_full=True).nodes.changed == 5
        assert asked(server, "MATCH (n:Entity {name: 'Kotor'})-[:PINNED]->(:Cat) RETURN n.colour") == [["blue"]]
        synced(graph, World())
    assert asked(server, "MATCH (n) RETURN labels(n)[0] AS label ORDER BY label") == [["Cat"], ["Entity"], ["Note"]]
    assert asked(server, "MATCH (:Entity)-[r]->() RETURN type(r)") == [["LIKES"]]


def test_keys_are_unique_and_looked_up_by_an_index(server: BoltServer) -> None:
    with graph_of(server) as graph:
        synced(graph, small_world())
    (key,), *_ = asked(server, "MATCH (n:Entity) RETURN n.key")
    with pytest.raises(ConstraintError):
        asked(server, "CREATE (:Entity {key: $key})", key=key)
    indexed = {
        (labels[0], names[0])
        for labels, names in asked(server, "SHOW INDEXES YIELD labelsOrTypes, properties")
        if labels and names
    }
    assert {("Entity", "key"), ("Entity", "user_key"), ("Entity", "name_key"), ("Value", "key")} <= indexed


OTHER_CHANGES = (
    "MATCH (:Entity)-[r:HAS_AGE]->() DELETE r",
    "MATCH (n:Entity {name: 'Kotor'}) SET n.digest = 'none of ours'",
    "MATCH (n:Value) REMOVE n.digest",
    "MATCH (s:Entity)-[r:LIKES]->(o) CREATE (o)-[:LIKES {edge_id: r.edge_id, user_id: r.user_id, digest: 1}]->(s)",
    "MATCH (s:Entity)-[r:LIKES]->(o) CREATE (s)-[t:LIKES]->(o) SET t = properties(r)",
)


@pytest.mark.parametrize(
    "change",
    [
        "MATCH (n:Entity {name: 'Kotor'}) DETACH DELETE n",
        *(pytest.param(one, marks=pytest.mark.slow) for one in OTHER_CHANGES),
    ],
)
def test_what_somebody_has_changed_by_hand_is_mended_by_the_next_sync(server: BoltServer, change: str) -> None:
    with graph_of(server) as graph:
        synced(graph, small_world())
        asked(server, change)
        report = synced(graph, small_world())
        assert report.n_written
        assert synced(graph, small_world()).n_users_changed == 0
    assert asked(server, "MATCH ()-[r]->() RETURN count(r)") == [[4]]


def test_a_property_that_somebody_has_changed_is_mended_by_a_full_sync(server: BoltServer) -> None:
    with graph_of(server) as graph:
        synced(graph, small_world())
        asked(server, "MATCH (n:Entity {name: 'Kotor'}) SET n.name = 'Cattaro'")
        synced(graph, small_world(), is_full=True)
    assert asked(server, "MATCH (n:Entity {name: 'Cattaro'}) RETURN n.key") == []


@pytest.mark.slow
def test_two_syncs_at_a_time_lose_nothing(server: BoltServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_ROWS", 20)
    world = large_world(120)

    def run(_: int) -> bool:
        with graph_of(server) as graph:
            try:
                sync(graph, wanted(world))
            except GraphUnavailableError:
                return False
            return True

    with ThreadPoolExecutor(2) as pool:
        assert any(pool.map(run, range(2)))
    with graph_of(server) as graph:
        synced(graph, world)
    assert asked(server, "MATCH (n:Entity) RETURN count(n)") == [[122]]


@pytest.mark.slow
def test_a_server_that_is_killed_in_the_middle_is_reported_and_the_next_sync_completes(
    new_server: Callable[[], BoltServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_ROWS", 50)
    monkeypatch.setattr("resources.neo4j.RETRY_SECONDS", 1.0)
    world, server, heard = large_world(), new_server(), []

    def kill_in_the_middle(n_rows: int) -> None:
        heard.append(n_rows)
        if sum(heard) - n_rows < 800 <= sum(heard):
            server.stop(signal.SIGKILL)

    with graph_of(server) as graph:
        with pytest.raises(GraphUnavailableError, match=r"8\d\d rows had been written and are kept") as raised:
            sync(graph, wanted(world), on_rows=kill_in_the_middle)
        assert server.password not in str(raised.value)
        server.start()
        report = synced(graph, world)
        assert 0 < report.n_written < 500
        assert synced(graph, world).n_written == 0
    whole = InMemoryGraph()
    synced(whole, world)
    assert report.checksum_held == sync(whole, wanted(world)).checksum_held
    found = asked(server, "MATCH (n:Entity) RETURN properties(n)")
    assert {properties["key"]: properties for (properties,) in found} == whole.nodes[ENTITY]


def test_a_server_that_is_down_is_worth_a_retry(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    monkeypatch.setattr("resources.neo4j.RETRY_SECONDS", 0.5)
    caplog.set_level(logging.DEBUG)
    settings = read_graph_settings({"NEO4J_URI": "bolt://127.0.0.1:9", "NEO4J_PASSWORD": SECRET})
    with connected(settings) as graph, pytest.raises(GraphUnavailableError, match="no answer") as raised:
        sync(graph, wanted(small_world()))
    assert SECRET not in str(raised.value) + repr(settings) + caplog.text


def test_a_wrong_password_and_a_database_that_is_not_there_are_mistakes(server: BoltServer, caplog: Any) -> None:
    caplog.set_level(logging.DEBUG)
    with graph_of(server, NEO4J_PASSWORD=SECRET) as graph, pytest.raises(GraphRefusedError, match="refuses the user"):
        graph.sums()
    with (
        graph_of(server, NEO4J_DATABASE="nowhere") as graph,
        pytest.raises(GraphRefusedError, match="no such database; make it, or check NEO4J_DATABASE"),
    ):
        graph.sums()
    assert SECRET not in caplog.text
    assert server.password not in caplog.text


def test_an_error_of_the_server_repeats_no_data(server: BoltServer) -> None:
    with graph_of(server) as graph:
        graph.prepare()
        with pytest.raises(GraphRefusedError) as raised:
            graph.put_nodes(ENTITY, [node("a", name={"a map is no property": "of Vesna"})])
    assert "Vesna" not in str(raised.value)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({}, "NEO4J_URI is not set; set it, such as to bolt://localhost:7687"),
        ({"NEO4J_URI": "  "}, "NEO4J_URI is not set"),
        ({"NEO4J_URI": "localhost:7687"}, "NEO4J_URI is no Bolt address; give it as SCHEME://HOST:PORT"),
        ({"NEO4J_URI": "http://localhost:7474"}, "is no Bolt address"),
        ({"NEO4J_URI": "bolt://"}, "is no Bolt address"),
        ({"NEO4J_URI": "bolt://localhost:7687/neo4j"}, "is no Bolt address"),
        ({"NEO4J_URI": "bolt://localhost:port"}, "NEO4J_URI is no address"),
        ({"NEO4J_URI": "bolt://[::1"}, "NEO4J_URI is no address"),
        ({"NEO4J_URI": f"bolt://neo4j:{SECRET}@localhost"}, "NEO4J_URI holds a user or password"),
        ({"NEO4J_URI": "bolt://localhost", "NEO4J_USER": "ada"}, "NEO4J_USER is set and NEO4J_PASSWORD is not"),
    ],
)
def test_settings_that_cannot_be_used_are_named_and_never_repeated(environment: dict[str, str], sentence: str) -> None:
    with pytest.raises(SettingsError, match=sentence.replace(".", r"\.")) as raised:
        read_graph_settings(environment)
    assert SECRET not in str(raised.value)


def test_an_address_that_only_the_driver_refuses_is_a_mistake_as_well() -> None:
    settings = read_graph_settings({"NEO4J_URI": "bolt://localhost:7687?policy=x", "NEO4J_PASSWORD": SECRET})
    with pytest.raises(SettingsError, match="the driver cannot use NEO4J_URI"), connected(settings):
        pass


def test_user_and_database_have_the_names_that_servers_come_with() -> None:
    found = read_graph_settings({"NEO4J_URI": "neo4j+s://graph.example.org", "NEO4J_PASSWORD": SECRET})
    assert (found.user, found.database) == ("neo4j", "neo4j")
    assert read_graph_settings({"NEO4J_URI": "bolt://localhost"}).user is None
    assert not is_graph_set({"NEO4J_URI": " "})
    assert is_graph_set({"NEO4J_URI": "x"})


def test_a_server_that_says_nothing_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CONNECT_SECONDS", "WAIT_SECONDS"):
        monkeypatch.setattr(f"resources.neo4j.{name}", 0.3)
    silent = SilentServer()
    address = silent.base_url.removeprefix("http://").removesuffix("/v1")
    settings = read_graph_settings({"NEO4J_URI": f"bolt://{address}"})
    with connected(settings) as graph, pytest.raises(GraphUnavailableError, match="no answer"):
        graph.sums()
    silent.close()
    assert silent.n_connections == 1
