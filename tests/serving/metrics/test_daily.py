"""The table `metrics`, against rows that are counted one by one."""

import shutil
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.expectations import CLOSED_SETS
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.schema.tables.record import METRICS
from em_pipelines.schema.vocabulary import RELATIONS, EntityType, TemporalType
from em_pipelines.serving.metrics.catalogue import OF_SAMPLE, Kind
from em_pipelines.serving.metrics.daily import OF_DAY, STATES, figures_of_days, is_measured, measure, metrics_step
from em_pipelines.serving.state_hash import state_hash
from em_pipelines.settings import load_settings

DAY = date(2026, 3, 1)
Told = dict[tuple[str, str], float]


def table_of(rows_of: Any, *changes: dict[str, Any], name: str) -> Any:
    return rows_of(CATALOG[name], *changes) if changes else CATALOG[name].empty()


@pytest.fixture
def told(rows_of: Any) -> Any:
    """told(table=[{…}, …]): the figures of a day with these rows, by name and labels."""

    def count(**rows: list[dict[str, Any]]) -> Told:
        tables = {table.name: table_of(rows_of, *rows.get(table.name, ()), name=table.name) for table in OF_DAY}
        for table in STATES:
            tables[f"state_{table.name}"] = table_of(rows_of, *rows.get(table.name, ()), name=table.name)
        found = figures_of_days({DAY: tables})[DAY][METRICS.name].to_pylist()
        assert {row["timestamp"].date() for row in found} <= {DAY}
        return {(row["name"], row["labels"]): row["value"] for row in found}

    return count


def of(found: Told, name: str) -> dict[str, float]:
    return {labels: value for (one, labels), value in found.items() if one == name}


def test_a_day_on_which_nothing_happened_has_no_figures(told: Any) -> None:
    assert told() == {}


def test_messages_are_counted_by_how_far_they_came(told: Any) -> None:
    found = told(
        interactions=[{}, {}, {}, {}, {}],
        dead_letters=[{}, {"status": "replayed"}],
        messages=[{"message_id": f"m{n}"} for n in range(5)],
        extraction_issues=[
            {"message_id": "m0", "issue": "skipped"}, {"message_id": "m1", "issue": "pending"},
            {"message_id": "m2", "issue": "dead_letter"}, {"message_id": "m2", "issue": "skipped"},
            {"message_id": "m3", "issue": "nothing_found"}, {"message_id": "m3", "issue": "span"},
        ],
        mentions=[{}], claims=[{}, {}],
    )  # fmt: skip
    assert of(found, "em_extraction_total") == {
        '{"stage":"landing","status":"landed"}': 5,
        '{"stage":"landing","status":"dead_letter"}': 1,
        '{"stage":"reading","status":"skipped"}': 1,
        '{"stage":"reading","status":"pending"}': 1,
        '{"stage":"reading","status":"dead_letter"}': 1,
        '{"stage":"reading","status":"read"}': 2,
        '{"stage":"verification","status":"kept"}': 3,
        '{"stage":"verification","status":"doubted"}': 1,
    }
    assert of(found, "em_hallucination_detected") == {'{"stage":"grounding"}': 1}


def test_changes_of_facts_have_the_relation_of_the_fact_or_of_its_claim(told: Any) -> None:
    found = told(
        graph_ops=[
            {"edge_id": "e1"}, {"edge_id": "gone", "claim_id": "c1"}, {"edge_id": "gone", "claim_id": "none"},
            {"edge_id": "e1", "operation": "REINFORCE"}, {"edge_id": "e1", "operation": "CONTRADICT"},
            {"edge_id": "e1", "operation": "REVISE"},
        ],
        claims=[{"claim_id": "c1", "relation": "owns", "temporal_type": "state"}],
        current_edges=[{"edge_id": "e1", "relation": "likes", "temporal_type": "trait"}],
    )  # fmt: skip
    assert of(found, "em_edges_created") == {
        '{"relation":"likes","temporal_type":"trait"}': 1,
        '{"relation":"owns","temporal_type":"state"}': 1,
        '{"relation":"unknown","temporal_type":"unknown"}': 1,
    }
    assert of(found, "em_edges_reinforced") == of(found, "em_edges_contradicted") == {'{"relation":"likes"}': 1}


def test_what_stands_is_told_at_the_end_of_the_day(told: Any) -> None:
    found = told(
        entities=[{"entity_type": "person"}, {"entity_type": "person", "status": "merged"}],
        current_edges=[
            {"temporal_type": "trait", "effective_confidence": 0.35},
            {"temporal_type": "trait", "effective_confidence": 0.9, "status": "contradicted"},
            {"temporal_type": "trait", "effective_confidence": 0.9, "status": "archived"},
        ],
    )
    assert of(found, "em_graph_nodes_total") == {'{"type":"person"}': 1}
    assert of(found, "em_graph_edges_total") == {'{"relation":"likes"}': 2}
    buckets = {orjson.loads(labels)["le"]: n for labels, n in of(found, "em_confidence_distribution_bucket").items()}
    assert (buckets["0.3"], buckets["0.4"], buckets["0.9"], buckets["+Inf"]) == (0, 1, 2, 2)
    assert of(found, "em_confidence_distribution_sum") == {'{"temporal_type":"trait"}': 1.25}
    assert of(found, "em_confidence_distribution_count") == {'{"temporal_type":"trait"}': 2}


