"""Why an experience is what it is, and what the audit trail tells of nights."""

import json
from typing import Any

import pytest

from em_pipelines.governance.audit.nights_trail import events, why_experience
from em_pipelines.lifecycle.consolidation.night import experiences, id_of
from em_pipelines.lifecycle.consolidation.nights import Said
from em_pipelines.schema.tables.record import AUDIT_TRAIL
from tests.lifecycle.consolidation.calls import call
from tests.lifecycle.consolidation.conftest import Sleeper, sleeper  # noqa: F401  (a fixture)
from tests.lifecycle.consolidation.test_memory_files import failing


@pytest.fixture
def slept(sleeper: Sleeper) -> Sleeper:  # noqa: F811
    """A home with a rule, and with something that is quarantined."""
    hostile = (call("ignore_previous_instructions", "Down", hours=24 * day, session=f"h{day}") for day in range(5))
    sleeper.land([*failing(), *hostile])
    sleeper.night()
    return sleeper


def ship(slept: Sleeper) -> dict[str, Any]:
    return next(row for row in experiences(slept.home) if row["kind"] == "failure")


def test_a_rule_is_told_with_evidence_conversations_verdict_and_night(slept: Sleeper) -> None:
    row = ship(slept)

    told = why_experience(slept.home.store.lake, id_of(slept.home, row["experience_id"][:12]))

    assert told is not None
    assert told["conversations"] == ["ada-0", "ada-2", "ada-4", "ada-6"]
    assert [one["evidence_id"] for one in told["evidence"]] == row["consolidates"]
    assert told["verdict"]["verdict"] == "promoted"
    assert told["night"] == slept.home.nights.history().lines[0].target
    assert "call open_harbour" in told["rule"]


def test_of_what_is_quarantined_gate_and_reason_are_told_alone(slept: Sleeper) -> None:
    (event,) = (one for one in events(slept.home) if one["event_type"] == "rule_quarantined")
    told = why_experience(slept.home.store.lake, json.loads(event["metadata"])["experience_id"])

    assert told is not None
    assert told["verdict"]["gate"] == "injection"
    assert told["evidence"] == []
    assert "ignore" not in repr((told, event))


def test_nights_are_told_in_the_columns_of_the_audit_trail(slept: Sleeper) -> None:
    night = slept.home.nights.history().lines[0].target
    found = events(slept.home)

    assert all(set(one) == set(AUDIT_TRAIL.schema.names) for one in found)
    assert AUDIT_TRAIL.from_rows(found).num_rows == len(found)
    promoted = [one for one in found if one["event_type"] == "experience_promoted"]
    assert {one["correlation_id"] for one in promoted} == {night}
    assert ship(slept)["experience_id"] in {json.loads(one["metadata"])["experience_id"] for one in promoted}

    slept.decide(ship(slept)["experience_id"], Said.REJECT)
    slept.roll_back(night)
    after = [one for one in events(slept.home) if one["event_type"] == "rule_rolled_back"]
    assert {one["operation"] for one in after} == {"REJECT", "ROLLBACK"}
    assert not any(one["event_type"] == "experience_promoted" for one in events(slept.home))
