"""Everything that came of one message, in the order of the pipeline, and of one user alone."""

import pytest

from em_pipelines.errors import UsageError
from em_pipelines.governance.audit.trace import trace
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.ids import correlation_id

SAID = (
    {"content": "I live in Vienna."},
    {"content": "I live in Graz.", "correlation_id": "from-the-agent"},
    {"content": "I live in Oslo.", "user_id": "ben", "correlation_id": "from-the-agent"},
    {"content": "I own a canoe.", "correlation_id": "only-once"},
)


@pytest.fixture(scope="module")
def home(home_with, tmp_path_factory) -> Pipeline:
    return home_with(tmp_path_factory.mktemp("trace") / "home", *SAID)


def test_a_message_is_followed_through_every_table_in_order(home: Pipeline) -> None:
    found = trace(home.store.lake, correlation_id("ada", "s0", 0))
    assert list(found) == [
        name
        for name in (
            "interactions", "messages", "segments", "mentions", "claims", "entity_mentions", "entity_ops", "edges",
            "graph_ops", "audit_trail",
        )
        if name in found
    ]  # fmt: skip
    assert found.keys() >= {"interactions", "messages", "segments", "claims", "edges", "graph_ops", "audit_trail"}
    assert {row["user_id"] for rows in found.values() for row in rows} == {"ada"}
    assert found["messages"][0]["content"] == "I live in Vienna."


def test_an_id_that_a_log_brought_finds_what_came_of_the_message(home: Pipeline) -> None:
    given = trace(home.store.lake, "only-once")
    derived = trace(home.store.lake, correlation_id("ada", "s3", 0))
    assert given.keys() >= {"messages", "claims", "edges", "graph_ops"}
    assert {name: len(rows) for name, rows in given.items() if name != "interactions"} == {
        name: len(rows) for name, rows in derived.items() if name != "interactions"
    }


def test_an_id_of_several_users_needs_a_name(home: Pipeline) -> None:
    with pytest.raises(UsageError, match="rows of 2 users"):
        trace(home.store.lake, "from-the-agent")
    found = trace(home.store.lake, "from-the-agent", "ben")
    assert {row["user_id"] for rows in found.values() for row in rows} == {"ben"}
    assert [row["content"] for row in found["messages"]] == ["I live in Oslo."]


def test_an_id_that_nobody_made_finds_nothing(home: Pipeline) -> None:
    assert trace(home.store.lake, "cor_nothing") == {}


def test_feedback_is_found_by_its_own_id(home_with, tmp_path) -> None:
    home = home_with(tmp_path / "home", {"content": "I like tea."}, {"type": "probe_delivered", "probe_id": "p1"})
    lake = home.store.lake
    (event,) = [
        row
        for day in lake.days(home.steps["audit"].outputs[0])
        for row in lake.read(home.steps["audit"].outputs[0], day).to_pylist()
        if row["event_type"] == "probe_delivered"
    ]
    assert trace(lake, event["correlation_id"]).keys() == {"feedback", "audit_trail"}
