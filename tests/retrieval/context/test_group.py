"""In a group, from what was said to the block: something to tell, and nothing personal."""

from datetime import UTC, datetime, timedelta

import pytest

from em_pipelines.interfaces.memory import Memory
from tests.interfaces.agents.homes import run

NOW = datetime.now(UTC).replace(microsecond=0)
SAID = (
    "I love ramen, since Sunniva and I split up it is all I cook.",
    "I speak Danish. I live in Aarhus.",
    "My sister Maren works at the harbour office.",
    "I was born on 3 May 1991.",
    "I like tequila.",
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    path = tmp_path_factory.mktemp("group") / "home"
    memory = Memory(path, "jens")
    for n, content in enumerate(SAID):
        memory.store_observation(content, session_id=f"s{n}", timestamp=NOW - timedelta(days=3, minutes=n))
    run(path)
    return Memory(path, "jens")


def test_a_group_hears_what_is_generic_and_nothing_else(memory: Memory) -> None:
    told = memory.context("What do I like, and what do I speak?", is_group=True).text
    assert "user likes ramen" in told
    assert "user speaks Danish" in told
    for word in ("Sunniva", "split", "cook", "Aarhus", "Maren", "harbour", "1991", "tequila", "quote"):
        assert word not in told


def test_the_person_alone_hears_more(memory: Memory) -> None:
    told = memory.context("What do I like, and where do I live?").text
    assert "user likes ramen" in told
    assert "Aarhus" in told
