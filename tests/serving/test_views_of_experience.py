"""Views over what nights made: both ways between evidence and experience, and whether it helps."""

from datetime import UTC, date, datetime, timedelta
from math import log
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.governance.audit.soundness import diagnose
from em_pipelines.governance.audit.status import status
from em_pipelines.lifecycle.consolidation.night import run_night
from em_pipelines.lifecycle.consolidation.nights import History, Line, Said
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.serving.snapshot import LATEST, is_current, newest_day, publish
from em_pipelines.serving.users import stages
from em_pipelines.settings import load_settings
from em_pipelines.storage.duckdb_engine import connect

DAY = date(2026, 3, 2)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def call(n: int, minutes: float, category: str | None, **fields: Any) -> dict[str, Any]:
    return {
        "invocation_id": f"i{n}", "user_id": "ada", "session_id": "s1", "skill_name": "deploy",
        "error_category": category, "timestamp": NOON + timedelta(minutes=minutes), **fields,
    }  # fmt: skip


CALLS = [
    call(1, 0, "timeout"),
    call(2, 1, "timeout"),
    call(3, 9, None, user_id="bo"),
    call(4, 10, None, session_id="s2"),
    call(5, 11, None, skill_name="login"),
    call(6, 20, "timeout"),
]
TABLES: dict[str, list[dict[str, Any]]] = {
    "skill_invocations": CALLS,
    "experiences": [
        {"experience_id": "x1", "user_id": "ada", "kind": "failure", "component": "deploy", "category": "timeout",
         "mitigation": "login", "trigger": "gateway closed", "tier": "hot", "promoted_at": NOON},
        {"experience_id": "x2", "user_id": "ada", "kind": "reflection", "component": "decision", "text": "Two notes",
         "tier": "warm", "status": "in_review", "promoted_at": NOON},
    ],
    "rules": [{"experience_id": "x1", "user_id": "ada", "text": "Call login first."}],
    "experience_links": [
        {"experience_id": "x1", "evidence_id": "i1", "user_id": "ada", "session_id": "s1", "turn_number": None},
        {"experience_id": "x2", "evidence_id": "m1", "user_id": "ada", "session_id": "s1", "turn_number": 4},
    ],
    "messages": [
        {"message_id": "m1", "user_id": "ada", "session_id": "s1", "turn_number": 4, "content": "We chose tar."},
    ],
    "promotions": [
        {"experience_id": "x1", "user_id": "ada", "kind": "failure", "verdict": "promoted", "gate": None,
         "consolidation_id": "con_1"},
        {"experience_id": "x3", "user_id": "ada", "kind": "failure", "verdict": "refused", "gate": "span"},
        {"experience_id": "x5", "user_id": "ada", "kind": "failure", "verdict": "quarantined", "gate": "secrets",
         "reason": "it holds one", "consolidation_id": None},
        {"experience_id": "x4", "user_id": "ada", "kind": "failure", "verdict": "refused", "gate": "span"},
    ],
}  # fmt: skip
TABLES["probes"] = [{"probe_id": "p1", "user_id": "ada", "kind": "discovery", "correlation_id": "cor_p"}]
TABLES["starters"] = [{"starter_id": "s1", "user_id": "ada", "kind": "date", "correlation_id": "cor_s"}]
NIGHTS = History((
    Line(Said.NIGHT, "con_1", "", NOON, 6),
    Line(Said.NIGHT, "con_2", "", NOON + timedelta(hours=1), 9),
    Line(Said.ROLLBACK, "con_2", ""),
))  # fmt: skip


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory, rows_of) -> Any:
    """told(view): its rows in the snapshot of a home without any facts, by column."""
    folder = tmp_path_factory.mktemp("told")
    home = Pipeline(load_settings(home=folder / "home"))
    for name, rows in TABLES.items():
        home.store.lake.write(CATALOG[name], DAY, rows_of(CATALOG[name], *rows))
    path = publish(home.store, folder / "out", home.time_rules, nights=NIGHTS).path
    with connect(str(path), is_read_only=True) as connection:
        yield lambda view: connection.sql(f"FROM {view}").to_arrow_table().to_pylist()


def test_a_failure_is_resolved_by_the_next_success_of_the_skill_for_the_same_user(told) -> None:
    found = [(row["invocation_id"], row["resolved_in"], row["seconds_to_resolve"]) for row in told("resolutions")]
    assert found == [("i1", "s2", 600.0), ("i2", "s2", 540.0), ("i6", None, None)]
    (month,) = told("resolution_latency")
    assert (month["n_failures"], month["n_resolved"], month["median_seconds"]) == (3, 2, 570.0)


def test_failure_modes_are_told_with_trigger_mitigation_and_rule(told) -> None:
    (found,) = told("failure_modes")
    assert (found["skill_name"], found["error_category"], found["trigger"], found["mitigation"], found["rule"]) == (
        "deploy", "timeout", "gateway closed", "login", "Call login first.",
    )  # fmt: skip