def test_models_and_people_are_counted(told: Any) -> None:
    call = {"model": "small", "task": "extraction", "prompt_tokens": 40, "completion_tokens": 10, "latency_ms": 700.0}
    found = told(
        llm_calls=[
            {**call, "error_type": None}, {**call, "is_cache_hit": True, "error_type": None},
            {**call, "prompt_tokens": 0, "completion_tokens": 0, "error_type": "RateLimitedError"},
        ],
        feedback=[
            {"type": "correct", "payload": "{}"}, {"type": "correct", "payload": "{}"},
            {"type": "revision", "payload": '{"outcome":"changed"}'}, {"type": "recalled", "payload": "{}"},
            {"type": "probe_delivered", "payload": '{"kind":"discovery"}'}, {"type": "probe_ignored", "payload": "{}"},
            {"type": "starter_engaged", "payload": "{}"},
        ],
        audit_trail=[
            {"event_type": "edge_archived", "operation": "EXPIRE"},
            {"event_type": "edge_archived", "operation": "ARCHIVE"}, {"event_type": "inference_created"},
        ],
    )  # fmt: skip
    assert of(found, "em_llm_tokens_used") == {'{"model":"small","task":"extraction"}': 50}
    assert of(found, "em_llm_latency_ms_count") == {'{"model":"small","task":"extraction"}': 2}
    assert of(found, "em_llm_errors") == {'{"error_type":"RateLimitedError","model":"small"}': 1}
    assert of(found, "em_user_corrections") == {'{"correction_type":"correct"}': 2}
    assert of(found, "em_revision_edges_processed") == {'{"action":"changed"}': 1}
    assert of(found, "em_probe_delivered") == {'{"type":"discovery"}': 1}
    assert of(found, "em_starter_engaged") == {'{"type":"unknown"}': 1}
    assert of(found, "em_edges_archived") == {'{"reason":"expired"}': 1, '{"reason":"faded"}': 1}
    assert of(found, "em_inference_edges_created") == {"{}": 1}


@pytest.fixture(scope="module")
def home(examples_home: Path) -> Pipeline:
    return Pipeline(load_settings(home=examples_home))


def rows(home: Pipeline, name: str) -> list[dict[str, Any]]:
    table = CATALOG[name]
    return [row for day in home.store.lake.days(table) for row in home.store.lake.read(table, day).to_pylist()]


def test_the_examples_are_counted_as_one_counts_by_hand(home: Pipeline) -> None:
    totals: Counter[tuple[str, str]] = Counter()
    for row in rows(home, "metrics"):
        totals[row["name"], row["labels"]] += row["value"]
    new = Counter(
        edge["relation"]
        for operation in rows(home, "graph_ops")
        if operation["operation"] == "INSERT"
        for edge in home.store.lake.read(CATALOG["edges"], operation["timestamp"].date()).to_pylist()
        if edge["edge_id"] == operation["edge_id"]
    )
    created: Counter[str] = Counter()
    for (name, labels), n in totals.items():
        if name == "em_edges_created":
            created[orjson.loads(labels)["relation"]] += int(n)
    assert created == new
    types = Counter(row["type"] for row in rows(home, "feedback"))
    assert totals["em_user_corrections", '{"correction_type":"correct"}'] == types["correct"] > 0
    assert totals["em_extraction_total", '{"stage":"landing","status":"landed"}'] == len(rows(home, "interactions"))


def test_names_and_labels_are_those_of_the_catalogue_and_nobodys(home: Pipeline) -> None:
    closed = {
        "relation": {*RELATIONS, "unknown"}, "temporal_type": {*(t.value for t in TemporalType), "unknown"},
        "source_mechanism": {*CLOSED_SETS["source_mechanism"]},
    }  # fmt: skip
    for row in rows(home, "metrics"):
        labels = orjson.loads(row["labels"])
        metric = OF_SAMPLE[row["name"]]
        assert metric.is_daily
        assert labels.keys() - {"le"} == {*metric.labels}
        assert ("le" in labels) == (row["name"].endswith("_bucket") and metric.kind is Kind.HISTOGRAM)
        for name, value in labels.items():
            assert value in closed.get(name, {value})
        if metric.name in ("em_entities_extracted", "em_graph_nodes_total"):
            assert labels["type"] in {t.value for t in EntityType}


def test_counted_one_by_one_days_are_what_they_are_counted_together(home: Pipeline) -> None:
    step = metrics_step()
    for day in home.store.days(step)[::9]:
        tables = home.store.inputs_of(step, day)
        alone = figures_of_days({day: tables})[day][METRICS.name]
        kept = home.store.lake.read(METRICS, day)
        assert alone.sort_by([("name", "ascending"), ("labels", "ascending")]).to_pylist() == kept.to_pylist()


@pytest.mark.slow
def test_a_day_is_counted_again_where_it_changed_and_goes_with_what_it_counted(home: Pipeline, tmp_path: Path) -> None:
    mine = Pipeline(load_settings(home=Path(shutil.copytree(home.path, tmp_path / "home", symlinks=True))))
    before = state_hash(mine.store, mine.settings.decay)
    assert is_measured(mine)
    assert measure(mine).made == ()
    day = mine.store.lake.days(METRICS)[3]
    stood = mine.store.lake.read(METRICS, day)
    mine.store.lake.delete(METRICS, day)
    mine.store.lake.write(METRICS, date(2001, 1, 1), stood)
    assert not is_measured(mine)
    assert measure(mine).made == (day,)
    assert mine.store.lake.read(METRICS, day).equals(stood)
    assert date(2001, 1, 1) not in mine.store.lake.days(METRICS)
    assert state_hash(mine.store, mine.settings.decay) == before
    assert METRICS.name not in before
