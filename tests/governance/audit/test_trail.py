"""The audit trail: each operation under its name, and what time did to facts, each on its day, however it was cut."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from em_pipelines.errors import CorruptTableError
from em_pipelines.governance.audit.trail import audit_trail
from em_pipelines.graph.confidence_decay import DecaySettings, effective_confidence
from em_pipelines.schema.audit_events import EventType
from em_pipelines.schema.readings import HALLUCINATIONS
from em_pipelines.schema.tables.derived import INFERRED_EDGES
from em_pipelines.schema.tables.extraction import EXTRACTION_ISSUES
from em_pipelines.schema.tables.graph import EDGES, ENTITY_OPS, GRAPH_OPS
from em_pipelines.schema.tables.raw import FEEDBACK
from em_pipelines.schema.tables.record import AUDIT_TRAIL
from em_pipelines.schema.vocabulary import TemporalType
from em_pipelines.storage.duckdb_engine import connect
from em_pipelines.storage.parquet_files import canonical

DAY = date(2026, 3, 1)
CONNECTION = connect()
DECAY = DecaySettings()
INPUTS = (EDGES, GRAPH_OPS, ENTITY_OPS, EXTRACTION_ISSUES, FEEDBACK)
Row = dict[str, Any]


def trail(day: date = DAY, state_day: date | None = None, **given_tables: pa.Table) -> list[Row]:
    tables = {table.name: table.empty() for table in INPUTS} | {"state_edges": EDGES.empty(), **given_tables}
    known = {"table_name": ["edges"] if state_day else [], "day": [state_day] if state_day else []}
    schema = pa.schema([("table_name", pa.string()), ("day", pa.date32())])
    found = audit_trail(day, {**tables, "state_days": pa.table(known, schema=schema)}, DECAY, CONNECTION)
    return list(canonical(AUDIT_TRAIL, found).to_pylist())


@pytest.mark.parametrize(
    ("operation", "mechanism", "expected"),
    [
        ("INSERT", "explicit", "edge_created"),
        ("INSERT", "user_correction", "fact_corrected"),
        ("REINFORCE", "explicit", "edge_reinforced"),
        ("CONTRADICT", "explicit", "edge_contradicted"),
        *(
            pytest.param(*one, marks=pytest.mark.slow)
            for one in [
                ("REVISE", "explicit", "edge_revised"),
                ("REVISE", "user_correction", "fact_corrected"),
                ("RETRACT", "explicit", "fact_corrected"),
                ("RETRACT", "user_correction", "fact_corrected"),
                ("CONFIRM", "user_correction", "fact_corrected"),
                ("DELETE", "user_correction", "edge_deleted_by_user"),
            ]
        ),
    ],
)
def test_every_operation_on_a_fact_is_an_event(operation: str, mechanism: str, expected: str, rows_of) -> None:
    ops = rows_of(GRAPH_OPS, {"operation": operation, "source_mechanism": mechanism, "edge_id": "edge_1"})
    (event,) = trail(graph_ops=ops, edges=rows_of(EDGES, {"edge_id": "edge_1", "subject_id": "ent_1"}))
    (op,) = ops.to_pylist()
    assert (event["event_type"], event["operation"], event["component"]) == (expected, operation, "fold")
    assert (event["edge_id"], event["entity_id"]) == ("edge_1", "ent_1")
    assert (event["old_value"], event["new_value"]) == (op["before"], op["after"])
    assert event["decision_reasoning"] == op["reason"]
    for column in ("timestamp", "correlation_id", "user_id", "session_id", "confidence_before", "confidence_after"):
        assert event[column] == op[column]


def test_an_edge_that_was_deleted_is_still_about_its_subject(rows_of) -> None:
    before = rows_of(EDGES, {"edge_id": "edge_1", "subject_id": "ent_1"})
    ops = rows_of(GRAPH_OPS, {"operation": "DELETE", "edge_id": "edge_1"})
    (event,) = trail(graph_ops=ops, state_edges=before, state_day=DAY - timedelta(days=1))
    assert (event["event_type"], event["entity_id"]) == ("edge_deleted_by_user", "ent_1")


@pytest.mark.parametrize(
    ("operation", "expected", "old", "new"),
    [
        ("CREATE", "entity_created", None, None),
        ("MERGE", "entity_merged", None, "ent_2"),
        ("SPLIT", "entity_split", "ent_2", None),
        ("DELETE", "entity_deleted_by_user", None, None),
    ],
)
def test_every_operation_of_the_registry_is_an_event(operation, expected, old, new, rows_of) -> None:
    other = "ent_2" if old or new else None
    ops = rows_of(ENTITY_OPS, {"operation": operation, "entity_id": "ent_1", "other_id": other})
    (event,) = trail(entity_ops=ops)
    assert (event["event_type"], event["entity_id"]) == (expected, "ent_1")
    assert (event["old_value"], event["new_value"]) == (old, new)


@pytest.mark.parametrize(
    "issue",
    [
        HALLUCINATIONS[0],
        *(pytest.param(one, marks=pytest.mark.slow) for one in HALLUCINATIONS[1:]),
        "skipped",
        "dead_letter",
    ],
)
def test_doubts_and_skips_are_events(issue: str, rows_of) -> None:
    (event,) = trail(extraction_issues=rows_of(EXTRACTION_ISSUES, {"issue": issue, "reason": "why", "detail": ""}))
    expected = "hallucination_detected" if issue in HALLUCINATIONS else "extraction_skipped"
    assert (event["event_type"], event["operation"], event["decision_reasoning"]) == (expected, issue, "why")


@pytest.mark.parametrize("issue", ["nothing_found", "pending", "discarded", "truncated"])
def test_what_decided_nothing_is_no_event(issue: str, rows_of) -> None:
    assert trail(extraction_issues=rows_of(EXTRACTION_ISSUES, {"issue": issue})) == []


@pytest.mark.parametrize(("outcome", "n_events"), [("verified", 1), ("changed", 1), ("unknown", 0)])
def test_what_a_verifier_found_is_an_event(outcome: str, n_events: int, rows_of) -> None:
    said = {
        "type": "revision",
        "payload": f'{{"outcome":"{outcome}","source":"the town hall"}}',
        "feedback_id": "fbk_1",
    }
    ops = rows_of(GRAPH_OPS, {"claim_id": "fbk_1", "edge_id": "edge_1", "correlation_id": "cor_1"})
    events = [e for e in trail(feedback=rows_of(FEEDBACK, said), graph_ops=ops) if e["component"] == "revision"]
    assert [(e["event_type"], e["edge_id"], e["correlation_id"], e["decision_reasoning"]) for e in events] == [
        (f"revision_{outcome}", "edge_1", "cor_1", "the town hall")
    ] * n_events


@pytest.mark.parametrize(
    "kind",
    [
        "probe_delivered",
        pytest.param("probe_ignored", marks=pytest.mark.slow),
        pytest.param("starter_engaged", marks=pytest.mark.slow),
        "correct",
        pytest.param("recalled", marks=pytest.mark.slow),
    ],
)
def test_what_became_of_probes_and_starters_is_an_event(kind: str, rows_of) -> None:
    events = trail(feedback=rows_of(FEEDBACK, {"type": kind, "payload": "{}", "feedback_id": "fbk_1"}))
    expected = [kind] if kind.startswith(("probe", "starter")) else []
    assert [e["event_type"] for e in events] == expected


def test_a_fact_is_inferred_once(rows_of) -> None:
    inferred = rows_of(INFERRED_EDGES, {"edge_id": "edge_1", "premises": ["a", "b"], "rule_id": "colleague"}, {})
    known = inferred.slice(1)
    (event,) = trail(inferred_edges=inferred, state_inferred_edges=known)
    assert (event["event_type"], event["edge_id"]) == ("inference_created", "edge_1")
    assert event["decision_reasoning"] == "follows from 2 facts by rule colleague"


def test_an_operation_without_a_name_in_the_closed_list_is_refused(rows_of) -> None:
    with pytest.raises(CorruptTableError):
        trail(graph_ops=rows_of(GRAPH_OPS, {"operation": "FORGET"}))


facts = st.fixed_dictionaries(
    {
        "confidence": st.floats(0.05, 1).map(lambda c: round(c, 3)),
        "temporal_type": st.sampled_from([t.value for t in TemporalType]),
        "age": st.integers(0, 400),
        "status": st.sampled_from(["active", "active", "contradicted", "superseded"]),
    }
)


def edges_of(rows_of, drawn: list[Row], first: date) -> pa.Table:
    said = [
        {
            "edge_id": f"edge_{n}",
            "temporal_type": fact["temporal_type"],
            "confidence": fact["confidence"],
            "status": fact["status"],
            "relation": "likes",
            "valid_from": None,
            "last_reinforced": datetime(first.year, first.month, first.day, 9, tzinfo=UTC) - timedelta(fact["age"]),
        }
        for n, fact in enumerate(drawn)
    ]
    return rows_of(EDGES, *said)


def band(confidence: float) -> int:
    return sum(confidence >= bound for bound in (0.85, 0.60, 0.40))


def faded_day_by_day(edges: pa.Table, first: date, last: date) -> set[tuple[str, date, str]]:
    """What the trail must hold, by looking at every fact on every day."""
    found = set()
    for row in edges.to_pylist():
        kind = TemporalType(row["temporal_type"])
        said = row["last_reinforced"].date()
        expires = said + timedelta(DECAY.wish_expiry_days) if kind is TemporalType.WISH else date.max
        for n in range(1, (last - first).days + 1):
            day = first + timedelta(days=n)
            left = [effective_confidence(row["confidence"], (day - said).days - back, kind, DECAY) for back in (0, 1)]
            gone = [
                at >= expires or confidence < DECAY.archive_below_confidence
                for at, confidence in zip((day, day - timedelta(days=1)), left, strict=True)
            ]
            if row["status"] == "superseded" or gone[1]:
                continue
            if gone[0]:
                found.add((row["edge_id"], day, "edge_archived"))
            elif band(left[0]) != band(left[1]):
                found.add((row["edge_id"], day, "edge_decayed"))
    return found


def faded(events: list[Row]) -> set[tuple[str, date, str]]:
    return {(e["edge_id"], e["timestamp"].date(), e["event_type"]) for e in events}


@pytest.mark.slow
@settings(max_examples=15)
@given(drawn=st.lists(facts, min_size=1, max_size=6), n_days=st.integers(1, 120))
def test_facts_fade_on_the_days_on_which_a_look_at_every_day_says_so(drawn, n_days: int, rows_of) -> None:
    last = DAY + timedelta(days=n_days)
    edges = edges_of(rows_of, drawn, DAY)
    events = trail(last, DAY, edges=edges, state_edges=edges)
    assert len(events) == len({e["id"] for e in events})
    assert faded(events) == faded_day_by_day(edges, DAY, last)


@pytest.mark.slow
@settings(max_examples=10)
@given(drawn=st.lists(facts, min_size=1, max_size=6), n_days=st.integers(2, 90), share=st.floats(0, 1))
def test_a_gap_in_two_pieces_gives_the_events_of_the_whole(drawn, n_days: int, share: float, rows_of) -> None:
    last = DAY + timedelta(days=n_days)
    middle = DAY + timedelta(days=1 + int(share * (n_days - 2)))
    edges = edges_of(rows_of, drawn, DAY)
    pieces = [trail(b, a, edges=edges, state_edges=edges) for a, b in ((DAY, middle), (middle, last))]
    whole = trail(last, DAY, edges=edges, state_edges=edges)
    assert sorted(e["id"] for piece in pieces for e in piece) == sorted(e["id"] for e in whole)


def test_a_fact_that_is_said_again_has_faded_until_the_day_before_and_not_on_the_day(rows_of) -> None:
    last = DAY + timedelta(days=60)  # 0.95 loses 0.10 in 60 days, and falls below 0.85 on the last of them
    before = edges_of(rows_of, [{"confidence": 0.9499, "temporal_type": "state", "age": 0, "status": "active"}], DAY)
    (row,) = before.to_pylist()
    again = EDGES.from_rows([{**row, "last_reinforced": datetime(2026, 4, 30, tzinfo=UTC), "confidence": 1.0}])
    assert faded(trail(last, DAY, edges=before, state_edges=before)) == {("edge_0", last, "edge_decayed")}
    assert trail(last, DAY, edges=again, state_edges=before) == []


def test_a_faded_fact_says_how_it_stood_and_where_it_came_from(rows_of) -> None:
    last = DAY + timedelta(days=60)
    edges = edges_of(rows_of, [{"confidence": 0.9, "temporal_type": "state", "age": 0, "status": "active"}], DAY)
    (event,) = trail(last, DAY, edges=edges, state_edges=edges)
    assert (event["old_value"], event["new_value"]) == (
        '{"band":"plain","status":"active"}', '{"band":"hedged","status":"active"}',
    )  # fmt: skip
    assert event["confidence_before"] >= 0.85 > event["confidence_after"]
    assert (event["session_id"], event["operation"], event["component"]) == ("s1", "DECAY", "decay")


def test_the_closed_list_has_twenty_nine_types() -> None:
    assert len(EventType) == 29