def test_experiences_lead_to_observations_and_observations_to_experiences(told) -> None:
    found = told("experience_evidence")
    assert {(row["experience_id"], row["evidence_id"], row["observation"]) for row in found} == {
        ("x1", "i1", "deploy: timeout"), ("x2", "m1", "We chose tar."),
    }  # fmt: skip


def test_what_gates_refused_tiers_and_promotions_are_counted(told) -> None:
    assert [(row["verdict"], row["gate"], row["n_patterns"]) for row in told("promotion_gates")] == [
        ("promoted", "none", 1), ("quarantined", "secrets", 1), ("refused", "span", 2),
    ]  # fmt: skip
    assert {(row["tier"], row["n_experiences"]) for row in told("retention_tiers")} == {("hot", 1), ("warm", 1)}
    assert {(row["kind"], row["n_promoted"], row["n_active"]) for row in told("promotions_by_month")} == {
        ("failure", 1, 1), ("reflection", 1, 0),
    }  # fmt: skip


def test_nights_that_were_rolled_back_are_a_share_of_all(told) -> None:
    (month,) = told("nights_by_month")
    assert (month["n_nights"], month["n_rolled_back"], month["rolled_back_share"]) == (2, 1, 0.5)
    assert [(row["consolidation_id"], row["is_standing"]) for row in told("nights")] == [
        ("con_1", True), ("con_2", False),
    ]  # fmt: skip
    (improvement,) = told("self_improvement")
    assert (improvement["n_nights"], improvement["median_seconds_to_resolve"]) == (2, 570.0)


@pytest.mark.slow
def test_the_last_stages_are_reached_by_what_a_night_makes(tmp_path: Path, rows_of) -> None:
    """A night over invented calls: a failure that recurs, and a way of doing something that has worked."""
    home, said = Pipeline(load_settings(home=tmp_path / "home")), home_of_somebody_known(500)
    for name, rows in (said | {"skill_invocations": recurring_calls()}).items():
        home.store.lake.write(CATALOG[name], DAY, rows_of(CATALOG[name], *rows))
    publish(home.store, home.snapshots, home.time_rules)
    (before,) = stages(home.snapshots / LATEST)
    report = run_night(home, NOON)
    publish(home.store, home.snapshots, home.time_rules, nights=home.nights.history())
    (after,) = stages(home.snapshots / LATEST)
    assert report.n_promoted >= 2
    assert (before.stage, before.next_stage, before.still_needed) == ("functional", "mature", "the first experience")
    assert (after.stage, after.next_stage, after.still_needed) == ("expert", None, None)
    assert {"cold start": "1 expert"}.items() <= {one.subject: one.found for one in diagnose(home)}.items()
    assert status(home, "ada").stages == [after]
    assert status(home, "bo").stages == []


def home_of_somebody_known(n_messages: int) -> dict[str, list[dict[str, Any]]]:
    """What takes ada as far as one comes without experiences."""
    return {
        "messages": [
            {"user_id": "ada", "session_id": "s1", "turn_number": n, "timestamp": NOON} for n in range(n_messages)
        ],
        "current_edges": [
            {"user_id": "ada", "subject_id": "e0", "object_id": None, "value": f"v{n}", "relation": "speaks"}
            for n in range(80)
        ],
        "entities": [
            {"user_id": "ada", "entity_id": f"e{n}", "merged_into": None, "name_key": f"n{n}"} for n in range(6)
        ],
        "feedback": [{"user_id": "ada", "type": "probe_delivered", "payload": "{}", "timestamp": NOON}],
    }


def recurring_calls() -> list[dict[str, Any]]:
    """On each of eight days a conversation in which a fetch fails, somebody logs in, and it works; then a report."""
    kinds = (("fetch", "denied"), ("login", None), ("fetch", None), ("report", None))
    return [
        call(
            10 * day + n, -1440 * day + n, category, skill_name=name, session_id=f"t{day}", duration_ms=100,
            cost_usd=None, input_hash=f"h{day}", output_summary="key ring is locked" if category else "done",
        )
        for day in range(8)
        for n, (name, category) in enumerate(kinds)
    ]  # fmt: skip


@pytest.mark.slow
def test_a_conversation_in_which_memory_was_used_is_counted_once(tmp_path: Path, rows_of) -> None:
    home = Pipeline(load_settings(home=tmp_path / "home"))
    rows = {
        "sessions": [{"user_id": "ada", "session_id": s, "started_at": NOON} for s in ("s1", "s2")],
        "graph_ops": [
            {"user_id": "ada", "session_id": "s1", "edge_id": edge, "reason": "surfaced in a session", "op_id": f"o{n}"}
            for n, edge in enumerate(("e1", "e2", "e1"))
        ],
        "current_edges": [],
    }  # fmt: skip
    for name, of_table in rows.items():
        home.store.lake.write(CATALOG[name], DAY, rows_of(CATALOG[name], *of_table))
    path = publish(home.store, tmp_path / "out", home.time_rules).path
    with connect(str(path), is_read_only=True) as connection:
        (found,) = connection.sql("FROM memory_use").to_arrow_table().to_pylist()
    assert (found["n_sessions"], found["n_sessions_with_memory"], found["session_share"], found["n_used"]) == (
        2, 1, 0.5, 2,
    )  # fmt: skip


