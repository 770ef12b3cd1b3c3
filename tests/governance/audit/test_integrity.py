"""Integrity: a sound state breaks no rule, and each rule finds the rows that break it and no others."""

from collections.abc import Callable
from graphlib import CycleError, TopologicalSorter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from em_pipelines.governance.audit.integrity import RULES, violations
from em_pipelines.schema.ids import edge_id, entity_id
from em_pipelines.schema.tables.graph import EDGES, ENTITIES

Row = dict[str, Any]
SESSIONS = [("ada", "s1"), ("ben", "s1"), ("ben", "s2")]


class State:
    """A sound state of ada's and ben's memory, for tests that break it."""

    def __init__(self, rows_of: Callable[..., pa.Table]) -> None:
        self.rows_of = rows_of
        self.entities: list[Row] = []
        self.edges: list[Row] = []
        self.sessions = list(SESSIONS)

    def entity(self, name: str, user: str = "ada", **changes: Any) -> str:
        key = entity_id(user, name)
        row = {"entity_id": key, "user_id": user, "name_key": name, "alias_keys": [], "aliases": [], "qualifiers": []}
        row |= {
            "distinct_from": [],
            "links": [],
            "discriminator": "",
            "merged_into": None,
            "merged_at": None,
            "status": "active",
        }
        self.entities.append(row | changes)
        return key

    def fact(self, subject: str, relation: str, target: str | None = None, user: str = "ada", **changes: Any) -> str:
        """A fact about entities by id, or with a literal `value`."""
        said = {"attribute": None, "polarity": 1, "requires_verification": False, "value": None}
        said |= {name: changes.pop(name) for name in said if name in changes}
        row = {"user_id": user, "subject_id": subject, "relation": relation, "object_id": target, "spell": 1, **said}
        row |= {"object_key": target or str(said["value"]).strip().lower()}
        row |= dict.fromkeys(("supersedes", "superseded_by", "contradicts"))
        mark = " (unverified)" if row["requires_verification"] else ""
        parts = (user, subject, relation, f"{row['object_key']}{mark}", row["attribute"], row["polarity"], 1)
        row["edge_id"] = edge_id(*parts)
        self.edges.append(row | changes)
        return str(row["edge_id"])

    def broken(self) -> dict[str, list[str]]:
        pairs = {name: [pair[n] for pair in self.sessions] for n, name in enumerate(("user_id", "session_id"))}
        edges = self.rows_of(EDGES, *self.edges) if self.edges else EDGES.empty()
        entities = self.rows_of(ENTITIES, *self.entities) if self.entities else ENTITIES.empty()
        found = violations(edges, entities, pa.table(pairs), RULES)
        return {rule: rows for rule, rows in found.items() if rows}


@pytest.fixture
def state(rows_of) -> State:
    return State(rows_of)


def test_a_sound_state_breaks_no_rule(state: State) -> None:
    ada, porto, oporto = state.entity("user"), state.entity("porto"), entity_id("ada", "porto")
    state.entity("oporto", merged_into=oporto, status="merged")
    ben = state.entity("user", "ben")
    old = state.fact(ada, "lives_in", state.entity("vienna"), status="superseded")
    state.fact(ada, "lives_in", porto, supersedes=old)
    state.fact(ada, "has_name", value=" Ada B. ")
    state.fact(ada, "has_name", value="Admin", requires_verification=True)
    state.fact(ada, "has_attribute", value="blue", attribute="favourite colour")
    state.fact(ada, "has_attribute", value="brown", attribute="eye colour")
    state.fact(porto, "located_in", state.entity("portugal"))
    state.fact(ada, "likes", porto, polarity=-1)
    state.fact(ben, "likes", state.entity("tea", "ben"), "ben")
    assert state.broken() == {}


def test_nothing_is_sound(state: State) -> None:
    assert state.broken() == {}


@pytest.mark.parametrize("confidence", [-0.01, 1.01, float("nan")])
def test_a_confidence_out_of_bounds_is_found(confidence: float, state: State) -> None:
    edge = state.fact(state.entity("user"), "likes", state.entity("tea"), confidence=confidence)
    assert state.broken() == {"confidence_in_bounds": [edge]}


@pytest.mark.parametrize("share", ["importance", "certainty"])
def test_an_entity_out_of_bounds_is_found(share: str, state: State) -> None:
    key = state.entity("tea", **{share: 1.5})
    assert state.broken() == {"names_lead_home": [key]}


def test_a_fact_without_a_source_is_found(state: State) -> None:
    edge = state.fact(state.entity("user"), "likes", state.entity("tea"), provenance=[])
    assert state.broken() == {"provenance_present": [edge]}


def test_ends_that_are_not_there_are_found(state: State) -> None:
    ada = state.entity("user")
    found = [state.fact(ada, "likes", "ent_gone"), state.fact("ent_gone", "has_age", value="4")]
    found += [
        state.fact(ada, "likes", state.entity(f"tea {link}"), **{link: "edge_gone"})
        for link in ("supersedes", "superseded_by", "contradicts")
    ]
    assert state.broken() == {"ends_exist": sorted(found)}


