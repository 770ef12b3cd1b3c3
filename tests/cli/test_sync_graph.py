"""`em sync-graph` against a real server: the table, the JSON, the exit codes, and somebody who was erased."""

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.graph_server.server import BoltServer, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoltServer]:
    with running(tmp_path_factory.mktemp("bolt")) as found:
        yield found


@pytest.fixture
def home(em, native, home_path: Path) -> Path:
    said = [("ada", "I live in Oslo."), ("bob", "I live in Porto."), ("bob", "I have a dog named Rex.")]
    path = native(*({"user_id": user, "session_id": f"of-{user}", "content": text} for user, text in said))
    assert em("run", path, "--home", home_path).returncode == 0
    return home_path


def names(server: BoltServer) -> set[tuple[str, str]]:
    with server.driver() as driver:
        found = driver.execute_query("MATCH (n:Entity) RETURN n.user_id, n.name", database_=server.database).records
    return {(user_id, name) for user_id, name in found}


def test_a_sync_says_what_it_wrote_and_a_second_that_nothing_differed(em, home: Path, server: BoltServer) -> None:
    server.clear()
    first = em("sync-graph", "--home", home, **server.environment)
    assert (first.returncode, first.stderr) == (0, "")
    assert "relationships" in first.stdout
    assert "wrote what differed; counts and checksum agree" in first.stdout
    assert {("ada", "Oslo"), ("bob", "Porto"), ("bob", "Rex")} <= names(server)
    second = em("sync-graph", "--home", home, **server.environment)
    assert "nothing differed; counts and checksum agree" in second.stdout
    done = em("sync-graph", "--full", "--json", "--home", home, **server.environment)
    assert done.returncode == 0, done.stderr
    found = orjson.loads(done.stdout)
    assert found["is_equal"] is True
    assert found["users"] == found["users_changed"] == 2
    assert found["nodes"]["changed"] == found["nodes"]["held"] == len(names(server))
    assert found["relationships"]["added"] == found["relationships"]["removed"] == 0


def test_who_was_erased_is_gone_with_the_next_sync(em, home: Path, server: BoltServer) -> None:
    server.clear()
    assert em("sync-graph", "--home", home, **server.environment).returncode == 0
    assert em("forget", "--user", "bob", "--all", "--yes", "--home", home).returncode == 0
    found = orjson.loads(em("sync-graph", "--json", "--home", home, **server.environment).stdout)
    assert found["nodes"]["removed"] >= 3
    assert {user for user, _ in names(server)} == {"ada"}


def test_a_graph_that_is_not_what_was_written_is_a_finding(em, home: Path, server: BoltServer) -> None:
    server.clear()
    with server.driver() as driver:
        driver.execute_query(
            "CREATE (:Entity {key: 'k', user_id: 'zoe', digest: 1})", database_=server.database
        )  # by nobody of ours: without the key by which a user is found
    done = em("sync-graph", "--home", home, **server.environment)
    assert done.returncode == 1
    assert "which are not those of memory" in done.stderr
    assert done.stderr.count("\n") == 1


def test_nobody_who_answers_is_worth_a_retry(em, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resources.neo4j.RETRY_SECONDS", 0.2)
    done = em("sync-graph", "--home", home, NEO4J_URI="bolt://127.0.0.1:9", NEO4J_PASSWORD="pw-secret")
    assert (done.returncode, done.stdout) == (3, "")
    assert "127.0.0.1: no answer" in done.stderr
    assert "pw-secret" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_missing_and_wrong_settings_are_wrong_use(em, home: Path, home_path: Path, server: BoltServer) -> None:
    for environment, sentence in (
        ({}, "NEO4J_URI is not set"),
        ({"NEO4J_URI": "localhost"}, "no Bolt address"),
        ({**server.environment, "NEO4J_PASSWORD": "wrong-and-secret"}, "it refuses the user"),
        ({**server.environment, "NEO4J_DATABASE": "nowhere"}, "no such database"),
    ):
        done = em("sync-graph", "--json", "--home", home, **environment)
        assert (done.returncode, done.stdout) == (2, "")
        assert sentence in done.stderr
        assert "secret" not in done.stderr
    done = em("sync-graph", "--home", home_path / "empty", **server.environment)
    assert done.returncode == 2
    assert "there are no facts in this home" in done.stderr
