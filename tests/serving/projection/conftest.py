"""Graph stores: one in this process, and one over Bolt on a server that all tests of a worker share."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from em_pipelines.serving.projection.graph_in_memory import InMemoryGraph
from em_pipelines.serving.projection.graph_store import GraphStore
from resources.graph_address import read_graph_settings
from resources.neo4j import connected
from tests.graph_server.server import NO_SERVER, BoltServer, has_server, running


@pytest.fixture(scope="session")
def new_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], BoltServer]]:
    """Starts a server of one's own."""
    if not has_server():
        pytest.skip(NO_SERVER)
    with ExitStack() as stack:
        yield lambda: stack.enter_context(running(tmp_path_factory.mktemp("bolt")))


@pytest.fixture(scope="session")
def shared_server(new_server: Callable[[], BoltServer]) -> BoltServer:
    return new_server()


@pytest.fixture
def server(shared_server: BoltServer) -> BoltServer:
    """The server of all tests, with nothing in it."""
    shared_server.clear()
    return shared_server


@pytest.fixture(params=["memory", pytest.param("bolt", marks=pytest.mark.slow)])
def graph(request: pytest.FixtureRequest) -> Iterator[GraphStore]:
    """An empty, prepared store: of dicts, or behind Bolt."""
    if request.param == "memory":
        found: GraphStore = InMemoryGraph()
        found.prepare()
        yield found
        return
    with connected(read_graph_settings(request.getfixturevalue("server").environment)) as found:
        found.prepare()
        yield found