@pytest.mark.parametrize(
    "changes",
    [
        {"merged_into": "ent_gone", "status": "merged"},
        {"merged_into": None, "status": "merged"},
        {"merged_into": entity_id("ada", "porto"), "status": "active"},
    ],
)
def test_a_name_that_leads_nowhere_is_found(changes: Row, state: State) -> None:
    state.entity("porto")
    key = state.entity("oporto", **changes)
    assert state.broken() == {"names_lead_home": [key]}


def test_a_merge_into_a_merged_name_is_found(state: State) -> None:
    porto = state.entity("porto")
    oporto = state.entity("oporto", merged_into=porto, status="merged")
    key = state.entity("o porto", merged_into=oporto, status="merged")
    assert state.broken() == {"names_lead_home": [key]}


def test_one_users_fact_about_anothers_entity_is_found(state: State) -> None:
    bens = state.entity("tea", "ben")
    edge = state.fact(state.entity("user"), "likes", bens)
    merged = state.entity("chai", merged_into=bens, status="merged")
    assert state.broken() == {"users_apart": sorted([edge, merged])}


def test_a_source_that_only_another_user_has_is_found(state: State) -> None:
    source = {"turn_number": 0, "span_start": 0, "span_end": 1, "extraction_id": "e1"}
    ada, tea, rain = state.entity("user"), state.entity("tea"), state.entity("rain")
    state.fact(ada, "likes", tea, provenance=[{"session_id": "s1", **source}, {"session_id": "unheard of", **source}])
    edge = state.fact(ada, "likes", rain, provenance=[{"session_id": "s1", **source}, {"session_id": "s2", **source}])
    assert state.broken() == {"users_apart": [edge]}


@pytest.mark.parametrize(
    "changes",
    [{"relation": "dislikes"}, {"polarity": -1}, {"spell": 2}, {"requires_verification": True}, {"value": "tea"}],
)
def test_a_fact_that_says_something_else_than_its_id_is_found(changes: Row, state: State) -> None:
    edge = state.fact(state.entity("user"), "likes", state.entity("tea"))
    state.edges[0] |= changes
    assert state.broken() == {"ids_match_content": [edge]}


def test_an_entity_that_goes_by_another_name_than_its_id_is_found(state: State) -> None:
    key = state.entity("porto")
    state.entity("dana", entity_id=entity_id("ada", "dana", "sister"), discriminator="sister")
    state.entities[0]["name_key"] = "lisbon"
    assert state.broken() == {"entity_ids_match_content": [key]}


def test_two_active_values_of_a_functional_relation_are_found(state: State) -> None:
    ada = state.entity("user")
    found = [state.fact(ada, "lives_in", state.entity(name)) for name in ("porto", "vienna")]
    found += [state.fact(ada, "has_attribute", value=value, attribute="colour") for value in ("blue", "red")]
    assert state.broken() == {"one_functional_value": sorted(found)}


@pytest.mark.parametrize("changes", [{"status": "contradicted"}, {"requires_verification": True}, {"polarity": -1}])
def test_a_second_value_that_takes_nobodys_place_may_stand(changes: Row, state: State) -> None:
    ada = state.entity("user")
    state.fact(ada, "lives_in", state.entity("porto"))
    state.fact(ada, "lives_in", state.entity("vienna"), **changes)
    assert state.broken() == {}


def test_two_names_of_one_place_are_one_value(state: State) -> None:
    ada, porto = state.entity("user"), state.entity("porto")
    state.fact(ada, "lives_in", porto)
    state.fact(ada, "lives_in", state.entity("oporto", merged_into=porto, status="merged"))
    assert state.broken() == {}


@pytest.mark.parametrize(
    ("up", "down"),
    [("part_of", "has_part"), ("parent_of", "child_of"), ("reports_to", "manages"), ("located_in", None)],
)
def test_a_circle_is_found_by_whatever_words_and_names_it_is_closed(up: str, down: str | None, state: State) -> None:
    a, b, c = (state.entity(name) for name in "abc")
    also_c = state.entity("also c", merged_into=c, status="merged")
    found = [state.fact(a, up, b), state.fact(b, up, also_c)]
    found.append(state.fact(a, down, c) if down else state.fact(c, up, a))
    state.fact(c, up, state.entity("d"))
    assert state.broken()["no_cycles"] == sorted(found)
    state.edges[0]["status"] = "contradicted"
    assert "no_cycles" not in state.broken()


@pytest.mark.slow
@settings(max_examples=25)
@given(pairs=st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_circles_are_found_where_there_is_no_order(pairs, rows_of) -> None:
    state = State(rows_of)
    nodes = [state.entity(str(n)) for n in range(7)]
    for a, b in pairs:
        state.fact(nodes[a], "part_of", nodes[b])
    try:
        sorter: TopologicalSorter[int] = TopologicalSorter()
        for a, b in pairs:
            sorter.add(a, b)
        sorter.prepare()
        has_order = all(a != b for a, b in pairs)
    except CycleError:
        has_order = False
    assert ("no_cycles" in state.broken()) is not has_order
