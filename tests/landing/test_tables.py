"""From landed records to tables."""

from typing import Any

import pytest

from em_pipelines.landing import tables
from em_pipelines.schema.tables.clean import DEAD_LETTERS
from em_pipelines.schema.tables.raw import FEEDBACK, INTERACTIONS, SKILL_INVOCATIONS, WORLD_EVENTS
from em_pipelines.storage.parquet_files import canonical

AT = {"user_id": "ada", "timestamp": "2026-03-05T18:20:00.25Z"}
CASES = [
    (INTERACTIONS, tables.interactions_table, {"session_id": "s", "turn_number": 0, "role": "user", "content": "x"}),
    (SKILL_INVOCATIONS, tables.skill_invocations_table, {"session_id": "s", "skill_name": "b", "cost_usd": 0.25}),
    (FEEDBACK, tables.feedback_table, {"type": "retract", "fact": "x"}),
    (WORLD_EVENTS, tables.world_events_table, {"title": "x", "topics": ["a"], "happens_on": "2026-03-06"}),
]


@pytest.mark.parametrize(("table", "build", "fields"), CASES)
def test_landed_records_fit_the_declared_schema_and_its_order(home: Any, table: Any, build: Any, fields: Any) -> None:
    later = AT | {"timestamp": "2026-03-05T19:00:00Z", "turn_number": 1}
    home.land_data("a.jsonl", [fields | later, AT | fields])
    built = build(home.landed(table.name))
    assert built.schema == table.schema
    assert built.num_rows == 2
    assert built == canonical(table, built)
    assert built["timestamp"][0].as_py().isoformat() == "2026-03-05T18:20:00.250000+00:00"


@pytest.mark.parametrize(("table", "build", "fields"), CASES)
def test_of_one_key_the_first_record_stands(home: Any, table: Any, build: Any, fields: Any) -> None:
    home.land_data("a.jsonl", [AT | fields])
    (record,) = home.landed(table.name)
    assert build([record, record]) == build([record])


@pytest.mark.parametrize(("table", "build"), [*(case[:2] for case in CASES), (DEAD_LETTERS, tables.dead_letters_table)])
def test_no_records_give_an_empty_table(table: Any, build: Any) -> None:
    assert build([]) == table.empty()


def test_the_last_status_of_a_letter_stands(home: Any) -> None:
    home.land_data("a.jsonl", b"x")
    (letter,) = home.landed("dead_letters")
    changes = [{"dead_letter_id": letter["dead_letter_id"], "status": s} for s in ("replayed", "discarded")]
    assert tables.dead_letters_table([letter, *changes])["status"].to_pylist() == ["discarded"]
    assert tables.dead_letters_table([letter, *changes]).schema == DEAD_LETTERS.schema


def test_a_status_without_its_letter_is_no_row() -> None:
    assert tables.dead_letters_table([{"dead_letter_id": "x", "status": "replayed"}]).num_rows == 0
