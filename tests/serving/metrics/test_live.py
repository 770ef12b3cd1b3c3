"""What metrics come to now: totals, queues, breakers and durations, and the text that Prometheus reads."""

import os
import shutil
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from em_pipelines.landing.land import land
from em_pipelines.lifecycle.proactive.offers import OFFERED, Entry
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.batch_queue import BatchQueue
from em_pipelines.llm.protocol import ChatAnswer
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.record import METRICS as TABLE
from em_pipelines.serving.metrics.catalogue import METRICS, Kind
from em_pipelines.serving.metrics.live import outages, samples
from em_pipelines.serving.metrics.samples import Sample, exposition, rows
from em_pipelines.settings import load_settings
from em_pipelines.storage.histograms import FOLDER, Histogram, add_to_note, read_note
from tests.model_server.questions import question

NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)
NAMES = """em_extraction_latency_ms (stage, channel), em_extraction_total (stage, status), em_entities_extracted (type,
source_mechanism), em_edges_created (relation, temporal_type), em_edges_reinforced (relation), em_edges_contradicted
(relation), em_edges_archived (reason), em_confidence_distribution (temporal_type), em_graph_nodes_total (type),
em_graph_edges_total (relation), em_queue_depth (queue_name), em_queue_age_seconds (queue_name), em_probe_generated
(type), em_probe_delivered (type), em_probe_accepted (type), em_probe_suppressed (reason), em_starter_delivered (type),
em_starter_engaged (type), em_hallucination_detected (stage), em_llm_tokens_used (model, task), em_llm_latency_ms
(model, task), em_llm_errors (model, error_type), em_neo4j_query_latency_ms (query_type), em_revision_edges_processed
(action), em_inference_edges_created (), em_user_corrections (correction_type), em_circuit_breaker_state (dependency)"""


@pytest.fixture
def home(examples_home: Path, tmp_path: Path) -> Pipeline:
    return Pipeline(load_settings(home=Path(shutil.copytree(examples_home, tmp_path / "home", symlinks=True))))


@pytest.fixture(scope="module")
def examples(examples_home: Path) -> Pipeline:
    return Pipeline(load_settings(home=examples_home))


def values(found: Iterable[Sample], name: str, label: str | None = None) -> dict[str, float]:
    """The values of one name by one label, or by all labels."""
    told = [one for one in found if one.name == name]
    return {one.labels[label] if label else str(dict(one.labels)): one.value for one in told}


def test_there_are_the_metrics_that_were_agreed_upon_by_their_very_names() -> None:
    agreed = {
        name: tuple(label for label in labels.split(", ") if label)
        for name, _, labels in (part.rstrip(")").partition(" (") for part in " ".join(NAMES.split()).split("), "))
    }
    assert len(agreed) == 27
    assert {metric.name: metric.labels for metric in METRICS} == agreed


def test_every_metric_is_told_of_whether_or_not_anything_happened(home_path: Path) -> None:
    empty = Pipeline(load_settings(home=home_path))
    text = exposition(samples(empty, NOW))
    for metric in METRICS:
        assert f"# HELP {metric.name} {metric.about}\n# TYPE {metric.name} {metric.kind}\n" in text
    assert not home_path.exists(), "asking makes nothing"


def test_prometheus_own_parser_reads_what_we_write(examples: Pipeline) -> None:
    found = samples(examples, NOW)
    families = {one.name: one for one in text_string_to_metric_families(exposition(found))}
    kinds = {metric.name: str(metric.kind) for metric in METRICS}
    assert {name: family.type for name, family in families.items()} == {
        name.removesuffix("_total") if kind == Kind.COUNTER else name: kind for name, kind in kinds.items()
    }
    read = {
        (sample.name.removesuffix("_total"), tuple(sorted(sample.labels.items()))): sample.value
        for family in families.values()
        for sample in family.samples
    }
    assert read == {(one.name.removesuffix("_total"), tuple(sorted(one.labels.items()))): one.value for one in found}


def test_labels_are_written_as_the_format_wants_them() -> None:
    text = exposition([Sample("em_llm_errors", {"model": 'a"b\\c\nd', "error_type": "E"}, 1.5)])
    assert 'em_llm_errors{error_type="E",model="a\\"b\\\\c\\nd"} 1.5\n' in text
    (family,) = (one for one in text_string_to_metric_families(text) if one.samples)
    assert family.samples[0].labels["model"] == 'a"b\\c\nd'


def test_buckets_count_up_and_end_with_all(examples: Pipeline) -> None:
    told = [one for one in rows(samples(examples, NOW)) if one["name"] == "em_confidence_distribution_bucket"]
    traits = [one["value"] for one in told if one["labels"]["temporal_type"] == "trait"]
    assert len(traits) == 11
    assert traits == sorted(traits)
    counts = values(samples(examples, NOW), "em_confidence_distribution_count", "temporal_type")
    assert traits[-1] == counts["trait"]


def test_asked_again_it_is_the_same_and_costs_next_to_nothing(home: Pipeline) -> None:
    first = samples(home, NOW)

    def ask(of: Pipeline) -> float:
        begun = time.process_time()
        assert samples(of, NOW) == first
        return time.process_time() - begun

    assert any(ask(home) < ask(Pipeline(home.settings)) / 2 for _ in range(5))


