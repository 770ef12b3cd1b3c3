"""Views of a snapshot over tables that somebody has filled: what each counts, and that empty ones stay empty."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any

import duckdb
import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.serving.column_comments import written
from em_pipelines.serving.snapshot import publish
from em_pipelines.settings import load_settings
from em_pipelines.storage.duckdb_engine import connect

DAY = date(2026, 3, 2)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
Filled = Callable[..., Any]


@pytest.fixture
def filled(tmp_path, rows_of) -> Filled:
    """filled(table=[{column: value}, …], …): a connection to the snapshot of a home that holds these rows."""

    @contextmanager
    def fill(**tables: list[dict[str, Any]]) -> Iterator[duckdb.DuckDBPyConnection]:
        home = Pipeline(load_settings(home=tmp_path / "home"))
        for name, rows in ({"current_edges": []} | tables).items():
            home.store.lake.write(CATALOG[name], DAY, rows_of(CATALOG[name], *rows))
        path = publish(home.store, tmp_path / "out", home.time_rules).path
        with connect(str(path), is_read_only=True) as connection:
            yield connection

    return fill


def ask(connection: duckdb.DuckDBPyConnection, sql: str) -> list[dict[str, Any]]:
    return connection.sql(sql).to_arrow_table().to_pylist()


def messages(n: int, **fields: Any) -> list[dict[str, Any]]:
    return [
        {"user_id": "ada", "session_id": "s1", "turn_number": turn, "timestamp": NOON, **fields} for turn in range(n)
    ]


def facts(n: int, **fields: Any) -> list[dict[str, Any]]:
    return [
        {
            "user_id": "ada",
            "subject_id": "entity_id-0",
            "object_id": None,
            "value": f"v{k}",
            "attribute": None,
            **fields,
        }
        for k in range(n)
    ]


def named(n: int) -> list[dict[str, Any]]:
    known = [{"user_id": "ada", "merged_into": None, "name_key": f"n{k}"} for k in range(n + 1)]
    return [{**known[0], "name_key": "user", "canonical_name": "user"}, *known[1:]]


STAGES = [
    (0, 1, 0, {}, "seeded", "1 interactions"),
    (1, 0, 0, {}, "learning", "9 interactions, 20 facts, 5 entities"),
    (10, 20, 4, {}, "learning", "1 entities"),
    (10, 20, 5, {}, "minimum_viable", "20 interactions, 60 facts, the first probe"),
    (100, 80, 5, {}, "minimum_viable", "the first probe"),
    (100, 80, 5, {"probes": [{"user_id": "ada", "status": "delivered"}]}, "functional", "the first experience"),
    (
        500, 80, 5,
        {
            "feedback": [{"user_id": "ada", "type": "probe_delivered", "payload": "{}"}],
            "experiences": [{"user_id": "ada", "kind": "failure"}],
        },
        "mature", "the first procedure",
    ),
    (
        500, 80, 5,
        {
            "probes": [{"user_id": "ada", "status": "accepted"}],
            "experiences": [{"user_id": "ada", "kind": "procedure"}],
        },
        "expert", None,
    ),
]  # fmt: skip
ALWAYS = ("functional", "expert")
"""Of which `make test` asks, too."""


@pytest.mark.parametrize(
    ("n_said", "n_facts", "n_names", "more", "stage", "needed"),
    [pytest.param(*one, marks=() if one[4] in ALWAYS else pytest.mark.slow) for one in STAGES],
)
def test_stages_are_reached_one_after_the_other(filled, n_said, n_facts, n_names, more, stage, needed) -> None:
    with filled(messages=messages(n_said), current_edges=facts(n_facts), entities=named(n_names), **more) as connection:
        (found,) = ask(connection, "SELECT stage, still_needed FROM cold_start WHERE user_id = 'ada'")
    assert (found["stage"], found["still_needed"]) == (stage, needed)


def test_what_is_denied_is_no_current_fact_and_stands_by_itself(filled) -> None:
    works = {"relation": "works_at", "status": "active", "effective_confidence": 0.9, "requires_verification": False}
    said = facts(2, **works, polarity=1) + facts(3, **works, polarity=-1)
    said = [{**fact, "value": f"firm {n}", "edge_id": f"e{n}"} for n, fact in enumerate(said)]
    with filled(current_edges=said, messages=messages(1), entities=named(0)) as connection:
        (at_work,) = ask(connection, "SELECT count(*) AS n FROM current_facts WHERE relation = 'works_at'")
        (not_there,) = ask(connection, "SELECT count(*) AS n FROM current_denials WHERE relation = 'works_at'")
        (user,) = ask(connection, "SELECT n_facts, n_denials FROM users")
    assert (at_work["n"], not_there["n"]) == (2, 3)
    assert user == {"n_facts": 2, "n_denials": 3}


def test_people_whose_relation_is_denied_are_not_counted(filled) -> None:
    known = facts(1, relation="knows", object_id="entity_id-1", value=None, status="active", polarity=-1)
    with filled(current_edges=known, messages=messages(1), entities=named(2)) as connection:
        assert [row["n_people"] for row in ask(connection, "FROM user_figures")] == [0]


def test_every_table_view_and_column_says_what_it_is(filled) -> None:
    with filled() as connection:
        missing = ask(
            connection,
            """
            SELECT table_name || '.' || column_name AS name FROM duckdb_columns()
            WHERE NOT internal AND coalesce(comment, '') = ''
            UNION ALL SELECT table_name FROM duckdb_tables() WHERE NOT internal AND coalesce(comment, '') = ''
            UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal AND coalesce(comment, '') = ''
            """,
        )
        (told,) = ask(
            connection,
            "SELECT comment FROM duckdb_columns() WHERE table_name = 'facts' AND column_name = 'valid_to'",
        )
    assert missing == []
    (declared,) = (column.about for column in CATALOG["current_edges"].columns if column.name == "valid_to")
    assert told["comment"] == declared


@pytest.mark.slow
def test_nothing_is_told_of_a_column_that_is_not_there(filled) -> None:
    with filled() as connection:
        rows = ask(connection, "SELECT table_name, column_name FROM duckdb_columns() WHERE NOT internal")
    there = {(row["table_name"], row["column_name"]) for row in rows}
    assert {(name, column) for name, entry in written().items() for column in entry.get("columns", {})} <= there


@pytest.mark.slow
def test_nobody_has_no_stage_and_no_capability(filled) -> None:
    with filled() as connection:
        for view in (
            "cold_start",
            "capabilities",
            "probe_funnel",
            "cost_by_model",
            "rules_by_month",
            "self_improvement",
        ):
            assert ask(connection, f"FROM {view}") == []


def test_capabilities_show_when_what_they_need_is_there(filled) -> None:
    skills = [
        {"user_id": "ada", "skill_name": "deploy", "session_id": f"s{n}", "error_category": None} for n in range(3)
    ]
    with filled(
        entities=named(4),
        current_edges=facts(4, relation="likes", context_tags=["kitchen"])
        + facts(1, relation="sibling_of", object_id="entity_id-1", value=None, context_tags=["kitchen"]),
        probes=[{"user_id": "ada", "status": "queued", "context_tags": ["kitchen"]}],
        skill_invocations=skills,
    ) as connection:
        ready = {row["capability"] for row in ask(connection, "FROM capabilities WHERE is_ready")}
    assert ready == {"names", "contextual_probes", "procedures"}


@pytest.mark.slow
def test_a_probe_is_counted_at_the_furthest_that_anybody_says_of_it(filled) -> None:
    probes = [
        {"user_id": "ada", "kind": "discovery", "probe_id": f"p{n}", "status": status}
        for n, status in enumerate(("queued", "accepted", "deflected", "suppressed", "expired"))
    ]
    heard = [{"user_id": "ada", "type": "probe_ignored", "payload": '{"probe_id":"p0"}'}]
    with filled(probes=probes, feedback=heard) as connection:
        (found,) = ask(connection, "FROM probe_funnel")
    counts = {name: found[name] for name in found if name.startswith("n_")}
    assert counts == {
        "n_generated": 5, "n_suppressed": 1, "n_expired": 1, "n_delivered": 3, "n_accepted": 1, "n_ignored": 1,
        "n_deflected": 1,
    }  # fmt: skip
    assert found["accepted_share"] == pytest.approx(1 / 3)


@pytest.mark.slow
def test_an_opening_is_counted_at_the_furthest_that_anybody_says_of_it(filled) -> None:
    starters = [
        {"user_id": "ada", "kind": "date", "starter_id": f"s{n}", "status": status}
        for n, status in enumerate(("queued", "engaged", "dismissed", "expired"))
    ]
    heard = [
        {"feedback_id": f"f{n}", "user_id": "ada", "type": f"starter_{said}", "payload": payload}
        for n, (said, payload) in enumerate(
            (("delivered", '{"starter_id":"s0"}'), ("dismissed", '{"starter_id":"gone"}'), ("engaged", "{}"))
        )
    ]
    with filled(starters=starters, feedback=heard) as connection:
        known, unknown = sorted(ask(connection, "FROM starter_funnel"), key=lambda row: row["kind"])
    assert {name: known[name] for name in known if name.startswith("n_")} == {
        "n_generated": 4, "n_expired": 1, "n_delivered": 3, "n_engaged": 1, "n_dismissed": 1,
    }  # fmt: skip
    assert known["engaged_share"] == pytest.approx(1 / 3)
    assert (unknown["kind"], unknown["n_generated"], unknown["n_delivered"]) == ("unknown", 2, 2)


def test_costs_are_those_of_the_calls_by_model_and_by_conversation(filled) -> None:
    call = {
        "user_id": "ada",
        "model": "m",
        "task": "extraction",
        "is_cache_hit": False,
        "prompt_tokens": 100,
        "completion_tokens": 10,
    }
    calls = [
        {**call, "segment_id": "g1", "cost_usd": 0.25},
        {**call, "segment_id": "g1", "cost_usd": 0.0, "is_cache_hit": True},
        {**call, "segment_id": "gone", "cost_usd": 0.5, "correlation_id": "c2", "outcome": "failed"},
    ]
    with filled(
        llm_calls=calls,
        segments=[{"segment_id": "g1", "user_id": "ada", "session_id": "s1"}],
        messages=[{"user_id": "ada", "session_id": "s2", "correlation_id": "c2"}],
        sessions=[{"user_id": "ada", "session_id": session, "started_at": NOON} for session in ("s1", "s2")],
        skill_invocations=[{"user_id": "ada", "session_id": "s2", "cost_usd": 0.125}],
    ) as connection:
        (by_model,) = ask(connection, "FROM cost_by_model")
        by_session = ask(connection, "FROM cost_by_session ORDER BY session_id")
        (by_month,) = ask(connection, "FROM self_improvement")
    assert (by_model["n_calls"], by_model["n_cached"], by_model["n_failed"], by_model["prompt_tokens"]) == (
        3,
        1,
        1,
        200,
    )
    assert by_model["cost_usd"] == 0.75
    assert [(r["n_calls"], r["n_tokens"], r["model_cost_usd"], r["skill_cost_usd"]) for r in by_session] == [
        (2, 110, 0.25, 0.0), (1, 110, 0.5, 0.125),
    ]  # fmt: skip
    assert by_month["model_cost_per_session_usd"] == 0.375


@pytest.mark.slow
def test_relations_of_a_week_are_measured_against_the_weeks_before(filled) -> None:
    def week(n: int, *relations: str) -> list[dict[str, Any]]:
        return [{"relation": r, "timestamp": NOON + timedelta(weeks=n), "extractor": "rules"} for r in relations]

    claims = [*week(0, "likes", "owns"), *week(1, "likes", "owns"), *week(2, "visited"), *week(3, "likes", "likes")]
    with filled(claims=claims) as connection:
        found = ask(connection, "SELECT relation_distance FROM extraction_drift ORDER BY week")
    assert [row["relation_distance"] for row in found] == pytest.approx([None, 0.0, 1.0, 0.6])


@pytest.mark.slow
def test_failures_and_rules_are_counted_by_month(filled) -> None:
    failure = {"user_id": "ada", "skill_name": "deploy", "error_category": "permission", "timestamp": NOON}
    with filled(
        skill_invocations=[
            failure,
            failure,
            {**failure, "error_category": "timeout"},
            {**failure, "error_category": None},
        ],
        experiences=[{"experience_id": "x1", "user_id": "ada", "kind": "failure", "promoted_at": NOON}],
        rules=[
            {"experience_id": "x1", "user_id": "ada"},
            {"experience_id": "x1", "user_id": "ada", "status": "in_review"},
        ],
    ) as connection:
        (repeated,) = ask(connection, "FROM repeated_failures")
        (rules,) = ask(connection, "FROM rules_by_month")
        (month,) = ask(connection, "FROM self_improvement")
    assert (repeated["error_category"], repeated["n_failures"]) == ("permission", 2)
    assert (rules["month"], rules["n_rules"], rules["n_active"], rules["n_in_review"]) == (date(2026, 3, 1), 2, 1, 1)
    assert (month["n_failures"], month["n_repeated_failures"], month["n_rules_promoted"]) == (3, 1, 2)


@pytest.mark.parametrize(
    ("recalled_at", "n_misses"),
    [pytest.param(None, 1, marks=pytest.mark.slow), (-1, 0), pytest.param(1, 1, marks=pytest.mark.slow)],
)
def test_a_fact_said_again_is_a_miss_unless_it_was_surfaced_before(filled, recalled_at, n_misses) -> None:
    op = {
        "user_id": "ada",
        "edge_id": "e1",
        "operation": "REINFORCE",
        "session_id": "s1",
        "turn_number": 0,
        "confidence_before": 0.8,
    }
    ops = [{**op, "timestamp": NOON, "reason": "said again in another session"}]
    if recalled_at is not None:
        ops += [{**op, "timestamp": NOON + timedelta(minutes=recalled_at), "reason": "surfaced in a session"}]
    with filled(
        graph_ops=ops, current_edges=facts(1, edge_id="e1"), entities=named(0), messages=messages(1)
    ) as connection:
        assert len(ask(connection, "FROM retrieval_misses")) == n_misses


@pytest.mark.slow
def test_conflicts_are_the_contradictions_in_words(filled) -> None:
    edges = facts(1, edge_id="e1", relation="likes") + facts(1, edge_id="e2", relation="likes", polarity=-1)
    pair = {"user_id": "ada", "entity_id": "entity_id-0", "edge_id": "e2"}
    with filled(
        current_edges=edges, entities=named(0),
        contradictions=[{**pair, "other_edge_id": "e1"}, {**pair, "other_edge_id": "purged"}],
    ) as connection:  # fmt: skip
        found = ask(connection, "FROM conflicts ORDER BY other_edge_id")
        assert len(found) == connection.sql("FROM contradictions").to_arrow_table().num_rows
    assert [(row["about"], row["newer"], row["older"]) for row in found] == [
        ("user", "user not likes v0", "user likes v0"), ("user", "user not likes v0", None),
    ]  # fmt: skip


@pytest.mark.slow
def test_languages_are_counted_by_user_with_those_that_wait_for_a_model(filled) -> None:
    said = [{**row, "message_id": f"m{n}", "subject": "user"} for n, row in enumerate(messages(4, language="es"))]
    said[3] |= {"language": None}
    waits = [
        {"issue_id": f"i{n}", "message_id": f"m{n}", "issue": "skipped", "reason": "other_language"} for n in (0, 2)
    ]
    answer = {**messages(1, language="es", subject=None, role="assistant")[0], "message_id": "answer", "turn_number": 9}
    with filled(messages=[*said, answer], extraction_issues=waits) as connection:
        found = ask(connection, "SELECT user_id, language, n_messages, n_waiting FROM languages")
    assert [tuple(row.values()) for row in found] == [("ada", "es", 3, 2), ("ada", None, 1, 0)]


@pytest.mark.slow
def test_a_day_with_dead_letters_alone_has_a_row(filled) -> None:
    with filled(dead_letters=[{"landed_on": DAY}]) as connection:
        (found,) = ask(connection, "FROM quality_by_day")
    assert (found["day"], found["n_messages"], found["n_dead_letters"]) == (DAY, 0, 1)
