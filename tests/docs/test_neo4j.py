"""docs/neo4j.md: its commands and queries on a real server, over the example logs, and its tables against the code."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from em_pipelines.schema.vocabulary import RELATIONS
from em_pipelines.serving.projection.shapes import EDGE_ID, EDGE_PROPERTIES, ENTITY, NODE_PROPERTIES, VALUE
from tests.graph_server.server import NO_SERVER, BoltServer, has_server, running

from .test_pages import CODE, rows_of

ROOT = Path(__file__).parents[2]
PAGE = "docs/neo4j.md"
EM = "-c 'from em_pipelines.interfaces.cli.app import main; main()'"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BoltServer]:
    if not has_server():
        pytest.skip(NO_SERVER)
    with running(tmp_path_factory.mktemp("bolt")) as found:
        yield found


@pytest.fixture(scope="module")
def synced(server: BoltServer, blocks, examples_home: Path, tmp_path_factory: pytest.TempPathFactory) -> BoltServer:
    """The server after the commands of the page, with their own address and password."""
    home = Path(shutil.copytree(examples_home, tmp_path_factory.mktemp("examples") / "home"))
    commands = [line for block in blocks(PAGE, "text") for line in block.text.splitlines() if "em sync-graph" in line]
    assert commands
    script = "\n".join(commands).replace(".venv/bin/em", f'"{sys.executable}" {EM}')
    environment = {**os.environ, **server.environment, "EM_HOME": str(home), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["sh", "-eu", "-c", script], cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=300, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return server


@pytest.mark.slow
def test_queries_of_the_page_give_rows_after_its_commands(synced: BoltServer, blocks) -> None:
    queries = blocks(PAGE, "cypher")
    assert queries
    with synced.driver() as driver:
        for query in queries:
            found = driver.execute_query(query.text, database_=synced.database).records
            assert found, f"{PAGE}:{query.line} gives no rows"


def test_relationships_that_the_page_names_are_of_the_vocabulary(page) -> None:
    types = {name for found in re.findall(r"\[\w*:([A-Z_|]+)\]", page(PAGE)) for name in found.split("|")}
    assert types
    assert {name.lower() for name in types} <= RELATIONS


@pytest.mark.parametrize(
    ("heading", "properties"),
    [
        (f"**`{ENTITY}`**", NODE_PROPERTIES[ENTITY]),
        (f"**`{VALUE}`**", NODE_PROPERTIES[VALUE]),
        ("**Relationships**", (EDGE_ID, *EDGE_PROPERTIES)),
    ],
)
def test_properties_are_those_of_the_page(page, heading: str, properties: tuple[str, ...]) -> None:
    below = page(PAGE).partition(heading)[2]
    said = [name for row in rows_of(f"#\n{below}", "#") for name in CODE.findall(row[0])]
    assert sorted(said) == sorted(properties)


def test_variables_are_those_of_the_page(page) -> None:
    said = [CODE.findall(row[0])[0] for row in rows_of(page(PAGE), "```")]
    assert said == ["NEO4J_URI", "NEO4J_USER", "NEO4J_PASSWORD", "NEO4J_DATABASE"]
