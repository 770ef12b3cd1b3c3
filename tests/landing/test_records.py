"""The rules of the four kinds of record."""

from typing import Any

import orjson
import pytest

from em_pipelines.landing.reasons import RuleError
from em_pipelines.landing.records import interaction_key, is_same_content, land_record
from em_pipelines.schema.ids import correlation_id
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables.raw import FEEDBACK, INTERACTIONS, SKILL_INVOCATIONS, WORLD_EVENTS
from em_pipelines.storage.session_marks import PASTED_ELSEWHERE


def land_message(message: dict[str, Any]) -> dict[str, Any]:
    return land_record("interactions", message, "native")


@pytest.mark.parametrize(
    ("kind", "table", "fields"),
    [
        (
            "interactions",
            INTERACTIONS,
            {
                "session_id": "s",
                "turn_number": 0,
                "role": "tool",
                "content": "",
                "tags": ["a"],
                "memory_type": "event",
                "note_privacy": "L2",
                "zone": "Europe/Oslo",
            },
        ),
        ("skill_invocations", SKILL_INVOCATIONS, {"session_id": "s", "skill_name": "build", "duration_ms": 12}),
        ("feedback", FEEDBACK, {"type": "forget", "entity": "Derek"}),
        ("world_events", WORLD_EVENTS, {"title": "Gale warning", "happens_on": "2026-10-21"}),
    ],
)
def test_a_landed_record_has_exactly_the_columns_of_its_table(kind: str, table: Table, fields: dict[str, Any]) -> None:
    record = land_record(kind, {"user_id": "ada", "timestamp": "2026-03-05T19:20:00+01:00", **fields}, "native")
    assert set(record) == set(table.schema.names) - {PASTED_ELSEWHERE}  # which other days say of it
    assert orjson.loads(orjson.dumps(record)) == record


def test_tags_are_kept_in_small_letters_sorted_and_each_once(message: Any) -> None:
    assert land_message(message(tags=["Work", "home", "work "]))["tags"] == ["home", "work"]


def test_a_message_without_tags_is_the_record_that_it_was_before_there_were_any(message: Any) -> None:
    assert not {"tags", "memory_type", "note_privacy"} & set(land_message(message(tags=[], memory_type=None)))


@pytest.mark.parametrize("tags", ["work", [""], ["\x00"], ["x" * 65], [f"t{n}" for n in range(33)], [3]])
def test_what_is_no_list_of_tags_is_refused(message: Any, tags: Any) -> None:
    with pytest.raises(RuleError, match="tags"):
        land_message(message(tags=tags))


def test_an_archive_needs_the_message_that_it_is_about() -> None:
    fields = {"user_id": "ada", "timestamp": "2026-03-05T18:20:00Z", "type": "archive", "turn_number": 3}
    with pytest.raises(RuleError, match="session_id"):
        land_record("feedback", fields, "native")
    assert land_record("feedback", {**fields, "session_id": "s1"}, "native")["session_id"] == "s1"


def test_timestamps_are_landed_in_utc_with_microseconds(message: Any) -> None:
    record = land_message(message(timestamp="2026-03-05T00:30:00.5+02:00"))
    assert record["timestamp"] == "2026-03-04T22:30:00.500000+00:00"


def test_a_correlation_id_is_derived_unless_given(message: Any) -> None:
    assert land_message(message())["correlation_id"] == correlation_id("ada", "s1", 0)
    assert land_message(message(correlation_id="mine"))["correlation_id"] == "mine"


