"""The forms of feedback: what fits, under which names, and what is refused."""

from typing import Any

import pytest

from em_pipelines.schema.feedback_payloads import FORMS, check_payload, read_payload

FITTING: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "correct",
        {"relation": "lives_in", "object": "Porto"},
        {"subject": "user", "object": "Porto", "old_object": None},
    ),
    (
        "correct",
        {"subject": "Dana", "relation": "lives_in", "object": "Vienna", "new_object": "Graz"},
        {"object": "Graz", "old_object": "Vienna"},
    ),
    ("correct", {"edge_id": "edge_1", "new": "Graz"}, {"edge_id": "edge_1", "object": "Graz"}),
    (
        "correct",
        {"relation": "has_age", "from": 6, "to": 7} | {"to": "7", "from": "6"},
        {"object": "7", "old_object": "6"},
    ),
    ("correct", {"relation": "has_attribute", "object": "shoe size: 41"}, {"attribute": "shoe size", "object": "41"}),
    ("confirm", {"fact": "edge_1"}, {"edge_id": "edge_1"}),
    ("confirm", {"fact": {"relation": "likes", "object": "tea"}}, {"relation": "likes", "object": "tea"}),
    ("retract", {"relation": "works_at"}, {"relation": "works_at", "object": None}),
    ("retract", {"relation": "has_age", "value": 6}, {"object": "6"}),
    ("merge", {"entities": ["wife", "Lena"]}, {"entities": ("wife", "Lena")}),
    ("merge", {"from": "wife", "into": "Lena"}, {"entities": ("wife", "Lena")}),
    ("split", {"entities": ["Sasha", "Alexander"]}, {"entity": "Sasha", "other": "Alexander"}),
    ("split", {"entity": "Tom", "into": "Tom Bexley", "facts": ["edge_1"]}, {"into": "Tom Bexley"}),
    ("forget", {"entity": "Derek"}, {"entity": "Derek", "all": False}),
    ("revision", {"edge_id": "e", "outcome": "changed", "new_object": "Lyon"}, {"outcome": "changed"}),
]


@pytest.mark.parametrize(("type_", "payload", "wanted"), FITTING)
def test_a_payload_is_read_under_its_usual_names(type_: str, payload: dict[str, Any], wanted: dict[str, Any]) -> None:
    found = read_payload(type_, payload)
    assert {name: getattr(found, name) for name in wanted} == wanted


@pytest.mark.parametrize(
    "payload",
    [{"edge_id": "e1"}, {"edge_ids": ["e1"]}, {"facts": [{"edge_id": "e1"}]}, {"fact": "e1"}],
    ids=str,
)
def test_one_recalled_fact_may_be_told_in_several_ways(payload: dict[str, Any]) -> None:
    assert [fact.edge_id for fact in read_payload("recalled", payload).facts] == ["e1"]


@pytest.mark.parametrize(
    ("type_", "payload", "where"),
    [
        ("correct", {}, "name the fact"),
        ("correct", {"relation": "lives_in"}, "needs object"),
        ("correct", {"relation": "dwells_in", "object": "Porto"}, "dwells_in"),
        ("confirm", {"relation": "lives_in"}, "needs edge_id"),
        ("retract", {"object": "tea"}, "name the fact"),
        ("retract", {"relation": "has_attribute", "object": "41"}, "attribute"),
        ("retract", {"relation": "likes", "object": ["tea"]}, "object"),
        ("recalled", {}, "name the fact"),
        ("merge", {"entities": ["Lena"]}, "entities"),
        ("split", {"entity": "Tom", "into": "Bexley"}, "facts"),
        ("add_facts", {"facts": []}, "facts"),
        ("add_facts", {"facts": [{"relation": "likes"}]}, "needs relation and object"),
        ("revision", {"edge_id": "e", "outcome": "maybe"}, "outcome"),
        ("revision", {"edge_id": "e", "outcome": "changed"}, "new_object"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_what_nobody_could_act_upon_is_refused(type_: str, payload: dict[str, Any], where: str) -> None:
    with pytest.raises(ValueError, match=where):
        check_payload(type_, payload)


def test_types_without_a_form_take_anything() -> None:
    assert "probe_delivered" not in FORMS
    check_payload("probe_delivered", {"probe_id": 1, "text": "?"})
