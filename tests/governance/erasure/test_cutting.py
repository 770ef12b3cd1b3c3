"""What is left of feedback when something it names is erased."""

from typing import Any

import pytest

from em_pipelines.landing.record_cutting import cut_payload
from em_pipelines.language.fact_keys import fact_key, key_of_named
from em_pipelines.language.name_matching import NameIndex
from em_pipelines.schema.feedback_payloads import check_payload

NAMES = NameIndex.of(["Porto"])
ERASED = fact_key("user", "likes", "tea", None, 1)


def is_gone(value: object) -> bool:
    if isinstance(value, str):
        return NAMES.is_in(value) or value == "edge_1"
    return isinstance(value, dict) and key_of_named(value) == ERASED


@pytest.mark.parametrize(
    ("type_", "payload", "left"),
    [
        ("confirm", {"relation": "lives_in", "object": "Porto"}, None),
        ("confirm", {"relation": "lives_in", "object": "Oslo"}, {"relation": "lives_in", "object": "Oslo"}),
        ("confirm", {"relation": "lives_in", "object": "Oslo", "note": "not Porto"},
         {"relation": "lives_in", "object": "Oslo"}),
        ("confirm", {"relation": "lives_in", "object": "Oslo", "domain": "Porto"},
         {"relation": "lives_in", "object": "Oslo", "domain": "[…]"}),
        ("correct", {"relation": "lives_in", "object": "Oslo", "old_object": "Porto"},
         {"relation": "lives_in", "object": "Oslo"}),
        ("correct", {"relation": "lives_in", "object": "Porto", "new_object": "Oslo"},
         {"relation": "lives_in", "new_object": "Oslo"}),
        ("correct", {"relation": "lives_in", "object": "Oslo", "new_object": "Porto"}, None),
        ("correct", {"relation": "likes", "old_object": "milk", "new_object": "tea"}, None),
        ("retract", {"relation": "likes", "object": "tea"}, None),
        ("retract", {"relation": "likes", "object": "milk"}, {"relation": "likes", "object": "milk"}),
        ("recalled", {"edge_ids": ["edge_1", "edge_2"]}, {"edge_ids": ["edge_2"]}),
        ("recalled", {"edge_ids": ["edge_1"]}, None),
        ("merge", {"entities": ["Porto", "Oporto"]}, None),
        ("merge", {"entities": ["a", "Porto", "b"]}, {"entities": ["a", "b"]}),
        ("add_facts", {"facts": [{"relation": "likes", "object": "tea"}, {"relation": "likes", "object": "milk"}]},
         {"facts": [{"relation": "likes", "object": "milk"}]}),
    ],
)  # fmt: skip
def test_a_payload_loses_what_it_says_of_the_erased(
    type_: str, payload: dict[str, Any], left: dict[str, Any] | None
) -> None:
    assert cut_payload(payload, is_gone) == left
    if left is not None:
        check_payload(type_, left)
        assert cut_payload(left, is_gone) == left


def test_a_fact_has_one_key_whichever_end_it_is_told_from() -> None:
    assert fact_key("Ada", "child_of", "Max", None, 1) == fact_key("Max", "parent_of", "ada", None, 1)
    assert fact_key("Ada", "sibling_of", "Max", None, 1) == fact_key("Max", "sibling_of", "Ada", None, 1)
    assert fact_key("Ada", "knows", "Max", None, 1) != fact_key("Max", "knows", "Ada", None, 1)
