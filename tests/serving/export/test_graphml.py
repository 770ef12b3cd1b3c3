"""GraphML, as networkx reads it."""

import io
import re
from collections.abc import Callable

import networkx as nx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from em_pipelines.serving.export.exported_facts import Memory
from em_pipelines.serving.export.graphml import write_graphml

from .conftest import World

HOSTILE = [
    "a & b < c > \"d\" 'e'",
    "]]>",
    "</node>",
    "x\x00y\x0bz",
    "line\r\nbreak\ttab",
    "\uffff\ufffe",
    "🦊",
    "<!--",
    "",
]
FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read(memory: Memory) -> nx.MultiDiGraph:
    handle = io.BytesIO()
    write_graphml(handle, memory)
    handle.seek(0)
    return nx.read_graphml(handle, force_multigraph=True)


def test_entities_and_current_facts_are_a_directed_multigraph(world: World) -> None:
    data = world.export("nora", "graphml")
    graph = nx.read_graphml(io.BytesIO(data), force_multigraph=True)
    assert graph.is_directed()
    assert (graph.graph["user_id"], graph.graph["as_of"]) == ("nora", "2026-05-01")
    names = nx.get_node_attributes(graph, "name")
    facts = {(names[a], f["relation"], names[b]): f for a, b, f in graph.edges(data=True)}
    assert ("user", "lives_in", "Tromsø") in facts
    assert ("user", "lives_in", "Bergen") not in facts
    assert ("user", "likes", "rye bread") in facts
    one = facts["user", "lives_in", "Tromsø"]
    assert {type(one[name]) for name in ("confidence", "polarity", "provenance")} == {float, int, str}
    person = next(node for node, is_it in graph.nodes(data="is_person_remembered") if is_it)
    assert names[person] == "user"
    assert {kind for _, kind in graph.nodes(data="kind")} <= {"entity", "value"}
    assert world.export("nora", "graphml") == data


def test_parallel_facts_stay_apart(memory: Callable[..., Memory]) -> None:
    made = memory("tea")
    twice = {**made.facts[0], "edge_id": "edge_x", "relation": "wants"}
    graph = read(Memory("nora", made.as_of, made.entities, (*made.facts, twice)))
    assert sorted(f["relation"] for *_, f in graph.edges(data=True)) == ["has_age", "likes", "wants"]


@given(st.lists(st.sampled_from(HOSTILE) | st.text(max_size=8), max_size=5), st.text(max_size=8))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_names_read_as_they_were_but_for_what_xml_cannot_hold(
    memory: Callable[..., Memory], names: list[str], value: str
) -> None:
    made = memory(*names, value=value, user_id=value or "x")
    found = dict(read(made).nodes(data="name"))
    for entity in made.entities:
        assert (found[entity["entity_id"]] or "") == FORBIDDEN.sub("", entity["name"])
    assert len(found) == len(made.entities) + 1