def test_what_is_tied_to_much_matters_more_than_what_is_merely_named_as_often(tmp_path: Path, rows_of) -> None:
    home = Pipeline(load_settings(home=tmp_path / "home"))
    same = {"user_id": "ada", "merged_into": None, "mention_count": 3, "importance": 0.4}
    names = [{**same, "entity_id": f"e{n}", "name_key": f"n{n}", "canonical_name": f"N{n}"} for n in range(4)]
    names[3] |= {"merged_into": "e0", "importance": 0.5}
    tied = {"user_id": "ada", "value": None, "attribute": None, "polarity": 1, "status": "active"}
    edges = [
        {**tied, "edge_id": "f1", "subject_id": "e3", "object_id": "e1"},
        {**tied, "edge_id": "f2", "subject_id": "e0", "object_id": "e2"},
        {**tied, "edge_id": "f3", "subject_id": "e0", "object_id": None, "value": "tall"},
        {**tied, "edge_id": "f4", "subject_id": "e1", "object_id": "e2", "polarity": -1},
        {**tied, "edge_id": "f5", "subject_id": "e1", "object_id": "e2", "status": "superseded"},
    ]
    for name, rows in {"entities": names, "current_edges": edges}.items():
        home.store.lake.write(CATALOG[name], DAY, rows_of(CATALOG[name], *rows))
    path = publish(home.store, tmp_path / "out", home.time_rules).path
    with connect(str(path), is_read_only=True) as connection:
        found = connection.sql("FROM entity_importance").to_arrow_table().to_pylist()
    assert [(row["name"], row["n_mentions"], row["n_links"]) for row in found] == [
        ("N0", 6, 3), ("N1", 3, 1), ("N2", 3, 1),
    ]  # fmt: skip
    assert all(row["importance"] == pytest.approx((row["by_mentions"] + row["centrality"]) / 2) for row in found)
    assert found[0]["centrality"] == pytest.approx(log(4) / log(21))


def test_a_night_and_a_rollback_put_a_snapshot_out_of_date_and_the_next_one_holds_them(tmp_path: Path, rows_of) -> None:
    home, out = Pipeline(load_settings(home=tmp_path / "home")), tmp_path / "out"
    lake, rules = home.store.lake, home.time_rules
    lake.write(CATALOG["skill_invocations"], DAY, rows_of(CATALOG["skill_invocations"], *CALLS))
    assert newest_day(home.store) == DAY
    publish(home.store, out, rules)
    before = History(NIGHTS.lines[:1])
    assert is_current(home.store, out, rules)
    assert not is_current(home.store, out, rules, before)

    lake.write(CATALOG["rules"], DAY, rows_of(CATALOG["rules"], *TABLES["rules"]))
    assert publish(home.store, out, rules, nights=before).n_rows["rules"] == 1
    assert is_current(home.store, out, rules, before)
    lake.delete(CATALOG["rules"], DAY)
    after = History((*before.lines, Line(Said.ROLLBACK, "con_1", "")))
    assert not is_current(home.store, out, rules, after)
    report = publish(home.store, out, rules, nights=after)
    assert (report.is_new, report.n_rows["rules"]) == (True, 0)


@pytest.mark.slow
def test_what_a_night_made_after_the_last_fact_is_in_the_newest_snapshot_alone(tmp_path: Path, rows_of) -> None:
    home, out = Pipeline(load_settings(home=tmp_path / "home")), tmp_path / "out"
    for day in (DAY - timedelta(days=1), DAY):
        home.store.lake.write(CATALOG["current_edges"], day, rows_of(CATALOG["current_edges"]))
    later = DAY + timedelta(days=3)
    home.store.lake.write(CATALOG["rules"], later, rows_of(CATALOG["rules"], *TABLES["rules"]))
    newest = publish(home.store, out, home.time_rules)
    assert (newest.as_of, newest.n_rows["rules"]) == (DAY, 1)
    assert publish(home.store, out, home.time_rules, DAY - timedelta(days=1)).n_rows["rules"] == 0


def test_what_nights_and_the_newest_day_came_to_is_told_beside_the_trail(told) -> None:
    found = {(row["event_type"], row["correlation_id"], row["user_id"]) for row in told("audit_events")}
    assert found >= {
        ("experience_promoted", "con_1", "ada"), ("rule_quarantined", "con_1", "ada"),
        ("rule_rolled_back", "con_2", None), ("probe_generated", "cor_p", "ada"), ("starter_generated", "cor_s", "ada"),
    }  # fmt: skip
    ids = [row["id"] for row in told("audit_events")]
    assert len(ids) == len(set(ids))
    (kept_out,) = (row for row in told("audit_events") if row["event_type"] == "rule_quarantined")
    assert kept_out["decision_reasoning"] == "secrets: it holds one"