def test_gauges_are_of_the_newest_day_and_counters_of_all(examples: Pipeline) -> None:
    lake = examples.store.lake
    newest = lake.read(TABLE, lake.days(TABLE)[-1]).to_pylist()
    nodes = sum(row["value"] for row in newest if row["name"] == "em_graph_nodes_total")
    assert sum(values(samples(examples, NOW), "em_graph_nodes_total").values()) == nodes > 0
    landed = values(samples(examples, NOW), "em_extraction_total")
    assert landed["{'stage': 'landing', 'status': 'landed'}"] == 637


def test_what_has_landed_waits_until_a_run_reads_it(home: Pipeline, tmp_path: Path) -> None:
    assert values(samples(home, NOW), "em_queue_depth", "queue_name")["landed_interactions_days"] == 0
    log = tmp_path / "said.jsonl"
    log.write_text(
        '{"user_id": "ada", "session_id": "x", "turn_number": 0, "role": "user", "content": "Hello there.", '
        '"timestamp": "2026-11-02T10:00:00Z"}\n{"user_id": "ada"}\n'
    )
    land([log], home.store.log, now=NOW, settings=home.settings.landing)
    later = datetime.now(UTC) + timedelta(hours=1)
    found = samples(home, later)
    assert values(found, "em_queue_depth", "queue_name")["landed_interactions_days"] == 1
    assert values(found, "em_queue_depth", "queue_name")["dead_letters"] == 1
    assert 3500 < values(found, "em_queue_age_seconds", "queue_name")["landed_interactions_days"] < 3900


def test_what_would_be_said_waits_since_its_cause_came(examples: Pipeline) -> None:
    early, late = (values(samples(examples, NOW + timedelta(days=n)), "em_queue_age_seconds") for n in (0, 1))
    assert late["{'queue_name': 'probes'}"] - early["{'queue_name': 'probes'}"] == 86_400
    assert values(samples(examples, NOW), "em_queue_depth", "queue_name")["probes"] > 0


def test_questions_have_the_kind_by_which_they_are_known(home: Pipeline) -> None:
    entries = [
        Entry(NOW, "probe_a", "refinement", OFFERED), Entry(NOW, "probe_b", "discovery", "quiet_hours"),
        Entry(NOW, "starter_a", "plan", "quiet_hours"),
    ]  # fmt: skip
    home.offers.note("ada", entries, NOW)
    found = samples(home, NOW)
    assert values(found, "em_probe_suppressed", "reason") == {"quiet_hours": 1}
    assert values(found, "em_probe_generated", "type")["refinement"] >= 1
    assert values(found, "em_probe_generated", "type")["unknown"] > 0


def test_models_are_counted_from_every_call_that_was_made(home: Pipeline) -> None:
    with AnswerStore(home.answers) as store:
        request = question(task="synthesis")
        store.save(request, ChatAnswer(request.key, "{}", "stop", 40, 10, 700.0, 0.25), NOW)
        store.answer(request, NOW)
        store.note_failure(question(reference="seg_2"), TimeoutError(), 20_000.0, NOW)
        BatchQueue(store.database).add(question(reference="seg_3", model="other"))
    found = samples(home, NOW)
    assert sum(values(found, "em_llm_tokens_used").values()) == 50
    assert values(found, "em_llm_tokens_used", "task")["synthesis"] == 50
    assert values(found, "em_llm_latency_ms_sum", "task")["synthesis"] == 700.0
    assert values(found, "em_llm_errors", "error_type") == {"TimeoutError": 1}
    assert values(found, "em_queue_depth", "queue_name")["batches"] == 1


def test_a_breaker_is_open_half_open_or_closed_as_processes_note_it(home: Pipeline) -> None:
    assert values(samples(home, NOW), "em_circuit_breaker_state", "dependency") == {
        "graph": 0, "embedder": 0, "llm_small": 0, "llm_large": 0,
    }  # fmt: skip
    note = outages(home.path, home.settings.llm)["graph"]
    note.put()
    assert values(samples(home, NOW), "em_circuit_breaker_state", "dependency")["graph"] == 2
    path = home.path / "locks" / "graph.down"
    os.utime(path, (0, 0))
    assert values(samples(home, NOW), "em_circuit_breaker_state", "dependency")["graph"] == 1
    note.clear()
    assert values(samples(home, NOW), "em_circuit_breaker_state", "dependency")["graph"] == 0


def test_steps_are_measured_by_the_channel_of_their_days(examples: Pipeline) -> None:
    found = samples(examples, NOW)
    stages = {one.labels["stage"] for one in found if one.name == "em_extraction_latency_ms_count"}
    assert {"messages", "extraction", "fold", "decay"} <= stages
    counted = [one for one in found if one.name == "em_extraction_latency_ms_count"]
    n_days = sum(one.value for one in counted if one.labels["stage"] == "extraction")
    assert n_days >= len(examples.store.lake.days(TABLE)) - 1
    assert {one.labels["channel"] for one in counted} <= {"text", "voice", "group", "email", "mixed", "none"}


def test_a_note_of_durations_adds_up_and_counts_as_none_where_it_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / FOLDER / "fold.json"
    one = Histogram()
    for duration_ms in (0.5, 1.0, 7.0, 100_000.0):
        one.add(duration_ms)
    add_to_note(path, {"text": one})
    add_to_note(path, {"text": one, "voice": one})
    told = read_note(path)
    assert told["text"].counts == [4, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2]
    assert (told["voice"].counts[0], told["text"].sum_ms) == (2, 2 * 100_008.5)
    for damaged in (b"", b"{", b"[]", b'{"text": {"counts": [1], "sum_ms": 1}}', b'{"text": 1}'):
        path.write_bytes(damaged)
        assert read_note(path) == {}
    assert read_note(tmp_path / "none.json") == {}
