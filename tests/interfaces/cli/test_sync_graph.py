"""`em sync-graph` against a real server: the table, the JSON, the exit codes, and somebody who was erased."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.graph_server.server import NO_SERVER, BoltServer, has_server, running

from .conftest import Em

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not has_server(), reason=NO_SERVER)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoltServer]:
    with running(tmp_path_factory.mktemp("bolt")) as found:
        yield found


@pytest.fixture(scope="module")
def made(em: Em, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which two people said something."""
    folder = tmp_path_factory.mktemp("of-two")
    said = [("ada", "I live in Oslo."), ("bob", "I live in Porto."), ("bob", "I have a dog named Rex.")]
    lines = [
        {"user_id": user, "session_id": f"of-{user}", "turn_number": number, "role": "user", "content": text,
         "timestamp": f"2026-03-0{1 + number}T10:00:00Z"}
        for number, (user, text) in enumerate(said)
    ]  # fmt: skip
    (folder / "log.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    assert em("run", folder / "log.jsonl", "--home", folder / "home").returncode == 0
    return folder / "home"


@pytest.fixture
def home(made: Path, home_path: Path) -> Path:
    return Path(shutil.copytree(made, home_path))


def names(server: BoltServer) -> set[tuple[str, str]]:
    with server.driver() as driver:
        found = driver.execute_query("MATCH (n:Entity) RETURN n.user_id, n.name", database_=server.database).records
    return {(user_id, name) for user_id, name in found}


def test_a_sync_says_what_it_wrote_and_a_second_that_nothing_differed(em: Em, home: Path, server: BoltServer) -> None:
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


def test_who_is_erased_is_gone_from_the_database_as_well(em: Em, home: Path, server: BoltServer) -> None:
    server.clear()
    assert em("sync-graph", "--home", home, **server.environment).returncode == 0
    done = em("forget", "--user", "bob", "--all", "--yes", "--home", home, **server.environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("The graph database holds it no more.\n")
    assert {user for user, _ in names(server)} == {"ada"}
    found = orjson.loads(em("sync-graph", "--json", "--home", home, **server.environment).stdout)
    assert (found["users"], found["nodes"]["removed"]) == (1, 0)


def test_an_erasure_says_what_the_database_still_holds(em: Em, home: Path, server: BoltServer) -> None:
    server.clear()
    rex = ("forget", "--user", "bob", "--entity", "Rex", "--yes", "--json", "--home", home)
    assert em(*rex, "--dry-run").returncode == 0
    assert em("sync-graph", "--home", home, **server.environment).returncode == 0
    done = em(*rex)  # nobody has told this process where the database is
    assert (done.returncode, orjson.loads(done.stdout)["waits_for_a_sync"]) == (0, True)
    assert done.stderr == "em: the graph database still holds it: run `em sync-graph` where NEO4J_URI is set\n"
    ill = em("doctor", "--home", home)
    assert ill.returncode == 1
    assert "may hold what 1 erasure took away" in ill.stdout
    assert ("bob", "Rex") in names(server)
    done = em("forget", "--user", "bob", "--session", "of-bob", "--yes", "--json", "--home", home, **server.environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert orjson.loads(done.stdout)["result"] == "erased"
    assert {user for user, _ in names(server)} == {"ada"}


def test_an_erasure_that_cannot_reach_the_database_is_worth_a_retry(
    em: Em, home: Path, server: BoltServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.clear()
    monkeypatch.setattr("resources.neo4j.RETRY_SECONDS", 0.2)
    assert em("sync-graph", "--home", home, **server.environment).returncode == 0
    gone = {**server.environment, "NEO4J_URI": "bolt://127.0.0.1:9"}
    done = em("forget", "--user", "bob", "--entity", "Rex", "--yes", "--json", "--home", home, **gone)
    assert (done.returncode, orjson.loads(done.stdout)["result"]) == (3, "erased")
    assert "done in the home, not in the graph database: talking to the graph database at 127.0.0.1" in done.stderr
    assert server.password not in done.stderr
    assert done.stderr.count("\n") == 1


def test_no_command_shows_the_password(em: Em, home: Path, server: BoltServer) -> None:
    server.clear()
    for words in (("sync-graph",), ("settings",), ("settings", "--json"), ("doctor",)):
        done = em(*words, "--home", home, **server.environment)
        assert done.returncode == 0, done.stderr
        assert server.password not in done.stdout + done.stderr
    assert not [path for path in home.rglob("*") if path.is_file() and server.password.encode() in path.read_bytes()]


def test_a_graph_that_is_not_what_was_written_is_a_finding(em: Em, home: Path, server: BoltServer) -> None:
    server.clear()
    with server.driver() as driver:
        driver.execute_query(
            "CREATE (:Entity {key: 'k', user_id: 'zoe', digest: 1})", database_=server.database
        )  # by nobody of ours: without the key by which a user is found
    done = em("sync-graph", "--home", home, **server.environment)
    assert done.returncode == 1
    assert "which are not those of memory" in done.stderr
    assert done.stderr.count("\n") == 1


def test_nobody_who_answers_is_worth_a_retry(em: Em, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resources.neo4j.RETRY_SECONDS", 0.2)
    done = em("sync-graph", "--home", home, NEO4J_URI="bolt://127.0.0.1:9", NEO4J_PASSWORD="pw-secret")
    assert (done.returncode, done.stdout) == (3, "")
    assert "127.0.0.1: no answer" in done.stderr
    assert "pw-secret" not in done.stderr
    assert done.stderr.count("\n") == 1


def test_missing_and_wrong_settings_are_wrong_use(em: Em, home: Path, home_path: Path, server: BoltServer) -> None:
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
    (home_path / "empty").mkdir()
    done = em("sync-graph", "--home", home_path / "empty", **server.environment)
    assert done.returncode == 2
    assert "there are no facts in this home" in done.stderr
