"""Feedback, as people read it."""

import json
from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from em_pipelines.governance.audit.feedback_words import DONE, decided, told
from em_pipelines.landing.records import FeedbackType


@pytest.mark.parametrize(
    ("type_", "fields", "shown"),
    [
        ("correct", {"relation": "lives_in", "new_object": "Graz", "old_object": "Linz"},
         "corrected: user lives_in Graz (was Linz)"),
        ("confirm", {"edge_id": "edge_1"}, "confirmed: edge_1"),
        ("retract", {"subject": "Dana", "relation": "likes", "object": "tea", "polarity": -1},
         "taken back: Dana not likes tea"),
        ("seed", {"subject": "Dana", "relation": "works_as", "object": "Baker", "file": "c.vcf", "line": 3},
         "imported from c.vcf, line 3: Dana works_as Baker"),
        ("merge", {"entities": ["Tom", "Thomas"]}, "said to be one: Tom, Thomas"),
        ("add_facts", {"facts": [{"relation": "has_attribute", "attribute": "shoe size", "object": "38"}]},
         "told as a fact by a program: user has_attribute shoe size 38"),
        ("probe_ignored", {}, "probe ignored"),
    ],
)  # fmt: skip
def test_feedback_is_told_in_words(type_: str, fields: dict[str, Any], shown: str) -> None:
    assert told(type_, json.dumps(fields)) == shown


def test_what_was_decided_says_when_and_by_whom() -> None:
    def given(type_: str, **fields: str) -> dict[str, Any]:
        return {"type": type_, "payload": json.dumps(fields), "timestamp": datetime(2026, 3, 2, 10, 1, tzinfo=UTC)}

    assert decided(given("confirm", relation="lives_in"), "ada", "s2") == "confirmed on 2026-03-02 10:01 by ada, in s2"
    corrected = given("correct", relation="lives_in", new_object="Graz", old_object="Linz")
    assert decided(corrected, "ada", None) == "corrected on 2026-03-02 10:01 by ada, instead of Linz"
    accepted = given("accept", file="c.vcf")
    assert decided(accepted, "ada", "import_1") == "accepted as imported from c.vcf, on 2026-03-02 10:01 by ada"


def test_no_type_is_shown_by_a_name_of_the_tables() -> None:
    plain = {type_ for type_ in get_args(FeedbackType) if type_ not in DONE}
    assert all(type_.startswith(("probe_", "starter_")) for type_ in plain)