@pytest.mark.parametrize(
    ("fields", "subject"),
    [
        ({}, "user"),
        ({"role": "assistant"}, None),
        ({"role": "system"}, None),
        ({"role": "tool", "subject": "user"}, None),
        ({"speaker": "Noor"}, "user"),
        ({"speaker": "Noor", "channel": "group"}, "Noor"),
        ({"speaker": "ADA", "channel": "group"}, "user"),
        ({"channel": "group"}, "user"),
        ({"speaker": "Noor", "participants": ["ada", "Noor"]}, "Noor"),
        ({"speaker": "Noor", "participants": ["Noor"]}, "user"),
        ({"subject": "Melanie"}, "Melanie"),
    ],
)
def test_a_message_states_facts_of_whoever_speaks(message: Any, fields: dict[str, Any], subject: str | None) -> None:
    assert land_message(message(**fields))["subject"] == subject


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"turn_number": "3"}, "wrong_type"),
        ({"turn_number": 3.0}, "wrong_type"),
        ({"turn_number": True}, "wrong_type"),
        ({"turn_number": 10.0**30}, "wrong_type"),
        ({"turn_number": -1}, "invalid_field"),
        ({"turn_number": 2**63}, "invalid_field"),
        ({"turn_number": None}, "missing_field"),
        ({"content": None}, "missing_field"),
        ({"content": ["a"]}, "wrong_type"),
        ({"content": "\ud800"}, "wrong_type"),
        ({"role": "narrator"}, "invalid_field"),
        ({"role": ["user"]}, "invalid_field"),
        ({"channel": "smoke"}, "invalid_field"),
        ({"trust": "maybe"}, "invalid_field"),
        ({"participants": "ada"}, "wrong_type"),
        ({"timestamp": None}, "missing_field"),
        ({"timestamp": 1790063280}, "wrong_type"),
        ({"timestamp": "2026-03-05T18:20:00"}, "invalid_field"),
        ({"timestamp": "yesterday"}, "invalid_field"),
        ({"timestamp": "0001-01-01T00:00:00+14:00"}, "invalid_field"),
        ({"user_id": None}, "missing_user"),
        ({"user_id": ""}, "invalid_field"),
        ({"user_id": "  "}, "invalid_field"),
        ({"user_id": "a\x00b"}, "invalid_field"),
        ({"session_id": "a\nb"}, "invalid_field"),
        ({"session_id": "x" * 257}, "invalid_field"),
        ({"session_id": 7}, "wrong_type"),
        ({"session_id": "gh" + "p_" + "a1B2" * 9}, "secret_in_id"),
    ],
)
def test_a_record_that_breaks_a_rule_is_refused_with_its_code(
    message: Any, fields: dict[str, Any], reason: str
) -> None:
    with pytest.raises(RuleError) as caught:
        land_message(message(**fields))
    assert caught.value.reason == reason
    assert caught.value.detail


def test_numeric_ids_in_the_form_of_card_numbers_are_honest_ids(message: Any) -> None:
    number = "4" + "1" * 15
    assert land_message(message(user_id=number))["user_id"] == number


def test_unknown_fields_of_a_message_are_left_out_without_complaint(message: Any) -> None:
    assert "mood" not in land_message(message(mood="fine"))


def test_feedback_keeps_all_further_fields_as_canonical_json() -> None:
    base = {"user_id": "ada", "timestamp": "2026-03-05T18:20:00Z", "type": "probe_ignored"}
    record = land_record("feedback", base | {"value": {"b": 1, "a": [2]}, "fact": "x"}, "native")
    assert record["payload"] == '{"fact":"x","value":{"a":[2],"b":1}}'
    again = land_record("feedback", {"value": {"a": [2], "b": 1}, "fact": "x"} | base, "native")
    assert again == record


def test_secrets_in_a_payload_are_masked_and_leave_json() -> None:
    card = int("4" + "1" * 15)
    fields = {
        "user_id": "ada",
        "timestamp": "2026-03-05T18:20:00Z",
        "type": "probe_ignored",
        "password": "x",
        "n": card,
    }
    record = land_record("feedback", fields, "native")
    assert orjson.loads(record["payload"]) == {"password": "[masked:secret]", "n": "[masked:card_number]"}


def test_feedback_that_nobody_could_act_upon_is_refused() -> None:
    fields = {"user_id": "ada", "timestamp": "2026-03-05T18:20:00Z", "type": "correct", "relation": "dwells_in"}
    with pytest.raises(RuleError, match="dwells_in") as caught:
        land_record("feedback", fields, "native")
    assert caught.value.reason == "invalid_field"


def test_payloads_nested_beyond_reason_are_refused() -> None:
    deep: list[Any] = []
    for _ in range(900):
        deep = [deep]
    fields = {"user_id": "ada", "timestamp": "2026-03-05T18:20:00Z", "type": "probe_ignored", "value": deep}
    with pytest.raises(RuleError) as caught:
        land_record("feedback", fields, "native")
    assert caught.value.reason == "invalid_field"


def test_two_tellings_of_a_message_may_differ_in_what_is_not_said(message: Any) -> None:
    one = land_message(message(agent_id="a", entities_mentioned=["x"], source_id="1"))
    other = land_record("interactions", message(), "openai")
    assert interaction_key(one) == interaction_key(other)
    assert is_same_content(one, other)
    assert not is_same_content(one, land_message(message(content="else")))


def test_what_an_older_masker_let_pass_is_the_same_content_still(message: Any) -> None:
    secret = "gh" + "p_" + "a1B2" * 9
    now = land_message(message(content=f"it is {secret}"))
    before = {**now, "content": f"it is {secret}"}
    assert is_same_content(before, now)
